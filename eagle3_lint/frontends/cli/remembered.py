"""The answers of ``explain`` that need no work: the very same question was asked before, and nothing has changed since."""

import os
import sys

from eagle3_lint import __version__
from eagle3_lint.cache.printed import keep, recall

# spares a remembered answer the import of typing
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eagle3_lint.engine import Explanation

_CONFIGURATIONS = ("pyproject.toml", "setup.cfg", "tox.ini")
_TREES = (os.path.join("python", "sglang", "srt", "models"), os.path.join("sglang", "srt", "models"))
# What the look of the text depends on where it goes to a terminal.
_TERMINAL = (
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "NO_COLOR",
    "TERM",
    "TERM_PROGRAM",
    "VTE_VERSION",
    "WT_SESSION",
)


def remembered(argv: "Sequence[str]") -> "str | None":
    """What ``explain`` printed for ``argv`` the last time, where it would print the same now."""
    directory = _directory(argv)
    return recall(directory, _key(argv)) if directory else None


def remember(
    argv: "Sequence[str]", found: "Explanation", sglang: "str | None", configured: bool, text: str, started: int
) -> None:
    """Keep ``text``, printed for ``argv``; ``configured`` says that the configuration names a cache of its own, or none."""
    directory = _directory(argv)
    if directory is None or configured or found.problems or not found.looked_at:
        return
    from eagle3_lint.sources.upwards import upwards

    here = os.getcwd()
    if sglang is None and not any(found.root in (one, os.path.join(one, "python")) for one in upwards(here)):
        # an installed tree: what may come before it on the import path can't be listed
        return
    keep(directory, _key(argv), (*found.looked_at, *_own_files(), *_asked_on_the_way(here, sglang)), text, started)


def _directory(argv: "Sequence[str]") -> "str | None":
    """Where printed answers are kept; None where none may be used, or where that isn't known from ``argv`` alone."""
    chosen = None
    for index, word in enumerate(argv):
        if word in ("--no-cache", "-h", "--help") or word.startswith("--output"):
            return None
        if word == "--cache-dir" and index + 1 < len(argv):
            chosen = argv[index + 1]
        elif word.startswith("--cache-dir="):
            chosen = word.partition("=")[2]
    from eagle3_lint.sources.cachedir import cache_dir

    return os.path.join(cache_dir(chosen), "facts")


def _key(argv: "Sequence[str]") -> "tuple[object, ...]":
    try:
        here = os.getcwd()
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
    except (OSError, ValueError):
        return ()
    look = tuple(os.environ.get(name) for name in _TERMINAL) if is_terminal else ()
    return "explain", __version__, sys.hexversion, tuple(argv), here, os.environ.get("HOME"), look


def _own_files() -> "Iterator[str]":
    """The files of this program, which developers change."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for directory, folders, names in os.walk(package):
        folders[:] = [folder for folder in folders if folder != "__pycache__"]
        yield directory
        yield from (os.path.join(directory, name) for name in names)


def _asked_on_the_way(here: str, sglang: "str | None") -> "Iterator[str]":
    """What might be a configuration or a tree nearer than the one that was found, or be one no longer."""
    from eagle3_lint.sources.upwards import upwards

    for directory in upwards(here):
        yield from (os.path.join(directory, name) for name in _CONFIGURATIONS)
        if sglang is None:
            yield from (os.path.join(directory, name) for name in _TREES)
    if sglang is not None:
        path = os.path.abspath(os.path.expanduser(sglang))
        yield path
        yield from (os.path.join(path, name) for name in _TREES)
