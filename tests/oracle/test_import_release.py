"""The oracle itself, on a small tree with the shapes that make importing differ from reading."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).with_name("import_release.py")

TREE = {
    "sglang/__init__.py": "",
    "sglang/srt/layers/linear.py": """\
import torch
import torch.nn as nn

class LinearBase(nn.Module):
    pass

if not torch.cuda.is_available():
    from vllm.layers import LinearBase
""",
    "sglang/srt/layers/broken.py": """\
class Kept:
    pass

raise OSError("no device")
""",
    "sglang/srt/models/llama.py": """\
import torch
from torch import nn
from sglang.srt.layers.linear import LinearBase
from sglang.srt.layers.broken import Kept, Lost

class LlamaLinear(LinearBase):
    pass

class LlamaDecoderLayer(nn.Module):
    class Config(Lost):
        pass

class LlamaForCausalLM(nn.Module, Kept):
    @torch.no_grad()
    def get_embed_and_head(self):
        pass

    def helper(self):
        class Hidden(nn.Module):
            pass
""",
    "sglang/srt/models/llama_eagle3.py": """\
import dataclasses
from typing import NamedTuple
from sglang.srt.models import llama
from sglang.srt.models.llama import LlamaDecoderLayer

@dataclasses.dataclass
class Sizes:
    hidden: int

class Pair(NamedTuple):
    first: int

class LlamaDecoderLayer(LlamaDecoderLayer):
    pass

class LlamaForCausalLMEagle3(llama.LlamaForCausalLM):
    def set_embed_and_head(self, embed, head):
        pass

class Twice:
    pass

def Twice():
    pass

EntryClass = [LlamaForCausalLMEagle3, llama.LlamaForCausalLM]
""",
    "sglang/srt/models/unimported_name.py": """\
from sglang.srt.models.llama import LlamaForCausalLM

class PhiForCausalLM(LlamaForCausalLM):
    def get_embed(self) -> Tuple[int, int]:
        pass

EntryClass = PhiForCausalLM
""",
    "sglang/srt/models/failing.py": """\
import subprocess

subprocess.run(["true"])

class NeverMade:
    pass

EntryClass = NeverMade
""",
    "sglang/srt/models/common/inner.py": """\
import torch

class Inner(torch.nn.Module):
    pass

EntryClass = Inner
""",
}
LLAMA = "sglang.srt.models.llama"
EAGLE = "sglang.srt.models.llama_eagle3"


def ask(root: Path, out: Path, *device: str) -> dict[str, Any]:
    subprocess.run([sys.executable, str(ORACLE), str(root), str(out), *device], check=True, timeout=60)
    answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return answer


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def answer(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return ask(tree, tmp_path_factory.mktemp("out") / "answer.json")


@pytest.fixture(scope="module")
def classes(answer: dict[str, Any]) -> dict[str, Any]:
    return {item["class"]: item for item in answer["classes"]}


def test_every_class_outside_functions_is_listed_once(classes: dict[str, Any]) -> None:
    assert set(classes) == {
        f"{LLAMA}.LlamaLinear",
        f"{LLAMA}.LlamaDecoderLayer",
        f"{LLAMA}.LlamaDecoderLayer.Config",
        f"{LLAMA}.LlamaForCausalLM",
        f"{EAGLE}.Sizes",
        f"{EAGLE}.Pair",
        f"{EAGLE}.LlamaDecoderLayer",
        f"{EAGLE}.LlamaForCausalLMEagle3",
        "sglang.srt.models.unimported_name.PhiForCausalLM",
        "sglang.srt.models.common.inner.Inner",
    }


def test_the_order_follows_bases_into_other_files_and_names_stand_ins_by_import(classes: dict[str, Any]) -> None:
    assert {name: classes[name]["mro"][1:] for name in classes} == {
        f"{LLAMA}.LlamaLinear": ["sglang.srt.layers.linear.LinearBase", "torch.nn.Module"],
        f"{LLAMA}.LlamaDecoderLayer": ["torch.nn.Module"],
        f"{LLAMA}.LlamaDecoderLayer.Config": ["sglang.srt.layers.broken.Lost"],
        f"{LLAMA}.LlamaForCausalLM": ["torch.nn.Module", "sglang.srt.layers.broken.Kept"],
        f"{EAGLE}.Sizes": [],
        f"{EAGLE}.Pair": ["builtins.tuple"],
        f"{EAGLE}.LlamaDecoderLayer": [f"{LLAMA}.LlamaDecoderLayer", "torch.nn.Module"],
        f"{EAGLE}.LlamaForCausalLMEagle3": [
            f"{LLAMA}.LlamaForCausalLM",
            "torch.nn.Module",
            "sglang.srt.layers.broken.Kept",
        ],
        "sglang.srt.models.unimported_name.PhiForCausalLM": [
            f"{LLAMA}.LlamaForCausalLM",
            "torch.nn.Module",
            "sglang.srt.layers.broken.Kept",
        ],
        "sglang.srt.models.common.inner.Inner": ["torch.nn.Module"],
    }


def test_methods_name_the_defining_class(classes: dict[str, Any]) -> None:
    methods = classes[f"{EAGLE}.LlamaForCausalLMEagle3"]["methods"]
    assert {name: owner for name, owner in methods.items() if owner} == {
        "get_embed_and_head": f"{LLAMA}.LlamaForCausalLM",
        "set_embed_and_head": f"{EAGLE}.LlamaForCausalLMEagle3",
    }


def test_the_line_is_that_of_the_class_statement(classes: dict[str, Any]) -> None:
    for item in classes.values():
        line = TREE[item["path"]].splitlines()[item["line"] - 1]
        assert line.strip().startswith(f"class {item['class'].rpartition('.')[2]}")


def test_what_ran_what_failed_and_why(answer: dict[str, Any]) -> None:
    modules = answer["modules"]
    assert set(modules["failed"]) == {"sglang.srt.models.failing"}
    assert "PermissionError: subprocess.Popen" in modules["failed"]["sglang.srt.models.failing"]
    reason = "NameError: name 'Tuple' is not defined (line 4)"
    deferred = sys.version_info >= (3, 14)
    assert modules["healed"] == ({} if deferred else {"sglang.srt.models.unimported_name": reason})
    assert modules["substituted"] == {"sglang.srt.layers.broken": "OSError: no device (line 4)"}
    assert {item["class"] for item in answer["not_executed"]} == {
        f"{EAGLE}.Twice",
        "sglang.srt.models.failing.NeverMade",
    }


def test_the_registry_takes_entry_classes_of_modules_directly_in_the_folder(answer: dict[str, Any]) -> None:
    assert answer["registered"] == {
        "LlamaForCausalLMEagle3": f"{EAGLE}.LlamaForCausalLMEagle3",
        "LlamaForCausalLM": f"{LLAMA}.LlamaForCausalLM",
        "PhiForCausalLM": "sglang.srt.models.unimported_name.PhiForCausalLM",
    }


def test_the_pretended_machine_decides_conditional_bases(tree: Path, tmp_path: Path) -> None:
    on_cpu = {item["class"]: item["mro"] for item in ask(tree, tmp_path / "cpu.json", "cpu")["classes"]}
    assert on_cpu[f"{LLAMA}.LlamaLinear"] == [f"{LLAMA}.LlamaLinear", "vllm.layers.LinearBase"]


def test_nothing_is_written_into_the_tree(tree: Path, answer: dict[str, Any]) -> None:
    assert answer["device"] == "cuda"
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} == set(TREE)
