"""How often each code was found, for ``--statistics``."""

from __future__ import annotations

from collections.abc import Iterator

from eagle3_lint.findings.report import Report


def render(report: Report) -> Iterator[str]:
    """A line for each code that was found, the most frequent first."""
    symbols = {finding.code: finding.symbol for finding in report.findings}
    counts = {code: count for code, count in report.by_code().items() if count}
    width = max((len(str(count)) for count in counts.values()), default=0)
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>{width}} {code} {symbols[code]}\n"
