"""The table of names against the modules themselves."""

from __future__ import annotations

import builtins
import sys
import typing
from itertools import pairwise

import pytest

from eagle3_lint.facts.typing_names import PUBLIC_NAMES, TYPING_EXTENSIONS_NAMES, typing_names

RUNNING = (sys.version_info.major, sys.version_info.minor)


@pytest.mark.skipif(RUNNING > (3, 14), reason="the table ends with Python 3.14")
def test_typing() -> None:
    assert typing_names(RUNNING) == set(typing.__all__)


def test_typing_extensions() -> None:
    """An older installation has fewer names."""
    module = pytest.importorskip("typing_extensions")
    assert set(module.__all__) - {"NoExtraItems"} <= TYPING_EXTENSIONS_NAMES
    assert len(TYPING_EXTENSIONS_NAMES) == 121


def test_each_python_has_the_names_of_the_one_before() -> None:
    tables = [typing_names((3, minor)) for minor in range(9, 16)]
    assert [len(table) for table in tables] == [84, 84, 97, 99, 104, 105, 105]
    assert all(older <= newer for older, newer in pairwise(tables))
    assert tables[-1] < PUBLIC_NAMES


def test_no_name_is_a_builtin() -> None:
    assert not PUBLIC_NAMES & set(dir(builtins))
