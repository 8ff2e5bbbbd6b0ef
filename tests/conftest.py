"""What tests of every layer share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from eagle3_lint.sources.cachedir import cache_dir
from eagle3_lint.sources.releases import IndexUnreachableError, release_tree
from eagle3_lint.sources.tree import SourceTree

NEED_RELEASES_VARIABLE = "EAGLE3_LINT_TESTS_NEED_RELEASES"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "network: asks the package index, whatever the cache holds")
    config.addinivalue_line("markers", "release: reads the sources of real releases of SGLang")
    # A shell that starts the tests in the background has them ignore interrupts, and so would what they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def release() -> Callable[[str], SourceTree]:
    """The sources of a release of SGLang, by its version, from the cache that the program itself uses.

    Without network a test that needs a release which the cache has not is skipped, unless the environment variable
    ``EAGLE3_LINT_TESTS_NEED_RELEASES`` is set.
    """
    directory = cache_dir(None)

    def get(version: str) -> SourceTree:
        try:
            return release_tree(version, directory)
        except IndexUnreachableError as error:
            if os.environ.get(NEED_RELEASES_VARIABLE):
                raise
            pytest.skip(str(error))

    return get
