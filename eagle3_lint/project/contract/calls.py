"""The calls on a target (and on the draft) that one runtime makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from eagle3_lint.project.contract.conditions import Guards, Method, algorithms, protocols_named
from eagle3_lint.project.contract.files import RuntimeFiles
from eagle3_lint.project.contract.flow import Flow, Frame, Place, bound_arguments
from eagle3_lint.project.contract.model import PROTOCOLS, CallSite, Protocol
from eagle3_lint.project.contract.needles import Needle, word_needle
from eagle3_lint.project.contract.roles import Role, Roles, named_role
from eagle3_lint.project.contract.scopes import Function, last_identifier
from eagle3_lint.sources.files import RUNTIME_FOLDERS

CAPTURE_NAME = re.compile(r"set_\w+_to_capture")
GETTER_NAME = re.compile(r"get_embed|get_embed_and_head\w*")
SHARED_NAME = re.compile(r"set_embed|set_embed_and_head|get_input_embeddings")
PROTOCOL_NAME = re.compile(r"(?!is_)\w*(?:eagle3|dflash|dspark|aux_hidden_state)\w*")

_FAMILY_HINTS = ("_to_capture", "et_embed", "get_input_embeddings")
_FAMILY = (
    r"\b(?:set_\w+_to_capture|[gs]et_embed|get_embed_and_head\w*|set_embed_and_head|get_input_embeddings)\b"
    # A name that is put together from parts ends like this.
    r"|_to_capture[\"']"
)
_PROTOCOL_HINTS = ("eagle3", "dflash", "dspark", "aux_hidden_state")
_PROTOCOL_CALL = r"\bmodel\.(?!is_)\w*(?:eagle3|dflash|dspark|aux_hidden_state)\w*\s*\("
_TARGET_USE = r"\btarget_model\b|\btarget_\w*(?:worker|runner)\w*(?:\.model_runner)?\.model\b"

HITS = {
    "model_executor": Needle((*_FAMILY_HINTS, *_PROTOCOL_HINTS), rf"{_FAMILY}|{_PROTOCOL_CALL}"),
    "speculative": Needle((*_FAMILY_HINTS, *_PROTOCOL_HINTS, "target_"), rf"{_FAMILY}|{_PROTOCOL_CALL}|{_TARGET_USE}"),
}
"""What makes a function worth looking into, by folder."""

HITS_ELSEWHERE = Needle(_FAMILY_HINTS, _FAMILY)

_FUNCTION_LIMIT = 400

# fmt: off
MODULE_INTERFACE = frozenset({
    "add_module", "apply", "bfloat16", "buffers", "children", "compile", "cpu", "cuda", "double", "eval",
    "extra_repr", "float", "forward", "get_buffer", "get_parameter", "get_submodule", "half", "load_state_dict",
    "load_weights", "modules", "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
    "register_buffer", "register_forward_hook", "register_forward_pre_hook", "register_module", "register_parameter",
    "requires_grad_", "share_memory", "state_dict", "to", "train", "type", "xpu", "zero_grad",
})
# fmt: on
"""What every ``torch.nn.Module`` and every model of SGLang has: no part of the contract."""

_BODY_ATTRIBUTES = frozenset({"embed_tokens", "layers", "lm_head", "logits_processor", "model"})
"""Submodules: calling one is running it, not asking the model something."""


@dataclass(frozen=True)
class Found:
    """A call of ``name`` on a model of one side."""

    name: str
    on_draft: bool
    site: CallSite


@dataclass(frozen=True)
class Reference:
    """A method taken from a receiver; ``leading`` are arguments that were bound before the call."""

    names: frozenset[str]
    receiver: Place
    leading: tuple[ast.expr, ...] = ()
    fallback: bool = False


@dataclass
class Calls:
    """Looks through the functions of a runtime, and through those that they hand the target or a method's name to."""

    files: RuntimeFiles
    flow: Flow
    roles: Roles
    guards: Guards
    _queue: list[Function] = field(default_factory=list)
    _known: set[Function] = field(default_factory=set)
    _words: set[str] = field(default_factory=set)
    _found: list[Found] = field(default_factory=list)
    _handed: dict[Function, set[str]] = field(default_factory=dict)
    _carriers: dict[Function, frozenset[str]] = field(default_factory=dict)

    def collect(self, folders: Iterable[str] = RUNTIME_FOLDERS, *, elsewhere: bool = False) -> list[Found]:
        """Every call found in ``folders``; in all files known so far where ``elsewhere`` is true."""
        for folder in folders:
            self._enqueue_hits(HITS[folder], folder)
        if elsewhere:
            self._enqueue_hits(HITS_ELSEWHERE, "")
        while self._queue:
            self._look_into(self._queue.pop())
        return self._found

    def _enqueue_hits(self, needle: Needle, folder: str) -> None:
        for module in self.files.holding(needle, folder):
            self._enqueue(module.functions_with(needle))

    def _enqueue(self, functions: Iterable[Function]) -> None:
        for function in functions:
            if function not in self._known and len(self._known) < _FUNCTION_LIMIT:
                self._known.add(function)
                self._queue.append(function)

    def _enqueue_word(self, word: str) -> None:
        if not word or word in self._words or len(self._words) >= _FUNCTION_LIMIT:
            return
        self._words.add(word)
        needle = word_needle(word)
        for module in self.files.holding(needle):
            functions = module.functions_with(needle)
            # Those that were looked into before this name was known are looked into again.
            self._known.difference_update(functions)
            self._enqueue(functions)

    def _look_into(self, function: Function) -> None:
        frame = Frame(function)
        for call in function.calls:
            self.flow.budget.renew()
            reference = self._reference(call, frame)
            if reference is not None:
                self._judge(reference, call, function)
            if function.module.folder == "speculative":
                self._follow_target(call, frame)
        self._follow_names(function)

    # -- what is called ----------------------------------------------------------------------------------------------

    def _reference(self, call: ast.Call, frame: Frame) -> Reference | None:
        func = call.func
        if isinstance(func, ast.Attribute) and self._is_interesting(func, frame.function):
            return Reference(frozenset({func.attr}), Place(func.value, frame))
        if not self._may_hold_reference(func, frame.function):
            return None
        for origin in self.flow.origins(Place(func, frame), self._is_settled):
            found = self._taken(origin)
            if found is not None:
                return found
        return None

    def _may_hold_reference(self, func: ast.expr, function: Function) -> bool:
        """Cheaply, whether what is called may be a method that was taken earlier."""
        if isinstance(func, ast.Name):
            scope: Function | None = function
            while scope is not None:
                if func.id in scope.bindings or func.id in scope.parameters:
                    return True
                scope = scope.outer
            return func.id in self._words
        if isinstance(func, ast.Attribute):
            return func.attr in self._words
        return isinstance(func, (ast.Call, ast.Subscript))

    def _is_settled(self, place: Place) -> bool:
        """Whether an expression is a method taken from an object, or surely leads to none."""
        expression, function = place.expression, place.frame.function
        if isinstance(expression, ast.Call):
            if last_identifier(expression.func) == "get":
                return False
            return last_identifier(expression.func) not in self._words or self._taken(place) is not None
        if isinstance(expression, ast.Attribute):
            return expression.attr not in self._words
        if isinstance(expression, ast.Name) and expression.id in function.parameters:
            called = (
                function.owner.name if function.owner is not None and function.name == "__init__" else function.name
            )
            return called not in self._words
        return False

    def _taken(self, place: Place) -> Reference | None:
        """The method that an expression takes from an object without calling it."""
        expression, frame = place.expression, place.frame
        if isinstance(expression, ast.Attribute):
            if not _is_family(expression.attr):
                return None
            return Reference(frozenset({expression.attr}), Place(expression.value, frame))
        if not isinstance(expression, ast.Call):
            return None
        name = last_identifier(expression.func)
        if name == "getattr" and len(expression.args) >= 2:
            names = frozenset(text for text in self.flow.strings(Place(expression.args[1], frame)) if _is_family(text))
            fallback = len(expression.args) > 2 and not isinstance(expression.args[2], ast.Constant)
            return Reference(names, Place(expression.args[0], frame), fallback=fallback) if names else None
        if name == "partial" and expression.args:
            for origin in self.flow.origins(Place(expression.args[0], frame), self._is_settled):
                found = self._taken(origin)
                if found is not None:
                    leading = (*found.leading, *expression.args[1:])
                    return Reference(found.names, found.receiver, leading, found.fallback)
        return None

    def _is_interesting(self, func: ast.Attribute, function: Function) -> bool:
        if _is_family(func.attr):
            return True
        folder = function.module.folder
        if folder == "model_executor":
            return PROTOCOL_NAME.fullmatch(func.attr) is not None
        return folder == "speculative" and _is_further(func.attr) and self._may_be_target(func.value, function)

    def _may_be_target(self, expression: ast.expr, function: Function) -> bool:
        """Cheaply, whether it is worth asking where a value comes from."""
        return _looks_like_model(expression, self._carriers_of(function))

    def _carriers_of(self, function: Function) -> frozenset[str]:
        """The local names that are given something that looks like a model, or were handed the target."""
        if function not in self._carriers:
            found: set[str] = set(self._handed.get(function, ()))
            for name, bindings in function.bindings.items():
                if any(_looks_like_model(binding.expression, found) for binding in bindings):
                    found.add(name)
            self._carriers[function] = frozenset(found)
        return self._carriers[function]

    # -- whom it is called on ----------------------------------------------------------------------------------------

    def _judge(self, reference: Reference, call: ast.Call, function: Function) -> None:
        role = self.roles.one(reference.receiver)
        if role.kind in {"part", "runner", "worker", "instance"}:
            return
        on_draft = role.side == "draft"
        folder = function.module.folder
        for name in sorted(reference.names):
            if _is_family(name) if on_draft else _counts(name, role, reference.receiver, folder):
                method = Method(name, reference.receiver, role)
                self._found.append(Found(name, on_draft, self._site(method, reference, call, function)))

    def _site(self, method: Method, reference: Reference, call: ast.Call, function: Function) -> CallSite:
        guard = self.guards.of(method, function, call)
        positional = [
            argument for argument in (*reference.leading, *call.args) if not isinstance(argument, ast.Starred)
        ]
        keywords = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
        source = function.module.source
        return CallSite(
            path=source.path,
            line=call.lineno,
            column=source.column(call.lineno, call.col_offset),
            positional=len(positional),
            keywords=keywords,
            shape=shape((*reference.leading, *call.args), call.keywords),
            guarded=guard is not None or reference.fallback,
            guard_raises=guard is not None and guard.raises,
            guard_line=guard.line if guard is not None else (call.lineno if reference.fallback else None),
            function=function.qualified_name,
            protocols=self._protocols(method.name, method.receiver, call),
            unless=self.guards.alternatives(method, function, call),
            starred=len(positional) + len(keywords) < len(call.args) + len(call.keywords) + len(reference.leading),
        )

    def _protocols(self, name: str, receiver: Place, call: ast.Call) -> tuple[Protocol, ...]:
        named = protocols_named(name)
        found = set(named) if named else self._protocols_of_call(receiver, call)
        return tuple(protocol for protocol in PROTOCOLS if protocol in found)

    def _protocols_of_call(self, receiver: Place, call: ast.Call) -> set[Protocol]:
        """For which protocols a call is made: by the tests around it, by the names around it, else by its callers."""
        found: set[Protocol] = set()
        seen: set[ast.Call] = set()
        pending: list[tuple[Place, ast.Call, frozenset[Protocol]]] = [(receiver, call, frozenset())]
        while pending:
            place, made, excluded = pending.pop()
            if made in seen or not self.flow.budget.spend():
                continue
            seen.add(made)
            function = place.frame.function
            spoken = algorithms(function, made)
            excluded |= spoken.excluded
            around = spoken.named or _protocols_around(function)
            found |= around - excluded
            if not around:
                pending.extend((handed, caller.call, excluded) for caller, handed in self.flow.handers(place))
        return found

    # -- what else to look into --------------------------------------------------------------------------------------

    def _follow_target(self, call: ast.Call, frame: Frame) -> None:
        """Functions that are handed the target may call it too."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        for argument in given:
            if not isinstance(argument, (ast.Name, ast.Attribute)) or not self._may_be_target(argument, frame.function):
                continue
            if self.roles.one(Place(argument, frame)) != Role("model", "target"):
                continue
            for function in self.flow.resolve(call.func, frame):
                taken = bound_arguments(function, call, frame)
                names = {name for name, place in taken.items() if place.expression is argument}
                self._handed.setdefault(function, set()).update(names)
                self._enqueue([function])

    def _follow_names(self, function: Function) -> None:
        """Where a method's name, or the method itself, is kept or handed on, whatever takes it is looked into."""
        for node, parent in function.parents.items():
            if isinstance(node, ast.Constant):
                loose = isinstance(node.value, str) and _is_family(node.value)
            else:
                loose = isinstance(node, ast.Attribute) and _is_family(node.attr)
            if loose and not (isinstance(parent, ast.Call) and parent.func is node):
                for word in _takers(function, node):
                    self._enqueue_word(word)


