"""The delegating methods that EGL101 and EGL102 add: where, and in whose style."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fixing import fixed, tree, wrapper

INIT = """\
    def __init__(self, config):
        super().__init__()
        self.language_model = TextForCausalLM(config)
"""
FORWARD = """\
    def forward(self, input_ids, positions, forward_batch):
        return general_mm_embed_routine(
            input_ids=input_ids, forward_batch=forward_batch, language_model=self.language_model
        )
"""
SETTER = """\
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if not hasattr(self.language_model, "set_eagle3_layers_to_capture"):
            raise AttributeError(
                f"{type(self.language_model).__name__} in language_model "
                "has no set_eagle3_layers_to_capture"
            )
        return self.language_model.set_eagle3_layers_to_capture(layer_ids)
"""
GETTER = """\
    def get_embed_and_head(self):
        if not hasattr(self.language_model, "get_embed_and_head"):
            raise AttributeError(
                f"{type(self.language_model).__name__} in language_model "
                "has no get_embed_and_head"
            )
        return self.language_model.get_embed_and_head()
"""
PAD = """\
    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids
"""
LOAD = """\
    def load_weights(self, weights):
        pass
"""


def after(tmp_path: Path, text: str, *select: str, unsafe: bool = False) -> str:
    """``text`` as a fixed file, which is Python."""
    path = tree(tmp_path, text)
    fixed(path, *(select or ("EGL1",)), unsafe=unsafe)
    result = path.read_bytes().decode()
    ast.parse(result)
    return result


def body(*parts: str) -> str:
    return "\n".join(parts)


def test_before_load_weights(tmp_path: Path) -> None:
    found = after(tmp_path, wrapper(body(INIT, PAD, FORWARD, LOAD)))
    assert found == wrapper(body(INIT, PAD, FORWARD, SETTER, GETTER, LOAD))


def test_before_the_decorators_and_the_comment_of_load_weights(tmp_path: Path) -> None:
    above = "    # weights of both parts\n    # in one file\n    @staticmethod\n"
    found = after(tmp_path, wrapper(body(INIT, PAD, FORWARD, above + LOAD)))
    assert found == wrapper(body(INIT, PAD, FORWARD, SETTER, GETTER, above + LOAD))


def test_after_the_interface_that_is_there(tmp_path: Path) -> None:
    embeddings = "    def get_input_embeddings(self):\n        return self.language_model.model.embed_tokens\n"
    found = after(tmp_path, wrapper(body(INIT, embeddings, PAD, FORWARD, LOAD)))
    assert found == wrapper(body(INIT, embeddings, SETTER, GETTER, PAD, FORWARD, LOAD))


def test_a_comment_that_ends_the_neighbour_stays_with_it(tmp_path: Path) -> None:
    commented = PAD + "        # the ids are padded elsewhere\n"
    found = after(tmp_path, wrapper(body(INIT, FORWARD, commented)))
    assert found == wrapper(body(INIT, FORWARD, commented, SETTER, GETTER))


def test_a_comment_after_the_class_stays_behind_it(tmp_path: Path) -> None:
    text = wrapper(body(INIT, FORWARD, PAD)).replace("\n\nEntryClass", "\n\n# registered\nEntryClass")
    found = after(tmp_path, text)
    assert found == text.replace(PAD, body(PAD, SETTER, GETTER))


def test_before_a_nested_class_at_the_end(tmp_path: Path) -> None:
    nested = "    class Config:\n        size = 1\n"
    found = after(tmp_path, wrapper(body(INIT, FORWARD, PAD, nested)))
    assert found == wrapper(body(INIT, FORWARD, PAD, SETTER, GETTER, nested))


def test_a_class_that_ends_the_file_without_a_line_ending(tmp_path: Path) -> None:
    text = wrapper(body(INIT, FORWARD, PAD)).replace("EntryClass = Wrapper\n", "").rstrip("\n")
    assert after(tmp_path, text) == f"{text}\n\n{SETTER}\n{GETTER}".rstrip("\n")


def test_a_nested_class(tmp_path: Path) -> None:
    inner = body(INIT, FORWARD, PAD)
    text = wrapper("    class Inner(nn.Module):\n" + indented(inner)).replace("= Wrapper", "= Wrapper.Inner")
    found = after(tmp_path, text)
    assert found == text.replace(indented(PAD), indented(body(PAD, SETTER, GETTER)))


def indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("unit", ["\t", "  "])
def test_other_indentation(tmp_path: Path, unit: str) -> None:
    text = wrapper(body(INIT, PAD, FORWARD)).replace("    ", unit)
    found = after(tmp_path, text)
    assert found == wrapper(body(INIT, PAD, FORWARD, SETTER, GETTER)).replace("    ", unit) or unit == "  "
    methods = [line for line in found.splitlines() if "def " in line]
    assert methods[-1] == f"{unit}def get_embed_and_head(self):"
    assert f"\n{unit}{unit}return self.language_model.get_embed_and_head()\n" in found
    assert f"\n{unit}{unit}{unit}raise AttributeError(" in found


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_endings(tmp_path: Path, ending: str) -> None:
    text = wrapper(body(INIT, PAD, FORWARD, LOAD))
    expected = wrapper(body(INIT, PAD, FORWARD, SETTER, GETTER, LOAD))
    assert after(tmp_path, text.replace("\n", ending)) == expected.replace("\n", ending)


def test_single_quotes(tmp_path: Path) -> None:
    quoted = PAD.replace("return input_ids", "return {'a': input_ids, 'b': 'c'}['a']")
    found = after(tmp_path, wrapper(body(INIT, quoted, FORWARD)))
    assert "hasattr(self.language_model, 'get_embed_and_head')" in found
    assert "f'{type(self.language_model).__name__} in language_model '" in found


def test_two_blank_lines_between_methods(tmp_path: Path) -> None:
    found = after(tmp_path, wrapper(f"{INIT}\n\n{PAD}\n\n{FORWARD}\n\n{LOAD}"))
    assert found == wrapper(f"{INIT}\n\n{PAD}\n\n{FORWARD}\n\n{SETTER}\n\n{GETTER}\n\n{LOAD}")


def test_results_are_annotated_where_the_neighbours_are(tmp_path: Path) -> None:
    head = "from typing import List, Optional, Tuple\n\nimport torch\n"
    annotated = body(INIT, PAD, FORWARD).replace("):\n", ") -> None:\n")
    found = after(tmp_path, wrapper(annotated, head))
    assert "def set_eagle3_layers_to_capture(self, layer_ids=None) -> None:" in found
    assert "def get_embed_and_head(self) -> Tuple[torch.Tensor, torch.Tensor]:" in found


@pytest.mark.parametrize(
    ("head", "spelling", "imported"),
    [
        ("from typing import List, Optional\n", "Optional[List[int]] = None", ""),
        ("from typing import Iterable, Optional\n", "Optional[list[int]] = None", ""),
        (
            "from typing import Iterable, List\n",
            "Optional[List[int]] = None",
            "from typing import Iterable, List, Optional\n",
        ),
        ("from typing import Any\n", "Optional[List[int]] = None", "from typing import Any, List, Optional\n"),
        ("import typing\n", "typing.Optional[typing.List[int]] = None", ""),
        ("import typing as t\n", "t.Optional[t.List[int]] = None", ""),
        ("from typing import Optional as Maybe, List\n", "Maybe[List[int]] = None", ""),
        ("from __future__ import annotations\n", "list[int] | None = None", ""),
        ("import logging\n", "Optional[List[int]] = None", "import logging\nfrom typing import List, Optional\n"),
        ("", "Optional[List[int]] = None", "from typing import List, Optional\n\nfrom torch import nn\n"),
        ('"""Docs."""\n', "Optional[List[int]] = None", '"""Docs."""\nfrom typing import List, Optional\n\nfrom torch'),
    ],
)
def test_the_spelling_of_types(tmp_path: Path, head: str, spelling: str, imported: str) -> None:
    typed = PAD.replace("input_ids, mm_inputs", "input_ids: list, mm_inputs: dict")
    untyped = FORWARD.replace("input_ids, positions, forward_batch", "input_ids: int, positions: int, batch: int")
    found = after(tmp_path, wrapper(body(INIT, typed, untyped), head))
    assert f"layer_ids: {spelling}" in found
    assert imported in found
    if not imported:
        assert found.startswith(head)


def test_unions_where_the_file_writes_unions(tmp_path: Path) -> None:
    typed = PAD.replace("input_ids, mm_inputs", "input_ids: list[int], mm_inputs: dict | None")
    found = after(tmp_path, wrapper(body(INIT, typed, FORWARD), "from typing import Any\n"))
    assert "layer_ids: list[int] | None = None" in found
    assert "from typing import Any\n" in found


def test_names_that_only_type_checkers_see_are_not_used(tmp_path: Path) -> None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from typing import List, Optional\n\n"
    typed = PAD.replace("input_ids, mm_inputs", "input_ids: int, mm_inputs: int")
    untyped = FORWARD.replace("input_ids, positions, forward_batch", "input_ids: int, forward_batch: int")
    found = after(tmp_path, wrapper(body(INIT, typed, untyped), head))
    assert found.startswith(head.replace("TYPE_CHECKING\n", "TYPE_CHECKING, List, Optional\n", 1))
    assert "layer_ids: Optional[List[int]] = None" in found


def helper_tree(tmp_path: Path, statement: str) -> Path:
    """A base that builds what its subclass names; the subclass is the class to change."""
    base = """\
