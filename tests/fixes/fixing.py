"""Small trees with one wrapper to fix."""

from __future__ import annotations

from pathlib import Path

from eagle3_lint.engine import Fixed, Request, fix
from eagle3_lint.engine.fixing import write
from eagle3_lint.findings.report import Report

TEXT = """\
from torch import nn


class Body(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(8, 8)
        self.layers = nn.ModuleList()
        self.layers_to_capture = []

    def forward(self, input_ids):
        return self.layers_to_capture


class TextForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Body(config)
        self.lm_head = nn.Linear(8, 8)
        self.capture_aux_hidden_states = False

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]

    def forward(self, input_ids):
        hidden_states = self.model(input_ids)
        aux_hidden_states = None
        if self.capture_aux_hidden_states:
            hidden_states, aux_hidden_states = hidden_states
        return self.logits_processor(hidden_states, aux_hidden_states)
"""


def tree(folder: Path, wrapper: str | bytes) -> Path:
    """The path of a wrapper in a tree of its own, beside the text model that it holds."""
    models = folder / "sglang" / "srt" / "models"
    models.mkdir(parents=True, exist_ok=True)
    (models / "text.py").write_text(TEXT, encoding="utf-8")
    path = models / "wrapper.py"
    path.write_bytes(wrapper if isinstance(wrapper, bytes) else wrapper.encode())
    return path


def request(path: Path, *select: str) -> Request:
    """The request to lint ``path`` alone, with every rule, without a cache."""
    return Request(paths=(str(path),), select=select, pedantic=True, cache=False)


def unfiltered(report: Report) -> Report:
    """Every finding of ``report`` is to be fixed."""
    return report


def fixed(path: Path, *select: str, unsafe: bool = False) -> Fixed:
    """What fixing ``path`` comes to; the file is written."""
    found = fix(request(path, *select), unsafe=unsafe, reported=unfiltered)
    write(found.changes)
    again = fix(request(path, *select), unsafe=unsafe, reported=unfiltered)
    assert again.changes == ()
    return found


def wrapper(body: str, head: str = "", name: str = "class Wrapper(nn.Module):") -> str:
    """A module with a wrapper of the text model: ``head`` are more imports, ``body`` the class's statements."""
    return (
        f"{head}from torch import nn\n\nfrom sglang.srt.managers.mm_utils import general_mm_embed_routine\n"
        f"from sglang.srt.models.text import TextForCausalLM\n\n\n{name}\n{body}\n\nEntryClass = Wrapper\n"
    )
