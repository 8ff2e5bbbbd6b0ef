"""One line a finding: ``path:line:column: CODE symbol message``."""

from __future__ import annotations

from collections.abc import Iterator

from eagle3_lint.findings.fingerprint import relative_path
from eagle3_lint.findings.report import Report
from eagle3_lint.output.context import ELSEWHERE, RenderContext
from eagle3_lint.output.escape import printable


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report, a line at a time."""
    for finding in report.findings:
        path = printable(relative_path(finding.path, report.root))
        place = f"{path}:{finding.span.line}:{finding.span.column}"
        mark = f" {ELSEWHERE}" if finding.elsewhere else ""
        yield f"{place}: {finding.code} {finding.symbol} {printable(finding.message)}{mark}\n"
