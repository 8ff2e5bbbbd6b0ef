"""From the paths that a user gives to the Python files that they stand for."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.reading import check_regular_file, unreadable

_SKIPPED_DIRECTORIES = frozenset({"__pycache__", "node_modules"})
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


@dataclass(frozen=True)
class Discovered:
    """What the given paths stand for: absolute paths, sorted, each once."""

    files: tuple[str, ...]
    unreadable: tuple[tuple[str, UnreadableSourceError], ...]


def discover(paths: Sequence[str]) -> Discovered:
    """Find the Python files of ``paths``.

    A file that is given is taken whatever its name; one that is missing or not a regular file is unreadable (a
    finding, as flake8, ruff and pylint have it). A directory is searched for ``*.py``. Not searched below it: hidden
    files and directories, ``__pycache__``, ``node_modules``, virtual environments (by their ``pyvenv.cfg``), and
    links to directories, so that no link leads out of it or around in it. Links to files are taken under their own
    name. Below it, whatever is named ``*.py`` and can't be a source (a directory, a dangling link, a FIFO) is
    unreadable; such a directory is searched all the same. A directory that may not be read is unreadable.
    """
    files: set[str] = set()
    failures: dict[str, UnreadableSourceError] = {}
    for path in paths:
        absolute = os.path.abspath(path)
        for name, error in _given(absolute) if path else [(absolute, UnreadableSourceError("an empty path"))]:
            if error is None:
                files.add(name)
            else:
                failures[name] = error
    return Discovered(tuple(sorted(files)), tuple(sorted(failures.items(), key=lambda item: item[0])))


def _given(path: str) -> Iterator[tuple[str, UnreadableSourceError | None]]:
    try:
        is_directory = stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        yield path, unreadable(path, error)
        return
    if is_directory:
        yield from _search(path)
    else:
        yield path, check_regular_file(path)


def _search(root: str) -> Iterator[tuple[str, UnreadableSourceError | None]]:
    pending = [root]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as listing:
                entries = [entry for entry in listing if not entry.name.startswith(".")]
        except OSError as error:
            yield directory, unreadable(directory, error)
            continue
        if directory != root and any(entry.name == _VIRTUAL_ENVIRONMENT for entry in entries):
            continue
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            if is_directory and entry.name not in _SKIPPED_DIRECTORIES:
                pending.append(entry.path)
            if entry.name.endswith(".py"):
                # A link's target is for check_regular_file to see: asking the entry would raise on a loop.
                plain = not is_directory and entry.is_file(follow_symlinks=False)
                yield entry.path, None if plain else check_regular_file(entry.path)
