"""What a format needs to know beside the report."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from eagle3_lint.findings.fingerprint import relative_path

ELSEWHERE = "(this file was not given; a given file causes the finding)"


@dataclass(frozen=True)
class RenderContext:
    """Settings of one rendering.

    ``base`` is the absolute directory that the paths of sarif, github and gitlab are relative to; ``read_line`` gives
    a line (from 1) of a file, or None where it can't be had.
    """

    version: str
    base: str
    read_line: Callable[[str, int], str | None]
    color: bool = False
    quiet: bool = False


def below(path: str, directory: str) -> str | None:
    """``path`` relative to ``directory`` with ``/``, or None for a path that isn't below it."""
    relative = relative_path(path, directory)
    return None if relative == ".." or relative.startswith("../") or os.path.isabs(relative) else relative


def checkout_path(path: str, base: str) -> str:
    """``path`` relative to ``base`` where it is below it, else absolute; with ``/`` either way."""
    return below(path, base) or path.replace(os.sep, "/")
