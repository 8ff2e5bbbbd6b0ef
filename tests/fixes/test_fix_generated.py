"""Generated wrappers, fixed and really run: every call arrives at the inner model."""

from __future__ import annotations

import builtins
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fixing import fixed, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.engine import Request, check

SETTER = "set_eagle3_layers_to_capture"
HEADS = [
    "",
    '"""Docs."""\n\n',
    "from __future__ import annotations\n\n",
    "from typing import List, Optional\n\n",
    "from typing import (\n    Any,\n    Tuple,  # pairs\n)\n\n",
    "import typing\n",
    "import typing as t\nfrom typing import Optional as Maybe\n",
    "import logging\nimport os; import re\n\n",
    "# license\n",
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from typing import List, Optional\n\n",
]
ROUTES = [
    "        return general_mm_embed_routine(input_ids=input_ids, language_model=self.INNER)\n",
    "        return self.INNER(input_ids)\n",
    "        inner = self.INNER\n        hidden = inner.forward(input_ids)\n        return hidden\n",
    "        return self.run(input_ids)\n\n    def run(self, input_ids):\n        return self.INNER(input_ids)\n",
]
METHODS = [
    "    def pad_input_ids(self, input_ids, mm_inputs):\n        return input_ids\n",
    "    def get_image_feature(self, items: list) -> int: return 1  # one line\n",
    "    # loads both parts\n    @torch.no_grad()\n    def load_weights(self, weights: list) -> None:\n        pass\n",
    "    def get_input_embeddings(self):\n        return 'a' if self else 'b'\n        # never reached\n",
    "    @property\n    def size(self) -> int:\n        return 1\n\n    @size.setter\n    def size(self, value: int) -> None: ...\n",
    "    class Config:\n        size = 1\n",
    "    if True:\n        def maybe(self): ...\n",
    "    names = {\n        'a': 'b',\n    }\n",
    "    # only a comment\n",
]
TAILS = ["", "\n# the end\n", "    # still the class\n", "\n\ndef helper(): ...\n"]


@st.composite
def wrappers(draw: st.DrawFn) -> tuple[str, str]:
    """A wrapper of the text model in some style, and the attribute that holds the text model."""
    inner = draw(
        st.sampled_from(["language_model", "llm", "model", "a_very_long_name_for_an_inner_language_model_of_mine"])
    )
    built = f"self.{inner} = TextForCausalLM(config)\n"
    if draw(st.booleans()):
        built = f"self.{inner} = None\n        if config:\n            {built}"
    init = f"    def __init__(self, config):\n        super().__init__()\n        {built}"
    forward = "    def forward(self, input_ids):\n" + draw(st.sampled_from(ROUTES)).replace("INNER", inner)
    others = draw(st.lists(st.sampled_from(METHODS[1:]), max_size=4, unique=True))
    members = draw(st.permutations([init, forward, METHODS[0], *others]))
    body = draw(st.sampled_from(["\n", "\n\n", ""])).join(members)
    text = (
        f"{draw(st.sampled_from(HEADS))}import torch\nfrom torch import nn\n\n"
        f"from sglang.srt.managers.mm_utils import general_mm_embed_routine\n"
        f"from sglang.srt.models.text import TextForCausalLM\n\n\n"
        f"class Wrapper(nn.Module):\n{body}{draw(st.sampled_from(TAILS))}"
    )
    text = draw(st.sampled_from([text, f"{text}\nEntryClass = Wrapper\n", text.rstrip("\n")]))
    text = text.replace("    ", draw(st.sampled_from(["    ", "\t", "  "])))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))), inner


class Recorder:
    """An inner model that remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given: (self.calls.append((name, given)), len(self.calls))[1]


def module(name: str, *_: object, **__: object) -> object:
    """What the wrappers import from outside the standard library."""
    nothing = SimpleNamespace(Module=type("Module", (), {}))
    return SimpleNamespace(
        nn=nothing, no_grad=lambda: lambda one: one, Tensor=int, TextForCausalLM=int, general_mm_embed_routine=int
    )


def run(text: str) -> type:
    """The class that ``text`` makes."""

    def imported(name: str, *given: Any, **named: Any) -> Any:
        outside = name.partition(".")[0] in ("torch", "sglang")
        return module(name) if outside else builtins.__import__(name, *given, **named)

    space: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": imported}, "__name__": "wrapper"}
    exec(compile(text, "wrapper.py", "exec"), space)  # noqa: S102
    made: type = space["Wrapper"]
    return made


@settings(max_examples=80, deadline=None)
@given(wrappers())
def test_calls_arrive_at_the_inner_model(made: tuple[str, str]) -> None:
    text, inner = made
    with tempfile.TemporaryDirectory() as folder:
        path = tree(Path(folder), text)
        asked = Request(paths=(str(path),), pedantic=True, cache=False)
        before = {one.code for one in check(asked).findings}
        assert "EGL101" in before
        found = fixed(path)
        assert {one.code for one in found.report.findings} <= before - {"EGL101"}
        result = path.read_bytes().decode()
    instance = object.__new__(run(result))
    recorder = instance.__dict__[inner] = Recorder()
    assert [getattr(instance, SETTER)([1, 2, 3]), getattr(instance, SETTER)()] == [1, 2]
    assert instance.get_embed_and_head() == 3
    assert recorder.calls == [(SETTER, ([1, 2, 3],)), (SETTER, (None,)), ("get_embed_and_head", ())]
    lines = [line for line in text.splitlines() if "import" not in line]
    kept = iter(result.splitlines())
    assert [line for line in lines if line not in kept] == []
