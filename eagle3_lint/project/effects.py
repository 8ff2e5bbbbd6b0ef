"""What one function does, by attribute path: reads, writes, calls, returns and raises, each with what guards it.

Pure: it follows from the function's syntax tree alone. A path starts with a parameter, a local name or a global one
(``("self", "model", "layers", "[]")``); a local name that merely stands for a path is replaced by it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeGuard

from eagle3_lint.facts.extract import checks_typing
from eagle3_lint.facts.nodes import walk

Path = tuple[str, ...]
ITEM = "[]"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Guard:
    """One condition under which something happens.

    ``has`` asks whether ``path`` exists (``hasattr``, ``getattr(…, None)``, an ``AttributeError`` that is caught);
    ``true`` asks for the truth of what ``path`` holds; ``none`` whether it is None; ``other`` is any other condition.
    ``positive`` says that the condition holds where the guarded thing happens.
    """

    kind: Literal["has", "true", "none", "other"]
    path: Path
    positive: bool
    line: int


@dataclass(frozen=True)
class Event:
    """One read, write, call, return or raise. ``path`` is empty for returns and raises; ``safe`` reads have a default.

    ``value`` is what is written, returned or raised; ``node`` the expression or statement itself.
    """

    kind: Literal["read", "write", "call", "return", "raise"]
    path: Path
    node: ast.expr | ast.stmt
    guards: tuple[Guard, ...]
    value: ast.expr | None = None
    safe: bool = False

    @property
    def line(self) -> int:
        """The line that it stands on."""
        return self.node.lineno

    def is_guarded_by(self, path: Path) -> bool:
        """Whether it happens only where ``path`` exists."""
        return any(guard.kind == "has" and guard.positive and guard.path == path for guard in self.guards)


@dataclass(frozen=True)
class Effects:
    """The events of one function, in the order in which they stand."""

    node: FunctionNode
    events: tuple[Event, ...]
    parameters: tuple[str, ...] = field(default=())

    def of(self, kind: str) -> Iterator[Event]:
        """The events of one kind."""
        return (event for event in self.events if event.kind == kind)


def effects_of(node: FunctionNode) -> Effects:
    """Everything that ``node`` does, its first parameter shown as ``self``."""
    arguments = node.args
    order = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    walk = _Walk(order[0] if order else "")
    walk.block(node.body, ())
    names = (*order, *(a.arg for a in arguments.kwonlyargs))
    return Effects(node, tuple(walk.events), names)


class _Walk:
    """Follows one function's statements in order, with its local aliases of paths."""

    def __init__(self, holder: str) -> None:
        self.events: list[Event] = []
        self._aliases: dict[str, tuple[Path, ...]] = {holder: (("self",),)} if holder else {}

    def block(self, body: Sequence[ast.stmt], guards: tuple[Guard, ...]) -> bool:
        """Follow ``body``; True when its end is never reached."""
        for statement in body:
            ended, guards = self._statement(statement, guards)
            if ended:
                return True
        return False

    def _statement(self, node: ast.stmt, guards: tuple[Guard, ...]) -> tuple[bool, tuple[Guard, ...]]:
        if isinstance(node, ast.If):
            return self._if(node, guards)
        if isinstance(node, ast.Return):
            if node.value is not None:
                self._expression(node.value, guards)
            self._add("return", (), node, guards, value=node.value)
            return True, guards
        if isinstance(node, ast.Raise):
            if node.exc is not None:
                self._expression(node.exc, guards)
            self._add("raise", (), node, guards, value=node.exc)
            return True, guards
        if isinstance(node, (ast.Continue, ast.Break)):
            return True, guards
        if isinstance(node, ast.Assert):
            self._expression(node.test, guards)
            return False, (*guards, *self._conditions(node.test, True))
        return self._other(node, guards), guards

    def _other(self, node: ast.stmt, guards: tuple[Guard, ...]) -> bool:
        if isinstance(node, ast.Assign):
            self._expression(node.value, guards)
            for target in node.targets:
                self._assign(target, node.value, guards)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._expression(node.value, guards)
                self._assign(node.target, node.value, guards)
        elif isinstance(node, ast.AugAssign):
            self._expression(node.value, guards)
            self._expression(node.target, guards)
            self._assign(node.target, node.value, guards, alias=False)
        elif isinstance(node, ast.Expr):
            self._expression(node.value, guards)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._for(node, guards)
        elif isinstance(node, ast.While):
            self._expression(node.test, guards)
            self.block(node.body, (*guards, *self._conditions(node.test, True)))
            self.block(node.orelse, guards)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._expression(item.context_expr, guards)
                if item.optional_vars is not None:
                    self._assign(item.optional_vars, item.context_expr, guards, alias=False)
            return self.block(node.body, guards)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, guards)  # type: ignore[arg-type]
        elif isinstance(node, ast.Match):
            self._expression(node.subject, guards)
            for case in node.cases:
                self.block(case.body, (*guards, Guard("other", (), True, node.lineno)))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = _Walk("")
            inner._aliases = dict(self._aliases)
            inner.block(node.body, guards)
            self.events.extend(event for event in inner.events if event.kind not in ("return", "raise"))
        return False

    def _if(self, node: ast.If, guards: tuple[Guard, ...]) -> tuple[bool, tuple[Guard, ...]]:
        if checks_typing(node.test) is True:
            return self.block(node.orelse, guards), guards
        self._expression(node.test, guards)
        true, false = self._conditions(node.test, True), self._conditions(node.test, False)
        before = dict(self._aliases)
        body_ends = self.block(node.body, (*guards, *true))
        after_body, self._aliases = self._aliases, before
        else_ends = self.block(node.orelse, (*guards, *false))
        if not body_ends:
            self._aliases = after_body if else_ends else _joined(self._aliases, after_body)
        if body_ends and else_ends:
            return True, guards
        if body_ends:
            return False, (*guards, *false)
        if else_ends:
            return False, (*guards, *true)
        return False, guards

    def _try(self, node: ast.Try, guards: tuple[Guard, ...]) -> bool:
        caught = any(_catches_attribute_error(handler) for handler in node.handlers)
        start = len(self.events)
        ended = self.block([*node.body, *node.orelse], guards)
        if caught:
            self.events[start:] = [_caught(event) for event in self.events[start:]]
        handlers_end = True
        for handler in node.handlers:
            handlers_end &= self.block(handler.body, (*guards, Guard("other", (), True, handler.lineno)))
        return self.block(node.finalbody, guards) or (ended and handlers_end)

    def _for(self, node: ast.For | ast.AsyncFor, guards: tuple[Guard, ...]) -> None:
        self._expression(node.iter, guards)
        self._bind_items(node.target, node.iter)
        self.block(node.body, guards)
        self.block(node.orelse, guards)

    def _bind_items(self, target: ast.expr, iterated: ast.expr) -> None:
        items = tuple((*path, ITEM) for path in self.paths(iterated))
        element = target
        if _is_enumeration(iterated) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            items = tuple((*path, ITEM) for path in self.paths(iterated.args[0]))
            self._forget(target.elts[0])
            element = target.elts[1]
        self._forget(element)
        if isinstance(element, ast.Name) and items:
            self._aliases[element.id] = items

    def _forget(self, target: ast.expr) -> None:
        for inner in walk(target):
            if isinstance(inner, ast.Name):
                self._aliases.pop(inner.id, None)

    def _assign(self, target: ast.expr, value: ast.expr, guards: tuple[Guard, ...], *, alias: bool = True) -> None:
        if isinstance(target, ast.Name):
            paths = self.paths(value) if alias else ()
            self._aliases.pop(target.id, None)
            if paths:
                self._aliases[target.id] = paths
            self._add("write", (target.id,), target, guards, value=value)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            if isinstance(target, ast.Subscript):
                self._expression(target.slice, guards)
            for path in self.paths(target):
                self._add("write", path, target, guards, value=value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
            for index, element in enumerate(target.elts):
                same = parts is not None and len(parts) == len(target.elts)
                self._assign(element, parts[index] if parts and same else value, guards, alias=bool(same))
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, guards, alias=False)

    def paths(self, node: ast.expr) -> tuple[Path, ...]:
        """The paths that ``node`` may stand for; empty where it is no path."""
        if isinstance(node, ast.Name):
            return self._aliases.get(node.id, ((node.id,),))
        if isinstance(node, ast.Attribute):
            return tuple((*path, node.attr) for path in self.paths(node.value))
        if isinstance(node, ast.Subscript):
            return tuple((*path, ITEM) for path in self.paths(node.value))
        if isinstance(node, ast.NamedExpr):
            return self.paths(node.value)
        if isinstance(node, ast.IfExp):
            return (*self.paths(node.body), *self.paths(node.orelse))
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return tuple(path for value in node.values for path in self.paths(value))
        if isinstance(node, ast.Call):
            return self._looked_up(node)
        return ()

    def _looked_up(self, node: ast.Call) -> tuple[Path, ...]:
        """``getattr(x, "name", default)`` as a path."""
        name = _string_argument(node, "getattr")
        if name is None:
            return ()
        found = tuple((*path, name) for path in self.paths(node.args[0]))
        default = self.paths(node.args[2]) if len(node.args) > 2 else ()
        return (*found, *default)

    def _expression(self, node: ast.expr, guards: tuple[Guard, ...]) -> None:
        if isinstance(node, ast.Call):
            self._call(node, guards)
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            self._path_read(node, guards)
        elif isinstance(node, ast.Name):
            for path in self.paths(node):
                self._add("read", path, node, guards)
        elif isinstance(node, ast.IfExp):
            self._expression(node.test, guards)
            self._expression(node.body, (*guards, *self._conditions(node.test, True)))
            self._expression(node.orelse, (*guards, *self._conditions(node.test, False)))
        elif isinstance(node, ast.BoolOp):
            self._junction(node, guards)
        elif isinstance(node, ast.NamedExpr):
            self._expression(node.value, guards)
            self._assign(node.target, node.value, guards)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            self._comprehension(node, guards)
        elif isinstance(node, ast.Lambda):
            self._expression(node.body, guards)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, guards)

    def _path_read(self, node: ast.Attribute | ast.Subscript, guards: tuple[Guard, ...]) -> None:
        if isinstance(node, ast.Subscript):
            self._expression(node.slice, guards)
        paths = self.paths(node)
        for path in paths:
            self._add("read", path, node, guards)
        inner: ast.expr = node.value
        while isinstance(inner, (ast.Attribute, ast.Subscript)):
            if isinstance(inner, ast.Subscript):
                self._expression(inner.slice, guards)
            inner = inner.value
        if not isinstance(inner, ast.Name) or not paths:
            self._expression(inner, guards)

    def _call(self, node: ast.Call, guards: tuple[Guard, ...]) -> None:
        reflected = self._reflection(node, guards)
        if not reflected:
            for path in self.paths(node.func):
                self._add("call", path, node, guards)
            if isinstance(node.func, ast.Attribute):
                self._expression(node.func.value, guards)
            elif not isinstance(node.func, ast.Name):
                self._expression(node.func, guards)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._expression(argument, guards)

    def _reflection(self, node: ast.Call, guards: tuple[Guard, ...]) -> bool:
        for function in ("getattr", "hasattr", "setattr", "delattr"):
            name = _string_argument(node, function)
            if name is None:
                continue
            for path in self.paths(node.args[0]):
                full = (*path, name)
                if function == "setattr":
                    self._add("write", full, node, guards, value=node.args[2] if len(node.args) > 2 else None)
                else:
                    safe = function != "getattr" or len(node.args) > 2
                    self._add("read", full, node, guards, safe=safe)
            return True
        return False

    def _junction(self, node: ast.BoolOp, guards: tuple[Guard, ...]) -> None:
        holds = isinstance(node.op, ast.And)
        for value in node.values:
            self._expression(value, guards)
            guards = (*guards, *self._conditions(value, holds))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, guards: tuple[Guard, ...]
    ) -> None:
        before = dict(self._aliases)
        for generator in node.generators:
            self._expression(generator.iter, guards)
            self._bind_items(generator.target, generator.iter)
            for condition in generator.ifs:
                self._expression(condition, guards)
                guards = (*guards, *self._conditions(condition, True))
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._expression(part, guards)
        self._aliases = before

    def _conditions(self, node: ast.expr, positive: bool) -> tuple[Guard, ...]:
        """What is known where ``node`` is true (or false, without ``positive``)."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._conditions(node.operand, not positive)
        if isinstance(node, ast.BoolOp):
            if isinstance(node.op, ast.And) == positive:
                return tuple(guard for value in node.values for guard in self._conditions(value, positive))
            return (Guard("other", (), positive, node.lineno),)
        if isinstance(node, ast.Compare):
            return self._compared(node, positive)
        if isinstance(node, ast.Call):
            return self._called(node, positive)
        if isinstance(node, ast.NamedExpr):
            return (*self._conditions(node.value, positive), *self._truth(node, positive))
        return self._truth(node, positive)

    def _truth(self, node: ast.expr, positive: bool) -> tuple[Guard, ...]:
        paths = self.paths(node)
        if not paths:
            return (Guard("other", (), positive, node.lineno),)
        return tuple(Guard("true", path, positive, node.lineno) for path in paths)

    def _called(self, node: ast.Call, positive: bool) -> tuple[Guard, ...]:
        name = _string_argument(node, "hasattr")
        if name is not None:
            return tuple(Guard("has", (*path, name), positive, node.lineno) for path in self.paths(node.args[0]))
        looked_up = self._looked_up(node)
        if looked_up:
            return tuple(Guard("has", path, positive, node.lineno) for path in looked_up)
        if isinstance(node.func, ast.Name) and node.func.id == "callable" and node.args:
            return self._conditions(node.args[0], positive)
        return (Guard("other", (), positive, node.lineno),)

    def _compared(self, node: ast.Compare, positive: bool) -> tuple[Guard, ...]:
        operator, other = node.ops[0], node.comparators[0]
        if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) or not _is_none(other):
            return (Guard("other", (), positive, node.lineno),)
        is_none = isinstance(operator, (ast.Is, ast.Eq)) == positive
        left = node.left
        kind: Literal["has", "none"] = "none"
        holder = left.value if isinstance(left, ast.NamedExpr) else left
        if isinstance(holder, ast.Call) and _string_argument(holder, "getattr") is not None:
            kind = "has"
        wanted = is_none if kind == "none" else not is_none
        return tuple(Guard(kind, path, wanted, node.lineno) for path in self.paths(left)) or (
            Guard("other", (), positive, node.lineno),
        )

    def _add(
        self,
        kind: Literal["read", "write", "call", "return", "raise"],
        path: Path,
        node: ast.expr | ast.stmt,
        guards: tuple[Guard, ...],
        *,
        value: ast.expr | None = None,
        safe: bool = False,
    ) -> None:
        self.events.append(Event(kind, path, node, guards, value, safe))


def _string_argument(node: ast.Call, function: str) -> str | None:
    if not (isinstance(node.func, ast.Name) and node.func.id == function and len(node.args) >= 2):
        return None
    name = node.args[1]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def _is_enumeration(node: ast.expr) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "enumerate"
        and bool(node.args)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _catches_attribute_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        isinstance(kind, ast.Name) and kind.id in {"AttributeError", "Exception", "BaseException"} for kind in kinds
    )


def _caught(event: Event) -> Event:
    guard = Guard("has", event.path, True, event.line)
    return replace(event, guards=(*event.guards, guard))


def _joined(one: dict[str, tuple[Path, ...]], other: dict[str, tuple[Path, ...]]) -> dict[str, tuple[Path, ...]]:
    joined: dict[str, tuple[Path, ...]] = {}
    for name in one.keys() | other.keys():
        if name in one and name in other:
            joined[name] = tuple(dict.fromkeys((*one[name], *other[name])))
    return joined
