"""When the runtime makes sure that a method exists, and what it does where it doesn't."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from contract_trees import PLAIN_RUNNER, RUNNER, WORKER, contract_of, sites_of

from eagle3_lint.project.contract import CAPTURE_SETTER, EMBED_GETTER

SETTER = CAPTURE_SETTER

LOUD = "raises"
QUIET = "skips"
NONE = "no guard"

GUARDS = {
    "nothing": ("model.SETTER(ids)", NONE),
    "hasattr": ("if hasattr(model, 'SETTER'):\n    model.SETTER(ids)", QUIET),
    "hasattr, else raise": (
        "if hasattr(model, 'SETTER'):\n    model.SETTER(ids)\nelse:\n    raise ValueError(model)",
        LOUD,
    ),
    "not hasattr, raise": ("if not hasattr(model, 'SETTER'):\n    raise ValueError(model)\nmodel.SETTER(ids)", LOUD),
    "not hasattr, return": ("if not hasattr(model, 'SETTER'):\n    return\nmodel.SETTER(ids)", QUIET),
    "not hasattr, else": ("if not hasattr(model, 'SETTER'):\n    log()\nelse:\n    model.SETTER(ids)", QUIET),
    "not hasattr, log": ("if not hasattr(model, 'SETTER'):\n    log()\nmodel.SETTER(ids)", NONE),
    "not hasattr, raise outside": (
        (
            "if not hasattr(model, 'SETTER'):\n    raise ValueError(model)\n"
            "if ids:\n    for i in ids:\n        model.SETTER(i)"
        ),
        LOUD,
    ),
    "raise in another branch": (
        "if ids:\n    if not hasattr(model, 'SETTER'):\n        raise ValueError(model)\nmodel.SETTER(ids)",
        NONE,
    ),
    "assert": ("assert hasattr(model, 'SETTER'), model\nmodel.SETTER(ids)", LOUD),
    "a later assert": ("model.SETTER(ids)\nassert hasattr(model, 'SETTER')", NONE),
    "another method": ("if hasattr(model, 'set_other_layers_to_capture'):\n    model.SETTER(ids)", NONE),
    "another object": ("if hasattr(self, 'SETTER'):\n    model.SETTER(ids)", NONE),
    "the draft": ("if hasattr(self.draft_model, 'SETTER'):\n    model.SETTER(ids)", NONE),
    "the wrong branch": ("if hasattr(model, 'SETTER'):\n    pass\nelse:\n    model.SETTER(ids)", NONE),
    "and": ("if ids and hasattr(model, 'SETTER'):\n    model.SETTER(ids)", QUIET),
    "or": ("if ids or hasattr(model, 'SETTER'):\n    model.SETTER(ids)", NONE),
    "not and": ("if not (ids and hasattr(model, 'SETTER')):\n    return\nmodel.SETTER(ids)", QUIET),
    "not or": ("if not (ids or hasattr(model, 'SETTER')):\n    return\nmodel.SETTER(ids)", NONE),
    "missing or other, raise": (
        "if ids is None or not hasattr(model, 'SETTER'):\n    raise ValueError\nmodel.SETTER(ids)",
        LOUD,
    ),
    "missing and other, raise": (
        "if ids and not hasattr(model, 'SETTER'):\n    raise ValueError\nmodel.SETTER(ids)",
        NONE,
    ),
    "and expression": ("hasattr(model, 'SETTER') and model.SETTER(ids)", QUIET),
    "or expression": ("hasattr(model, 'SETTER') or model.SETTER(ids)", NONE),
    "conditional expression": ("x = model.SETTER(ids) if hasattr(model, 'SETTER') else None", QUIET),
    "conditional expression, else": ("x = None if hasattr(model, 'SETTER') else model.SETTER(ids)", NONE),
    "while": ("while hasattr(model, 'SETTER'):\n    model.SETTER(ids)", QUIET),
    "getattr": ("if getattr(model, 'SETTER', None):\n    model.SETTER(ids)", QUIET),
    "getattr is not None": ("if getattr(model, 'SETTER', None) is not None:\n    model.SETTER(ids)", QUIET),
    "getattr is None, raise": (
        "if getattr(model, 'SETTER', None) is None:\n    raise ValueError\nmodel.SETTER(ids)",
        LOUD,
    ),
    "callable": ("if callable(getattr(model, 'SETTER', None)):\n    model.SETTER(ids)", QUIET),
    "its type": ("if hasattr(type(model), 'SETTER'):\n    model.SETTER(ids)", QUIET),
    "a variable of the method": ("f = getattr(model, 'SETTER', None)\nif f is not None:\n    f(ids)", QUIET),
    "a variable of the method, raise": (
        "f = getattr(model, 'SETTER', None)\nif f is None:\n    raise ValueError\nf(ids)",
        LOUD,
    ),
    "a variable of the method, unchecked": ("f = getattr(model, 'SETTER', None)\nf(ids)", NONE),
    "a walrus": ("if (f := getattr(model, 'SETTER', None)) is not None:\n    f(ids)", QUIET),
    "a walrus as a test": ("if f := getattr(model, 'SETTER', None):\n    f(ids)", QUIET),
    "getattr without default": ("getattr(model, 'SETTER')(ids)", NONE),
    "a flag": ("able = hasattr(model, 'SETTER')\nif able:\n    model.SETTER(ids)", QUIET),
    "a flag for something else": ("able = bool(ids)\nif able:\n    model.SETTER(ids)", NONE),
    "another name for the model": ("m = model\nif hasattr(m, 'SETTER'):\n    model.SETTER(ids)", QUIET),
    "try": ("try:\n    model.SETTER(ids)\nexcept AttributeError:\n    pass", QUIET),
    "try, any exception": ("try:\n    model.SETTER(ids)\nexcept Exception as e:\n    log(e)", QUIET),
    "try, a tuple": ("try:\n    model.SETTER(ids)\nexcept (TypeError, AttributeError):\n    log()", QUIET),
    "try, another error": ("try:\n    model.SETTER(ids)\nexcept TypeError:\n    pass", NONE),
    "try, raise": (
        "try:\n    model.SETTER(ids)\nexcept AttributeError as e:\n    raise ValueError(model) from e",
        LOUD,
    ),
    "try, raise again": ("try:\n    model.SETTER(ids)\nexcept AttributeError:\n    log()\n    raise", NONE),
    "try, raise it again": ("try:\n    model.SETTER(ids)\nexcept AttributeError as e:\n    raise e", NONE),
    "try, perhaps raise again": (
        "try:\n    model.SETTER(ids)\nexcept AttributeError:\n    if ids:\n        raise\n    return None",
        NONE,
    ),
    "in a handler": ("try:\n    pass\nexcept AttributeError:\n    model.SETTER(ids)", NONE),
    "in else": ("try:\n    pass\nexcept AttributeError:\n    pass\nelse:\n    model.SETTER(ids)", NONE),
    "a protocol": ("if isinstance(model, SupportsCapture):\n    model.SETTER(ids)", QUIET),
    "another protocol": ("if isinstance(model, SupportsOther):\n    model.SETTER(ids)", NONE),
    "a helper": ("if supports(model):\n    model.SETTER(ids)", QUIET),
    "a helper by steps": ("if supports_by_steps(model):\n    model.SETTER(ids)", QUIET),
    "a helper for something else": ("if anything(model):\n    model.SETTER(ids)", NONE),
    "an algorithm": ("if self.algorithm.is_eagle3():\n    model.SETTER(ids)", NONE),
}

HELPERS = """
import contextlib
from typing import Protocol, runtime_checkable