class Base(nn.Module):
    model_class = None

    def __init__(self, config):
        super().__init__()
        self.language_model = self.model_class(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids):
        return self.language_model(input_ids)


"""
    return tree(tmp_path, wrapper("", name=base + statement))


@pytest.mark.parametrize(
    ("statement", "head"),
    [
        (
            "class Wrapper(Base): model_class = TextForCausalLM",
            "class Wrapper(Base): \n    model_class = TextForCausalLM\n\n",
        ),
        (
            "class Wrapper(Base):\n    model_class = TextForCausalLM\n",
            "class Wrapper(Base):\n    model_class = TextForCausalLM\n\n",
        ),
    ],
)
def test_a_class_without_methods(tmp_path: Path, statement: str, head: str) -> None:
    path = helper_tree(tmp_path, statement)
    fixed(path, "EGL101")
    found = path.read_text(encoding="utf-8")
    ast.parse(found)
    assert head + SETTER in found
    assert GETTER in found


def test_around_the_inner_model_is_unsafe_and_says_why(tmp_path: Path) -> None:
    around = """\
    def forward(self, input_ids):
        return self.logits_processor(self.language_model.model(input_ids))
"""
    path = tree(tmp_path, wrapper(body(INIT, PAD, around)))
    found = fixed(path, "EGL101")
    (finding,) = found.report.findings
    assert found.changes == ()
    assert finding.fix is not None and finding.fix.safety == "unsafe"
    assert "computes the logits with self.logits_processor" in finding.fix.remains
    assert fixed(path, "EGL101", unsafe=True).report.fixed == 1


def test_a_body_is_not_delegated_to(tmp_path: Path) -> None:
    text = wrapper(body(INIT.replace("TextForCausalLM", "Body"), PAD, FORWARD)).replace("TextForCausalLM", "Body")
    path = tree(tmp_path, text)
    text_file = path.with_name("text.py")
    setter = "\n    def set_eagle3_layers_to_capture(self, layers):\n        self.layers_to_capture = layers\n"
    text_file.write_text(
        text_file.read_text().replace(
            "    def forward(self, input_ids):\n        return self.layers",
            setter + "    def forward(self, input_ids):\n        return self.layers",
        )
    )
    found = fixed(path, "EGL101", unsafe=True)
    (finding,) = found.report.findings
    assert found.changes == ()
    assert finding.fix is not None and finding.fix.edits == ()
    assert "no head of its own" in finding.fix.remains


def test_a_list_of_models_is_not_delegated_to(tmp_path: Path) -> None:
    held = INIT.replace("TextForCausalLM(config)", "[TextForCausalLM(config)]")
    found = fixed(tree(tmp_path, wrapper(body(held, PAD, FORWARD))), "EGL101", unsafe=True)
    assert found.changes == ()


def test_a_companion_is_delegated_too(tmp_path: Path) -> None:
    found = after(tmp_path, wrapper(body(INIT, PAD, FORWARD, SETTER)), "EGL102")
    assert found == wrapper(body(INIT, PAD, FORWARD, SETTER, GETTER))


def test_a_companion_from_the_own_body_is_unsafe(tmp_path: Path) -> None:
    text = """\
from torch import nn

from sglang.srt.models.text import Body


class Own(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Body(config)
        self.lm_head = nn.Linear(8, 8)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.model.layers_to_capture = layer_ids or [2]


EntryClass = Own
"""
    path = tree(tmp_path, text)
    assert fixed(path, "EGL102").changes == ()
    fixed(path, "EGL102", unsafe=True)
    method = "\n    def get_embed_and_head(self):\n        return self.model.embed_tokens.weight, self.lm_head.weight\n"
    assert path.read_text() == text.replace("or [2]\n", "or [2]\n" + method)
