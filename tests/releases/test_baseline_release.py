"""A baseline of one release against later ones: kept, gone and new are exact, in every place that shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

OLD = "0.5.9"


def check(target: Path, tree: SourceTree, *options: str, code: int) -> Any:
    """The document that ``check`` writes about ``tree``."""
    assert dispatch(["check", tree.models, "--output", str(target), *options]) == code
    return json.loads(target.read_text(encoding="utf-8"))


def named(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries by fingerprint, each once."""
    found = {entry["fingerprint"]: entry for entry in entries}
    assert len(found) == len(entries)
    return found


@pytest.mark.parametrize("version", [OLD, "0.5.10", "0.5.12", "0.5.23"])
def test_kept_gone_and_new(version: str, release: Callable[[str], SourceTree], tmp_path: Path) -> None:
    baseline, target = tmp_path / "baseline.json", tmp_path / "report"
    assert dispatch(["check", release(OLD).models, "--write-baseline", str(baseline), "-q"]) == 0
    listed = named(json.loads(baseline.read_text())["findings"])
    before = named(check(target, release(OLD), "--format", "json", code=1)["findings"])
    after = named(check(target, release(version), "--format", "json", code=1)["findings"])
    assert listed.keys() == before.keys()
    expected = int(bool(after.keys() - before.keys()))

    options = ("--baseline", str(baseline), "--format")
    document = check(target, release(version), *options, "json", code=expected)
    new, gone = named(document["findings"]), named(document["unused_baseline"])
    assert new.keys() == after.keys() - before.keys()
    assert gone.keys() == before.keys() - after.keys()
    assert [new[name] for name in sorted(new)] == [after[name] for name in sorted(new)]
    assert [gone[name] for name in sorted(gone)] == [listed[name] for name in sorted(gone)]
    assert bool(gone) == (version != OLD)

    (run,) = check(target, release(version), *options, "sarif", code=expected)["runs"]
    accepted = {
        name
        for result in run["results"]
        if any(one["kind"] == "external" for one in result.get("suppressions", []))
        for name in result["partialFingerprints"].values()
    }
    assert accepted == before.keys() & after.keys()


def test_a_baseline_can_only_shrink(
    release: Callable[[str], SourceTree], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no longer matches is said, and fails a pedantic run even where nothing is found."""
    baseline = tmp_path / "baseline.json"
    old, new = release(OLD), release("0.5.10")
    select = ("--select", "EGL101")
    assert dispatch(["check", old.models, "--write-baseline", str(baseline), *select]) == 0
    options = ["check", new.models, "--baseline", str(baseline), "--format", "concise", *select]
    capsys.readouterr()
    assert dispatch(options) == 0
    out, said = capsys.readouterr()
    assert out == ""
    assert "KimiK25ForConditionalGeneration" in said
    assert dispatch([*options, "--pedantic"]) == 1
    assert dispatch(["check", new.models, "--write-baseline", str(baseline), *select]) == 0
    assert dispatch([*options, "--pedantic"]) == 0
    text = baseline.read_text()
    assert dispatch(["check", new.models, "--write-baseline", str(baseline), *select]) == 0
    assert baseline.read_text() == text


def test_part_of_the_files_says_nothing_of_the_rest(release: Callable[[str], SourceTree], tmp_path: Path) -> None:
    baseline, target = tmp_path / "baseline.json", tmp_path / "report"
    tree = release("0.5.10")
    assert dispatch(["check", release(OLD).models, "--write-baseline", str(baseline), "-q"]) == 0
    one = Path(tree.models, "kimi_k25.py")
    options = ["--baseline", str(baseline), "--format", "json", "--output", str(target)]
    assert dispatch(["check", str(one), *options]) == 0
    gone = json.loads(target.read_text())["unused_baseline"]
    assert [entry["path"] for entry in gone] == ["sglang/srt/models/kimi_k25.py"]
    assert dispatch(["check", str(one), *options, "--select", "EGL2"]) == 0
    assert json.loads(target.read_text())["unused_baseline"] == []


@pytest.mark.parametrize(
    ("damage", "line", "words"),
    [
        (lambda text: text.replace('"version": 1', '"version": 2'), 2, "update eagle3-lint"),
        (lambda text: text[: len(text) // 2], None, "damaged"),
        (lambda text: text.replace('"path"', '"place"', 1), 4, "must have"),
        (lambda text: text.replace("  ]\n", "  <<<<<<< ours\n  ]\n"), None, "damaged"),
    ],
)
def test_a_damaged_or_newer_baseline(
    release: Callable[[str], SourceTree],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[str], str],
    line: int | None,
    words: str,
) -> None:
    baseline = tmp_path / "baseline.json"
    models = release(OLD).models
    assert dispatch(["check", models, "--write-baseline", str(baseline), "-q"]) == 0
    damaged = damage(baseline.read_text())
    baseline.write_text(damaged)
    capsys.readouterr()
    assert dispatch(["check", models, "--baseline", str(baseline)]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    assert words in said
    shown = said.split(f"{baseline}:")[1].split(":")[0]
    assert int(shown) == (line if line is not None else next(found for found in places(damaged)))


def places(text: str) -> list[int]:
    """The line that a merge marker stands on, else the last line."""
    marked = [number for number, line in enumerate(text.splitlines(), 1) if "<<<" in line]
    return marked or [text.count("\n") + 1]
