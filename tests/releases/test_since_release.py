"""``check --since`` in a repository made from a real release: exactly what a commit breaks, wherever it breaks it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

VERSION = "0.5.9"
PARTS = ("srt/models", "srt/model_executor", "srt/speculative", "srt/configs")
SETTER = "def set_eagle3_layers_to_capture("
# every wrapper of 0.5.9 whose inner model has its setter from DeepseekV2ForCausalLM, and that doesn't delegate
OVER_DEEPSEEK = [
    "deepseek_ocr.DeepseekOCRForCausalLM",
    "deepseek_vl2.DeepseekVL2ForCausalLM",
    "dots_vlm.DotsVLMForCausalLM",
    "kimi_k25.KimiK25ForConditionalGeneration",
    "kimi_vl.KimiVLForConditionalGeneration",
    "pixtral.PixtralForConditionalGeneration",
]


class Checkout:
    """A repository with one commit: the release, changed by the test and put back after it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.models = root / "python" / "sglang" / "srt" / "models"

    def git(self, *arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "core.autocrlf=false")
        done = subprocess.run(
            ("git", *identity, *arguments), cwd=self.root, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")

    def edit(self, name: str, change: Callable[[str], str]) -> None:
        path = self.models / name
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        path.write_text(after, encoding="utf-8")

    def check(self, *arguments: str) -> Any:
        target = self.root.parent / "report.json"
        assert dispatch(["check", *arguments, "--format", "json", "--output", str(target)]) in (0, 1)
        return json.loads(target.read_text(encoding="utf-8"))

    def new(self, *arguments: str, since: str = "HEAD~1") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.check("--since", since, *arguments)["findings"]
        return found

    def touched(self) -> set[str]:
        names = self.git("diff", "--name-only", "HEAD~1", "HEAD").split()
        return {name.removeprefix("python/") for name in names}


@pytest.fixture(scope="module")
def made(release: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    source = Path(release(VERSION).root) / "sglang"
    root = tmp_path_factory.mktemp("since") / "checkout"
    for part in PARTS:
        shutil.copytree(source / part, root / "python" / "sglang" / part)
    checkout = Checkout(root)
    checkout.git("init", "-q")
    checkout.commit()
    checkout.git("tag", "release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAGLE3_LINT_CACHE_DIR", str(root.parent / "cache"))
        yield checkout


@pytest.fixture
def checkout(made: Checkout, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    made.git("checkout", "-q", "--detach", "-f", "release")
    made.git("clean", "-fdq")
    monkeypatch.chdir(made.root)
    return made


def classes(findings: list[dict[str, Any]]) -> list[str]:
    return [one["class"].removeprefix("sglang.srt.models.") for one in findings]


def test_a_setter_for_a_language_model(checkout: Checkout) -> None:
    """DeepSeek's setter is the commit; the tree before it has none."""
    checkout.edit("deepseek_v2.py", lambda text: text.replace(SETTER, "def _set_nothing("))
    checkout.commit()
    checkout.git("checkout", "-q", "release", "--", ".")
    checkout.commit()
    assert checkout.touched() == {"sglang/srt/models/deepseek_v2.py"}
    found = checkout.new()
    assert classes(found) == OVER_DEEPSEEK
    assert {one["code"] for one in found} == {"EGL101"}
    assert not {one["path"] for one in found} & checkout.touched()
    given = checkout.new(str(checkout.models / "deepseek_v2.py"))
    assert [{**one, "elsewhere": False} for one in given] == found
    assert all(one["elsewhere"] for one in given)


def test_a_setter_for_a_model_that_one_wrapper_holds(checkout: Checkout) -> None:
    methods = (
        f"    {SETTER}self, layer_ids=None):\n"
        "        self.capture_aux_hidden_states = True\n"
        "        self.model.layers_to_capture = layer_ids\n\n"
        "    def get_embed_and_head(self):\n"
        "        return self.model.embed_tokens.weight, self.model.embed_tokens.weight\n\n"
    )
    checkout.edit(
        "gemma3_causal.py",
        lambda text: "".join(
            part
            if index == 0
            else f"class Gemma3ForCausalLM{part.replace('    def forward', methods + '    def forward', 1)}"
            for index, part in enumerate(text.split("class Gemma3ForCausalLM"))
        ),
    )
    checkout.commit()
    found = checkout.new("--select", "EGL101")
    assert classes(found) == ["gemma3_mm.Gemma3ForConditionalGeneration"]
    assert not {one["path"] for one in found} & checkout.touched()


def test_code_that_moves_within_its_file(checkout: Checkout) -> None:
    for path in checkout.models.rglob("*.py"):
        if not path.read_bytes().startswith(b"\xef\xbb\xbf"):
            path.write_bytes(b"\n" * 100 + path.read_bytes())
    checkout.edit("kimi_vl.py", methods_last_first)
    checkout.commit()
    assert len(checkout.check()["findings"]) > 30
    assert checkout.new() == []


def methods_last_first(text: str) -> str:
    """The methods of the last class in the opposite order."""
    lines = text.splitlines(keepends=True)
    owner = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)][-1]
    starts = [min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1 for node in owner.body]
    pieces = [lines[start : node.end_lineno] for start, node in zip(starts, owner.body, strict=True)]
    body = [line for piece in reversed(pieces) for line in [*piece, "\n"]]
    return "".join([*lines[: starts[0]], *body, *lines[owner.end_lineno :]])


def test_files_that_move(checkout: Checkout) -> None:
    """Wrappers and their inner models get other files; imports follow."""
    names = {"kimi_vl": "vl_kimi", "deepseek_v2": "deepseek_two", "llava": "llava_models", "qwen2": "qwen_two"}
    for path in sorted(checkout.models.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for old, new in names.items():
            text = text.replace(f"sglang.srt.models.{old} ", f"sglang.srt.models.{new} ")
        path.write_text(text, encoding="utf-8")
    for old, new in names.items():
        checkout.git("mv", f"python/sglang/srt/models/{old}.py", f"python/sglang/srt/models/{new}.py")
    checkout.commit()
    assert len(checkout.check()["findings"]) > 30
    assert checkout.new() == []


def test_a_class_that_moves_to_another_file(checkout: Checkout) -> None:
    moved = (checkout.models / "dots_ocr.py").read_text(encoding="utf-8")
    checkout.edit(
        "dots_vlm.py",
        lambda text: (
            text.replace("EntryClass = ", "First = ")
            + "\n\n"
            + moved
            + "\n\nEntryClass = [First, DotsOCRForCausalLM]\n"
        ),
    )
    checkout.edit("dots_ocr.py", lambda text: "from sglang.srt.models.dots_vlm import DotsOCRForCausalLM\n")
    checkout.commit()
    assert [one["path"] for one in checkout.check()["findings"] if "DotsOCR" in one["class"]] == [
        "sglang/srt/models/dots_vlm.py"
    ] * 2
    assert checkout.new() == []


def test_a_wrapper_that_is_mended(checkout: Checkout) -> None:
    before = len(checkout.check()["findings"])
    fixed = checkout.check("--fix", "--unsafe-fixes", "--select", "EGL101", str(checkout.models / "kimi_k25.py"))
    assert fixed["summary"]["fixed"] == 1
    checkout.commit()
    assert checkout.touched() == {"sglang/srt/models/kimi_k25.py"}
    assert len(checkout.check()["findings"]) == before - 1
    assert checkout.new() == []


def test_from_one_release_to_the_next(checkout: Checkout, release: Callable[[str], SourceTree]) -> None:
    """The new ones are exactly those fingerprints that the older release hasn't."""
    before = {one["fingerprint"] for one in checkout.check()["findings"]}
    source = Path(release("0.5.12").root) / "sglang"
    shutil.rmtree(checkout.root / "python")
    for part in PARTS:
        shutil.copytree(source / part, checkout.root / "python" / "sglang" / part)
    expected = [one for one in checkout.check()["findings"] if one["fingerprint"] not in before]
    assert 0 < len(expected) < len(before)
    assert checkout.new(since="release") == expected
