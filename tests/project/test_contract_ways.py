"""Which methods a worker calls on every way through it, and which only some of its ways call."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from contract_trees import PLAIN_RUNNER, RUNNER, WORKER, contract_of

from eagle3_lint.project.contract import CAPTURE_SETTER

BOTH = "embed, head = target_model.get_embed_and_head()"
HEAD = "head = target_model.get_head()"

# The body of a worker's method, and what each method that it calls is required unless: nothing is no key.
WAYS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "no condition": ("BOTH", {"get_embed_and_head": ()}),
    "if and else": (
        "if pp > 1:\n    HEAD\nelse:\n    BOTH",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "an if alone": ("if pp > 1:\n    HEAD\nBOTH", {"get_embed_and_head": ()}),
    "the same in both arms": ("if pp > 1:\n    BOTH\nelse:\n    log()\n    BOTH", {"get_embed_and_head": ()}),
    "the same in both arms, and more in one": (
        "if pp > 1:\n    BOTH\nelse:\n    HEAD\n    BOTH",
        {"get_embed_and_head": ()},
    ),
    "elif, no else": ("if pp > 1:\n    HEAD\nelif tp > 1:\n    BOTH", {}),
    "elif and else": (
        "if pp > 1:\n    HEAD\nelif tp > 1:\n    BOTH\nelse:\n    BOTH",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "an early return": (
        "if pp > 1:\n    HEAD\n    return\nBOTH",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "an early return without a call": ("if pp > 1:\n    return\nBOTH", {}),
    "an early return in a loop": ("for rank in ranks:\n    if rank:\n        return\nBOTH", {}),
    "a refusal": ("if pp > 1:\n    raise ValueError(pp)\nBOTH", {"get_embed_and_head": ()}),
    "a refusal in the other arm": (
        "if pp == 1:\n    BOTH\nelse:\n    raise ValueError(pp)",
        {"get_embed_and_head": ()},
    ),
    "match": (
        "match pp:\n    case 1:\n        BOTH\n    case _:\n        HEAD",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "match without a last case": ("match pp:\n    case 1:\n        BOTH\n    case 2:\n        BOTH", {}),
    "match, the same in each": (
        "match pp:\n    case 1:\n        BOTH\n    case _:\n        BOTH",
        {"get_embed_and_head": ()},
    ),
    "match of the algorithm": (
        "match algorithm:\n    case 'EAGLE3':\n        BOTH\n    case 'DFLASH':\n        HEAD",
        {},
    ),
    "try, and another method": (
        "try:\n    HEAD\nexcept AttributeError:\n    BOTH",
        {"get_embed_and_head": ("get_head",)},
    ),
    "try, another error": (
        "try:\n    BOTH\nexcept KeyError:\n    HEAD",
        {"get_embed_and_head": (), "get_head": ("get_embed_and_head",)},
    ),
    "try, else and finally": (
        "try:\n    log()\nexcept KeyError:\n    pass\nelse:\n    BOTH\nfinally:\n    HEAD",
        {"get_embed_and_head": (), "get_head": ()},
    ),
    "with": ("with lock:\n    BOTH", {"get_embed_and_head": ()}),
    "a loop": ("for rank in ranks:\n    BOTH", {"get_embed_and_head": ()}),
    "a conditional expression": (
        "embed = target_model.get_head() if pp > 1 else target_model.get_embed_and_head()",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "a second operand": ("pp > 1 and target_model.get_embed_and_head()", {}),
    "a first operand": ("target_model.get_embed_and_head() and pp", {"get_embed_and_head": ()}),
    "a lambda": ("f = lambda: target_model.get_embed_and_head()", {}),
    "the algorithm": ("if algorithm.is_eagle3():\n    BOTH\nelse:\n    HEAD", {"get_embed_and_head": ()}),
    "another algorithm": ("if algorithm.is_dflash():\n    HEAD\nelse:\n    BOTH", {"get_embed_and_head": ()}),
    "the target's process": (
        "if algorithm.is_eagle3() and not self.is_draft_worker:\n    BOTH",
        {"get_embed_and_head": ()},
    ),
    "the batch": (
        "if batch.forward_mode.is_extend():\n    HEAD\n    return\nBOTH",
        {"get_embed_and_head": (), "get_head": ()},
    ),
    "where another method is there": (
        "if hasattr(target_model, 'get_head'):\n    return prepare()\nBOTH",
        {"get_embed_and_head": ("get_head",)},
    ),
    "where another method is missing": (
        "if not hasattr(target_model, 'get_head'):\n    BOTH\nelse:\n    prepare()",
        {"get_embed_and_head": ("get_head",)},
    ),
    "helpers in the arms": (
        "if pp > 1:\n    self.share_head(target_model)\nelse:\n    self.share(target_model)",
        {"get_head": ("get_embed_and_head",), "get_embed_and_head": ("get_head",)},
    ),
    "a helper in one arm": ("if pp > 1:\n    self.share(target_model)", {}),
    "a helper after a refusal": (
        "if pp > 1:\n    raise ValueError\nself.share(target_model)",
        {"get_embed_and_head": ()},
    ),
}

HELPERS = {"share": "BOTH", "share_head": "HEAD"}


@pytest.mark.parametrize("case", WAYS)
def test_required_on_every_way(tmp_path: Path, case: str) -> None:
    body, expected = WAYS[case]
    methods = {"start": body, **{name: text for name, text in HELPERS.items() if f"self.{name}(" in body}}
    parts = (
        f"    def {name}(self, target_model, pp=1):\n{textwrap.indent(text, ' ' * 8)}\n"
        for name, text in methods.items()
    )
    text = "\n".join(("class EagleWorker:", *parts)).replace("BOTH", BOTH).replace("HEAD", HEAD)
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: text})

    required = {
        method.name: tuple(sorted({name for site in method.required_sites("eagle3") for name in site.unless}))
        for method in contract.required("eagle3")
        if method.name != CAPTURE_SETTER
    }
    assert required == expected


def test_a_long_chain_of_arms_is_read(tmp_path: Path) -> None:
    arms = "".join(f"        elif pp == {number}:\n            pass\n" for number in range(450))
    text = f"class EagleWorker:\n    def start(self, target_model, pp):\n        if pp:\n            {BOTH}\n{arms}"
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: text})

    assert [method.name for method in contract.required("eagle3")] == [CAPTURE_SETTER]
    assert [method.name for method in contract.called("eagle3")] == ["get_embed_and_head", CAPTURE_SETTER]
