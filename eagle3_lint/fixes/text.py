"""Edits of one file's text, and the layout that they have to fit into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from eagle3_lint.findings.model import Edit, Span
from eagle3_lint.sources.text import SourceText

WIDTH = 88
"""The line length of SGLang's own formatter, which new code keeps to."""

_ENDING = re.compile(r"\r\n|\r|\n")
_INDENT = re.compile(r"[ \t\f]*")


class OverlappingEditsError(ValueError):
    """Two edits of one text change the same place."""


def insertion(source: SourceText, line: int, column: int, text: str) -> Edit:
    """The edit that puts ``text`` before the character at ``line`` and ``column``, both from 1."""
    return Edit(source.path, Span(line, column, line, column), text)


def at_offset(source: SourceText, line: int, offset: int, text: str) -> Edit:
    """The edit that puts ``text`` at ``line`` and ``ast``'s UTF-8 byte ``offset``."""
    return insertion(source, line, source.column(line, offset), text)


def replacement(source: SourceText, line: int, offset: int, end_line: int, end_offset: int, text: str) -> Edit:
    """The edit that puts ``text`` in the place of a node at these positions of ``ast``."""
    span = Span(line, source.column(line, offset), end_line, source.column(end_line, end_offset))
    return Edit(source.path, span, text)


def end_of_line(source: SourceText, line: int) -> int:
    """The column behind the last character of ``line``."""
    return len(source.lines[line - 1]) + 1


def ending_at(source: SourceText, line: int) -> str:
    """The line ending of ``line``; that of the first line where it has none, ``\\n`` where no line has one."""
    if "\r" not in source.text:
        return "\n"
    first = ""
    for number, match in enumerate(_ENDING.finditer(source.text), 1):
        first = first or match.group()
        if number == line:
            return match.group()
    return first or "\n"


def indent_of(source: SourceText, line: int) -> str:
    """The blank text that ``line`` starts with."""
    match = _INDENT.match(source.lines[line - 1])
    return match.group() if match is not None else ""


def is_blank_before(source: SourceText, line: int, offset: int) -> bool:
    """Whether nothing but blanks stands on ``line`` before ``ast``'s UTF-8 byte ``offset``."""
    return not source.lines[line - 1][: source.column(line, offset) - 1].strip(" \t\f")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with ``edits`` made, which all are of its file; raises OverlappingEditsError where two of them overlap."""
    starts = [0, *(match.end() for match in _ENDING.finditer(text))]
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted((*offsets(starts, edit.span, len(text)), edit.text) for edit in dict.fromkeys(edits)):
        if start < done or end < start:
            raise OverlappingEditsError(f"two edits change the text at {start}")
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def offsets(starts: Sequence[int], span: Span, length: int) -> tuple[int, int]:
    """The character offsets of ``span`` in a text of ``length`` whose lines begin at ``starts``."""
    start = starts[min(span.line, len(starts)) - 1] + span.column - 1
    end = starts[min(span.end_line, len(starts)) - 1] + span.end_column - 1
    return min(start, length), min(end, length)
