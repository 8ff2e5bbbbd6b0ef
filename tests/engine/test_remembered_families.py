"""What was found in one family of files is given again only while all that it rests on is what it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check

INNER = """\
from torch import nn


class Body(nn.Module):
    def set_embed_and_heed(self, embed, head):
        self.embed = embed


class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.capture_aux_hidden_states = False
        self.model = Body(config)
        self.lm_head = nn.Linear(1, 1)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [1, 2, 3]

    def get_embed_and_head(self):
        return self.model.embed, self.lm_head.weight
"""
WRAPPER = """\
from sglang.srt.mm.base import Base
from sglang.srt.models.inner import Inner


class {name}(Base):
    def __init__(self, config):
        super().__init__()
        self.language_model = Inner(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.language_model(input_ids, positions, forward_batch)
{more}

EntryClass = {name}
"""
DELEGATION = """
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()
"""
BASE = "from torch import nn\n\n\nclass Base(nn.Module):\n    pass\n"
TREE = {
    "models/inner.py": INNER + "\n\nEntryClass = Inner\n",
    "models/lacking.py": WRAPPER.format(name="Lacking", more=""),
    "models/delegating.py": WRAPPER.format(name="Delegating", more=DELEGATION),
    "models/another.py": WRAPPER.format(name="Another", more=DELEGATION),
    "mm/base.py": BASE,
}
CALL = "\n\ndef use(model):\n    model.set_embed_and_heed(1, 2)\n"
EDITS = {
    "the shown wrapper moves": ("models/another.py", "# a line above\n" + TREE["models/another.py"]),
    "the shown wrapper is gone": ("models/another.py", WRAPPER.format(name="Another", more="")),
    "a base outside the models delegates": ("mm/base.py", BASE.replace("    pass\n", DELEGATION)),
    "somebody calls the misspelled method": ("models/delegating.py", TREE["models/delegating.py"] + CALL),
    "the inner model can't capture": (
        "models/inner.py",
        INNER.replace("_eagle3", "_other") + "\n\nEntryClass = Inner\n",
    ),
    "the inner model is registered elsewhere": ("models/inner.py", INNER),
    "a new file registers it": (
        "models/new.py",
        "from sglang.srt.models.inner import Inner\n\n\nclass New(Inner):\n    pass\n\n\nEntryClass = New\n",
    ),
    "the inner model moves": ("models/inner.py", "\n\n" + TREE["models/inner.py"]),
    "the wrapper holds something else": (
        "models/lacking.py",
        TREE["models/lacking.py"].replace("Inner(config)", "config.make()"),
    ),
    "the misspelled method is mended": ("models/inner.py", TREE["models/inner.py"].replace("heed", "head")),
    "another method is misspelled": (
        "models/delegating.py",
        TREE["models/delegating.py"].replace("def get_embed_and_head", "def get_embed_and_haed"),
    ),
    "a file is no Python": ("models/another.py", "class Another(:\n"),
}


def write(root: Path, files: dict[str, str]) -> None:
    """Write the files of a tree that lies beside the cache: the names in its folders count among what is remembered."""
    for name, text in files.items():
        path = root / "tree" / "sglang" / "srt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("engine", ["auto", "astroid"])
@pytest.mark.parametrize("edit", EDITS)
def test_after_an_edit_a_cached_run_finds_what_an_uncached_one_does(edit: str, engine: str, tmp_path: Path) -> None:
    write(tmp_path, TREE)
    models = str(tmp_path / "tree" / "sglang" / "srt" / "models")
    request = Request(paths=(models,), cache_dir=str(tmp_path / "cache"), engine=engine)
    plain = replace(request, cache=False)
    first = check(request)
    assert first == check(plain)
    assert {one.code for one in first.findings} >= {"EGL101", "EGL106"}
    name, text = EDITS[edit]
    write(tmp_path, {name: text})
    edited = check(request)
    assert edited == check(plain)
    assert edited != first
    (tmp_path / "tree" / "sglang" / "srt" / name).unlink()
    write(tmp_path, TREE)
    assert check(request) == first


INERT = """\
from torch import nn


class InnerBody(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = []

    def forward(self, input_ids, positions, forward_batch):
        for layer in self.layers:
            input_ids = layer(input_ids)
        return input_ids


class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = InnerBody(config)
        self.lm_head = nn.Linear(1, 1)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.model.layers_to_capture = layer_ids or [1, 2, 3]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

    def forward(self, input_ids, positions, forward_batch):
        return self.model(input_ids, positions, forward_batch)
"""


def test_what_another_file_registers_counts(tmp_path: Path) -> None:
    """A wrapper is not blamed for an inner model that is registered for itself, whichever file does that."""
    wrapper = WRAPPER.format(name="Wrapper", more=DELEGATION)
    third = "from sglang.srt.models.inner import Inner\n"
    write(
        tmp_path, {"models/inner.py": INERT, "models/wrapper.py": wrapper, "mm/base.py": BASE, "models/third.py": third}
    )
    models = str(tmp_path / "tree" / "sglang" / "srt" / "models")
    request = Request(paths=(models,), cache_dir=str(tmp_path / "cache"))

    def blamed() -> set[str | None]:
        report = check(request)
        assert report == check(replace(request, cache=False))
        return {one.class_name for one in report.findings if one.code == "EGL201"}

    assert blamed() == {"sglang.srt.models.wrapper.Wrapper"}
    write(tmp_path, {"models/third.py": f"{third}\nEntryClass = Inner\n"})
    assert blamed() == {"sglang.srt.models.inner.Inner"}
