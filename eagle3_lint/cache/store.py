"""Checked files in the cache directory, written whole or not at all.

Any number of processes may share one directory. A damaged entry counts as absent; a directory that can't be read or
written (full, read-only, missing rights) makes the program run without cache, and ``problem`` says why.
"""

from __future__ import annotations

import marshal
import os
import time
from hashlib import blake2b
from typing import Any

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.reading import read_bytes
from eagle3_lint.sources.writing import replacing

_MAGIC = b"eagle3-lint 1\n"
_DIGEST = 32
_MOST_BYTES = 64 * 1024 * 1024
_MOST_DAYS = 30.0
_DAY = 86400.0


def digest(*parts: bytes) -> bytes:
    """A digest of ``parts``, each set apart from the next."""
    state = blake2b(digest_size=_DIGEST)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


class Store:
    """Values made of tuples, lists, dictionaries, strings, bytes and numbers, by name."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.problem = ""

    def read(self, name: str) -> Any:
        """The value of ``name``, or None where there is none or it is damaged."""
        try:
            data = read_bytes(self._path(name), _MOST_BYTES)
        except UnreadableSourceError as error:
            if os.path.lexists(self._path(name)):
                self.problem = f"the cache can't be read: {error.reason}"
            return None
        start = len(_MAGIC) + _DIGEST
        body = data[start:]
        if not data.startswith(_MAGIC) or data[len(_MAGIC) : start] != digest(body):
            self._remove(name)
            return None
        try:
            return marshal.loads(body)
        except (EOFError, ValueError, TypeError):
            return None

    def write(self, name: str, value: Any) -> None:
        """Keep ``value`` as ``name``; where that isn't possible, ``problem`` says why."""
        body = marshal.dumps(value)
        path = self._path(name)
        temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
        try:
            os.makedirs(self._directory, exist_ok=True)
            with replacing(path, temporary) as file:
                file.write(_MAGIC + digest(body) + body)
        except OSError as error:
            self.problem = f"the cache can't be written: {error.strerror or error}"
            return
        self._shrink()

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)

    def _remove(self, name: str) -> None:
        self._discard(self._path(name))

    @staticmethod
    def _discard(path: str) -> None:
        try:
            os.unlink(path)
        except OSError:
            return

    def _shrink(self) -> None:
        """Remove what is old, what was left half-written, and past a size the least recent."""
        now = time.time()
        try:
            with os.scandir(self._directory) as entries:
                found = sorted(
                    ((stat.st_mtime, stat.st_size, entry.path) for entry in entries if (stat := _status(entry))),
                    reverse=True,
                )
        except OSError:
            return
        total = 0
        for modified, size, path in found:
            total += size
            abandoned = path.endswith(".tmp") and now - modified > 600
            if abandoned or total > _MOST_BYTES or now - modified > _MOST_DAYS * _DAY:
                self._discard(path)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False) if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None
