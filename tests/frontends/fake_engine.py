"""An engine whose answers are given by the test, and that remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from eagle3_lint.engine import SessionOptions
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import InternalError

SOURCE = """\
import torch


class Wrapper(torch.nn.Module):
    def forward(self):
        return self.model()
"""
WRAPPER = Finding(
    code="EGL101",
    symbol="missing-eagle3-delegation",
    severity="error",
    path="",
    span=Span(4, 7, 4, 14),
    message="100% missing: %s",
)


class Asked(NamedTuple):
    """One question of a host."""

    path: str
    data: bytes | None
    codes: frozenset[str]
    honour_noqa: bool


@dataclass
class FakeEngine:
    """Answers with ``findings``; ``silenced`` are those that comments for pylint silence, as the engine reads them."""

    findings: tuple[Finding, ...] = (WRAPPER,)
    silenced: tuple[Finding, ...] = ()
    before: Callable[[], None] = lambda: None
    opened: list[SessionOptions] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    saved: int = 0
    failures: tuple[InternalError, ...] = ()

    def take_failures(self) -> tuple[InternalError, ...]:
        taken, self.failures = self.failures, ()
        return taken

    def save(self) -> None:
        self.saved += 1

    def open_session(self, options: SessionOptions) -> FakeEngine:
        self.opened.append(options)
        return self

    def findings_of(
        self,
        path: str,
        data: bytes | None,
        codes: frozenset[str],
        *,
        honour_pylint: bool = True,
        honour_noqa: bool = True,
    ) -> tuple[Finding, ...]:
        self.before()
        self.asked.append(Asked(path, data, codes, honour_noqa))
        answer = tuple(finding for finding in self.findings if finding.code in codes)
        return tuple(f for f in answer if f not in self.silenced) if honour_pylint else answer