@runtime_checkable
class SupportsCapture(Protocol):
    def SETTER(self, layer_ids): ...

class SupportsOther(Protocol):
    def forward(self): ...

def supports(model):
    return callable(getattr(model, "SETTER", None))

def supports_by_steps(model):
    if not hasattr(model, "SETTER"):
        return False
    return bool(model.config)
def anything(model):
    return bool(model)
"""


@pytest.mark.parametrize("case", GUARDS)
def test_guard(tmp_path: Path, case: str) -> None:
    body, expected = GUARDS[case]
    source = HELPERS + "\nclass ModelRunner:\n    def start(self, model, ids):\n" + textwrap.indent(body, " " * 8)
    contract = contract_of(tmp_path, {RUNNER: source.replace("SETTER", SETTER)})

    (site,) = sites_of(contract, SETTER)
    found = NONE if not site.guarded else LOUD if site.guard_raises else QUIET
    assert found == expected
    method = contract.method(SETTER)
    assert method is not None
    assert method.guarded == (expected != NONE)
    assert [one.name for one in contract.called("eagle3")] == [EMBED_GETTER] + [SETTER] * (expected == NONE)


def test_one_unguarded_call_leaves_the_method_unguarded(tmp_path: Path) -> None:
    contract = contract_of(
        tmp_path,
        {
            RUNNER: """
            class ModelRunner:
                def start(self, ids):
                    if hasattr(self.model, "set_eagle3_layers_to_capture"):
                        self.model.set_eagle3_layers_to_capture(ids)

                def again(self):
                    self.model.set_eagle3_layers_to_capture()
            """
        },
    )

    method = contract.method(SETTER)
    assert method is not None
    assert [site.guarded for site in method.call_sites] == [True, False]
    assert not method.guarded


UNLESS = {
    "an earlier return": (
        (
            "if hasattr(target_model, 'get_embed_and_head_for_draft'):\n    return 1\n"
            "return target_model.get_embed_and_head()"
        ),
        ("get_embed_and_head_for_draft",),
    ),
    "an earlier return with more": (
        "if ids and hasattr(target_model, 'get_embed'):\n    return 1\nreturn target_model.get_embed_and_head()",
        ("get_embed",),
    ),
    "the first branch": (
        "if hasattr(target_model, 'get_embed'):\n    pass\nelse:\n    target_model.get_embed_and_head()",
        ("get_embed",),
    ),
    "its own branch": ("if hasattr(target_model, 'get_embed'):\n    target_model.get_embed_and_head()", ()),
    "the draft": ("if hasattr(self.draft_model, 'get_embed'):\n    return\ntarget_model.get_embed_and_head()", ()),
    "no exit": ("if hasattr(target_model, 'get_embed'):\n    log()\ntarget_model.get_embed_and_head()", ()),
}


@pytest.mark.parametrize("case", UNLESS)
def test_alternatives(tmp_path: Path, case: str) -> None:
    body, expected = UNLESS[case]
    source = "class EAGLEWorker:\n    def f(self, target_model, ids):\n" + textwrap.indent(body, " " * 8)
    (site,) = sites_of(contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: source}), EMBED_GETTER)

    assert site.unless == expected
