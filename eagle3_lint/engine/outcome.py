"""What rules find and note in families of files, and its form on disk and between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle3_lint.findings.encoding import decode_finding, encode_finding
from eagle3_lint.findings.model import Finding
from eagle3_lint.project.families import Family
from eagle3_lint.rules.base import Note

Census = dict[str, tuple[int, int, int]]
"""For each model file: how many classes it has, how many of them are registered, how many of these wrappers."""


@dataclass
class Outcome:
    """Findings and notes by the code of their rule, and what the files hold."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    census: Census = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Take in what ``other`` has."""
        for code, findings in other.findings.items():
            self.findings.setdefault(code, []).extend(findings)
        for code, notes in other.notes.items():
            self.notes.setdefault(code, []).extend(notes)
        self.census.update(other.census)

    def about(self, family: Family) -> Outcome:
        """What of this is about the files of ``family``."""
        return Outcome(
            {code: [one for one in found if one.path in family] for code, found in self.findings.items()},
            {code: [one for one in noted if one.path in family] for code, noted in self.notes.items()},
            {path: counts for path, counts in self.census.items() if path in family},
        )

    def encoded(self) -> tuple[Any, ...]:
        """The same as tuples, strings and numbers."""
        return (
            {code: tuple(map(encode_finding, found)) for code, found in self.findings.items() if found},
            {code: tuple(map(tuple, noted)) for code, noted in self.notes.items() if noted},
            self.census,
        )

    @classmethod
    def decoded(cls, plain: Any) -> Outcome:
        """What ``encoded`` made ``plain`` of; raises ValueError, TypeError or AttributeError on anything else."""
        findings, notes, census = plain
        return cls(_lists(findings, decode_finding), _lists(notes, lambda one: Note(*one)), dict(census))


def _lists(plain: Mapping[str, Any], decode: Any) -> dict[str, list[Any]]:
    return {code: [decode(one) for one in ones] for code, ones in plain.items()}
