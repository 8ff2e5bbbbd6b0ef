"""The engine as the command line sees it; tests put another in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from eagle3_lint.engine import Comparison, ExplainRequest, Explanation, Fixed, MatrixRequest, Request
    from eagle3_lint.findings.report import Report


class Engine(Protocol):
    """What lints and describes; the package ``eagle3_lint.engine`` is one."""

    def check(self, request: Request) -> Report:
        """The report on what ``request`` names."""

    def compared_with(self, request: Request, revision: str) -> Comparison:
        """What ``request`` names as ``revision`` has it, and the request for the same in the working tree."""

    def explain(self, request: ExplainRequest) -> Explanation:
        """The investigation of one class."""

    def fix(self, request: Request, *, unsafe: bool, reported: Callable[[Report], Report]) -> Fixed:
        """The report on what remains of ``request`` once it is fixed, and the changes to make."""

    def matrix(self, request: MatrixRequest) -> dict[str, Any]:
        """The support matrix, as its JSON has it."""


def real_engine() -> Engine:
    """The engine itself, imported on the first call."""
    from eagle3_lint import engine

    return engine