def _takers(function: Function, node: ast.AST) -> Iterator[str]:
    """The names under which an expression leaves the statement that it stands in."""
    child = node
    while (parent := function.parents.get(child)) is not None:
        if isinstance(parent, ast.JoinedStr):
            return
        if isinstance(parent, ast.Call) and child is not parent.func:
            name = last_identifier(parent.func)
            if name in {"hasattr", "isinstance", "callable", "print"}:
                return
            if name not in {"getattr", "partial"}:
                yield name
                return
        if isinstance(parent, ast.Return):
            yield function.name
            return
        if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                if isinstance(target, ast.Attribute) or isinstance(function.node, ast.Module):
                    yield last_identifier(target)
            return
        if isinstance(parent, ast.stmt):
            return
        child = parent


def _looks_like_model(expression: ast.expr, carriers: AbstractSet[str]) -> bool:
    if isinstance(expression, ast.Name) and expression.id in carriers:
        return True
    if isinstance(expression, ast.IfExp):
        return _looks_like_model(expression.body, carriers) or _looks_like_model(expression.orelse, carriers)
    if isinstance(expression, ast.NamedExpr):
        return _looks_like_model(expression.value, carriers)
    if isinstance(expression, (ast.BoolOp, ast.Tuple, ast.List)):
        parts = expression.values if isinstance(expression, ast.BoolOp) else expression.elts
        return any(_looks_like_model(part, carriers) for part in parts)
    if isinstance(expression, ast.Call) and last_identifier(expression.func) in {"cast", "getattr"}:
        return any(
            _looks_like_model(argument, carriers)
            or (isinstance(argument, ast.Constant) and isinstance(argument.value, str) and _is_model(argument.value))
            for argument in expression.args
        )
    return _is_model(last_identifier(expression))


