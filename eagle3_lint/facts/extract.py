"""From a parsed module to its facts.

Statements are followed in the order in which Python runs them, so that a name used by a class statement gets the
binding that stands at that point, not the last one of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.module import (
    Alternatives,
    BaseExpression,
    Binding,
    BindingKind,
    ClassFacts,
    Member,
    MemberKind,
    ModuleFacts,
    Place,
)
from eagle3_lint.facts.nodes import dotted_name, first_line, walk
from eagle3_lint.sources.reading import parse_source
from eagle3_lint.sources.text import SourceText

_Environment = dict[str, Alternatives]
Statements = dict[tuple[int, int], ast.stmt]
_SHORT = 16
_NO_VALUE: tuple[Literal[""], tuple[str, ...]] = ("", ())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EXTENDING_CALLS = frozenset({"append", "extend", "insert", "update", "add"})


def facts_and_statements(source: SourceText) -> tuple[ModuleFacts, Statements]:
    """The facts of ``source``, and those of its statements that are likely to be asked for, by line and offset.

    Raises UnreadableSourceError where it isn't Python.
    """
    return facts_of_tree(parse_source(source))


def facts_of_tree(tree: ast.Module) -> tuple[ModuleFacts, Statements]:
    """The facts of the module ``tree``, and its statements that are likely to be asked for.

    Raises UnreadableSourceError where it is nested too deeply.
    """
    try:
        module = _ModuleWalk()
        environment: _Environment = {}
        module.run(tree.body, environment)
        return module.finish(environment), module.held
    except RecursionError:
        raise UnreadableSourceError("its statements are nested too deeply") from None


def place_of(node: ast.stmt | ast.expr) -> Place:
    """Where ``node`` stands."""
    return Place(
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
    )


def checks_typing(test: ast.expr) -> bool | None:
    """True for ``TYPE_CHECKING``, False for ``not TYPE_CHECKING``, None for any other condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = checks_typing(test.operand)
        return None if inner is None else not inner
    return True if dotted_name(test).rpartition(".")[2] == "TYPE_CHECKING" else None


