"""GitLab's Code Quality report.

Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from eagle3_lint.findings.codes import documentation_url
from eagle3_lint.findings.fingerprint import fingerprints_of
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import Report
from eagle3_lint.output.context import RenderContext, checkout_path
from eagle3_lint.output.escape import printable, well_formed

_SEVERITIES = {"error": "major", "warning": "minor"}


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report as one JSON list, in ASCII; fingerprints are those of the JSON format."""
    fingerprints = fingerprints_of(report)
    yield json.dumps([_issue(finding, fingerprints[finding], context) for finding in report.findings], indent=2)
    yield "\n"


def _issue(finding: Finding, fingerprint: str, context: RenderContext) -> dict[str, object]:
    chain = "".join(
        f"\n- `{printable(checkout_path(link.path, context.base))}:{link.line}`: {printable(link.message)}"
        for link in finding.evidence
    )
    url = documentation_url(finding.code)
    return {
        "description": f"{finding.code} {finding.symbol}: {printable(finding.message)}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": well_formed(checkout_path(finding.path, context.base)),
            "lines": {"begin": finding.span.line, "end": finding.span.end_line},
        },
        "content": {"body": f"{printable(finding.message)}\n{chain}\n\n[{finding.code} {finding.symbol}]({url})"},
    }
