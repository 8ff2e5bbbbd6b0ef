"""Whether a text may hold a comment that silences one of its findings, told from its lines alone.

Tokenizing a large file takes as long as all else that an unchanged file costs. "No" is certain here; "yes" is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product

from eagle3_lint.findings.codes import PREFIX, PYLINT_BLOCK, PYLINT_CHECKER, Code
from eagle3_lint.sources.text import SourceText

NOQA = re.compile(r"#\s*noqa(?!\w)(?::\s?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
NOQA_FILE = re.compile(
    r"#\s*flake8[:=]\s*noqa(?!\w)(?::\s?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE
)
OWN = re.compile(r"#\s*eagle3-lint:\s*(?P<action>ignore-file|ignore)(?![\w-])(?P<list>\s*\[(?P<codes>[^\]]*)\])?")
# What stands for our messages in a pragma that names none of them: our checker, all messages, or a category.
_PYLINT_WORDS = re.compile(rf"{PYLINT_CHECKER}|\ball\b|skip-file|disable-all|\b(?:[ew]|error|warning)\b")
_MARKS = ("noqa", "pylint:", "eagle3-lint:")
MARK_WORDS = frozenset({"pylint", "eagle3", *map("".join, product("nN", "oO", "qQ", "aA"))})
"""Whole words of which every directive has one, in the capitals in which it is read."""
_DEFINITION = re.compile(r"\s*(?:class|def|async)\b")
# No line inside brackets begins with one of these, so nothing above it belongs to a decorator further down.
_STATEMENT = re.compile(r"\s*(?:class|def|async|return|raise|import|pass|assert|del|global|continue|break)\b")
_LONG_QUOTES = ('"""', "'''")


def may_silence(
    source: SourceText, codes: Collection[Code], at: Collection[int] | None, *, unused: bool = False
) -> bool:
    """Whether some line of ``source`` may be a directive about one of our ``codes``.

    With ``at``, the lines of the findings, one that stands for a line of its own is asked for only where it can reach one
    of them; where there are none, and with ``unused``, whatever names one of ours is asked for all the same.
    """
    return any(
        (unused and _names_ours(line, codes)) or (_concerns_us(line, codes) and _may_reach(source, number, line, at))
        for number, line in _marked(source)
    )


def _marked(source: SourceText) -> Iterator[tuple[int, str]]:
    """The lines that have one of the marks, with their numbers."""
    lowered = source.text.lower()
    if "\r" in lowered:
        lowered = lowered.replace("\r\n", "\n").replace("\r", "\n")
    numbers: set[int] = set()
    for mark in _MARKS:
        line, position = 1, 0
        while (found := lowered.find(mark, position)) >= 0:
            line += lowered.count("\n", position, found)
            numbers.add(line)
            position = found + len(mark)
    for number in sorted(numbers):
        yield number, source.lines[number - 1]


def _concerns_us(line: str, codes: Collection[Code]) -> bool:
    """Whether a directive on ``line`` may name one of ``codes``, or silence whatever there is."""
    lowered = line.lower()
    return (
        _names_ours(line, codes)
        or None in _noqa_codes(line)
        or ("pylint:" in lowered and _PYLINT_WORDS.search(lowered) is not None)
    )


def _names_ours(line: str, codes: Collection[Code]) -> bool:
    """Whether a directive on ``line`` may name one of ``codes``, or this program, so that it can silence nothing at all."""
    lowered = line.lower()
    if "eagle3-lint:" in lowered or any(given and PREFIX.lower() in given.lower() for given in _noqa_codes(line)):
        return True
    return "pylint:" in lowered and (PYLINT_BLOCK in lowered or any(code.symbol in lowered for code in codes))


def _noqa_codes(line: str) -> list[str | None]:
    """The codes of each ``noqa`` on ``line``; None for one without."""
    return [match["codes"] for pattern in (NOQA, NOQA_FILE) for match in pattern.finditer(line)]


def _may_reach(source: SourceText, number: int, line: str, at: Collection[int] | None) -> bool:
    """Whether a directive on ``line`` may reach one of the lines ``at``, which are all of them if None."""
    return at is None or (bool(at) and (_is_for_more(line) or _reaches(source.lines, number, at)))


def _is_for_more(line: str) -> bool:
    """Whether a directive on ``line`` may stand for a scope or the whole file."""
    return "pylint:" in line.lower() or NOQA_FILE.search(line) is not None or "ignore-file" in line


def _reaches(lines: Sequence[str], comment: int, at: Iterable[int]) -> bool:
    return any(
        line == comment
        or (line < comment and _ends_a_string(lines, comment))
        or (comment < line and _may_be_headed(lines, comment, line))
        for line in at
    )


def _ends_a_string(lines: Sequence[str], comment: int) -> bool:
    """Whether the line of the comment may be joined to lines above by a string or a backslash."""
    return any(quotes in lines[comment - 1] for quotes in _LONG_QUOTES) or lines[comment - 2].endswith("\\")


def _may_be_headed(lines: Sequence[str], comment: int, line: int) -> bool:
    """Whether the comment may be above, or among the decorators of, a definition on ``line``."""
    if not _DEFINITION.match(lines[line - 1]):
        return False
    for number in range(line - 1, comment - 1, -1):
        text = lines[number - 1]
        if any(quotes in text for quotes in _LONG_QUOTES) or text.endswith("\\"):
            return True
        if _STATEMENT.match(text):
            return False
    return True
