"""SARIF 2.1.0, for code scanning.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. The chain of evidence is a code flow that
ends at the finding's own place. Suppressed findings are listed with their suppressions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from eagle3_lint.findings.codes import documentation_url, pylint_id
from eagle3_lint.findings.fingerprint import fingerprints_of
from eagle3_lint.findings.model import Edit, Finding, Fix, Span
from eagle3_lint.findings.report import InternalError, Report, Suppressed
from eagle3_lint.output.context import RenderContext, below
from eagle3_lint.output.escape import printable, well_formed
from eagle3_lint.rules.registry import all_codes, documentation, is_pedantic, load

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
_FINGERPRINT = "eagle3LintFingerprint/v1"
_HOME = documentation_url("").removesuffix("rules/.md")


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report as one SARIF log with one run, in ASCII."""
    codes = _codes(report)
    fingerprints = fingerprints_of(report)
    results = [_result(finding, [], codes, fingerprints, context) for finding in report.findings]
    for item in report.suppressions:
        results.append(_result(item.finding, [_suppression(item)], codes, fingerprints, context))
    run = {
        "tool": {"driver": _driver(codes, context)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": _directory_uri(context.base)}},
        "invocations": [_invocation(report, context)],
        "results": results,
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
    yield "\n"


def _codes(report: Report) -> tuple[str, ...]:
    """The rules that the log describes: those that ran, else those that exist."""
    return tuple(code for code in all_codes() if not report.active or code in report.active)


def _driver(codes: Sequence[str], context: RenderContext) -> dict[str, Any]:
    return {
        "name": "eagle3-lint",
        "version": context.version,
        "semanticVersion": context.version,
        "informationUri": _HOME,
        "rules": [_rule(code) for code in codes],
    }


def _rule(code: str) -> dict[str, Any]:
    rule = load(code)
    text = documentation(code)
    return {
        "id": code,
        "name": rule.symbol,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": text, "markdown": text},
        "helpUri": documentation_url(code),
        "defaultConfiguration": {"level": rule.severity, "enabled": not is_pedantic(code)},
        "properties": {
            "tags": ["correctness", "sglang", "eagle3"],
            "problem.severity": rule.severity,
            "pylint": pylint_id(code, rule.severity),
        },
    }


def _invocation(report: Report, context: RenderContext) -> dict[str, Any]:
    notifications = [_internal_error(error, context) for error in report.internal_errors]
    notifications += [{"level": "note", "message": {"text": printable(note)}} for note in report.notes]
    return {"executionSuccessful": not report.internal_errors, "toolExecutionNotifications": notifications}


def _internal_error(error: InternalError, context: RenderContext) -> dict[str, Any]:
    notification: dict[str, Any] = {
        "level": "error",
        "message": {"text": f"{error.rule} failed: {printable(error.text)}"},
        "locations": [{"physicalLocation": _place(error.path, {"startLine": max(error.line, 1)}, context)}],
    }
    if error.rule in all_codes():
        notification["associatedRule"] = {"id": error.rule}
    return notification


def _result(
    finding: Finding,
    suppressions: list[dict[str, Any]],
    codes: Sequence[str],
    fingerprints: dict[Finding, str],
    context: RenderContext,
) -> dict[str, Any]:
    location = _location(finding.path, _region(finding.span), None, context)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": printable(finding.message)},
        "locations": [location],
        "partialFingerprints": {_FINGERPRINT: fingerprints[finding]},
        "suppressions": suppressions,
        "properties": _properties(finding),
    }
    if finding.code in codes:
        result["ruleIndex"] = codes.index(finding.code)
    if finding.evidence:
        result["codeFlows"] = [_code_flow(finding, context)]
    if finding.fix and finding.fix.edits:
        result["fixes"] = [_fix(finding.fix, context)]
    return result


def _suppression(item: Suppressed) -> dict[str, Any]:
    suppression: dict[str, Any] = {"kind": item.kind}
    if item.reason:
        suppression["justification"] = printable(item.reason)
    return suppression


def _properties(finding: Finding) -> dict[str, Any]:
    values = {
        "class": finding.class_name,
        "registered": list(finding.registered),
        "methods": list(finding.methods),
        "name": finding.name,
        "confidence": finding.confidence,
    }
    return {key: value for key, value in values.items() if value}


def _code_flow(finding: Finding, context: RenderContext) -> dict[str, Any]:
    steps = [_location(link.path, {"startLine": max(link.line, 1)}, link.message, context) for link in finding.evidence]
    steps.append(_location(finding.path, _region(finding.span), finding.message, context))
    return {"threadFlows": [{"locations": [{"location": step} for step in steps]}]}


def _fix(fix: Fix, context: RenderContext) -> dict[str, Any]:
    edits: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        edits.setdefault(edit.path, []).append(edit)
    text = f"A {fix.safety} fix." + (f" {printable(fix.remains)}" if fix.remains else "")
    return {
        "description": {"text": text},
        "artifactChanges": [
            {"artifactLocation": _artifact(path, context), "replacements": [_replacement(edit) for edit in changes]}
            for path, changes in edits.items()
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": well_formed(edit.text)}}


def _location(path: str, region: dict[str, int], message: str | None, context: RenderContext) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _place(path, region, context)}
    if message is not None:
        location["message"] = {"text": printable(message)}
    return location


def _place(path: str, region: dict[str, int], context: RenderContext) -> dict[str, Any]:
    return {"artifactLocation": _artifact(path, context), "region": region}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(path: str, context: RenderContext) -> dict[str, str]:
    relative = below(path, context.base)
    if relative is None:
        return {"uri": _absolute_uri(path)}
    return {"uri": _quoted(relative), "uriBaseId": _BASE}


def _directory_uri(path: str) -> str:
    return _absolute_uri(path).rstrip("/") + "/"


def _absolute_uri(path: str) -> str:
    """The ``file:`` URI of an absolute path, of a drive or a share of Windows too."""
    shown = path.replace(os.sep, "/")
    if shown.startswith("//"):
        return "file:" + _quoted(shown)
    drive, colon, rest = shown.partition(":/")
    if colon and len(drive) == 1:
        return f"file:///{drive}:/{_quoted(rest)}"
    return "file://" + _quoted(shown)


def _quoted(path: str) -> str:
    """The path with all but unreserved characters percent-encoded, byte by byte as they are on disk."""
    from urllib.parse import quote

    try:
        return quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return quote(well_formed(path))
