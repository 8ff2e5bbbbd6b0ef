"""Whether a value is the target model, the draft model, or something around them.

Two things tell: where the value comes from (``eagle3_lint.project.contract.flow``) and what its author called it. A
name that says ``target`` or ``draft`` is believed; every other one is followed to what it stands for first.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Literal

from eagle3_lint.project.contract.flow import Flow, Frame, Place
from eagle3_lint.project.contract.scopes import Function, last_identifier

Kind = Literal["model", "part", "runner", "worker", "instance", "unknown"]
Side = Literal["target", "draft", "open"]

_TARGET_WORDS = frozenset({"target", "verify", "verifier"})
_DRAFT = re.compile(r"draft|nextn|(?:^|_)mtp(?:_|$)|assistant|^mtp", re.IGNORECASE)
_SPECULATIVE = re.compile(r"eagle|dflash|dspark|spec(?:ulative)?_", re.IGNORECASE)
_PART_WORDS = frozenset(
    {"language", "text", "vision", "visual", "audio", "inner", "layer", "body", "decoder", "backbone"}
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$|_)|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*")
_DEPTH_LIMIT = 12


@dataclass(frozen=True)
class Role:
    """What a value is (``kind``), and on whose side it stands; ``part`` is a submodule of a model."""

    kind: Kind
    side: Side = "open"


UNKNOWN = Role("unknown")


def words(identifier: str) -> tuple[str, ...]:
    """The words of an identifier in lower case: ``EAGLEDraftWorker`` has eagle, draft and worker."""
    return tuple(word.lower() for word in _WORD.findall(identifier))


def named_role(identifier: str) -> Role:
    """What a name alone says of its value."""
    found = words(identifier)
    kind = _named_kind(found)
    target, draft = not _TARGET_WORDS.isdisjoint(found), bool(_DRAFT.search(identifier))
    if kind == "worker" and not target and _SPECULATIVE.search(identifier):
        # A worker named after the algorithm is the draft's; the target's is the ordinary worker.
        draft = True
    if target == draft:
        return Role(kind)
    return Role(kind, "target" if target else "draft")


def _named_kind(found: tuple[str, ...]) -> Kind:
    if not found:
        return "unknown"
    if "runner" in found or "runners" in found:
        return "runner"
    if "worker" in found or "workers" in found:
        return "worker"
    if found[-1] in {"model", "models"}:
        return "model" if _PART_WORDS.isdisjoint(found) else "part"
    return "unknown"


@dataclass
class Roles:
    """Judges expressions of one runtime."""

    flow: Flow
    _depth: int = 0
    _known: dict[tuple[ast.expr, Function], frozenset[Role]] = field(default_factory=dict)

    def of(self, place: Place) -> frozenset[Role]:
        """Every role that the expression may have, one for each value that it may stand for."""
        key = (place.expression, place.frame.function)
        reusable = place.frame.arguments is None
        if reusable and key in self._known:
            return self._known[key]
        if self._depth >= _DEPTH_LIMIT or not self.flow.budget.spend():
            return frozenset({UNKNOWN})
        if reusable:
            # The answer while the question is open: a value that is made from itself adds nothing to it.
            self._known[key] = frozenset()
        self._depth += 1
        try:
            found = self._of_origins(place)
        finally:
            self._depth -= 1
        if reusable:
            self._known[key] = found
        return found

    def _of_origins(self, place: Place) -> frozenset[Role]:
        named = named_role(last_identifier(place.expression))
        origins = self.flow.origins(place, self._tells)
        return frozenset(
            _completed(self._terminal(origin), named) for origin in origins if not _is_constant(origin.expression)
        )

    def one(self, place: Place) -> Role:
        """The role that counts: the target's where one value is the target, a known kind before an unknown one."""
        found = self.of(place)
        if not found:
            return UNKNOWN
        return min(found, key=_precedence)

    def _terminal(self, place: Place) -> Role:
        expression, frame = place.expression, place.frame
        if isinstance(expression, ast.Name):
            return self._name(expression, frame)
        if isinstance(expression, ast.Attribute):
            return self._attribute(expression, frame)
        if isinstance(expression, ast.Subscript):
            named = named_role(last_identifier(expression))
            return named if named.kind != "unknown" else self.one(Place(expression.value, frame))
        if isinstance(expression, ast.Call):
            return self._call(expression, frame)
        return UNKNOWN

    def _name(self, name: ast.Name, frame: Frame) -> Role:
        owner = self.flow.instance_class(name, frame)
        if owner is None:
            named = named_role(name.id)
            return named if named.side != "open" else Role(named.kind, self.context_side(frame.function))
        named = named_role(owner.name)
        return Role(named.kind if named.kind in {"runner", "worker"} else "instance", named.side)

    def _attribute(self, attribute: ast.Attribute, frame: Frame) -> Role:
        named = named_role(attribute.attr)
        if named.side != "open" and named.kind != "unknown":
            return named
        base = self.one(Place(attribute.value, frame))
        if base.kind in {"model", "part"}:
            return Role("part", base.side)
        side = named.side if named.side != "open" else base.side
        if named.kind == "unknown" and base.kind == "instance":
            return Role("unknown", side)
        return Role(named.kind, side)

    def _call(self, call: ast.Call, frame: Frame) -> Role:
        if last_identifier(call.func) == "super":
            return Role("instance")
        named = named_role(last_identifier(call.func))
        if named.side != "open" or not isinstance(call.func, ast.Attribute):
            return named
        base = self.one(Place(call.func.value, frame))
        if base.kind in {"model", "part"}:
            return Role("part", base.side)
        return Role(named.kind, base.side)

    def _tells(self, place: Place) -> bool:
        """Whether the name says enough to stop following it."""
        expression, function = place.expression, place.frame.function
        if not isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return False
        if isinstance(expression, ast.Call) and last_identifier(expression.func) == "getattr":
            return False
        named = named_role(last_identifier(expression))
        if named.kind == "unknown":
            return False
        if named.side != "open":
            return True
        # In these folders a model is the target's, unless it is given away as the draft's.
        if function.module.folder != "model_executor":
            return False
        if isinstance(expression, ast.Name) and expression.id in function.parameters:
            return not self.flow.may_get_draft(function)
        return _is_own(expression, function)

    def context_side(self, function: Function) -> Side:
        """The draft's side in functions of a class or file that is named after the draft."""
        scope: Function | None = function
        while scope is not None:
            if scope.owner is not None and _DRAFT.search(scope.owner.name):
                return "draft"
            scope = scope.outer
        return "open"


def _is_own(expression: ast.expr, function: Function) -> bool:
    """Whether a runner's own model or runner is meant, which serves target and draft alike and comes from outside."""
    if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
        return False
    owner = function.owner
    if owner is None or expression.value.id != function.self_name:
        return False
    return expression.attr not in owner.methods and not owner.instance_bindings(expression.attr)


def _completed(role: Role, named: Role) -> Role:
    """What the flow leaves open is what the value's own name says."""
    return Role(named.kind if role.kind == "unknown" else role.kind, named.side if role.side == "open" else role.side)


def _is_constant(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant)


def _precedence(role: Role) -> tuple[int, int, str]:
    sides: tuple[Side, ...] = ("target", "open", "draft")
    kinds: tuple[Kind, ...] = ("model", "runner", "worker", "unknown", "instance", "part")
    return sides.index(role.side), kinds.index(role.kind), role.kind
