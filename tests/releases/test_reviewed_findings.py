"""Every finding on two releases was read against the source: what a rule finds there is exactly what was read.

``tests/data/reviewed/<version>/<CODE>.json`` lists the findings of one rule on one release, each with its
reason, those that only ``--pedantic`` shows marked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from eagle3_lint.findings.model import Finding
from eagle3_lint.sources.tree import SourceTree

REVIEWED = Path(__file__).parents[1] / "data" / "reviewed"
FILES = sorted(REVIEWED.glob("*/EGL*.json"))

Place = tuple[str, str, int, bool]


@cache
def findings(tree: SourceTree, codes: tuple[str, ...]) -> tuple[Finding, ...]:
    """What ``codes`` find in the models of ``tree``."""
    report = check(Request(paths=(tree.models,), select=codes, pedantic=True, cache=False))
    assert report.internal_errors == ()
    return report.findings


@pytest.mark.release
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_rule_finds_what_was_reviewed_and_nothing_else(file: Path, release: Callable[[str], SourceTree]) -> None:
    version = file.parent.name
    tree = release(version)
    codes = tuple(one.stem for one in FILES if one.parent.name == version)
    found: list[Place] = [
        (one.class_name or "", os.path.relpath(one.path, tree.root).replace(os.sep, "/"), one.span.line, one.pedantic)
        for one in findings(tree, codes)
        if one.code == file.stem
    ]
    reviewed = json.loads(file.read_text(encoding="utf-8"))
    assert sorted(found) == sorted(
        (one["class"], one["path"], one["line"], one.get("pedantic", False)) for one in reviewed
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_each_reviewed_finding_has_its_code_and_a_reason(file: Path) -> None:
    for one in json.loads(file.read_text(encoding="utf-8")):
        assert one["code"] == file.stem
        assert one["reason"].strip()
