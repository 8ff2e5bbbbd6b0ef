"""What the plugins of pylint and flake8 share: a safe door to the engine from inside somebody else's process."""

from __future__ import annotations

import gc
import os
import site
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle3_lint.engine import Session

# As it was when the host loaded the plugin: the linted tree, which pylint adds later, holds no installed SGLang.
SEARCH_PATH = tuple(sys.path)

_PLATFORM_LIBRARIES = frozenset({"lib-dynload", "DLLs"})


def trusted_path() -> list[str]:
    """The directories that installed software is loaded from: no working directory, no linted tree.

    The standard library comes first, then the site directories, then the place that this package came from (which
    differs from them in an editable installation).
    """
    library = os.path.dirname(os.__file__)
    sites = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return list(dict.fromkeys([library, *filter(_is_interpreters_own, sys.path), *sites, own]))


def _is_interpreters_own(entry: str) -> bool:
    """Whether ``entry`` of ``sys.path`` is the interpreter's archive of the library or its compiled modules."""
    name = os.path.basename(entry)
    if name == f"python{sys.version_info[0]}{sys.version_info[1]}.zip":
        return entry.startswith(sys.base_prefix + os.sep)
    return name in _PLATFORM_LIBRARIES and entry.startswith(sys.base_exec_prefix + os.sep)


@contextmanager
def engine_at_work() -> Iterator[None]:
    """Import from ``trusted_path`` alone inside the block, and don't collect cyclic garbage.

    pylint puts the linted tree first on ``sys.path`` while it visits, and ``python -m flake8`` the working
    directory: an import at that moment would run a ``typing_extensions.py`` that lies beside the linted file.
    pylint also holds the trees of all files by then, and the collector would search them again and again while the
    engine allocates.
    """
    before = sys.path[:]
    collecting = gc.isenabled()
    sys.path[:] = trusted_path()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        sys.path[:] = before


def failures_of(session: Session) -> str:
    """One line on the rules of ours that failed since the last call; empty where none did.

    A host must not pass a file for clean that was not checked whole.
    """
    return "; ".join(f"eagle3-lint: internal error: {one}" for one in session.take_failures())
