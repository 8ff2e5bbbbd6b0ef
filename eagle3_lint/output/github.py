"""Workflow commands that GitHub Actions shows as annotations in the pull request.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message;
a column together with different lines makes the runner drop the command's position, so columns are left out then.
"""

from __future__ import annotations

from collections.abc import Iterator

from eagle3_lint.findings.codes import documentation_url
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import Report
from eagle3_lint.output.context import ELSEWHERE, RenderContext, checkout_path
from eagle3_lint.output.escape import printable, well_formed

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report, one command a finding."""
    for finding in report.findings:
        yield _command(finding, context)


def _command(finding: Finding, context: RenderContext) -> str:
    span = finding.span
    properties = {
        "file": _in_one_line(checkout_path(finding.path, context.base)),
        "line": str(span.line),
        "endLine": str(span.end_line),
    }
    if span.line == span.end_line:
        properties |= {"col": str(span.column), "endColumn": str(max(span.end_column, span.column))}
    properties["title"] = f"{finding.code} {finding.symbol}"
    shown = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    return f"::{finding.severity} {shown}::{_message(finding, context).translate(_DATA)}\n"


def _message(finding: Finding, context: RenderContext) -> str:
    lines = [printable(finding.message), *([ELSEWHERE] if finding.elsewhere else [])]
    for link in finding.evidence:
        lines.append(f"{printable(checkout_path(link.path, context.base))}:{link.line}: {printable(link.message)}")
    return "\n".join([*lines, documentation_url(finding.code)])


def _in_one_line(path: str) -> str:
    """The path itself where GitHub's escapes can carry it; other line ends and control characters are shown."""
    return "".join(character if character in "\r\n" else printable(character) for character in well_formed(path))