def _is_model(identifier: str) -> bool:
    if identifier.endswith("target"):
        return True
    return "model" in identifier.lower() and named_role(identifier).kind == "model"


def _protocols_around(function: Function) -> set[Protocol]:
    """The protocols that a function's own name speaks of, else its class, else its file, else the folder of that."""
    dotted = function.module.dotted.split(".")
    for text in (*reversed(function.qualified_name.split(".")), *reversed(dotted[2:])):
        found = protocols_named(text)
        if found:
            return set(found)
    return set()


def _is_family(name: str) -> bool:
    if not name.startswith(("get_", "set_")):
        return False
    return any(pattern.fullmatch(name) for pattern in (CAPTURE_NAME, GETTER_NAME, SHARED_NAME))


def _is_further(name: str) -> bool:
    return not name.startswith("_") and name not in MODULE_INTERFACE and name not in _BODY_ATTRIBUTES


def _counts(name: str, role: Role, receiver: Place, folder: str) -> bool:
    """Whether a call on a value that isn't known to be the draft is a call on the target; see the package."""
    if role.side == "target":
        return role.kind == "model" or _is_family(name)
    if CAPTURE_NAME.fullmatch(name):
        return True
    if GETTER_NAME.fullmatch(name):
        return folder != "speculative" or not _is_own(receiver)
    return folder == "model_executor" and role.kind == "model" and not name.startswith("set_embed")


def _is_own(receiver: Place) -> bool:
    """Whether a value hangs on the instance itself: a speculative worker's own model is the draft."""
    expression = receiver.expression
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return isinstance(expression, ast.Name) and expression.id == receiver.frame.function.self_name


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
