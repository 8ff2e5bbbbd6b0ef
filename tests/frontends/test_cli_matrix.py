"""``matrix`` inside the process: its options, and its text and JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.engine import MatrixRequest, Request
from eagle3_lint.errors import TreeError
from eagle3_lint.findings.report import Report
from eagle3_lint.frontends.cli.dispatch import dispatch

WRAPPER = {
    "class": "sglang.srt.models.wrapper.Wrapper",
    "path": "sglang/srt/models/wrapper.py",
    "line": 12,
    "registered": True,
    "role": "target",
    "multimodal": True,
    "mro": ["sglang.srt.models.wrapper.Wrapper", "torch.nn.Module"],
    "inner": [{"attribute": "llm", "class": "sglang.srt.models.inner.Inner", "line": 20, "supports": True}],
    "methods": {"set_eagle3_layers_to_capture": None, "get_embed_and_head": None},
    "capture": "missing",
}
UNKNOWN = {
    **WRAPPER,
    "class": "sglang.srt.models.odd.Odd",
    "path": "sglang/srt/models/odd\udcff\x1b.py",
    "multimodal": False,
    "inner": [],
    "capture": "unknown",
    "note": "the class of self.llm is picked at run time",
}
METHOD = {
    "method": "set_eagle3_layers_to_capture",
    "guarded": False,
    "called_with": ["()", "(layer_ids)"],
    "call_sites": [{"path": "sglang/srt/model_executor/model_runner.py", "line": 622}],
}
MATRIX = {"version": 1, "root": "/repo", "interface": [METHOD], "classes": [WRAPPER, UNKNOWN]}


@dataclass
class FakeEngine:
    """Answers with a given matrix and remembers what it was asked."""

    answer: dict[str, Any] = field(default_factory=lambda: MATRIX)
    error: Exception | None = None
    requests: list[MatrixRequest] = field(default_factory=list)

    def check(self, request: Request) -> Report:
        raise AssertionError("nobody asked for a report")

    def matrix(self, request: MatrixRequest) -> dict[str, Any]:
        self.requests.append(request)
        if self.error:
            raise self.error
        return self.answer


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def matrix(*arguments: str, engine: FakeEngine | None = None) -> int:
    return dispatch(["matrix", *arguments], engine or FakeEngine())


def test_defaults() -> None:
    engine = FakeEngine()
    assert matrix(engine=engine) == 0
    assert engine.requests == [MatrixRequest()]


def test_every_option_reaches_the_engine() -> None:
    engine = FakeEngine()
    matrix("tree", "--all", "--sglang", "0.5.9", "--no-cache", "--cache-dir", "kept", engine=engine)
    assert engine.requests == [
        MatrixRequest(path="tree", sglang="0.5.9", all_classes=True, cache=False, cache_dir="kept")
    ]


def test_the_configuration_gives_the_tree_but_not_the_output(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "pyproject.toml").write_text(
        '[tool.eagle3-lint]\nsglang = "0.5.9"\nformat = "sarif"\noutput = "report"\n'
    )
    engine = FakeEngine()
    assert matrix(engine=engine) == 0
    assert engine.requests == [MatrixRequest(sglang="0.5.9")]
    assert "Wrapper" in capsys.readouterr().out
    assert not (directory / "report").exists()


def test_json_is_what_the_engine_says(directory: Path) -> None:
    assert matrix("--format", "json", "--output", "matrix.json") == 0
    text = (directory / "matrix.json").read_text()
    document = json.loads(text)
    assert text.isascii()
    assert document["classes"][0] == WRAPPER
    assert document["classes"][1]["path"] == "sglang/srt/models/odd\\xff\x1b.py"
    assert document["interface"] == [METHOD]


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix() == 0
    assert capsys.readouterr().out == (
        "The runtime calls on a target:\n"
        "  set_eagle3_layers_to_capture  unguarded  (), (layer_ids)  sglang/srt/model_executor/model_runner.py:622\n"
        "\n"
        "Classes:\n"
        "  missing      Wrapper  target  multimodal  sglang/srt/models/wrapper.py:12  llm = Inner, which supports it\n"
        "  unknown      Odd      target  sglang/srt/models/odd\\xff\\x1b.py:12  "
        "the class of self.llm is picked at run time\n"
        "\n"
        "2 classes: 1 missing, 1 unknown\n"
    )


def test_text_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix(engine=FakeEngine({"version": 1, "root": "/", "interface": [], "classes": []})) == 0
    assert capsys.readouterr().out.endswith("0 classes: none\n")


@pytest.mark.parametrize("arguments", [["--format", "sarif"], ["a", "b"], ["--pedantic"]])
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert matrix(*arguments) == 2
    assert capsys.readouterr().err.startswith("eagle3-lint: error: matrix: ")


def test_no_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix(engine=FakeEngine(error=TreeError("no SGLang here"))) == 2
    assert capsys.readouterr().err == "eagle3-lint: error: no SGLang here\n"
