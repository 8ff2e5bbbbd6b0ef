"""The calls on a target that one file of the runtime makes, told by names.

A receiver is read as the chain of its identifiers, outermost first, local names replaced by what they were given last:
``self.draft_runner.model`` has model, draft_runner, self. The first of them that speaks of the draft or of the target
decides whose the model is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from eagle3_lint.project.contract.runtime import RuntimeFile, last_identifier

Side = Literal["target", "draft", "open"]

CAPTURE_NAME = re.compile(r"set_\w+_to_capture")
GETTER_NAME = re.compile(r"get_embed|get_embed_and_head\w*")
PROTOCOL_NAME = re.compile(r"(?!is_)\w*(?:eagle3|dflash|dspark|aux_hidden_state)\w*|get_input_embeddings")

_TARGET = re.compile(r"target|verif(?:y|ier)", re.IGNORECASE)
_DRAFT = re.compile(r"draft|nextn|(?:^|_)mtp(?:_|$)|assistant|^mtp", re.IGNORECASE)
_ALGORITHM_WORKER = re.compile(r"(?:eagle|dflash|dspark|spec\w*_)\w*worker", re.IGNORECASE)
_MODEL = re.compile(r"(?:\w+_)?(?:models?|target)")
_PART = re.compile(r"language|text|vision|visual|audio|inner|layer|body|decoder|backbone")
_RUNNER = re.compile(r"runner|worker", re.IGNORECASE)

# fmt: off
_MODULE_INTERFACE = frozenset({
    "add_module", "apply", "bfloat16", "buffers", "children", "compile", "cpu", "cuda", "double", "eval",
    "extra_repr", "float", "forward", "get_buffer", "get_parameter", "get_submodule", "half", "load_state_dict",
    "load_weights", "modules", "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
    "register_buffer", "register_forward_hook", "register_forward_pre_hook", "register_module", "register_parameter",
    "requires_grad_", "share_memory", "state_dict", "to", "train", "type", "xpu", "zero_grad",
    "embed_tokens", "layers", "lm_head", "logits_processor", "model",
})
# fmt: on
"""What every ``torch.nn.Module`` and every model of SGLang has, and the submodules that are called: no contract."""

_PASSING_ON = frozenset({"getattr", "type", "cast", "enumerate", "reversed", "zip", "list", "tuple"})
"""Functions whose value is, or is made of, what they are given first."""

_ALIASES = 8
"""Local names that are followed for one receiver, at most."""


@dataclass(frozen=True, eq=False)
class TargetCall:
    """A call of the method ``name``, which ``taken`` takes from ``receiver`` (the function called, or a variable's value)."""

    name: str
    receiver: ast.expr
    call: ast.Call
    file: RuntimeFile


def target_calls(file: RuntimeFile) -> Iterator[TargetCall]:
    """The calls of ``file`` that are made on a target."""
    for call in file.calls:
        name, receiver = taken(file, call.func)
        if receiver is not None and _may_count(file, name) and _counts(file, name, receiver):
            yield TargetCall(name, receiver, call, file)


def taken(file: RuntimeFile, expression: ast.expr) -> tuple[str, ast.expr | None]:
    """The method that an expression takes from an object, and the object; ("", None) where it takes none."""
    if isinstance(expression, ast.Attribute):
        return expression.attr, expression.value
    if isinstance(expression, ast.Call) and last_identifier(expression.func) == "getattr" and len(expression.args) > 1:
        name = expression.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return name.value, expression.args[0]
    if isinstance(expression, ast.Name):
        for value in file.assigned(expression):
            if isinstance(value, (ast.Attribute, ast.Call)):
                return taken(file, value)
    return "", None


def chain(file: RuntimeFile, expression: ast.expr) -> tuple[str, ...]:
    """The identifiers of an expression, outermost first, local names followed to what they were given last."""
    found: list[str] = []
    aliases = 0
    while True:
        if isinstance(expression, ast.Attribute):
            found.append(expression.attr)
            expression = expression.value
        elif isinstance(expression, ast.Call):
            if last_identifier(expression.func) in _PASSING_ON and expression.args:
                name = expression.args[1] if len(expression.args) > 1 else None
                found += [name.value] if isinstance(name, ast.Constant) and isinstance(name.value, str) else []
                expression = expression.args[0]
            else:
                expression = expression.func
        elif isinstance(expression, (ast.Subscript, ast.Starred, ast.Await, ast.NamedExpr)):
            expression = expression.value
        elif isinstance(expression, ast.Name):
            line = expression.lineno
            given = [value for value in file.assigned(expression) if value.lineno <= line]
            named = _TARGET.search(expression.id) or _DRAFT.search(expression.id)
            if named or not given or aliases == _ALIASES:
                return (*found, expression.id)
            aliases += 1
            if isinstance(given[-1], (ast.Attribute, ast.Name, ast.Subscript, ast.Call)):
                expression = given[-1]
            else:
                return (*found, expression.id)
        else:
            return tuple(found)


def side_of(file: RuntimeFile, expression: ast.expr) -> Side:
    """Whether an expression is the target's, the draft's, or open; an open one in a class of the draft is the draft's."""
    for identifier in chain(file, expression):
        target, draft = bool(_TARGET.search(identifier)), bool(_DRAFT.search(identifier))
        draft = draft or (not target and bool(_ALGORITHM_WORKER.search(identifier)))
        if target != draft:
            return "target" if target else "draft"
    return "draft" if any(_DRAFT.search(name) for name in _classes(file, expression)) else "open"


def _classes(file: RuntimeFile, node: ast.AST) -> Iterator[str]:
    return (one.name for one in file.enclosing(node) if isinstance(one, ast.ClassDef))


def is_model(file: RuntimeFile, expression: ast.expr) -> bool:
    """Whether an expression is a whole model by its names: no submodule of one, no runner or worker."""
    identifiers = chain(file, expression)
    if not identifiers or not _MODEL.fullmatch(identifiers[0].lower()) or _PART.search(identifiers[0].lower()):
        return False
    return len(identifiers) == 1 or not _MODEL.fullmatch(identifiers[1].lower())


def _may_count(file: RuntimeFile, name: str) -> bool:
    """Whether some receiver makes a call of ``name`` one on a target: of the workers' calls all but what every model has."""
    if file.folder == "speculative":
        return not name.startswith("_") and name not in _MODULE_INTERFACE
    return any(one.fullmatch(name) for one in (CAPTURE_NAME, GETTER_NAME, PROTOCOL_NAME))


def _counts(file: RuntimeFile, name: str, receiver: ast.expr) -> bool:
    side = side_of(file, receiver)
    if side == "draft":
        return False
    in_workers = file.folder == "speculative"
    if is_model(file, receiver):
        if in_workers and side == "target":
            return True
        if CAPTURE_NAME.fullmatch(name):
            return True
        if GETTER_NAME.fullmatch(name):
            return not in_workers or not _is_own(file, receiver)
        return not in_workers
    # A name that says nothing may stand for the target where no draft has such a method.
    return _is_unnamed(file, receiver) and any(one.fullmatch(name) for one in (CAPTURE_NAME, GETTER_NAME))


def _is_unnamed(file: RuntimeFile, receiver: ast.expr) -> bool:
    """Whether a local name tells neither a runner, nor a part of a model, nor the instance itself."""
    identifiers = chain(file, receiver)
    if len(identifiers) != 1 or _RUNNER.search(identifiers[0]) or _PART.search(identifiers[0].lower()):
        return False
    return identifiers[0] not in {"self", "cls", "super"}


def _is_own(file: RuntimeFile, receiver: ast.expr) -> bool:
    """Whether a value hangs on the instance itself: a speculative worker's own model is the draft."""
    return chain(file, receiver)[-1] in {"self", "cls"}


def shape(arguments: Iterable[ast.expr], keywords: Iterable[ast.keyword]) -> str:
    """How a call reads, short: ``(layer_ids)``, ``(layer_ids, strict=…)``, ``(*args)``."""
    parts = [_short(argument) for argument in arguments]
    parts.extend(f"{keyword.arg}=…" if keyword.arg else f"**{_short(keyword.value)}" for keyword in keywords)
    return f"({', '.join(parts)})"


def _short(argument: ast.expr) -> str:
    if isinstance(argument, ast.Starred):
        return f"*{_short(argument.value)}"
    if isinstance(argument, ast.Constant):
        return repr(argument.value) if not isinstance(argument.value, (str, bytes)) else "'…'"
    if isinstance(argument, ast.Call):
        return f"{last_identifier(argument.func) or '…'}(…)"
    name = last_identifier(argument)
    # Every release calls its list of layer ids something else; what the reader wants to see is that they are passed.
    return "layer_ids" if name.endswith("layer_ids") else name or "…"
