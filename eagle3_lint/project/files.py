"""The files of a models directory."""

from __future__ import annotations

import os


def python_files(models: str | None, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Every Python file below ``models``, subpackages too, and ``extra``; sorted absolute paths."""
    found = set(extra)
    for directory, folders, names in os.walk(models) if models else ():
        folders[:] = [folder for folder in folders if folder != "__pycache__" and not folder.startswith(".")]
        found.update(os.path.join(directory, name) for name in names if name.endswith(".py"))
    return tuple(sorted(found))
