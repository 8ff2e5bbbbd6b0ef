"""A class that Python refuses to make is unknown, and so is whatever inherits from it: said so, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle3_lint.engine import MatrixRequest, Request, check, matrix
from eagle3_lint.project.resolver import ENGINES

HEAD = """\
import abc
from typing import Generic, TypeVar

from torch import nn

T = TypeVar("T")


class Upper(type): ...
class Lower(Upper): ...
class Other(type): ...


class TextForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = nn.Module()
        self.lm_head = nn.Module()

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        raise NotImplementedError

    def get_embed_and_head(self):
        return self.model, self.lm_head

    def forward(self, input_ids):
        return self.model(input_ids)


class A(nn.Module): ...
class B(nn.Module): ...
class AB(A, B): ...
class BA(B, A): ...
class Boxed(nn.Module, Generic[T]): ...
class WithUpper(nn.Module, metaclass=Upper): ...
class WithLower(nn.Module, metaclass=Lower): ...
class WithOther(nn.Module, metaclass=Other): ...


Alias = A
"""

# What each of these would be found for: it has the setter of an inner model to hand on, two definitions of one method,
# a near miss, and half of the interface.
BODY = """
    def __init__(self, config):
        super().__init__()
        self.language_model = TextForCausalLM(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def get_embed(self):
        return self.nothing

    def get_embed(self):
        return self.nothing

    def get_embed_and_heads(self):
        return self.language_model.get_embed_and_heads()

    def forward(self, input_ids):
        return self.language_model(input_ids)


class Below(Tried):
    def get_embed(self):
        return self.nothing

    def get_embed(self):
        return self.nothing


class Holder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = Tried(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids):
        return self.language_model(input_ids)


EntryClass = [Tried, Below, Holder]
"""

REFUSED = {
    "no order": ("AB, BA", "no order of its bases AB, BA"),
    "no order of a base outside": ("nn.Module, A", "no order of its bases Module, A"),
    "twice": ("A, A", "its bases name A twice"),
    "twice by an alias": ("A, Alias", "its bases name A twice"),
    "twice with parameters": ("Boxed[int], Boxed[str]", "its bases name Boxed twice"),
    "object before another": ("object, A", "object stands before another"),
    "metaclasses": ("WithUpper, WithOther", "neither the metaclass Upper of WithUpper nor Other of WithOther"),
    "a metaclass of its own": ("WithUpper, metaclass=Other", "neither the metaclass Other of Tried nor Upper"),
    "a metaclass of Python": ("abc.ABC, WithUpper", "neither the metaclass ABCMeta of ABC nor Upper of WithUpper"),
    "itself": ("Below", "Tried inherits from itself"),
}
MADE = {
    "one order": "AB, A, B",
    "object last": "A, object",
    "the nearer metaclass": "WithUpper, WithLower",
    "a nearer metaclass of its own": "WithUpper, metaclass=Lower",
    "the same metaclass": "WithUpper, metaclass=Upper",
    "parameters": "Generic[T], Boxed[T]",
    "a metaclass that nobody knows": "WithUpper, nn.Sequential",
}


def tree(folder: Path, bases: str) -> str:
    models = folder / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (models / "tried.py").write_text(f"{HEAD}\n\nclass Tried({bases}):{BODY}", encoding="utf-8")
    return str(folder)


def found_in(root: str, engine: str) -> set[str]:
    """The bare names of the classes that have a finding."""
    report = check(Request(paths=(root,), pedantic=True, engine=engine, cache=False))
    assert report.internal_errors == ()
    return {(one.class_name or "").rpartition(".")[2] for one in report.findings}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("bases", "why"), REFUSED.values(), ids=REFUSED)
def test_what_python_refuses_is_unknown(tmp_path: Path, bases: str, why: str, engine: str) -> None:
    root = tree(tmp_path, bases)
    lines = Path(root, "sglang/srt/models/tried.py").read_text(encoding="utf-8").splitlines()
    places = [
        f"sglang/srt/models/tried.py:{number}:"
        for number, line in enumerate(lines, 1)
        if line.startswith(("class Tried", "class Below"))
    ]

    assert {"Tried", "Below", "Holder"}.isdisjoint(found_in(root, engine))
    described = matrix(MatrixRequest(root, engine=engine, cache=False))["classes"]
    known = {entry["class"].rpartition(".")[2]: entry for entry in described}
    for name in ("Tried", "Below"):
        assert known[name]["capture"] == "unknown"
        assert known[name]["mro"] == [f"sglang.srt.models.tried.{name}"]
        assert set(known[name]["methods"].values()) == {None}
        assert why in known[name]["note"] or "inherits from itself" in known[name]["note"]
        assert any(place in known[name]["note"] for place in places)
    assert known["Holder"]["capture"] == "unknown"
    assert "Python refuses class Tried" in known["Holder"]["note"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bases", MADE.values(), ids=MADE)
def test_what_python_makes_is_looked_at(tmp_path: Path, bases: str, engine: str) -> None:
    assert {"Tried", "Below"} <= found_in(tree(tmp_path, bases), engine)
