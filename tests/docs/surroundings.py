"""What a rule's example needs around it to be a model file: imports, an inner model, a body, a runtime, a registration."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

RUNTIME = """\
class ModelRunner:
    def __init__(self, eagle_aux_hidden_state_layer_ids):
        self.model = self.load_model()
        self.model.set_eagle3_layers_to_capture(eagle_aux_hidden_state_layer_ids)
        self.model.set_dflash_layers_to_capture(eagle_aux_hidden_state_layer_ids)
"""
WORKER = """\
class EAGLEWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        embed, head = self.target_worker.model_runner.model.get_embed_and_head()
"""
IMPORTS = """\
from torch import nn
from sglang.srt.layers.logits_processor import LogitsProcessor
from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead
from sglang.srt.models.llama import CapturingModel, LlamaForCausalLM, PlainModel
"""
INNER = """\
from torch import nn


class PlainModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(1, 1)
        self.layers = nn.ModuleList([])

    def forward(self, input_ids, positions, forward_batch):
        return self.embed_tokens(input_ids)


class CapturingModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(1, 1)
        self.layers = nn.ModuleList([])
        self.layers_to_capture = []

    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.embed_tokens(input_ids)
        aux_hidden_states = []
        for index in range(len(self.layers)):
            if index in self.layers_to_capture:
                aux_hidden_states.append(hidden_states)
            hidden_states = self.layers[index](hidden_states)
        if len(aux_hidden_states) == 0:
            return hidden_states
        return hidden_states, aux_hidden_states


class LlamaForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = CapturingModel(config)
        self.lm_head = nn.Linear(1, 1)
        self.capture_aux_hidden_states = False

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [value + 1 for value in layer_ids or [2, 16, 29]]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight


EntryClass = LlamaForCausalLM
"""
# A target around the class ``ForCausalLM`` of an example, which has the forward alone.
AROUND_FORWARD = """

class Target(ForCausalLM):
    def __init__(self, config):
        super().__init__()
        self.model = CapturingModel(config)
        self.lm_head = ParallelLMHead(1, 1)
        self.logits_processor = LogitsProcessor(config)
        self.capture_aux_hidden_states = False

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [value + 1 for value in layer_ids or [2, 16, 29]]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight


EntryClass = Target
"""
# A body around a loop over layers, and the target that holds it.
AROUND_LOOP = """

class Body(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(1, 1)
        self.layers = nn.ModuleList([])
        self.layers_to_capture = []

    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.embed_tokens(input_ids)
        residual = None
        captured = []
{example}
        return (hidden_states, captured) if captured else hidden_states


class Target(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Body(config)
        self.lm_head = ParallelLMHead(1, 1)
        self.capture_aux_hidden_states = False

    def forward(self, input_ids, positions, forward_batch):
        return self.model(input_ids, positions, forward_batch)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [value + 1 for value in layer_ids or [2, 16, 29]]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight


EntryClass = Target
"""
# A target around a method.
AROUND_METHOD = """

class Target(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = CapturingModel(config)
        self.lm_head = ParallelLMHead(1, 1)
        self.capture_aux_hidden_states = False
        self.pp_group = get_pp_group()

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

{example}


EntryClass = Target
"""

_FRAMES = {"EGL202": AROUND_FORWARD, "EGL204": AROUND_LOOP, "EGL205": AROUND_LOOP, "EGL206": AROUND_METHOD}
_ALONE = ("EGL3", "EGL9")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_in(section: str) -> str:
    """The one Python block of a section."""
    (block,) = _BLOCK.findall(section)
    found: str = block
    return found


def module_around(code: str, example: str) -> str:
    """The model file that stands for ``example`` of the rule ``code``."""
    if code.startswith(_ALONE):
        return example
    frame = _FRAMES.get(code)
    if frame is None:
        last = [node.name for node in ast.parse(example).body if isinstance(node, ast.ClassDef)]
        return f"{IMPORTS}\n\n{example}\n\nEntryClass = [{', '.join(last)}]\n"
    if "{example}" not in frame:
        return f"{IMPORTS}\n\n{example}{frame}"
    depth = " " * (8 if frame is AROUND_LOOP else 4)
    return IMPORTS + frame.replace("{example}", textwrap.indent(example, depth))


def mended(example: str, instead: str) -> str:
    """``example`` with the definitions of ``instead`` in place of its own of the same names; all of ``instead`` where they
    share none."""
    new = definitions(instead)
    old = definitions(example)
    if not new.keys() & old.keys() or new.keys() >= old.keys():
        return instead
    return "\n\n".join(new.get(name, text) for name, text in old.items())


def definitions(text: str) -> dict[str, str]:
    """The top-level definitions of ``text`` by name; none where it isn't Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    nodes = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    return {node.name: ast.get_source_segment(text, node) or "" for node in nodes}


def plant(root: Path, text: str) -> Path:
    """A small tree below ``root`` with ``text`` as one of its models; the path of that file."""
    srt = root / "sglang" / "srt"
    for path, content in (
        (srt / "models" / "llama.py", INNER),
        (srt / "models" / "example.py", text),
        (srt / "model_executor" / "model_runner.py", RUNTIME),
        (srt / "speculative" / "eagle_worker.py", WORKER),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return srt / "models" / "example.py"
