"""What a fixture expects of a rule, in trailing comments of its own lines.

``# expect: CODE`` says that one finding of CODE starts on this line; several are set apart by ``; ``. ``CODE[name]``
asks for the finding's bare typing name too, ``CODE@column`` for its column. ``# expect-pedantic:`` is the same for
findings that only a pedantic run has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"#\s*expect(?P<pedantic>-pedantic)?:\s*(?P<items>.+?)\s*$")
_ITEM = re.compile(r"(?P<code>EGL\d{3})(?:\[(?P<name>\w+)\])?(?:@(?P<column>\d+))?")


@dataclass(frozen=True, order=True)
class Expectation:
    """One expected finding; ``name`` and ``column`` are None where they don't matter."""

    line: int
    code: str
    name: str | None = None
    column: int | None = None


def expectations(text: str, *, pedantic: bool = False) -> tuple[Expectation, ...]:
    """The findings that ``text`` expects, by line; with ``pedantic`` also those of a pedantic run.

    Raises ValueError for a comment that can't be read.
    """
    found: list[Expectation] = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = _COMMENT.search(line)
        if comment is None or (comment["pedantic"] and not pedantic):
            continue
        for item in comment["items"].split(";"):
            match = _ITEM.fullmatch(item.strip())
            if match is None:
                raise ValueError(f"line {number}: {item.strip()!r} is no expectation")
            column = int(match["column"]) if match["column"] else None
            found.append(Expectation(number, match["code"], match["name"], column))
    return tuple(found)
