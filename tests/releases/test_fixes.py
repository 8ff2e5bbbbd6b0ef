"""The safe fixes of whole releases: what they cure, what they leave alone, and that they do what they are there for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eagle3_lint.engine import Fixed, Request, check, fix
from eagle3_lint.engine.fixing import write
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import Report

if TYPE_CHECKING:
    from eagle3_lint.sources.tree import SourceTree

REPOSITORY = Path(__file__).parents[2]
SAFE_CODES = {"EGL101", "EGL102", "EGL301"}
SETTER = "set_eagle3_layers_to_capture"


@dataclass(frozen=True)
class Fixing:
    """One release before and after."""

    version: str
    root: Path
    before: Report
    fixed: Fixed
    after: Report
    again: Fixed


def unfiltered(report: Report) -> Report:
    return report


def identity(finding: Finding) -> tuple[str, ...]:
    """What a finding is about, whatever line it has moved to."""
    about = (finding.code, finding.path, finding.class_name or "", finding.scope, finding.name or "")
    return (*about, *finding.methods)


@pytest.fixture(scope="module", params=["0.4.10.post2", "0.5.9", "0.5.23"])
def fixing(
    request: pytest.FixtureRequest, release: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory
) -> Fixing:
    """A copy of the release's Python files, fixed."""
    folder = tmp_path_factory.mktemp("fixed")
    root = folder / "root"
    source = Path(release(request.param).root) / "sglang"

    def unwanted(directory: str, names: list[str]) -> list[str]:
        return [name for name in names if not name.endswith(".py") and not os.path.isdir(os.path.join(directory, name))]

    shutil.copytree(source, root / "sglang", ignore=unwanted)
    cache = str(folder / "cache")
    elsewhere = check(Request(paths=(str(root / "sglang"),), select=("EGL301",), cache_dir=cache)).findings
    paths = (str(root / "sglang" / "srt" / "models"), *sorted({one.path for one in elsewhere}))
    asked = Request(paths=paths, pedantic=True, cache_dir=cache)
    before = check(asked)
    fixed = fix(asked, unsafe=False, reported=unfiltered)
    write(fixed.changes)
    return Fixing(request.param, root, before, fixed, check(asked), fix(asked, unsafe=False, reported=unfiltered))


def safe(report: Report) -> list[Finding]:
    """The findings whose fix is safe."""
    return [one for one in report.findings if one.fix is not None and one.fix.safety == "safe" and one.fix.edits]


pytestmark = pytest.mark.release


def test_a_fix_is_safe_where_the_forward_goes_through_the_inner_model(fixing: Fixing) -> None:
    reviewed = json.loads((REPOSITORY / "tests" / "data" / "releases" / f"{fixing.version}.json").read_text("utf-8"))
    routes = {one["owner"]: one["forward_route"] for one in reviewed["missing_delegation"]}
    safety = {
        one.class_name: one.fix.safety
        for one in fixing.before.findings
        if one.code == "EGL101" and SETTER in one.methods and one.fix is not None
    }
    assert safety == {owner: "safe" if route == "inner_call" else "unsafe" for owner, route in routes.items()}


def test_every_finding_with_a_safe_fix_is_gone(fixing: Fixing) -> None:
    cured = safe(fixing.before)
    assert {one.code for one in cured} >= {"EGL101"}
    remaining = {identity(one) for one in fixing.after.findings}
    assert [identity(one) for one in cured if identity(one) in remaining] == []
    assert fixing.fixed.report.fixed == len(cured)
    assert fixing.fixed.report.findings == fixing.after.findings


def test_no_finding_of_any_rule_is_new(fixing: Fixing) -> None:
    new = Counter(map(identity, fixing.after.findings)) - Counter(map(identity, fixing.before.findings))
    assert list(new) == []
    assert fixing.after.internal_errors == ()


def test_a_second_run_changes_nothing(fixing: Fixing) -> None:
    assert fixing.again.changes == ()
    assert fixing.again.report.fixed == 0


def test_changed_files_compile_and_keep_every_line_but_imports(fixing: Fixing) -> None:
    assert fixing.fixed.changes
    for change in fixing.fixed.changes:
        assert Path(change.path).read_bytes() == change.after
        compile(change.after, change.path, "exec")
        old, new = (text.split("\n") for text in change.texts())
        lost = [line for line in unified_diff(old, new, n=0, lineterm="") if line[:1] == "-" and line[:4] != "--- "]
        assert all("import " in line for line in lost), lost


def calls_of(finding: Finding) -> list[tuple[str, list[Any]]]:
    """How the runtime may call what was missing."""
    calls: list[tuple[str, list[Any]]] = []
    for method in finding.methods:
        if method.endswith("_layers_to_capture"):
            calls.append((method, [[1, 2, 3]]))
        if method == SETTER or not method.endswith("_layers_to_capture"):
            calls.append((method, []))
    return calls


def test_the_fixed_classes_hand_every_call_to_their_inner_model(fixing: Fixing, tmp_path: Path) -> None:
    findings = [one for one in safe(fixing.before) if one.code in ("EGL101", "EGL102")]
    wanted: list[dict[str, Any]] = [
        {"class": one.class_name, "attribute": one.inner[0].attribute, "calls": calls_of(one)} for one in findings
    ]
    asked, out = tmp_path / "classes.json", tmp_path / "out.json"
    asked.write_text(json.dumps(wanted), encoding="utf-8")
    script = REPOSITORY / "tests" / "fixes" / "call_fixed.py"
    subprocess.run([sys.executable, str(script), str(fixing.root), str(asked), str(out)], check=True, timeout=300)
    seen = json.loads(out.read_text(encoding="utf-8"))
    for one in wanted:
        name, calls = one["class"], one["calls"]
        arrived = [[method, arguments or ([None] if method == SETTER else []), {}] for method, arguments in calls]
        assert seen["classes"][name]["arrived"] == arrived
        returned = [f"answer {number} of {method}" for number, (method, _) in enumerate(calls, 1)]
        assert seen["classes"][name]["returned"] == returned
        errors = [f"Empty in {one['attribute']} has no {method}" for method, _ in calls]
        assert seen["classes"][name]["errors"] == errors
    assert seen["healed"] == {}
