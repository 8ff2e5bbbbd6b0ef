"""The way from a directory up to the top of its file system, and what stands on it."""

from __future__ import annotations

import os
from collections.abc import Iterator


def upwards(directory: str) -> Iterator[str]:
    """``directory``, an absolute path, and every directory above it, the nearest first."""
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def checkout_around(directory: str) -> str | None:
    """The nearest directory from ``directory`` upwards that looks like the top of a git checkout; None without one."""
    return next((one for one in upwards(directory) if os.path.lexists(os.path.join(one, ".git"))), None)
