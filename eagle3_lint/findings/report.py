"""What one run of the engine found, as every output format reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from eagle3_lint.findings.model import Finding


@dataclass(frozen=True)
class InternalError:
    """A rule failed on a file: a fault of this program, not of the code under lint."""

    rule: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.rule} failed at {self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Suppressed:
    """A finding that isn't reported, and why.

    ``kind`` is ``inSource`` for a comment and ``external`` for the baseline, as SARIF names them; ``reason`` is what
    the comment says after its codes.
    """

    finding: Finding
    kind: Literal["inSource", "external"]
    reason: str = ""


@dataclass(frozen=True)
class BaselineEntry:
    """One accepted finding of a baseline; ``path`` is relative to the report's root and uses ``/``."""

    fingerprint: str
    code: str
    path: str
    class_name: str = ""


@dataclass(frozen=True)
class Report:
    """The findings of one run, sorted by path, line, column and code, and what was looked at.

    ``root`` is the absolute directory that paths are shown relative to. ``files`` counts the Python files matched,
    ``linted`` holds their absolute paths and ``given`` the absolute paths that were asked for; ``active`` the codes
    that ran. ``suppressed`` counts what comments silence; ``suppressions`` are those findings and, with a baseline, the
    accepted ones; ``unchanged`` are findings that aren't reported because an earlier revision has them too. ``fixed`` is
    None unless fixes were applied. ``cache_problem`` says why the run went without cache, if it did.
    """

    root: str
    findings: tuple[Finding, ...]
    suppressed: int = 0
    files: int = 0
    classes: int = 0
    registered: int = 0
    wrappers: int = 0
    fixed: int | None = None
    unused_baseline: tuple[BaselineEntry, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    notes: tuple[str, ...] = ()
    suppressions: tuple[Suppressed, ...] = ()
    linted: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    active: tuple[str, ...] = field(default=())
    cache_problem: str = ""
    unchanged: tuple[Finding, ...] = ()

    def by_code(self) -> dict[str, int]:
        """How many findings each code has, for the codes that ran or were found, sorted by code."""
        counts = dict.fromkeys(sorted({*self.active, *(finding.code for finding in self.findings)}), 0)
        for finding in self.findings:
            counts[finding.code] += 1
        return counts


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in the order every front end shows them, without exact duplicates."""
    return tuple(sorted(dict.fromkeys(findings), key=_place))


def _place(finding: Finding) -> tuple[str, int, int, str, str]:
    return finding.path, finding.span.line, finding.span.column, finding.code, finding.message
