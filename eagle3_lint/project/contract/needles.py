"""Looking for a pattern in a whole runtime at the price of looking for a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import AnyStr

from eagle3_lint.records import dataclass


@dataclass(frozen=True)
class Needle:
    """A pattern that matches within one line, and words of which each match has one at least.

    A plain word is found in megabytes of text in no time; only the lines that have one are matched.
    """

    words: tuple[str, ...]
    pattern: str

    @cached_property
    def _text(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _bytes(self) -> re.Pattern[bytes]:
        return re.compile(self.pattern.encode())

    def found_in(self, data: bytes) -> bool:
        """Whether some line of ``data`` matches."""
        return any(True for word in self.words for _ in _matching(self._bytes, data, word.encode(), b"\n"))

    def lines_in(self, text: str) -> list[int]:
        """The numbers of the lines of ``text`` that match, in order."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        found: set[int] = set()
        for word in self.words:
            found.update(_matching(self._text, text, word, "\n"))
        numbers: list[int] = []
        line, end = 1, 0
        for start in sorted(found):
            line += text.count("\n", end, start)
            end = start
            numbers.append(line)
        return numbers


def _matching(pattern: re.Pattern[AnyStr], text: AnyStr, word: AnyStr, newline: AnyStr) -> Iterator[int]:
    """Where the lines of ``text`` start that hold ``word`` and match ``pattern``."""
    position = text.find(word)
    while position >= 0:
        start, end = text.rfind(newline, 0, position) + 1, text.find(newline, position)
        end = len(text) if end < 0 else end
        if pattern.search(text, start, end):
            yield start
        position = text.find(word, end)


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
