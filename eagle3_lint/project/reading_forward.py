"""Small questions about the text of one function, answered from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.project.modules import FunctionNode

# What computes logits from hidden states, by its last name.
LOGITS = frozenset({"logits_processor", "lm_head", "compute_logits", "get_logits", "forward_logits"})


def called_names(node: FunctionNode) -> frozenset[str]:
    """The last identifier of everything that ``node`` calls."""
    return frozenset(dotted_name(call.func).rpartition(".")[2] for call in walk(node) if isinstance(call, ast.Call))


def attributes_of_self(node: FunctionNode) -> frozenset[str]:
    """Every ``self.name`` that ``node`` mentions."""
    first = first_parameter(node)
    return frozenset(
        inner.attr
        for inner in walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == first
    )


def first_parameter(node: FunctionNode) -> str:
    """The name of the first parameter (``self``), or the empty string."""
    order = [*node.args.posonlyargs, *node.args.args]
    return order[0].arg if order else ""


def reads_target_states(node: FunctionNode) -> bool:
    """Whether ``node`` reads the target's hidden states from ``spec_info``, as drafts do."""
    for inner in walk(node):
        if (
            isinstance(inner, ast.Attribute)
            and inner.attr == "hidden_states"
            and dotted_name(inner.value).rpartition(".")[2] == "spec_info"
        ):
            return True
    return False


def forwarded_attributes(node: FunctionNode) -> tuple[str, ...]:
    """The attributes of ``self`` that a ``__getattr__`` hands unknown names to."""
    return tuple(dict.fromkeys(_forwarded(node)))


def _forwarded(node: FunctionNode) -> Iterator[str]:
    order = [*node.args.posonlyargs, *node.args.args]
    if len(order) < 2:
        return
    holder, wanted = order[0].arg, order[1].arg
    for call in walk(node):
        if not isinstance(call, ast.Call) or len(call.args) < 2:
            continue
        inner, name = call.args[0], call.args[1]
        is_getattr = isinstance(call.func, ast.Name) and call.func.id == "getattr"
        is_wanted = is_getattr and isinstance(name, ast.Name) and name.id == wanted
        if is_wanted and isinstance(inner, ast.Attribute) and dotted_name(inner.value) == holder:
            yield inner.attr


def language_model_arguments(node: FunctionNode) -> tuple[str, ...]:
    """The attributes of ``self`` that ``node`` hands to ``general_mm_embed_routine`` as the language model."""
    found: dict[str, None] = {}
    first = first_parameter(node)
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            if keyword.arg == "language_model":
                name = dotted_name(keyword.value)
                if name.startswith(f"{first}."):
                    found[name.partition(".")[2]] = None
    return tuple(found)
