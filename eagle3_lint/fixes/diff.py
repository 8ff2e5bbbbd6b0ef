"""What changes a file, as a unified diff that ``patch -p1`` and ``git apply`` take."""

from __future__ import annotations

import re
from collections.abc import Iterator

_UNQUOTED = re.compile(rb"[^\x00-\x1f\x7f-\xff\"\\]*")
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def unified_diff(name: str, before: str, after: str) -> str:
    """The diff from ``before`` to ``after`` of the file ``name``, a path with ``/``; empty where they are equal.

    Lines end at ``\\n`` alone, as those programs have it: every other character of a line stands in it.
    """
    from difflib import unified_diff as differences

    lines = differences(_lines(before), _lines(after), quoted(f"a/{name}"), quoted(f"b/{name}"))
    return "".join(_closed(lines))


def quoted(name: str) -> str:
    """``name`` as git writes it in a diff: in C's quotes where it has characters that would break the line."""
    data = name.encode("utf-8", "surrogateescape")
    if _UNQUOTED.fullmatch(data):
        return name
    return (
        '"' + "".join(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data) + '"'
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _closed(lines: Iterator[str]) -> Iterator[str]:
    """The lines, each ended; a last line without an ending is marked."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
