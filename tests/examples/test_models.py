"""The example models: each wrong file has exactly the finding that it is named after, each right one has none."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from eagle3_lint.rules.registry import all_codes

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = EXAMPLES / "sglang" / "srt" / "models"
# Nothing can be shown of these by two files of Python side by side.
WITHOUT_EXAMPLE = {"EGL901", "EGL902"}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """The codes that are found in each file of the examples."""
    report = check(Request(paths=(str(EXAMPLES),), pedantic=True, cache=False))
    assert report.internal_errors == ()
    codes: dict[str, list[str]] = defaultdict(list)
    for one in report.findings:
        codes[Path(one.path).name].append(one.code)
    return codes


@pytest.mark.parametrize("code", sorted(set(all_codes()) - WITHOUT_EXAMPLE))
def test_wrong_and_right_stand_side_by_side(code: str, found: dict[str, list[str]]) -> None:
    wrong, right = f"wrong_{code.lower()}.py", f"right_{code.lower()}.py"
    assert (MODELS / wrong).is_file()
    assert (MODELS / right).is_file()
    assert found[wrong] == [code]
    assert found[right] == []


def test_nothing_else_is_found(found: dict[str, list[str]]) -> None:
    assert {name for name, codes in found.items() if codes and not name.startswith("wrong_")} == set()
