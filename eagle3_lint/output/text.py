"""Text for people: the place, the source line with the span underlined, the evidence, the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from eagle3_lint.findings.codes import documentation_url
from eagle3_lint.findings.fingerprint import relative_path
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import Report
from eagle3_lint.output.context import ELSEWHERE, RenderContext
from eagle3_lint.output.escape import printable, printable_character

_STYLES = {"place": "1", "error": "1;31", "warning": "1;33", "evidence": "36", "muted": "2"}
_TAB = "    "
_WIDEST = 160
_LEAD = 40


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report, a finding at a time, then a summary unless the context is quiet."""
    for finding in report.findings:
        yield _finding(finding, report.root, context)
    for entry in report.unused_baseline:
        yield f"{printable(entry.path)}: {entry.code} in the baseline no longer matches: {printable(entry.class_name)}\n"
    if not context.quiet:
        yield f"{_summary(report)}\n"


def _finding(finding: Finding, root: str, context: RenderContext) -> str:
    path = printable(relative_path(finding.path, root))
    place = _paint(f"{path}:{finding.span.line}:{finding.span.column}", "place", context)
    code = _paint(f"{finding.severity} {finding.code}", finding.severity, context)
    lines = [f"{place}: {code} {finding.symbol}: {printable(finding.message)}"]
    if finding.elsewhere:
        lines.append(f"  {ELSEWHERE}")
    if not context.quiet:
        lines += _excerpt(finding, context)
    for link in finding.evidence:
        target = _paint(f"{printable(relative_path(link.path, root))}:{link.line}", "evidence", context)
        lines.append(f"  {target}: {printable(link.message)}")
    if not context.quiet:
        lines.append("  " + _paint(f"see {documentation_url(finding.code)}", "muted", context))
    return "\n".join(lines) + "\n\n"


def _excerpt(finding: Finding, context: RenderContext) -> list[str]:
    text = context.read_line(finding.path, finding.span.line)
    if text is None:
        return []
    number = str(finding.span.line)
    shown, before, width = _underlined(text, finding.span)
    margin = " " * len(number)
    marks = _paint("^" * width, finding.severity, context)
    return [f"  {margin} |", f"  {number} | {shown}", f"  {margin} | {' ' * before}{marks}"]


def _underlined(text: str, span: Span) -> tuple[str, int, int]:
    """The line as shown, the columns of the screen before the span, and those below it (at least one)."""
    start = min(max(span.column - 1, 0), len(text))
    end = span.end_column - 1 if span.end_line == span.line else len(text.rstrip())
    end = min(max(end, start), len(text))
    prefix = ""
    if len(text) > _WIDEST:
        cut = max(start - _LEAD, 0)
        prefix = "…" if cut else ""
        text, start, end = text[cut : cut + _WIDEST], start - cut, min(end - cut, _WIDEST)
    pieces = [_TAB if character == "\t" else printable_character(character) for character in text]
    before = len(prefix) + sum(map(_screen_width, pieces[:start]))
    width = sum(map(_screen_width, pieces[start:end]))
    return prefix + "".join(pieces).rstrip(), before, max(width, 1)


def _screen_width(piece: str) -> int:
    if piece.isascii():
        return len(piece)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in piece)


def _summary(report: Report) -> str:
    files = _count(report.files, "file")
    accepted = sum(item.kind == "external" for item in report.suppressions)
    silent = [f"{report.suppressed} suppressed"] if report.suppressed else []
    silent += [f"{accepted} in the baseline"] if accepted else []
    suppressed = f" ({', '.join(silent)})" if silent else ""
    fixed = f"{_count(report.fixed, 'finding')} fixed. " if report.fixed else ""
    if not report.findings:
        return f"{fixed}Nothing found in {files}{suppressed}."
    errors = sum(finding.severity == "error" for finding in report.findings)
    parts = [_count(errors, "error"), _count(len(report.findings) - errors, "warning")]
    found = " and ".join(part for part in parts if not part.startswith("0 "))
    return f"{fixed}Found {found} in {files}{suppressed}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _paint(text: str, style: str, context: RenderContext) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if context.color else text