def bound_names(target: ast.expr) -> Iterator[str]:
    """Every name that assigning to ``target`` binds; ``X.attribute`` for an attribute of a plain name."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        yield f"{target.value.id}.{target.attr}"
    elif isinstance(target, ast.Starred):
        yield from bound_names(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from bound_names(element)


class _ModuleWalk:
    """Follows one module's statements; collects bindings and classes."""

    def __init__(self) -> None:
        self.bindings: list[Binding] = []
        self.classes: list[ClassFacts] = []
        self.used_by_bases: list[dict[str, Alternatives]] = []
        self.typing_only: dict[str, None] = {}
        self.exports: list[str] | None = None
        self.held: Statements = {}

    def finish(self, final: _Environment) -> ModuleFacts:
        """The collected facts, with each class's environment reduced to what differs from ``final``."""
        classes = tuple(
            facts._replace(environment=tuple((name, found) for name, found in used.items() if final.get(name) != found))
            for facts, used in zip(self.classes, self.used_by_bases, strict=True)
        )
        exports = None if self.exports is None else tuple(self.exports)
        return ModuleFacts(tuple(self.bindings), tuple(final.items()), classes, exports, tuple(self.typing_only))

    def run(self, statements: Iterable[ast.stmt], environment: _Environment) -> None:
        """Follow ``statements``, changing ``environment`` as Python would."""
        for statement in statements:
            self._statement(statement, environment)

    def _statement(self, node: ast.stmt, environment: _Environment) -> None:
        if isinstance(node, ast.ImportFrom):
            self._import_from(node, environment)
        elif isinstance(node, ast.Import):
            self._import(node, environment)
        elif isinstance(node, ast.ClassDef):
            index = self._class(node, "", environment)
            self._bind(environment, node.name, "class", place_of(node), index=index)
        elif isinstance(node, _FUNCTIONS):
            self._bind(environment, node.name, "function", place_of(node))
            self._hold(node, is_likely=_is_likely(node.name, ""))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._assign(node, environment)
        elif isinstance(node, ast.Expr):
            self._expression(node, environment)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                for name in bound_names(target):
                    environment.pop(name, None)
        else:
            self._compound(node, environment)

    def _compound(self, node: ast.stmt, environment: _Environment) -> None:
        if isinstance(node, ast.If):
            self._if(node, environment)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._try(node, environment)  # type: ignore[arg-type]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._opaque(item.optional_vars, node, environment)
            self.run(node.body, environment)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if not isinstance(node, ast.While):
                self._opaque(node.target, node, environment)
            self._branches([node.body, []], environment)
            self.run(node.orelse, environment)
        elif isinstance(node, ast.Match):
            self._branches([case.body for case in node.cases] + [[]], environment)

    def _if(self, node: ast.If, environment: _Environment) -> None:
        typing = checks_typing(node.test)
        if typing is None:
            self._branches([node.body, node.orelse], environment)
            return
        dead, alive = (node.body, node.orelse) if typing else (node.orelse, node.body)
        side = _ModuleWalk()
        names: _Environment = {}
        side.run(dead, names)
        self.typing_only.update(dict.fromkeys(names))
        self.run(alive, environment)

    def _try(self, node: ast.Try, environment: _Environment) -> None:
        worked = dict(environment)
        self.run(node.body, worked)
        self.run(node.orelse, worked)
        outcomes = [worked]
        for handler in node.handlers:
            if handler.body and isinstance(handler.body[-1], ast.Raise):
                continue
            failed = dict(environment)
            self.run(handler.body, failed)
            outcomes.append(failed)
        _merge(outcomes, environment, preferred=True)
        self.run(node.finalbody, environment)

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], environment: _Environment) -> None:
        outcomes = []
        for body in bodies:
            outcome = dict(environment)
            self.run(body, outcome)
            if not (body and isinstance(body[-1], ast.Raise)):
                outcomes.append(outcome)
        _merge(outcomes, environment, preferred=False)

    def _bind(
        self,
        environment: _Environment,
        name: str,
        kind: BindingKind,
        place: Place,
        *,
        target: str = "",
        original: str = "",
        level: int = 0,
        index: int = -1,
        extends: bool = False,
        value: ast.expr | None = None,
    ) -> None:
        number = len(self.bindings)
        shape, names = _simple_value(value) if value is not None else _NO_VALUE
        self.bindings.append(Binding(name, kind, place, target, original, level, index, shape, names))
        before = environment.get(name)
        if extends and before is not None:
            environment[name] = Alternatives((*before.indexes, number), before.preferred)
        else:
            environment[name] = Alternatives((number,))

    def _hold(self, node: ast.stmt, *, is_likely: bool = False) -> None:
        """Hold ``node`` if parsing it again is likely to cost more: what is short, and what is likely to be asked for."""
        if is_likely or (node.end_lineno is not None and node.end_lineno - node.lineno < _SHORT):
            self.held[node.lineno, node.col_offset] = node

    def _opaque(self, target: ast.expr | None, node: ast.stmt, environment: _Environment) -> None:
        if target is not None:
            for name in bound_names(target):
                self._bind(environment, name, "opaque", place_of(node))

    def _import(self, node: ast.Import, environment: _Environment) -> None:
        for alias in node.names:
            if alias.asname:
                self._bind(environment, alias.asname, "import", place_of(node), target=alias.name)
            else:
                top = alias.name.partition(".")[0]
                self._bind(environment, top, "import", place_of(node), target=top)

    def _import_from(self, node: ast.ImportFrom, environment: _Environment) -> None:
        place = place_of(node)
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name == "*":
                self._bind(environment, "*", "star", place, target=node.module or "", level=node.level, extends=True)
            else:
                self._bind(
                    environment,
                    name,
                    "from",
                    place,
                    target=node.module or "",
                    original=alias.name,
                    level=node.level,
                )

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, environment: _Environment) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return
        self._hold(node)
        for target in targets:
            simple = isinstance(target, (ast.Name, ast.Attribute))
            for name in bound_names(target):
                extends = isinstance(node, ast.AugAssign)
                value = None if extends or not simple else node.value
                self._bind(
                    environment, name, "assign" if simple else "opaque", place_of(node), extends=extends, value=value
                )
                if name == "__all__" and node.value is not None:
                    self._export(node.value, extends)

    def _export(self, value: ast.expr, extends: bool) -> None:
        if not isinstance(value, (ast.List, ast.Tuple)):
            return
        names = [e.value for e in value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        self.exports = [*(self.exports or []), *names] if extends else names

    def _expression(self, node: ast.Expr, environment: _Environment) -> None:
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return
        if isinstance(call.func.value, ast.Name) and call.func.attr in _EXTENDING_CALLS:
            name = call.func.value.id
            if name in environment:
                self._bind(environment, name, "assign", place_of(node), extends=True)

    def _class(self, node: ast.ClassDef, outer: str, environment: _Environment) -> int:
        index = len(self.classes)
        qualname = f"{outer}.{node.name}" if outer else node.name
        bases = tuple(BaseExpression(dotted_name(base), place_of(base)) for base in node.bases)
        metaclass = next((one.value for one in node.keywords if one.arg == "metaclass"), None)
        used = {
            name: environment[name]
            for base in (*node.bases, *([metaclass] if metaclass is not None else []))
            for name in (n.id for n in walk(base) if isinstance(n, ast.Name))
            if name in environment
        }
        self.classes.append(
            ClassFacts(
                node.name,
                qualname,
                place_of(node),
                first_line(node),
                bases,
                tuple(keyword.arg or "**" for keyword in node.keywords),
                (),
                decorators=_decorators(node),
                metaclass=dotted_name(metaclass) if metaclass is not None else "",
            )
        )
        self.used_by_bases.append(used)
        members = tuple(self._members(node.body, qualname, environment, conditional=False))
        self.classes[index] = self.classes[index]._replace(members=members)
        return index

    def _members(
        self, body: Iterable[ast.stmt], qualname: str, environment: _Environment, *, conditional: bool
    ) -> Iterator[Member]:
        for node in body:
            if isinstance(node, _FUNCTIONS):
                self._hold(node, is_likely=_is_likely(node.name, qualname))
                yield Member(node.name, "function", place_of(node), first_line(node), _decorators(node), conditional)
            elif isinstance(node, ast.ClassDef):
                index = self._class(node, qualname, environment)
                yield Member(
                    node.name, "class", place_of(node), first_line(node), _decorators(node), conditional, index
                )
            elif isinstance(node, ast.If) and checks_typing(node.test) is True:
                yield from self._members(node.orelse, qualname, environment, conditional=conditional)
            else:
                if isinstance(node, (ast.Assign, ast.AnnAssign)):
                    self._hold(node)
                for name, kind in _simple_members(node):
                    yield Member(name, kind, place_of(node), node.lineno, (), conditional)
                for block in _blocks(node):
                    yield from self._members(block, qualname, environment, conditional=True)


def _is_likely(name: str, owner: str) -> bool:
    """Whether the function ``name`` of the class ``owner`` is often looked into: constructors, the forward of what the
    registry takes (``ForCausalLM``) and of bodies, and what has words of the interface in its name."""
    if name == "forward":
        return "For" in owner or owner.endswith("Model")
    return name == "__init__" or "embed" in name or "capture" in name


def _simple_value(value: ast.expr) -> tuple[Literal["", "name", "list"], tuple[str, ...]]:
    if isinstance(value, (ast.Name, ast.Attribute)):
        dotted = dotted_name(value)
        return ("name", (dotted,)) if dotted else _NO_VALUE
    if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        names = tuple(dotted_name(element) for element in value.elts)
        return ("list", names) if all(names) else _NO_VALUE
    return _NO_VALUE


def _simple_members(node: ast.stmt) -> Iterator[tuple[str, MemberKind]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            kind: MemberKind = "assign" if isinstance(target, ast.Name) else "opaque"
            for name in bound_names(target):
                if "." not in name:
                    yield name, kind
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, "declared" if node.value is None else "assign"
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], "opaque"
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        for name in bound_names(node.target):
            yield name, "opaque"


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for group in ("handlers", "cases"):
        for arm in getattr(node, group, ()):
            yield arm.body


def _merge(outcomes: list[_Environment], environment: _Environment, *, preferred: bool) -> None:
    if not outcomes:
        return
    names: dict[str, None] = {}
    for outcome in outcomes:
        names.update(dict.fromkeys(outcome))
    merged: _Environment = {}
    for name in names:
        found = [outcome[name] for outcome in outcomes if name in outcome]
        if all(one == found[0] for one in found):
            merged[name] = found[0]
            continue
        indexes = tuple(dict.fromkeys(index for one in found for index in one.indexes))
        merged[name] = Alternatives(indexes, preferred or any(one.preferred for one in found))
    environment.clear()
    environment.update(merged)


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    if not node.decorator_list:
        return ()
    return tuple(
        dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in node.decorator_list
    )
