"""JSON for programs: version 1, with the keys that the interface fixes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

from eagle3_lint.findings.codes import documentation_url
from eagle3_lint.findings.fingerprint import fingerprints_of, relative_path
from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix
from eagle3_lint.findings.report import BaselineEntry, Report
from eagle3_lint.output.context import RenderContext
from eagle3_lint.output.escape import well_formed

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

VERSION = 1


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report as one JSON document, in ASCII."""
    fingerprints = fingerprints_of(report)
    document: dict[str, Json] = {
        "version": VERSION,
        "tool": {"name": "eagle3-lint", "version": context.version},
        "root": well_formed(report.root),
        "findings": [_finding(finding, report.root, fingerprints[finding]) for finding in report.findings],
        "suppressed": report.suppressed,
        "unused_baseline": [_entry(entry) for entry in report.unused_baseline],
        "summary": _summary(report),
    }
    yield json.dumps(document, indent=2)
    yield "\n"


def _summary(report: Report) -> dict[str, Json]:
    summary: dict[str, Json] = {
        "files": report.files,
        "classes": report.classes,
        "registered": report.registered,
        "wrappers": report.wrappers,
        "by_code": dict(report.by_code()),
    }
    if report.fixed is not None:
        summary["fixed"] = report.fixed
    return summary


def _finding(finding: Finding, root: str, fingerprint: str) -> dict[str, Json]:
    span = finding.span
    return {
        "code": finding.code,
        "symbol": finding.symbol,
        "severity": finding.severity,
        "path": _path(finding.path, root),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": well_formed(finding.message),
        "class": finding.class_name,
        "registered": list(finding.registered),
        "inner": [
            {"attribute": inner.attribute, "class": inner.class_name, "supports": inner.supports}
            for inner in finding.inner
        ],
        "methods": list(finding.methods),
        "name": finding.name,
        "confidence": finding.confidence,
        "elsewhere": finding.elsewhere,
        "url": documentation_url(finding.code),
        "evidence": [_evidence(evidence, root) for evidence in finding.evidence],
        "fix": _fix(finding.fix, root) if finding.fix else None,
        "fingerprint": fingerprint,
    }


def _path(path: str, root: str) -> str:
    return well_formed(relative_path(path, root))


def _evidence(evidence: Evidence, root: str) -> dict[str, Json]:
    return {"path": _path(evidence.path, root), "line": evidence.line, "message": well_formed(evidence.message)}


def _fix(fix: Fix, root: str) -> dict[str, Json]:
    return {"safety": fix.safety, "edits": [_edit(edit, root) for edit in fix.edits]}


def _edit(edit: Edit, root: str) -> dict[str, Json]:
    return {
        "path": _path(edit.path, root),
        "line": edit.span.line,
        "column": edit.span.column,
        "end_line": edit.span.end_line,
        "end_column": edit.span.end_column,
        "text": well_formed(edit.text),
    }


def _entry(entry: BaselineEntry) -> dict[str, Json]:
    return {"fingerprint": entry.fingerprint, "code": entry.code, "path": entry.path, "class": entry.class_name or None}
