"""Fixture files: small modules whose comments say what is to be found in them.

A finding is expected on the line where it starts, by a trailing comment: ``# expect: EGL301``, with the name that it
is about ``# expect: EGL301[Optional]``, with its column (from 1) ``# expect: EGL301[Optional]@12``. Several are
separated by semicolons. A line of its own that begins ``# expect-below: `` expects on the next line that isn't such a comment.
``# expect-pedantic:`` expects only from a pedantic run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"#\s*expect(?P<when>-below|-pedantic)?:(?P<list>[^#]*)")
_ITEM = re.compile(r"(?P<code>EGL\d{3})(?:\[(?P<name>[\w.]+)\])?(?:@(?P<column>\d+))?")


@dataclass(frozen=True, order=True)
class Expected:
    """One finding that a fixture asks for; None stands for anything."""

    code: str
    line: int
    name: str | None = None
    column: int | None = None

    def matches(self, code: str, line: int, name: str | None, column: int) -> bool:
        """Whether a finding with these properties is the expected one."""
        return (self.code, self.line) == (code, line) and self.name in (None, name) and self.column in (None, column)


def expectations(text: str, *, pedantic: bool = False) -> list[Expected]:
    """What the comments of ``text`` expect, in their order; ValueError for a comment that can't be read."""
    return list(_expected(text.splitlines(), pedantic))


def unmatched(expected: Iterable[Expected], found: Iterable[tuple[str, int, str | None, int]]) -> list[str]:
    """The differences between expectations and findings (code, line, name, column), one sentence each."""
    left = list(expected)
    problems = []
    for finding in found:
        match = next((one for one in left if one.matches(*finding)), None)
        if match is None:
            problems.append(f"not expected: {finding}")
        else:
            left.remove(match)
    return problems + [f"not found: {one}" for one in left]


def _expected(lines: list[str], pedantic: bool) -> Iterator[Expected]:
    waiting: list[str] = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match and match["when"] == "-below":
            waiting.append(match["list"])
            continue
        if match and match["when"] == "-pedantic" and not pedantic:
            continue
        for items in [*waiting, *([match["list"]] if match else [])]:
            yield from _items(items, number)
        waiting = []


def _items(items: str, line: int) -> Iterator[Expected]:
    for item in items.split(";"):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise ValueError(f"line {line}: {item.strip()!r} is no expectation")
        column = match["column"]
        yield Expected(match["code"], line, match["name"], int(column) if column else None)
