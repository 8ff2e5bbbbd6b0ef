"""Where an expression stands in the file, also when it was parsed out of a string or a format string."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from typing import Protocol

from eagle3_lint.findings.model import Span
from eagle3_lint.sources.text import SourceText, characters

_LITERAL = re.compile(r"[uUrR]?('''|\"\"\"|'|\")")
FORMAT_STRINGS_HAVE_PLACES = sys.version_info >= (3, 12)
"""Older Pythons misplace the expressions of a format string (https://github.com/python/cpython/issues/94869)."""


class Place(Protocol):
    """Turns the positions of syntax nodes into spans of the file."""

    def span(self, node: ast.expr) -> Span:
        """The span of ``node``."""

    def text(self, node: ast.expr) -> str:
        """The text of ``node`` as the file has it, lines joined by line feeds; empty where it can't be told."""


class FilePlace:
    """The positions of nodes parsed from the file itself."""

    def __init__(self, source: SourceText) -> None:
        self._source = source

    def span(self, node: ast.expr) -> Span:
        end_line = node.end_lineno or node.lineno
        return Span(
            node.lineno,
            self._source.column(node.lineno, node.col_offset),
            end_line,
            self._source.column(end_line, node.end_col_offset or node.col_offset),
        )

    def text(self, node: ast.expr) -> str:
        return _cut(self._source.lines, self.span(node))


class FixedPlace:
    """One span for every node: that of a string whose inside can't be told apart."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def span(self, node: ast.expr) -> Span:
        return self._span

    def text(self, node: ast.expr) -> str:
        return ""


class StringPlace:
    """The positions of nodes parsed from the text of a string literal that stands in the file letter by letter."""

    def __init__(self, value: str, line: int, column: int) -> None:
        self._lines = value.split("\n")
        self._line = line
        self._column = column

    def span(self, node: ast.expr) -> Span:
        end_line = node.end_lineno or node.lineno
        line, column = self._point(node.lineno, node.col_offset)
        return Span(line, column, *self._point(end_line, node.end_col_offset or node.col_offset))

    def text(self, node: ast.expr) -> str:
        end_line = node.end_lineno or node.lineno
        begin = characters(self._lines[node.lineno - 1], node.col_offset)
        end = characters(self._lines[end_line - 1], node.end_col_offset or 0)
        return _cut(self._lines, Span(node.lineno, begin + 1, end_line, end + 1))

    def _point(self, line: int, offset: int) -> tuple[int, int]:
        first = self._column if line == 1 else 1
        return self._line + line - 1, first + characters(self._lines[line - 1], offset)


class FormatPlace:
    """The positions of nodes in a format string, on Pythons that misplace them."""

    def __init__(self, whole: Span, text: str) -> None:
        self._whole = whole
        self._text = text

    def span(self, node: ast.expr) -> Span:
        pattern = re.compile(rf"(?<![\w.]){re.escape(ast.unparse(node))}(?!\w)")
        found = pattern.search(self._text)
        if found is None or pattern.search(self._text, found.end()):
            return self._whole
        return Span(*self._point(found.start()), *self._point(found.end()))

    def text(self, node: ast.expr) -> str:
        return ""

    def _point(self, index: int) -> tuple[int, int]:
        line = self._text.count("\n", 0, index)
        first = self._whole.column if line == 0 else 1
        return self._whole.line + line, first + index - (self._text.rfind("\n", 0, index) + 1)


def place_in_string(node: ast.Constant, value: str, around: Place) -> Place:
    """The place of what is parsed from ``value``, the text of the string literal ``node``.

    Where escapes or joined literals part the value from its text, all of it has the span of the literal.
    """
    span = around.span(node)
    text = around.text(node)
    quotes = _LITERAL.match(text)
    if quotes is None or text[quotes.end() : -len(quotes[1])] != value:
        return FixedPlace(span)
    return StringPlace(value, span.line, span.column + quotes.end())


def place_in_format_string(node: ast.expr, around: Place) -> Place:
    """The place of the expressions of the format string ``node``."""
    if FORMAT_STRINGS_HAVE_PLACES:
        return around
    return FormatPlace(around.span(node), around.text(node))


def _cut(lines: Sequence[str], span: Span) -> str:
    """The text of ``span`` in ``lines``."""
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first = lines[span.line - 1][span.column - 1 :]
    last = lines[span.end_line - 1][: span.end_column - 1]
    return "\n".join((first, *lines[span.line : span.end_line - 1], last))
