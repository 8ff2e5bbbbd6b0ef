"""After an edit anywhere in a real release, a run that remembers the rest finds what a run that remembers nothing does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

VERSION = "0.5.23"
PARTS = (
    "srt/models",
    "srt/model_executor",
    "srt/speculative",
    "srt/layers",
    "srt/configs",
    "srt/multimodal",
    "srt/utils",
)
SETTER = "def set_eagle3_layers_to_capture("


def swapped(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def without_entry(text: str) -> str:
    return re.sub(r"(?m)^EntryClass = .*(?:\n[ \])].*)*\n?", "", text)


EDITS: dict[str, tuple[str, Callable[[str], str]]] = {
    "lines move in a wrapper that is shown as an example": ("kimi_k25.py", lambda text: "# above\n\n" + text),
    "a wrapper loses its delegation": ("kimi_k25.py", swapped(SETTER, "def capture(")),
    "an inner model loses its setter": ("llama.py", swapped(SETTER, "def capture(")),
    "an inner model two classes up does": ("deepseek_v2.py", swapped(SETTER, "def capture(")),
    "a model is no longer registered": ("qwen2_moe.py", without_entry),
    "a body no longer reads what is written": ("llama.py", swapped("layers_to_capture", "layers_taken")),
    "a misspelled method": ("llama.py", swapped("def get_embed_and_head(", "def get_embed_and_heads(")),
    "a file is no Python": ("qwen2.py", lambda text: text + "\nclass (:\n"),
    "an annotation without its import": ("gemma3_mm.py", lambda text: re.sub(r"(?m)^from typing import .*$", "", text)),
    "a class for a whole package of models": (
        "deepseek_common/deepseek_weight_loader.py",
        lambda text: text + "\nx = 1\n",
    ),
}


@pytest.fixture(scope="module")
def models(release: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models of a copy of the release, with the parts of it that they lead to."""
    package = Path(release(VERSION).package)
    root = tmp_path_factory.mktemp("edited")
    for part in PARTS:
        shutil.copytree(package / part, root / "sglang" / part)
    return root / "sglang" / "srt" / "models"


@pytest.fixture(scope="module")
def request_(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Request:
    """A request that remembers, and has run once."""
    request = Request(paths=(str(models),), pedantic=True, cache_dir=str(tmp_path_factory.mktemp("cache")))
    check(request)
    return request


@pytest.fixture
def edited(models: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    name, change = EDITS[request.param]
    path = models / name
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    yield
    path.write_text(before, encoding="utf-8")


@pytest.mark.parametrize("edited", EDITS, indirect=True)
@pytest.mark.usefixtures("edited")
def test_what_is_remembered_is_what_would_be_found(request_: Request) -> None:
    remembering = check(request_)
    anew = check(replace(request_, cache=False))
    assert remembering.findings == anew.findings
    assert remembering == anew
    assert not anew.internal_errors


def test_a_file_that_comes_and_goes(models: Path, request_: Request) -> None:
    path = models / "added.py"
    first = check(request_)
    path.write_text(
        "from sglang.srt.models.llama import LlamaForCausalLM\n\n\n"
        "class AddedForCausalLM(LlamaForCausalLM):\n    def set_eagle3_layers_to_capture(self):\n        pass\n\n\n"
        "EntryClass = AddedForCausalLM\n",
        encoding="utf-8",
    )
    try:
        added = check(request_)
        assert added == check(replace(request_, cache=False))
        assert any(one.path == str(path) for one in added.findings)
    finally:
        path.unlink()
    assert check(request_) == first
