"""The comments of a file and the lines that they belong to, from Python's tokenizer."""

from __future__ import annotations

import tokenize
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle3_lint.sources.text import SourceText

_INVISIBLE = frozenset(
    (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)
)
_DEFINITIONS = frozenset(("class", "def"))


@dataclass(frozen=True)
class Comment:
    """One comment: its place, whether it has the line to itself, and the joined lines that it ends.

    ``first`` to ``last`` are the physical lines that flake8 takes as one: those of a string or a backslash that
    spans lines. ``logical_line`` is the line that pylint counts a pragma from: the line before where that one ends in
    a backslash.
    """

    text: str
    line: int
    column: int
    alone: bool
    first: int
    last: int
    logical_line: int


@dataclass(frozen=True)
class Header:
    """The header of a class or function: where its name is, and the lines above that count as the definition's.

    ``decorator_lines`` are the lines of its decorators; ``lines`` has those, the comment lines among them, and the
    comment line directly above.
    """

    name_column: int
    decorator_lines: tuple[int, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """The comments of a file in order, and its definitions by the line of their ``class`` or ``def``."""

    comments: tuple[Comment, ...] = ()
    headers: dict[int, Header] = field(default_factory=dict)
    last_line: int = 0


def read_layout(source: SourceText) -> Layout:
    """The layout of ``source`` as far as it can be tokenized; never raises on what it reads."""
    tokens: list[tokenize.TokenInfo] = []
    # what came before a fault is kept: a directive above it still counts
    with suppress(tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        tokens.extend(tokenize.generate_tokens(_reader(source.lines)))
    comments = tuple(_comments(tokens))
    alone = {comment.line for comment in comments if comment.alone}
    return Layout(comments, dict(_headers(tokens, alone)), len(source.lines))


def _reader(lines: tuple[str, ...]) -> Callable[[], str]:
    remaining = iter(lines)

    def readline() -> str:
        line = next(remaining, None)
        if line is None:
            return ""
        # NUL and unpaired surrogates, which some declared encodings can yield, confuse the tokenizers of some releases
        return line.encode("utf-8", "replace").decode().replace("\0", "?") + "\n"

    return readline


def _comments(tokens: list[tokenize.TokenInfo]) -> Iterator[Comment]:
    for group in _joined_lines(tokens):
        rows = [row for token in group for row in (token.start[0], token.end[0])]
        first, last = min(rows), max(rows)
        for token in group:
            if token.type == tokenize.COMMENT:
                line, offset = token.start
                alone = first == line and not token.line[:offset].strip()
                logical = line - 1 if _continues(group, line) else line
                yield Comment(token.string, line, offset + 1, alone, first, last, logical)


def _continues(group: list[tokenize.TokenInfo], line: int) -> bool:
    """Whether pylint takes ``line`` for the end of the line before; the first two lines of a file it never joins."""
    rows = {token.start[0] for token in group if token.start[0] <= line}
    return len(rows) > 1 and rows != {1, line}


def _joined_lines(tokens: list[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """The tokens in groups that a line end closes."""
    group: list[tokenize.TokenInfo] = []
    for token in tokens:
        if token.type in (tokenize.DEDENT, tokenize.INDENT, tokenize.ENDMARKER, tokenize.ENCODING):
            continue
        group.append(token)
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            yield group
            group = []
    if group:
        yield group


def _headers(tokens: list[tokenize.TokenInfo], alone: set[int]) -> Iterator[tuple[int, Header]]:
    decorators: list[int] = []
    statement: list[tokenize.TokenInfo] = []
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            if statement and statement[0].string == "@":
                decorators += range(statement[0].start[0], token.end[0] + 1)
            elif statement:
                yield from _header(statement, decorators, alone)
                decorators = []
            statement = []
        elif token.type not in _INVISIBLE:
            statement.append(token)
    yield from _header(statement, decorators, alone)


def _header(
    statement: list[tokenize.TokenInfo], decorators: list[int], alone: set[int]
) -> Iterator[tuple[int, Header]]:
    words = statement[1:] if statement and statement[0].string == "async" else statement
    if len(words) < 2 or words[0].string not in _DEFINITIONS or words[1].type != tokenize.NAME:
        return
    line = words[0].start[0]
    first = decorators[0] if decorators else statement[0].start[0]
    above = [row for row in range(first - 1, line) if row in alone and row not in decorators]
    yield line, Header(words[1].start[1] + 1, tuple(decorators), tuple(sorted({*decorators, *above})))
