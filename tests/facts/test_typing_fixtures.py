"""EGL301 and EGL302 find in the fixtures what the fixtures' comments say, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from eagle3_lint.findings.model import Finding
from eagle3_lint.rules import egl301_unimported_typing_name as egl301
from eagle3_lint.rules import egl302_unimported_typing_name_deferred as egl302
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.sources.text import SourceText
from tests.fixture_format import Expected, expectations, unmatched

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = sorted([*(FIXTURES / "egl301").glob("*.py"), *(FIXTURES / "egl302").glob("*.py")])


def context(text: str, target: tuple[int, int] = (3, 12), module_name: str | None = None) -> ModuleContext:
    """What the rules see of ``text``."""
    source = SourceText("/models/fixture.py", text.encode(), text)
    return ModuleContext(source, lambda: ast.parse(text), target, lambda module, level: None, module_name)


def findings(text: str, target: tuple[int, int] = (3, 12)) -> list[Finding]:
    """What both rules find in ``text``."""
    seen = context(text, target)
    return [*egl301.check(seen), *egl302.check(seen)]


def facts(found: list[Finding]) -> list[tuple[str, int, str | None, int]]:
    return [(one.code, one.span.line, one.name, one.span.column) for one in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_fixture(path: Path, ending: str) -> None:
    text = path.read_text(encoding="utf-8")
    found = findings(text.replace("\n", ending))
    assert not unmatched(expectations(text), facts(found))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_python_3_14_evaluates_no_annotation(path: Path) -> None:
    """Without evaluation an annotation is EGL302, or finds a name bound later; what isn't an annotation stays."""
    text = path.read_text(encoding="utf-8")
    before, after = (
        {(one.code, one.span, one.message) for one in findings(text, target)} for target in ((3, 13), (3, 14))
    )
    evaluated_before, evaluated_after = ({one for one in found if one[0] == "EGL301"} for found in (before, after))
    annotations = {one for one in evaluated_before if "(annotation" in one[2] or "(return annotation " in one[2]}
    assert evaluated_after == evaluated_before - annotations


def test_there_are_as_many_silent_fixtures_as_loud_ones() -> None:
    silent = [path for path in FILES if path.name.startswith("silent")]
    assert len(silent) >= len(FILES) // 3


def test_expectations_are_read() -> None:
    text = "x = 1  # expect: EGL301\n# expect-below: EGL302[List]@3; EGL101\ny = 2  # expect: EGL301[Optional]\n"
    assert expectations(text) == [
        Expected("EGL301", 1),
        Expected("EGL302", 3, "List", 3),
        Expected("EGL101", 3),
        Expected("EGL301", 3, "Optional"),
    ]


@pytest.mark.parametrize("comment", ["# expect: EGL30", "# expect: List", "# expect:"])
def test_an_expectation_that_cannot_be_read_is_an_error(comment: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        expectations(f"x = 1  {comment}\n")


def test_differences_are_told() -> None:
    expected = [Expected("EGL301", 1, "List")]
    assert unmatched(expected, [("EGL301", 1, "List", 4)]) == []
    assert len(unmatched(expected, [("EGL301", 1, "Set", 4)])) == 2
    assert len(unmatched(expected, [])) == 1
