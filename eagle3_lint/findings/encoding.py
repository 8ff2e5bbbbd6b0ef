"""Findings as plain tuples, and back: the form in which they are kept on disk."""

from __future__ import annotations

from typing import Any

from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Inner, Span

Plain = tuple[Any, ...]


def encode_finding(finding: Finding) -> Plain:
    """``finding`` as nested tuples of strings, numbers and None."""
    fix = finding.fix
    return (
        finding.code,
        finding.symbol,
        finding.severity,
        finding.path,
        _span(finding.span),
        finding.message,
        finding.class_name,
        finding.registered,
        tuple((i.attribute, i.class_name, i.supports, i.path, i.line) for i in finding.inner),
        finding.methods,
        finding.confidence,
        finding.elsewhere,
        tuple((e.path, e.line, e.message) for e in finding.evidence),
        None if fix is None else (fix.safety, tuple((e.path, _span(e.span), e.text) for e in fix.edits), fix.remains),
        finding.name,
        finding.scope,
        finding.caused_by,
        finding.pedantic,
    )


def decode_finding(plain: Plain) -> Finding:
    """The finding that ``encode_finding`` made ``plain`` of; raises ValueError or TypeError on anything else."""
    code, symbol, severity, path, span, message, class_name, registered, inner, methods, *rest = plain
    confidence, elsewhere, evidence, fix, name, scope, caused_by, pedantic = rest
    return Finding(
        code,
        symbol,
        severity,
        path,
        Span(*span),
        message,
        class_name,
        registered,
        tuple(Inner(*one) for one in inner),
        methods,
        confidence,
        elsewhere,
        tuple(Evidence(*one) for one in evidence),
        None if fix is None else Fix(fix[0], tuple(Edit(p, Span(*s), t) for p, s, t in fix[1]), fix[2]),
        name,
        scope,
        caused_by,
        pedantic,
    )


def _span(span: Span) -> Plain:
    return (span.line, span.column, span.end_line, span.end_column)
