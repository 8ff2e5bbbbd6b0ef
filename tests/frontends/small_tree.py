"""A small checkout of our own making: an inner language model, a wrapper that misses its interface, a typing name."""

from __future__ import annotations

import sys
from pathlib import Path

INNER = """\
from torch import nn


class InnerForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = nn.Module()
        self.lm_head = nn.Linear(1, 1)
        self.capture_aux_hidden_states = False

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight


EntryClass = InnerForCausalLM
"""
WRAPPER = """\
from torch import nn

from sglang.srt.models.inner_lm import InnerForCausalLM


class WrapperForConditionalGeneration(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = InnerForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.language_model(input_ids, positions, forward_batch)


EntryClass = WrapperForConditionalGeneration
"""
DELEGATION = """\
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()

"""
DELEGATING = WRAPPER.replace("    def pad_input_ids", DELEGATION + "    def pad_input_ids")
# Not an annotation: Python 3.14 evaluates none.
TYPED = "def first(values=(List[int])) -> int:\n    return values[0]\n"


def plant(root: Path) -> Path:
    """Write the checkout below ``root``; returns its models directory, which has no ``__init__.py``, as SGLang's."""
    models = root / "python" / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (models / "inner_lm.py").write_text(INNER, encoding="utf-8")
    (models / "wrapper_vl.py").write_text(WRAPPER, encoding="utf-8")
    (models / "typed.py").write_text(TYPED, encoding="utf-8")
    return models


def plant_traps(directory: Path, fired: Path) -> None:
    """Put a module of every name that a program may import into ``directory``; one that runs leaves a file in ``fired``."""
    fired.mkdir()
    for name in sys.stdlib_module_names | {"astroid", "platformdirs", "tomli", "typing_extensions", "torch"}:
        trap = f"import os\nos.close(os.open({str(fired / name)!r}, os.O_CREAT))\nraise ImportError\n"
        (directory / f"{name}.py").write_text(trap, encoding="utf-8")


def take_fired(fired: Path) -> set[str]:
    """The names of the traps that ran since the last time."""
    names = {path.name for path in fired.iterdir()}
    for name in names:
        (fired / name).unlink()
    return names
