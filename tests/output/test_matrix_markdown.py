"""``matrix --format markdown``, and the text format with several protocols and with changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.engine.comparing import kind_of
from eagle3_lint.engine.support_matrix import MatrixRequest, matrix, release_name
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.output.matrix import render
from eagle3_lint.sources.tree import SourceTree
from tests.output.matrix_trees import DELEGATION, WRAPPER, plant, plant_hostile

DFLASH = """
    def set_dflash_layers_to_capture(self, layer_ids):
        self.model.layers_to_capture = layer_ids
"""


def found_in(root: Path, **options: Any) -> dict[str, Any]:
    """The matrix of the tree at ``root``."""
    return matrix(MatrixRequest(path=str(root), cache=False, named=True, **options))


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """A tree, and an earlier one from which it differs in every way."""
    now, before = tmp_path / "now", tmp_path / "before"
    now.mkdir()
    before.mkdir()
    plant(now)
    earlier = plant(before)
    (earlier / "wrapper.py").write_text(WRAPPER.format(name="Wrapper", more=DELEGATION))
    (earlier / "delegating.py").write_text(WRAPPER.format(name="Delegating", more=""))
    (earlier / "gone.py").write_text(WRAPPER.format(name="Gone", more=""))
    (earlier / "others.py").rename(earlier / "elsewhere.py")
    (now / "sglang" / "srt" / "models" / "fresh.py").write_text(WRAPPER.format(name="Fresh", more=DELEGATION + DFLASH))
    return now, before


def test_what_changed(trees: tuple[Path, Path]) -> None:
    now, before = trees
    against = found_in(now, against=str(before))["against"]
    assert against["root"] == str(before)
    told = {(one["class"].rpartition(".")[2], one["protocol"]): one for one in against["changes"]}
    assert {name: (one["before"], one["after"], one["kind"]) for name, one in told.items()} == {
        ("Delegating", "eagle3"): ("missing", "delegated", "gained"),
        ("Wrapper", "eagle3"): ("delegated", "missing", "lost"),
        ("Gone", "eagle3"): ("missing", None, "removed"),
        ("Gone", "dflash"): ("unsupported", None, "removed"),
        ("Fresh", "eagle3"): (None, "delegated", "added"),
        ("Fresh", "dflash"): (None, "own", "added"),
    }
    assert told["Gone", "eagle3"]["class"] == "sglang.srt.models.gone.Gone"
    assert {one["role"] for one in against["changes"]} == {"target"}


def test_nothing_changed(trees: tuple[Path, Path]) -> None:
    now, _ = trees
    found = found_in(now, against=str(now))
    assert found["against"]["changes"] == []
    assert "".join(render(found, "text")).endswith("\nAgainst SGLang 9.8.7: no target changed\n")
    assert "No target changed.\n" in "".join(render(found, "markdown"))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, "own", "added"),
        ("own", None, "removed"),
        ("unsupported", "own", "gained"),
        ("missing", "delegated", "gained"),
        ("inherited", "unsupported", "lost"),
        ("own", "missing", "lost"),
        ("own", "inherited", "changed"),
        ("unsupported", "missing", "changed"),
        ("unknown", "own", "changed"),
        ("own", "unknown", "changed"),
    ],
)
def test_kinds(before: str | None, after: str | None, kind: str) -> None:
    assert kind_of(before, after) == kind


def test_all_classes_are_told_apart_by_their_dotted_names(trees: tuple[Path, Path]) -> None:
    now, before = trees
    changes = found_in(now, against=str(before), all_classes=True)["against"]["changes"]
    moved = {(one["class"], one["kind"]) for one in changes if one["class"].endswith(".Forwards")}
    assert moved == {
        ("sglang.srt.models.elsewhere.Forwards", "removed"),
        ("sglang.srt.models.others.Forwards", "added"),
    }


def test_markdown(trees: tuple[Path, Path]) -> None:
    now, before = trees
    lines = "".join(render(found_in(now, against=str(before)), "markdown")).split("\n")
    assert lines[0] == "# EAGLE-3 support matrix of SGLang 9.8.7"
    assert "| State | Meaning | EAGLE-3 | DFlash |" in lines
    at = lines.index("### ⚠️ Regressions: the class lost the interface")
    assert lines[at + 4] == "| Wrapper | ✅ delegated → ❌ missing |  |"
    assert (
        "| Wrapper (multimodal) | ❌ missing | \N{HEAVY MINUS SIGN} unsupported "
        "| language\\_model: Heir, can capture | sglang/srt/models/wrapper.py:6 |"
    ) in lines
    drafts = lines[lines.index("<summary>Drafts, which nothing is captured from</summary>") :]
    assert any(line.startswith("| HeirEagle3 | ✅ inherited |") for line in drafts)
    tables = [line.count(" |") for line in lines if line.startswith("| ") and "---" not in line]
    assert min(tables) >= 3


def test_markdown_of_hostile_trees(tmp_path: Path) -> None:
    plant_hostile(tmp_path)
    text = "".join(render(found_in(tmp_path), "markdown"))
    assert not [one for one in text if not one.isprintable() and one not in "\n\ufe0f"]
    for tag in ("<img", "<script", "</script"):
        assert tag not in text
    row = next(line for line in text.split("\n") if line.startswith("| Hostile"))
    assert "&gt;\\`\\|'&amp;\\\\x1b\\[31m" in row
    assert row.count(" | ") == 4


def test_text(trees: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    now, before = trees
    assert dispatch(["matrix", str(now), "--against", str(before), "--no-cache"]) == 0
    text = capsys.readouterr().out
    assert "\n  EAGLE-3      DFlash\n" in text
    assert "\n  missing      unsupported  Wrapper " in text
    assert "\nAgainst SGLang 9.8.7:\n  Regressions: the class lost the interface:\n" in text
    assert "\n    Wrapper: EAGLE-3 delegated -> missing\n" in text
    assert "\n    Fresh: EAGLE-3 delegated; DFlash own\n" in text


def test_json_has_no_more_than_was_asked_for(trees: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    now, before = trees
    assert dispatch(["matrix", str(now), "--format", "json", "--no-cache"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert "against" not in plain
    assert dispatch(["matrix", str(now), "--format", "json", "--no-cache", "--against", str(before)]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared.keys() - plain.keys() == {"against"}
    assert compared["classes"] == plain["classes"]
    assert all("details" not in one for one in plain["classes"])


def test_against_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path)
    assert dispatch(["matrix", str(tmp_path), "--against", str(tmp_path / "no" / "where"), "--no-cache"]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"version.py": '__version__ = "0.4.6"\n'}, "0.4.6"),
        ({"_version.py": "__version__ = version = '0.5.9.post1'\n", "version.py": "import x\n"}, "0.5.9.post1"),
        ({"version.py": 'try:\n    pass\nexcept ImportError:\n    __version__ = "0.0.0"\n'}, None),
        ({"version.py": '__version__ = "<b>"\n'}, None),
        ({}, None),
    ],
)
def test_names_of_releases(files: dict[str, str], expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "sglang").mkdir()
    for name, text in files.items():
        (tmp_path / "sglang" / name).write_text(text)
    assert release_name(SourceTree(str(tmp_path))) == expected
