"""``explain``: from the name of a class to the whole investigation, its cache, and its two formats."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.engine import ExplainRequest, Explanation
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.output.explain_text import TerminalStyle, links_are_shown, render_text
from tests.frontends.small_tree import DELEGATING, plant

WRAPPER = "WrapperForConditionalGeneration"
DOTTED = f"sglang.srt.models.wrapper_vl.{WRAPPER}"
RUNNER = """\
class ModelRunner:
    def load_model(self):
        self.model.set_eagle3_layers_to_capture()


class EAGLEWorker:
    def __init__(self, target_worker):
        embed, head = target_worker.model_runner.model.get_embed_and_head()
"""
STEP = {"title", "message", "path", "line", "source"}


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models directory of a small checkout, which the working directory lies in."""
    monkeypatch.setenv("EAGLE3_LINT_CACHE_DIR", str(tmp_path / "cache"))
    directory = plant(tmp_path)
    for folder in ("model_executor", "speculative"):
        (directory.parent / folder).mkdir()
    (directory.parent / "model_executor" / "model_runner.py").write_text(RUNNER)
    monkeypatch.chdir(directory)
    return directory


def explained(name: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The JSON of one class, which has to be known."""
    assert dispatch(["explain", name, "--format", "json", *options]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def steps(document: Mapping[str, Any], title: str) -> list[dict[str, Any]]:
    """The steps of one title."""
    return [step for step in document["steps"] if step["title"] == title]


@pytest.mark.parametrize("name", [WRAPPER, DOTTED, f"wrapper_vl.{WRAPPER}", f"models.wrapper_vl.{WRAPPER}"])
def test_json_of_a_wrapper(name: str, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = explained(name, capsys)
    assert document.keys() == {"version", "class", "steps", "verdict", "patch", "patch_safety"}
    assert (document["version"], document["class"], document["verdict"]) == (1, DOTTED, "missing")
    root = models.parents[2]
    for step in document["steps"]:
        assert step.keys() == STEP
        lines = (root / step["path"]).read_text().split("\n")
        assert step["source"] == lines[step["line"] - 1]
        assert step["source"].strip()


def test_each_question_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    document = explained(WRAPPER, capsys)
    calls = steps(document, "What the runtime calls on a target")
    assert [(step["line"], step["source"].strip()) for step in calls] == [
        (3, "self.model.set_eagle3_layers_to_capture()"),
        (8, "embed, head = target_worker.model_runner.model.get_embed_and_head()"),
    ]
    assert "without asking" in calls[0]["message"]
    held = steps(document, "How it holds the inner model")
    assert [step["line"] for step in held] == [9]
    reference = [step["message"] for step in steps(document, "The reference implementation")]
    assert reference == [
        "InnerForCausalLM defines set_eagle3_layers_to_capture",
        "it sets capture_aux_hidden_states on itself",
    ]
    assert "delegation is enough" in steps(document, "The way of the forward")[0]["message"]
    assert "lacks it, InnerForCausalLM has it" in steps(document, "The rest of the interface")[0]["message"]
    assert "EGL101" in steps(document, "What the rules find")[0]["message"]
    assert steps(document, "The verdict")[0]["message"].startswith("EAGLE-3: missing.")


def test_the_patch_is_the_cure(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = explained(WRAPPER, capsys)
    assert document["patch_safety"] == "safe"
    git = shutil.which("git")
    assert git is not None
    subprocess.run([git, "apply", "-p1", "-"], input=document["patch"], text=True, cwd=models.parents[2], check=True)
    again = explained(WRAPPER, capsys)
    assert (again["verdict"], again["patch"], again["patch_safety"]) == ("delegated", None, None)


def test_another_wrapper_that_delegates(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = DELEGATING.replace("Wrapper", "Other")
    (models / "other_vl.py").write_text(other)
    found = steps(explained(WRAPPER, capsys), "A wrapper that delegates already")
    assert [step["message"] for step in found] == [
        "OtherForConditionalGeneration defines set_eagle3_layers_to_capture",
        "it hands the layers on to self.language_model",
        "and it defines get_embed_and_head",
    ]
    assert [step["source"] for step in found] == [other.split("\n")[step["line"] - 1] for step in found]


def test_typing_names(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = models / "wrapper_vl.py"
    typed = file.read_text().replace("input_ids, mm_inputs", "input_ids: List[int], mm_inputs: object")
    file.write_text(f"from typing import List, Optional\n\n{typed}")
    document = explained(WRAPPER, capsys)
    (step,) = steps(document, "Typing names that the file imports")
    assert step["message"] == "line 1 imports List and Optional; the patch writes layer_ids: Optional[List[int]]"
    assert "layer_ids: Optional[List[int]] = None" in document["patch"]


def test_without_a_runtime_the_built_in_contract_counts(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(models.parent / "model_executor")
    shutil.rmtree(models.parent / "speculative")
    calls = steps(explained(WRAPPER, capsys), "What the runtime calls on a target")
    assert len(calls) == 2
    assert all((step["path"], step["line"], step["source"]) == (None, None, None) for step in calls)


def test_other_kinds_of_classes(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (models / "inner_eagle3.py").write_text(
        "from torch import nn\n\n\nclass InnerEagle3(nn.Module):\n"
        "    def forward(self, forward_batch):\n"
        "        return forward_batch.spec_info.hidden_states\n\n\nEntryClass = InnerEagle3\n"
    )
    (models / "hub.py").write_text(
        "from torch import nn\nfrom transformers import AutoModel\n\n\nclass FromTheHub(nn.Module):\n"
        "    def __init__(self, config):\n        self.model = AutoModel.from_config(config)\n\n\n"
        "class Part:\n    pass\n\n\nEntryClass = FromTheHub\n"
    )
    assert explained("InnerForCausalLM", capsys)["verdict"] == "own"
    draft = explained("InnerEagle3", capsys)
    assert "is a draft" in steps(draft, "The verdict")[0]["message"]
    assert [step["line"] for step in steps(draft, "The class")] == [4, 9, 6]
    unknown = explained("FromTheHub", capsys)
    assert unknown["verdict"] == "unknown"
    assert "transformers.AutoModel.from_config" in steps(unknown, "The verdict")[0]["message"]
    part = explained("Part", capsys)
    assert part["verdict"] == "unsupported"
    assert "not registered" in steps(part, "The class")[0]["message"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("WrapperForConditionalGenration", f" (did you mean {WRAPPER}?)"),
        ("wrapperforconditionalgeneration", f" (did you mean {WRAPPER}?)"),
        ("models.nowhere.InnerForCausalLm", " (did you mean InnerForCausalLM?)"),
        ("Wrapper", f" (did you mean {WRAPPER}?)"),
        ("Zzz", ""),
        ("", ""),
        ("\x1b[31m", ""),
    ],
)
def test_unknown_classes(name: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith(f"in the models directory{near}\n")
    assert "\x1b" not in captured.err


def test_one_name_for_several_classes(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("first", "second"):
        (models / f"{name}.py").write_text("class Twice:\n    pass\n")
    assert dispatch(["explain", "Twice"]) == 2
    assert "sglang.srt.models.first.Twice, sglang.srt.models.second.Twice" in capsys.readouterr().err
    (models / "second.py").write_text("class Twice:\n    pass\n\n\nEntryClass = Twice\n")
    assert explained("Twice", capsys)["class"] == "sglang.srt.models.second.Twice"


def test_the_answer_is_remembered_until_something_changes(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = explained(WRAPPER, capsys)
    kept = [path for path in (tmp_path / "cache").rglob("*explanation*") if path.is_file()]
    assert len(kept) == 1
    assert explained(WRAPPER, capsys) == first
    runner = models.parent / "model_executor" / "model_runner.py"
    runner.write_text("\n" + RUNNER)
    moved = steps(explained(WRAPPER, capsys), "What the runtime calls on a target")
    assert [step["line"] for step in moved] == [4, 9]
    (models / "wrapper_vl.py").write_text(DELEGATING)
    assert explained(WRAPPER, capsys)["verdict"] == "delegated"
    assert explained(WRAPPER, capsys, "--no-cache")["verdict"] == "delegated"


def test_a_remembered_answer_opens_no_project(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explained(WRAPPER, capsys)
    program = (
        "import sys\nfrom eagle3_lint.frontends.cli import main\n"
        f"code = main(['explain', {WRAPPER!r}])\n"
        "print(*(name for name in sys.modules if name.startswith('eagle3_lint')), sep='\\n')\nsys.exit(code)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=models,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "EAGLE3_LINT_CACHE_DIR": str(models.parents[3] / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Verdict: missing" in ran.stdout
    loaded = [name for name in ran.stdout.split("\n") if name.startswith("eagle3_lint")]
    assert not [name for name in loaded if name.split(".")[1:2] in (["project"], ["rules"], ["facts"], ["findings"])]


def test_text(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", WRAPPER]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert text.startswith(f"{DOTTED}\n\nWhat the runtime calls on a target\n  ModelRunner.load_model calls ")
    assert "    sglang/srt/models/wrapper_vl.py:9\n      | self.language_model = InnerForCausalLM(" in text
    assert "\nVerdict: missing\n" in text
    assert "+++ b/sglang/srt/models/wrapper_vl.py\n" in text
    assert dispatch(["explain", WRAPPER, "--color", "always", "--output", str(models / "out")]) == 0
    assert "\x1b[32m+" in (models / "out").read_text()


HOSTILE = {
    "version": 1,
    "class": "models.evil\x1b]0;title\x07.X",
    "steps": [
        {
            "title": "t\x1b[31m",
            "message": "m\u202e\x9b",
            "path": "a\x1b\udcff.py",
            "line": 3,
            "source": "\tx = '\x1b[2J\x08'\r",
        }
    ],
    "verdict": "missing",
    "patch": "--- a/a\x1b.py\n+++ b/a\x1b.py\n@@ -1 +1 @@\n-\x1b[2J\n+\tb\r\n",
    "patch_safety": "unsafe",
}


def test_nothing_from_files_acts_on_the_terminal() -> None:
    text = "".join(render_text(HOSTILE, TerminalStyle("/r")))
    assert not [character for character in text if character not in "\n\t" and not character.isprintable()]
    assert "a\\x1b\\xff.py:3" in text
    assert "|     x = '\\x1b[2J\\x08'" not in text
    assert "| x = '\\x1b[2J\\x08'" in text
    assert "--unsafe-fixes" in text


def test_links() -> None:
    text = "".join(render_text(HOSTILE, TerminalStyle("/r", links=True)))
    start = text.index("\x1b]8;;file://")
    target = text[start + 5 : text.index("\x1b\\", start)]
    assert target.endswith("/r/a%1B%FF.py")
    assert text.count("\x1b]8;;") == 2


@pytest.mark.parametrize(
    ("environment", "is_terminal", "expected"),
    [
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, True, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4200"}, True, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, False, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, True, False),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, True, True),
        ({"TERM": "linux"}, True, False),
        ({}, True, False),
    ],
)
def test_links_only_where_they_are_shown(environment: dict[str, str], is_terminal: bool, expected: bool) -> None:
    assert links_are_shown(environment, is_terminal) is expected


def test_hostile_file_names(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (models / "wrapper_vl.py").rename(models / "evil\x1b[31m.py")
    assert dispatch(["explain", WRAPPER]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "evil\\x1b[31m.py:9" in text
    assert explained(WRAPPER, capsys)["class"] == f"sglang.srt.models.evil\x1b[31m.{WRAPPER}"


class FakeEngine:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[ExplainRequest] = []

    def explain(self, request: ExplainRequest) -> Explanation:
        self.requests.append(request)
        return Explanation("/r", HOSTILE)


def test_options_reach_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine()
    arguments = ["explain", "X", "--sglang", "0.5.9", "--engine", "astroid", "--no-cache", "--cache-dir", "kept"]
    assert dispatch(arguments, engine) == 0  # type: ignore[arg-type]
    assert dispatch(["explain", "Y", "--format", "json"], engine) == 0  # type: ignore[arg-type]
    assert engine.requests == [
        ExplainRequest("X", sglang="0.5.9", engine="astroid", cache=False, cache_dir="kept"),
        ExplainRequest("Y"),
    ]
    assert capsys.readouterr().out.isascii()


@pytest.mark.parametrize("arguments", [[], ["A", "B"], ["A", "--format", "html"], ["A", "--pedantic"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", *arguments]) == 2
    assert capsys.readouterr().err.startswith("eagle3-lint: error: explain: ")
