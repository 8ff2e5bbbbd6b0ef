"""Each rule's own examples: the wrong one yields the rule's code, the right one doesn't."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from surroundings import code_in, mended, module_around, plant

from eagle3_lint.engine import Request, check
from eagle3_lint.rules.registry import all_codes, documentation

CODES = all_codes()


def section(code: str, title: str) -> str:
    """The text below the heading ``title`` of a rule's documentation."""
    parts = re.split(r"^## (.*)$", documentation(code), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def codes_of(tmp_path: Path, code: str, example: str) -> set[str]:
    path = plant(tmp_path, module_around(code, example))
    report = check(Request(paths=(str(path.parent),), pedantic=True, cache=False))
    assert report.internal_errors == ()
    return {finding.code for finding in report.findings if finding.path == str(path)}


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_example_is_found(code: str, tmp_path: Path) -> None:
    assert code in codes_of(tmp_path, code, code_in(section(code, "Example")))


@pytest.mark.parametrize("code", CODES)
def test_the_right_example_is_not(code: str, tmp_path: Path) -> None:
    wrong, right = code_in(section(code, "Example")), code_in(section(code, "Use instead"))
    found = codes_of(tmp_path, code, mended(wrong, right))
    assert code not in found
    assert "EGL901" not in found
