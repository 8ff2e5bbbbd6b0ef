"""The contents of files, read once each, with a host's unsaved buffers laid over them."""

from __future__ import annotations

from collections.abc import Mapping

from eagle3_lint.sources.reading import read_bytes, read_source
from eagle3_lint.sources.text import SourceText


class Contents:
    """What files hold; ``buffers`` are texts that take the place of files, by absolute path."""

    def __init__(self, buffers: Mapping[str, bytes] | None = None) -> None:
        self._data: dict[str, bytes] = dict(buffers or {})
        self._sources: dict[str, SourceText] = {}
        self.buffered = frozenset(self._data)

    def data(self, path: str) -> bytes:
        """The bytes of the file ``path``; raises UnreadableSourceError where there is no such file or no right to it."""
        found = self._data.get(path)
        if found is None:
            found = self._data[path] = read_bytes(path)
        return found

    def source(self, path: str) -> SourceText:
        """The decoded text of the file ``path``; raises UnreadableSourceError where it can't be read."""
        found = self._sources.get(path)
        if found is None:
            found = self._sources[path] = read_source(path, self.data(path))
        return found
