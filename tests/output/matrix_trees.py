"""Trees of our own making whose matrix has every state, and one whose names are out to become markup."""

from __future__ import annotations

from pathlib import Path

INNER = """\
from torch import nn


class Able(nn.Module):
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


class Heir(Able):
    pass


class Unable(nn.Module):
    pass


EntryClass = [Able, Heir, Unable]
"""
WRAPPER = """\
from torch import nn

from sglang.srt.models.inner import Heir


class {name}(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = Heir(config)

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
OTHERS = """\
from torch import nn
from transformers import AutoModel

from sglang.srt.models.inner import Heir


class Forwards(nn.Module):
    def __init__(self, config):
        self.language_model = Heir(config)

    def __getattr__(self, name):
        return getattr(self.language_model, name)


class Unknown(nn.Module):
    def __init__(self, config):
        self.model = AutoModel.from_config(config)


class HeirEagle3(Heir):
    def forward(self, forward_batch):
        return forward_batch.spec_info.hidden_states


EntryClass = [Forwards, Unknown, HeirEagle3]
"""
RUNNER = """\
class ModelRunner:
    def load_model(self):
        self.model.set_eagle3_layers_to_capture()
        if hasattr(self.model, "set_dflash_layers_to_capture"):
            self.model.set_dflash_layers_to_capture([1])


class EAGLEWorker:
    def __init__(self, target_worker):
        embed, head = target_worker.model_runner.model.get_embed_and_head()
"""
MARKUP = """"><img src=x onerror=alert(1)><script>alert(2)</script>'&amp;`|${7*7}{{7*7}}"""
HOSTILE_FILE = "\"><img src=x onerror=alert(1)>`|'&\x1b[31m\u202e.py"


def plant(root: Path) -> Path:
    """Write a tree below ``root``, which its matrix calls the root; returns the models directory."""
    models = root / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    for folder in ("model_executor", "speculative"):
        (models.parent / folder).mkdir()
    (models.parent / "model_executor" / "model_runner.py").write_text(RUNNER)
    (root / "sglang" / "version.py").write_text('__version__ = "9.8.7"\n')
    (models / "inner.py").write_text(INNER)
    (models / "others.py").write_text(OTHERS)
    (models / "wrapper.py").write_text(WRAPPER.format(name="Wrapper", more=""))
    (models / "delegating.py").write_text(WRAPPER.format(name="Delegating", more=DELEGATION))
    return models


def plant_hostile(root: Path) -> Path:
    """A tree whose file names, source lines and messages hold markup and control characters."""
    models = plant(root)
    text = WRAPPER.format(name="Hostile", more="")
    text = text.replace("(nn.Module):", f"(nn.Module):  # {MARKUP}").replace("return input_ids", f"return {MARKUP!r}")
    text = text.replace("    def forward", f"    # {MARKUP}\n    def forward")
    (models / HOSTILE_FILE).write_text(text)
    (models / "odd.py").write_text(
        f"from torch import nn\n\n\nclass Odd(nn.Module):\n    def __init__(self, config):\n"
        f"        self.model = config[{MARKUP!r}]()  # \x0c\n\n\nEntryClass = Odd\n"
    )
    return models
