"""The text of one source file, as Python itself would read it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class SourceText:
    """A decoded source file.

    ``path`` is absolute, ``data`` the bytes as they are on disk (or in the host's buffer), ``text`` the
    decoded text with its own line endings and without a byte order mark.
    """

    path: str
    data: bytes
    text: str
    encoding: str = "utf-8"
    has_bom: bool = False

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their endings, split where Python's tokenizer splits (never at form feeds)."""
        if "\r" in self.text:
            return tuple(_LINE.split(self.text))
        return tuple(self.text.split("\n"))

    def column(self, line: int, offset: int) -> int:
        """The character column (from 1) of ``ast``'s UTF-8 byte ``offset`` in ``line`` (from 1)."""
        if self.text.isascii():
            return offset + 1
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return characters(text, offset) + 1


def characters(line: str, offset: int) -> int:
    """The number of characters in the first ``offset`` UTF-8 bytes of ``line``."""
    if line.isascii():
        return offset
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))
