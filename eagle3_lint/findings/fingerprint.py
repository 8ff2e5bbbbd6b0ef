"""Names for findings that outlive edits elsewhere in the file and differ between any two findings of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import Report

_LENGTH = 32
# once a class: which methods are missing, and of which inner class, may change without it being another finding
ONCE_A_CLASS = frozenset(("EGL101", "EGL102"))


def relative_path(path: str, root: str) -> str:
    """``path`` relative to ``root`` with ``/``; unchanged but for its separators where no relative path exists."""
    prefix = root.rstrip(os.sep) + os.sep
    if path.startswith(prefix):
        relative = path[len(prefix) :]
    else:
        try:
            relative = os.path.relpath(path, root)
        except ValueError:  # another drive of Windows
            relative = path
    return relative.replace(os.sep, "/")


def fingerprints(findings: Sequence[Finding], root: str) -> tuple[str, ...]:
    """The fingerprint of each finding, in the order given.

    It is a hash of the code, the path relative to ``root``, the class or scope, and the names involved: neither line
    numbers, nor the absolute path, nor findings of another code or class take part. Findings that are equal in all
    of that get an ordinal in the order of their places, so that the first keeps its name when a second appears
    below it.
    """
    from hashlib import sha256  # loads OpenSSL, which runs that print no fingerprints need not wait for

    identities = [_identity(finding, root) for finding in findings]
    places = sorted(range(len(findings)), key=lambda index: (findings[index].span.line, findings[index].span.column))
    seen: dict[str, int] = {}
    result = [""] * len(findings)
    for index in places:
        identity = identities[index]
        ordinal = seen.get(identity, 0)
        seen[identity] = ordinal + 1
        text = identity if ordinal == 0 else f"{identity}\0{ordinal}"
        result[index] = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
    return tuple(result)


def fingerprints_of(report: Report) -> dict[Finding, str]:
    """The fingerprint of each finding of ``report``, reported or not.

    Findings that aren't reported take part, so that silencing one doesn't rename its equals.
    """
    findings = [*report.findings, *report.unchanged, *(suppressed.finding for suppressed in report.suppressions)]
    return dict(zip(findings, fingerprints(findings, report.root), strict=True))


def _identity(finding: Finding, root: str) -> str:
    parts = [finding.code, relative_path(finding.path, root), finding.class_name or "", finding.scope]
    if finding.code not in ONCE_A_CLASS:
        inner = sorted({f"{inner.attribute}={inner.class_name}" for inner in finding.inner})
        parts += [finding.name or "", *finding.methods, "", *inner]
    return "\0".join(parts)
