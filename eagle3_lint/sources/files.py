"""The files of a tree and of a package, listed without reading them."""

from __future__ import annotations

import os
from collections.abc import Iterator

RUNTIME_FOLDERS = ("model_executor", "speculative")
"""Folders of ``sglang/srt`` that every release from 0.4.6 to 0.5.23 calls the capture interface from.

Reading every file outside of ``models`` takes a quarter of a second on 0.5.23 (1,500 files, 29 MB), these two folders
some milliseconds; the others are read only where these call no capture setter.
"""


def python_files(models: str | None, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Every Python file below ``models``, subpackages too, and ``extra``; sorted absolute paths."""
    return tuple(sorted({*extra, *(_below(models) if models else ())}))


def package_root(path: str) -> str:
    """The directory above the outermost package that the file ``path`` lies in."""
    directory = os.path.dirname(path)
    while os.path.isfile(os.path.join(directory, "__init__.py")) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def package_files(directory: str) -> tuple[str, ...]:
    """The Python files of the package that ``directory`` lies in; those directly in it where it lies in none."""
    root = package_root(os.path.join(directory, "__init__.py"))
    if root == directory:
        return tuple(sorted(_directly_in(directory)))
    top = os.path.join(root, os.path.relpath(directory, root).split(os.sep)[0])
    return tuple(sorted(_below(top)))


def siblings(path: str, files: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """The Python files of the package around ``path``, itself included; the files beside it where it lies in none.

    ``files`` are the ``package_files`` of its directory, for whom they are known.
    """
    beside = package_files(os.path.dirname(path)) if files is None else files
    return beside if path in beside else tuple(sorted((path, *beside)))


def runtime_files(root: str) -> tuple[str, ...]:
    """The Python files of the runtime's folders in the tree at ``root``."""
    srt = os.path.join(root, "sglang", "srt")
    return tuple(sorted(path for folder in RUNTIME_FOLDERS for path in _below(os.path.join(srt, folder))))


def _below(top: str) -> Iterator[str]:
    for directory, folders, names in os.walk(top):
        folders[:] = [folder for folder in folders if folder != "__pycache__" and not folder.startswith(".")]
        for name in names:
            if name.endswith(".py"):
                yield os.path.join(directory, name)


def _directly_in(directory: str) -> Iterator[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        full = os.path.join(directory, name)
        if name.endswith(".py") and os.path.isfile(full):
            yield full
