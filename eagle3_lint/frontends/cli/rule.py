"""``eagle3-lint rule``: the documentation of the rules."""

from __future__ import annotations

from collections.abc import Iterator

from eagle3_lint.findings.codes import documentation_url, pylint_id
from eagle3_lint.frontends.cli.arguments import rule_parser
from eagle3_lint.frontends.cli.streams import write_output
from eagle3_lint.rules.registry import all_codes, documentation, find, load, symbol_of


def run_rule(argv: list[str]) -> int:
    """Prints one rule or the list; returns the exit code. Raises UsageError for a code or symbol that no rule has."""
    given = rule_parser().parse_args(argv)
    write_output(_list() if given.rule is None else _page(find(given.rule)), None)
    return 0


def _list() -> Iterator[str]:
    codes = all_codes()
    width = max((len(symbol_of(code)) for code in codes), default=0)
    for code in codes:
        rule = load(code)
        default = "in part" if rule.in_part else "pedantic" if rule.pedantic else "on"
        yield f"{code}  {rule.symbol:<{width}}  {rule.severity:<7}  {default:<8}  {rule.summary}\n"


def _page(code: str) -> Iterator[str]:
    rule = load(code)
    default = "only with --pedantic" if rule.pedantic else "on by default"
    if rule.in_part:
        default = "in part on by default, the rest with --pedantic"
    yield f"# {code} {rule.symbol}\n\n"
    yield f"{rule.severity.capitalize()}, {default}; pylint calls it {pylint_id(code, rule.severity)}.\n\n"
    yield f"{documentation(code)}\n\n{documentation_url(code)}\n"
