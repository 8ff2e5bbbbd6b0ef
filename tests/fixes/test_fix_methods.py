"""The fixes of methods that are there: the raising branch (EGL104), the default (EGL105), the right name (EGL106)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fixing import TEXT, fixed, tree, wrapper

HELD = """\
    def __init__(self, config):
        super().__init__()
        self.language_model = TextForCausalLM(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()

    def forward(self, input_ids):
        return self.language_model(input_ids)

"""
RAISE = """\
raise AttributeError(
                f"{type(self.language_model).__name__} in language_model "
                "has no set_eagle3_layers_to_capture"
            )
"""
ASKS = 'hasattr(self.language_model, "set_eagle3_layers_to_capture")'
LOOKS_UP = '        setter = getattr(self.language_model, "set_eagle3_layers_to_capture", None)\n'
CALL = "self.language_model.set_eagle3_layers_to_capture(layer_ids)"
HEAD = "    def set_eagle3_layers_to_capture(self, layer_ids=None):\n"


def changed(tmp_path: Path, text: str, code: str, *, unsafe: bool = False) -> str:
    path = tree(tmp_path, text)
    fixed(path, code, unsafe=unsafe)
    result = path.read_text(encoding="utf-8")
    ast.parse(result)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"        if {ASKS}:\n            {CALL}\n",
            f"        if {ASKS}:\n            {CALL}\n        else:\n            {RAISE}",
        ),
        (
            f"        if {ASKS}: {CALL}\n",
            f"        if {ASKS}: {CALL}\n        else:\n            {RAISE}",
        ),
        (
            f"        if not {ASKS}:\n            return\n        {CALL}\n",
            f"        if not {ASKS}:\n            {RAISE}        {CALL}\n",
        ),
        (
            f"        if not {ASKS}:\n            print('no')\n            return None\n        {CALL}\n",
            f"        if not {ASKS}:\n            print('no')\n            {RAISE}        {CALL}\n",
        ),
        (
            f"        if {ASKS}:\n            {CALL}\n        else:\n            print('no')\n",
            f"        if {ASKS}:\n            {CALL}\n        else:\n            print('no')\n            {RAISE}",
        ),
        (
            f"        try:\n            {CALL}\n        except AttributeError:\n            pass\n",
            f"        try:\n            {CALL}\n        except AttributeError:\n            raise\n",
        ),
        (
            f"{LOOKS_UP}        if setter is not None:\n            setter(layer_ids)\n",
            f"{LOOKS_UP}        if setter is not None:\n            setter(layer_ids)\n        else:\n            {RAISE}",
        ),
    ],
)
def test_a_silent_setter_raises(tmp_path: Path, before: str, after: str) -> None:
    assert changed(tmp_path, wrapper(HELD + HEAD + before), "EGL104") == wrapper(HELD + HEAD + after)


def test_a_setter_that_asks_in_another_way_is_left_alone(tmp_path: Path) -> None:
    asked = (
        f"        can = {ASKS}\n        for _ in range(can and 1):\n            {CALL}\n        return can and {CALL}\n"
    )
    text = wrapper(HELD + HEAD + asked)
    assert changed(tmp_path, text, "EGL104", unsafe=True) == text


def test_raising_is_unsafe_where_a_model_would_be_refused(tmp_path: Path) -> None:
    two = HELD.replace(
        "self.language_model = TextForCausalLM(config)\n",
        "self.language_model = TextForCausalLM(config) if config else Body(config)\n",
    )
    text = wrapper(
        two + HEAD + f"        if {ASKS}:\n            {CALL}\n", "from sglang.srt.models.text import Body\n"
    )
    assert changed(tmp_path, text, "EGL104") == text
    assert RAISE in changed(tmp_path, text, "EGL104", unsafe=True)


@pytest.mark.parametrize(
    ("head", "before", "after"),
    [
        ("", "layer_ids", "layer_ids=None"),
        ("from typing import List, Optional\n", "layer_ids: List[int]", "layer_ids: Optional[List[int]] = None"),
        ("from __future__ import annotations\n", "layer_ids: list[int]", "layer_ids: list[int] | None = None"),
        ("from typing import List\n", "layer_ids: List[int]", "layer_ids: Optional[List[int]] = None"),
        ("from typing import Any\n", "layer_ids: Any", "layer_ids: Any = None"),
        ("", 'layer_ids: "list[int]"', 'layer_ids: "list[int]" = None'),
    ],
)
def test_a_default_for_the_layers(tmp_path: Path, head: str, before: str, after: str) -> None:
    method = f"    def set_eagle3_layers_to_capture(self, {before}):\n        {CALL}\n"
    found = changed(tmp_path, wrapper(HELD + method, head), "EGL105")
    assert f"def set_eagle3_layers_to_capture(self, {after}):\n" in found
    assert ("import List, Optional\n" in found) == ("Optional" in after)


def test_a_default_that_needs_a_fallback_is_unsafe(tmp_path: Path) -> None:
    method = (
        "    def set_eagle3_layers_to_capture(self, layer_ids):\n        self.layers = [one + 1 for one in layer_ids]\n"
    )
    text = wrapper(HELD + method)
    assert changed(tmp_path, text, "EGL105") == text
    assert "layer_ids=None" in changed(tmp_path, text, "EGL105", unsafe=True)


def test_two_required_parameters_get_no_default(tmp_path: Path) -> None:
    text = wrapper(HELD + f"    def set_eagle3_layers_to_capture(self, layer_ids, more):\n        {CALL}\n")
    assert changed(tmp_path, text, "EGL105", unsafe=True) == text


def misspelled(more: str = "") -> str:
    return (
        TEXT.replace("set_eagle3_layers_to_capture", "set_eagle3_layer_to_capture")
        + more
        + "\nEntryClass = TextForCausalLM\n"
    )


def test_a_misspelled_method_is_renamed(tmp_path: Path) -> None:
    assert changed(tmp_path, misspelled(), "EGL106") == TEXT + "\nEntryClass = TextForCausalLM\n"


def test_renaming_is_unsafe_where_the_name_stands_elsewhere(tmp_path: Path) -> None:
    text = misspelled("# set_eagle3_layer_to_capture is new\n")
    assert changed(tmp_path, text, "EGL106") == text
    assert "def set_eagle3_layers_to_capture(" in changed(tmp_path, text, "EGL106", unsafe=True)
