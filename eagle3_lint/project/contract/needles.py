"""Looking for a pattern in a whole runtime at the price of looking for a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Needle:
    """A pattern that matches within one line, and words of which each match has one at least.

    A plain word is found in megabytes of text in no time; only the lines that have one are matched.
    """

    words: tuple[str, ...]
    pattern: str

    @cached_property
    def _compiled(self) -> re.Pattern[bytes]:
        return re.compile(self.pattern.encode())

    def found_in(self, data: bytes) -> bool:
        """Whether some line of ``data`` matches."""
        return any(True for word in self.words for _ in self._matching(data, word))

    def lines_in(self, data: bytes) -> list[int]:
        """The numbers of the lines of ``data`` that match, in order."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        found = {start for word in self.words for start in self._matching(data, word)}
        numbers: list[int] = []
        line, end = 1, 0
        for start in sorted(found):
            line += data.count(b"\n", end, start)
            end = start
            numbers.append(line)
        return numbers

    def _matching(self, data: bytes, word: str) -> Iterator[int]:
        """Where the lines of ``data`` start that hold ``word`` and match."""
        wanted = word.encode()
        position = data.find(wanted)
        while position >= 0:
            start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
            end = len(data) if end < 0 else end
            if self._compiled.search(data, start, end):
                yield start
            position = data.find(wanted, end)


def word_needle(word: str) -> Needle:
    """Finds the identifier ``word``."""
    return Needle((word,), rf"\b{re.escape(word)}\b")


def call_needle(word: str) -> Needle:
    """Finds calls of something called ``word``, its definition left out."""
    return Needle((word,), rf"(?<!def )(?<!class )\b{re.escape(word)}\s*\(")


def definition_needle(keyword: str, name: str) -> Needle:
    """Finds ``def name`` or ``class name``."""
    return Needle((name,), rf"\b{keyword}\s+{re.escape(name)}\b")


def assignment_needle(name: str) -> Needle:
    """Finds what binds a module's name ``name`` to a value, here or in the module that it is imported from."""
    return Needle((name,), rf"^{re.escape(name)}\s*[:=]|\bimport\b|^\s+{re.escape(name)}\b")


def attribute_needle(name: str) -> Needle:
    """Finds what may assign to an attribute ``name``."""
    return Needle((f".{name}",), rf"\.{re.escape(name)}\b\s*(?:=(?!=)|:|,.*=)")
