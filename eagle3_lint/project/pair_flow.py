"""What a forward does with the pair ``(hidden_states, aux_hidden_states)`` that a capturing body returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.project.effects import Effects, Event, Guard
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.reading_forward import LOGITS

_PIPELINE = frozenset({"is_last_rank", "is_first_rank"})
_OBSERVERS = frozenset({"len", "isinstance", "type", "print", "id", "repr", "str", "bool", "hasattr"})

When = Literal["on", "off", "always", "unknown"]


@dataclass(frozen=True)
class Unpacking:
    """One statement that takes the pair apart: where, when, and the name that gets the captured states."""

    node: ast.Assign
    second: str
    when: When


@dataclass(frozen=True)
class PairUse:
    """What one function does with what the body returned.

    ``logits_calls`` are the calls that compute logits straight from a local name that holds it whole; ``rebound`` says
    that such a name is given another value, ``opened`` that one is looked into otherwise.
    """

    unpackings: tuple[Unpacking, ...]
    logits_calls: tuple[ast.Call, ...]
    rebound: bool
    opened: bool


def pair_use(effects: Effects, bodies: frozenset[str], flags: frozenset[str]) -> PairUse:
    """What the function of ``effects`` does with the result of a body.

    ``bodies`` are the paths that hold bodies (``self.model``); ``flags`` are the attributes that tell whether
    capture is on.
    """
    nodes = tuple(walk(effects.node))
    results, rebound = _results(nodes, bodies)
    guards = {id(event.node): event.guards for event in effects.of("write")}
    unpackings = tuple(_unpackings(nodes, results, bodies, guards, flags))
    calls = (inner for inner in nodes if isinstance(inner, ast.Call))
    logits = tuple(call for call in calls if _computes_logits(call) and _takes(call, results))
    return PairUse(unpackings, logits, rebound, _is_opened(nodes, results))


def _is_opened(nodes: Iterable[ast.AST], results: frozenset[str]) -> bool:
    """Whether something indexes one of ``results``, spreads it, or asks what it is."""
    for inner in nodes:
        looked_at: list[ast.expr] = []
        if isinstance(inner, (ast.Subscript, ast.Starred)):
            looked_at = [inner.value]
        elif isinstance(inner, ast.Call) and dotted_name(inner.func) in {"isinstance", "len"}:
            looked_at = inner.args
        if any(isinstance(one, ast.Name) and one.id in results for one in looked_at):
            return True
    return False


def is_body_call(value: ast.expr, bodies: frozenset[str]) -> bool:
    """Whether ``value`` runs a body: ``self.model(…)``, ``self.model.forward(…)``, or a routine that is handed it."""
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call):
        return False
    if dotted_name(value.func).removesuffix(".forward") in bodies:
        return True
    return any(keyword.arg == "language_model" and dotted_name(keyword.value) in bodies for keyword in value.keywords)


def _results(nodes: Iterable[ast.AST], bodies: frozenset[str]) -> tuple[frozenset[str], bool]:
    """The names that hold what a body returned; and whether one of them is given any other value too."""
    found: set[str] = set()
    others: list[tuple[str, ast.expr]] = []
    for statement in nodes:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) or statement.value is None:
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if not isinstance(target, ast.Name):
                continue
            if is_body_call(statement.value, bodies):
                found.add(target.id)
            else:
                others.append((target.id, statement.value))
    for name, value in others:
        if name not in found and isinstance(value, ast.Name) and value.id in found:
            found.add(name)
    rebound = any(name in found and not (isinstance(value, ast.Name) and value.id in found) for name, value in others)
    return frozenset(found), rebound


def _unpackings(
    nodes: Iterable[ast.AST],
    results: frozenset[str],
    bodies: frozenset[str],
    guards: dict[int, tuple[Guard, ...]],
    flags: frozenset[str],
) -> Iterator[Unpacking]:
    for statement in nodes:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], (ast.Tuple, ast.List)):
            continue
        names = [one.id for one in statement.targets[0].elts if isinstance(one, ast.Name)]
        if len(names) < 2 or len(names) != len(statement.targets[0].elts):
            continue
        value = statement.value
        whole = (isinstance(value, ast.Name) and value.id in results) or is_body_call(value, bodies)
        if not whole and not _hands_over(value, results, bodies):
            continue
        when = _when(guards.get(id(statement.targets[0].elts[0]), ()), flags)
        yield Unpacking(statement, _captured(names), when if whole else "unknown")


def _captured(names: list[str]) -> str:
    return next((name for name in reversed(names) if "aux" in name or "captur" in name), names[-1])


def _hands_over(value: ast.expr, results: frozenset[str], bodies: frozenset[str]) -> bool:
    """Whether ``value`` is a helper's answer to what the body returned."""
    return isinstance(value, ast.Call) and any(
        (isinstance(argument, ast.Name) and argument.id in results) or is_body_call(argument, bodies)
        for argument in value.args
    )


