"""Every fixture tree of a rule has exactly the findings that its comments expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from eagle3_lint.project.resolver import ENGINES
from tests.fixture_format import expectations

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models"
CASES = sorted(case for rule in FIXTURES.iterdir() for case in rule.iterdir())

Place = tuple[str, int, str]


def expected(case: Path, *, pedantic: bool) -> list[Place]:
    """The path below ``case``, line and code of every finding that its files expect."""
    return sorted(
        (path.relative_to(case).as_posix(), one.line, one.code)
        for path in case.rglob("*.py")
        for one in expectations(path.read_text(encoding="utf-8"), pedantic=pedantic)
    )


def found(case: Path, code: str, *, pedantic: bool, engine: str) -> list[Place]:
    """What the rule ``code`` finds in ``case`` with ``engine``; a rule that fails fails the test."""
    report = check(Request(paths=(str(case),), select=(code,), pedantic=pedantic, engine=engine, cache=False))
    assert report.internal_errors == ()
    return sorted((Path(one.path).relative_to(case).as_posix(), one.span.line, one.code) for one in report.findings)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pedantic", [False, True], ids=["plain", "pedantic"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_findings_are_those_that_the_comments_expect(case: Path, pedantic: bool, engine: str) -> None:
    findings = found(case, case.parent.name.upper(), pedantic=pedantic, engine=engine)
    assert findings == expected(case, pedantic=pedantic)


@pytest.mark.parametrize("rule", sorted({case.parent for case in CASES}), ids=lambda rule: rule.name)
def test_a_rule_has_at_least_as_many_silent_fixtures_as_loud_ones(rule: Path) -> None:
    loud = [case for case in rule.iterdir() if expected(case, pedantic=True)]
    silent = [case for case in rule.iterdir() if not expected(case, pedantic=True)]
    assert loud
    assert len(silent) >= len(loud)
