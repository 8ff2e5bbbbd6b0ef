"""What the reviewed releases must give: the missing delegations, and what can't be known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.engine import MatrixRequest, Request, check, matrix
from eagle3_lint.findings.model import Finding
from eagle3_lint.sources.tree import SourceTree

SETTER = "set_eagle3_layers_to_capture"
DATA = Path(__file__).parents[1] / "data" / "releases"
VERSIONS = ("0.4.10.post2", "0.5.9", "0.5.23")

Release = Callable[[str], SourceTree]
pytestmark = pytest.mark.release


def expected(version: str) -> dict[str, Any]:
    """The reviewed expectations for one release."""
    loaded: dict[str, Any] = json.loads((DATA / f"{version}.json").read_text(encoding="utf-8"))
    return loaded


def missing(tree: SourceTree, **options: Any) -> dict[tuple[str, int], Finding]:
    """The findings of EGL101 about EAGLE-3, by class and line."""
    report = check(Request(paths=(tree.models,), select=("EGL101",), **options))
    assert report.internal_errors == ()
    found = {(str(one.class_name), one.span.line): one for one in report.findings if SETTER in one.methods}
    assert len(found) == len([one for one in report.findings if SETTER in one.methods])
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_delegations_are_those_reviewed(version: str, release: Release) -> None:
    tree = release(version)
    found = missing(tree)
    wanted = {(one["owner"], one["line"]): one for one in expected(version)["missing_delegation"]}
    assert found.keys() == wanted.keys()
    for key, one in wanted.items():
        finding = found[key]
        assert Path(finding.path).relative_to(tree.root).as_posix() == one["file"]
        assert list(finding.registered) == sorted(one["registered"])
        assert {inner.class_name: inner.supports for inner in finding.inner} == one["inner"]
        assert {inner.attribute for inner in finding.inner} == {one["attribute"]}
        assert ("get_embed_and_head" not in finding.methods) == one["has_get_embed_and_head"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_matrix_agrees_with_the_review(version: str, release: Release) -> None:
    tree = release(version)
    described = matrix(MatrixRequest(sglang=tree.root, all_classes=True))
    classes = {one["class"]: one for one in described["classes"]}
    review = expected(version)
    hit = {name for one in review["missing_delegation"] for name in one["registered"]}
    assert {name for name in hit if classes[name]["capture"] != "missing"} == set()
    for one in review["unknown"]:
        assert classes[one["class"]]["capture"] == "unknown", one["class"]
        assert classes[one["class"]]["note"]
    states = {"delegates": "delegated", "own": "own", "inherited": "inherited"}
    for one in review["exposes"]:
        assert classes[one["class"]]["capture"] == states[one["how"]], one["class"]
        assert classes[one["class"]]["methods"][SETTER] == one["definer"]
        assert classes[one["class"]]["registered"] == one["registered"]
    for one in review["excluded"]:
        assert classes[one["class"]]["capture"] != "missing", one["class"]


def test_the_incident(release: Release) -> None:
    tree = release("0.5.9")
    found = missing(tree)
    (finding,) = [one for (name, _), one in found.items() if name.endswith(".KimiK25ForConditionalGeneration")]
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (648, 7, 38)
    assert finding.methods == (SETTER, "get_embed_and_head")
    shown = {(Path(one.path).name, one.line) for one in finding.evidence}
    assert {("kimi_k25.py", 676), ("deepseek_v2.py", 2963), ("deepseek_v2.py", 2978)} <= shown
    files = {name for name, _ in shown}
    assert {"model_runner.py", "cuda_graph_runner.py", "mllama4.py"} <= files


def test_the_incident_is_mended_in_the_next_release(release: Release) -> None:
    report = check(Request(paths=(release("0.5.10").models,)))
    assert not [one for one in report.findings if "KimiK25ForConditionalGeneration" in str(one.class_name)]


@pytest.mark.parametrize("version", VERSIONS)
def test_drafts_are_never_asked_to_be_targets(version: str, release: Release) -> None:
    tree = release(version)
    described = matrix(MatrixRequest(sglang=tree.root, all_classes=True))
    drafts = {one["class"] for one in described["classes"] if one["role"] == "draft"}
    report = check(Request(paths=(tree.models,), select=("EGL101", "EGL102")))
    assert drafts
    assert not drafts & {one.class_name for one in report.findings}