def _when(guards: tuple[Guard, ...], flags: frozenset[str]) -> When:
    """Under which state of capture something happens."""
    asked = [guard for guard in guards if guard.kind in {"true", "has"} and flags.intersection(guard.path[-1:])]
    if any(guard.kind == "true" for guard in asked):
        on = all(guard.positive for guard in asked if guard.kind == "true")
        others = [guard for guard in guards if guard not in asked and not _is_pipeline(guard)]
        return "on" if on else "unknown" if others else "off"
    if all(_is_pipeline(guard) for guard in guards):
        return "always"
    return "unknown"


def _is_pipeline(guard: Guard) -> bool:
    return bool(guard.path) and guard.path[-1] in _PIPELINE


def _computes_logits(call: ast.Call) -> bool:
    return dotted_name(call.func).rpartition(".")[2] in LOGITS


def _takes(call: ast.Call, names: frozenset[str]) -> bool:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(argument, ast.Name) and argument.id in names for argument in arguments)


def hands_on(node: FunctionNode, name: str) -> bool:
    """Whether what ``name`` holds leaves the function: in a call, a returned value, or a set attribute or item.

    What only observes it (``len``, ``isinstance``, logging, comparisons, formatted text) doesn't count.
    """
    nodes = tuple(walk(node))
    carriers = _derived(nodes, name)
    return any(_leaves(statement, carriers) for statement in nodes)


def _derived(nodes: Iterable[ast.AST], name: str) -> frozenset[str]:
    """``name`` and the local names of a function of these ``nodes`` that are computed from it."""
    assignments = [node for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))]
    carriers = {name}
    grown = True
    while grown:
        grown = False
        for statement in assignments:
            if statement.value is None or not any(_carried(statement.value, carriers)):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for inner in (one for target in targets for one in walk(target)):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id not in carriers:
                    carriers.add(inner.id)
                    grown = True
    return frozenset(carriers)


def _leaves(statement: ast.AST, carriers: frozenset[str]) -> bool:
    if isinstance(statement, (ast.Return, ast.Yield, ast.YieldFrom)):
        return statement.value is not None and any(_carried(statement.value, carriers))
    if isinstance(statement, ast.Call):
        if _observes(statement):
            return False
        arguments = [*statement.args, *(keyword.value for keyword in statement.keywords)]
        return any(any(_carried(argument, carriers)) for argument in arguments)
    if isinstance(statement, ast.Assign):
        stored = [one for one in statement.targets if isinstance(one, (ast.Attribute, ast.Subscript))]
        return bool(stored) and any(_carried(statement.value, carriers))
    return False


def _carried(value: ast.expr, carriers: set[str] | frozenset[str]) -> Iterator[bool]:
    """One True for each place in ``value`` that carries the states on."""
    pending: list[ast.expr] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            if node.id in carriers and isinstance(node.ctx, ast.Load):
                yield True
        elif isinstance(node, ast.IfExp):
            pending.extend((node.body, node.orelse))
        elif isinstance(node, (ast.Compare, ast.JoinedStr)) or (isinstance(node, ast.Call) and _observes(node)):
            continue
        else:
            pending.extend(inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr))
            if isinstance(node, ast.Call):
                pending.extend(keyword.value for keyword in node.keywords)
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                pending.extend(generator.iter for generator in node.generators)


def _observes(call: ast.Call) -> bool:
    parts = dotted_name(call.func).split(".")
    return parts[-1] in _OBSERVERS or parts[0] in {"logger", "logging", "log", "warnings"}


def returned_pairs(effects: Effects) -> tuple[bool, bool]:
    """Whether a body returns a pair somewhere, and whether it returns the first of that pair alone somewhere else.

    What it returns on a pipeline rank that isn't the last one doesn't count.
    """
    firsts: set[str] = set()
    singles: set[str] = set()
    for event in effects.of("return"):
        value = event.value
        if isinstance(value, ast.Tuple) and len(value.elts) == 2 and isinstance(value.elts[0], ast.Name):
            firsts.add(value.elts[0].id)
        elif isinstance(value, ast.Name) and not _on_other_ranks(event):
            singles.add(value.id)
    return bool(firsts), bool(firsts & singles)


def _on_other_ranks(event: Event) -> bool:
    return any(_is_pipeline(guard) and not guard.positive for guard in event.guards)
