"""Where a rule marks single findings as pedantic, every front end shows the others alone until it is asked for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from tests.rules.test_fixtures import FIXTURES

# the code, the pedantic case, and the one that is shown by default
PAIRS = [
    ("EGL103", "one_candidate_lacks_it", "every_candidate_lacks_it"),
    ("EGL104", "every_candidate_has_it", "one_candidate_lacks_it"),
    ("EGL204", "loud_last_boundary", "loud_flags_of_layers"),
]


def shown(case: Path, code: str, *, pedantic: bool = False, select: tuple[str, ...] = ()) -> bool:
    """Whether ``check`` shows a finding of ``code``."""
    report = check(Request(paths=(str(case),), select=select, pedantic=pedantic, cache=False))
    return any(one.code == code for one in report.findings)


def by_host(case: Path, code: str, *arguments: str) -> bool:
    """Whether another linter with our plugin shows a finding of ``code``."""
    files = [str(path) for path in sorted(case.rglob("*.py"))]
    ran = subprocess.run(
        (sys.executable, "-m", *arguments, *files), cwd=case, capture_output=True, text=True, check=False, timeout=120
    )
    return code in ran.stdout or f"W73{code[3]}{code[5]}" in ran.stdout or f"E73{code[3]}{code[5]}" in ran.stdout


@pytest.mark.parametrize(("code", "pedantic", "plain"), PAIRS)
def test_check_shows_what_is_marked_only_where_it_is_asked_for(code: str, pedantic: str, plain: str) -> None:
    folder = FIXTURES / code.lower()
    assert shown(folder / plain, code)
    assert not shown(folder / pedantic, code)
    assert shown(folder / pedantic, code, pedantic=True)


def test_the_whole_code_of_a_pedantic_rule_asks_for_its_findings() -> None:
    assert shown(FIXTURES / "egl204" / "loud_last_boundary", "EGL204", select=("EGL204",))
    assert not shown(FIXTURES / "egl204" / "loud_last_boundary", "EGL204", select=("EGL20",))
    assert not shown(FIXTURES / "egl104" / "every_candidate_has_it", "EGL104", select=("EGL104",))


@pytest.mark.parametrize(("code", "pedantic", "plain"), PAIRS[2:])
def test_flake8_shows_what_is_marked_only_where_it_is_asked_for(code: str, pedantic: str, plain: str) -> None:
    folder = FIXTURES / code.lower()
    flake8 = ("flake8", "--isolated", "--select=EGL")
    assert by_host(folder / plain, code, *flake8)
    assert not by_host(folder / pedantic, code, *flake8)
    assert by_host(folder / pedantic, code, *flake8, "--eagle3-pedantic")


@pytest.mark.parametrize(("code", "pedantic", "plain"), PAIRS[2:])
def test_pylint_shows_what_is_marked_only_where_it_is_asked_for(code: str, pedantic: str, plain: str) -> None:
    folder = FIXTURES / code.lower()
    pylint = ("pylint", "--load-plugins=eagle3_lint", "--rcfile=", "--score=no")
    assert by_host(folder / plain, code, *pylint)
    assert not by_host(folder / pedantic, code, *pylint)
    assert by_host(folder / pedantic, code, *pylint, "--enable=all")
