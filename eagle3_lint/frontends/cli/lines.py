"""Source lines for excerpts, read when a finding is shown."""

from __future__ import annotations

import os

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.reading import read_source


class SourceLines:
    """Gives lines of files, the last file's kept at hand; ``buffer`` lies over the file that it names."""

    def __init__(self, buffer: tuple[str, bytes] | None = None) -> None:
        self._buffer = (os.path.abspath(buffer[0]), buffer[1]) if buffer else None
        self._path = ""
        self._lines: tuple[str, ...] = ()

    def __call__(self, path: str, line: int) -> str | None:
        """The line (from 1) of the file ``path``; None where the file can't be read or has no such line."""
        if path != self._path:
            self._path, self._lines = path, self._read(path)
        return self._lines[line - 1] if 0 < line <= len(self._lines) else None

    def _read(self, path: str) -> tuple[str, ...]:
        data = self._buffer[1] if self._buffer and self._buffer[0] == path else None
        try:
            return read_source(path, data).lines
        except UnreadableSourceError:
            return ()
