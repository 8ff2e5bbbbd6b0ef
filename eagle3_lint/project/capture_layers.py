"""How a body's loop over its layers captures: where it asks which layers, and what it keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.modules import FunctionNode

_LOOP_SOURCES = frozenset({"range", "enumerate", "zip", "islice", "reversed"})


@dataclass(frozen=True)
class LayerQuestion:
    """One place where a function asks whether a layer is captured; ``boundary`` when it asks after the last one too."""

    line: int
    boundary: bool


def layer_questions(function: FunctionNode, name: str) -> tuple[LayerQuestion, ...] | None:
    """Every place where ``function`` asks whether a layer is in ``name``, or has the flag ``name``.

    None where it does something else with ``name`` that may decide what is captured.
    """
    named: list[tuple[ast.AST, ast.For | None]] = []
    memberships: list[tuple[ast.Compare, ast.For | None]] = []
    harmless: set[int] = set()
    for node, loop in _with_loops(function):
        if _is_named(node, name):
            named.append((node, loop))
        if isinstance(node, ast.Compare):
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and _is_named(node.comparators[0], name):
                memberships.append((node, loop))
            harmless.update(id(part) for part in (node.left, node.comparators[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"len", "bool"}:
            harmless.update(id(argument) for argument in node.args)
        elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.UnaryOp)):
            harmless.update(id(part) for part in _tested(node))
    found = [_membership(node, loop) for node, loop in memberships]
    for node, loop in named:
        if isinstance(node, ast.Call) or (isinstance(node, ast.Attribute) and not _is_own(node)):
            found.append(LayerQuestion(node.lineno, False) if loop is not None else None)
        elif id(node) not in harmless:
            return None
    questions = tuple(one for one in found if one is not None)
    return questions if len(questions) == len(found) else None


def _with_loops(root: ast.AST) -> Iterator[tuple[ast.AST, ast.For | None]]:
    """Every node below ``root`` but names and constants, in the order of the text, with the innermost loop around it."""
    pending: list[tuple[ast.AST, ast.For | None]] = [(root, None)]
    while pending:
        node, loop = pending.pop()
        if isinstance(node, (ast.Name, ast.Constant)):
            continue
        if node is not root:
            yield node, loop
        own = node if isinstance(node, ast.For) else None
        inside = (*own.body, own.target) if own is not None else ()
        below = [(child, own if child in inside else loop) for child in ast.iter_child_nodes(node)]
        pending.extend(reversed(below))


def _is_named(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value == name
    return False


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _tested(node: ast.If | ast.IfExp | ast.While | ast.BoolOp | ast.UnaryOp) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp):
        return node.values
    return [node.operand] if isinstance(node, ast.UnaryOp) else [node.test]


def _membership(node: ast.Compare, loop: ast.For | None) -> LayerQuestion | None:
    if loop is None or not isinstance(node.left, ast.Name):
        return LayerQuestion(node.lineno, True)
    if node.left.id not in _names(loop.target) or not _ends_with_layers(loop.iter):
        return None
    if _comes_after_layer(node, loop):
        return None
    return LayerQuestion(node.lineno, False)


def _ends_with_layers(iterated: ast.expr) -> bool:
    """Whether a loop stops at the last layer, as far as its head tells."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id in _LOOP_SOURCES:
        return not any(isinstance(argument, ast.BinOp) for argument in iterated.args)
    return isinstance(iterated, (ast.Attribute, ast.Subscript, ast.Name))


def _comes_after_layer(node: ast.Compare, loop: ast.For) -> bool:
    """Whether the loop has run its layer before it asks."""
    for statement in loop.body:
        inside = list(walk(statement))
        if node in inside:
            return False
        if any(isinstance(one, ast.Call) and _runs_layer(one, loop) for one in inside):
            return True
    return False


def _runs_layer(call: ast.Call, loop: ast.For) -> bool:
    if isinstance(call.func, ast.Subscript):
        return True
    return isinstance(call.func, ast.Name) and ("layer" in call.func.id or call.func.id in _names(loop.target))


def shifts_ids(function: FunctionNode) -> int | None:
    """The line where ``function`` shifts layer ids by one (``[i + 1 for i in layer_ids]``), or None."""
    for node in walk(function):
        if not isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) or not isinstance(node.elt, ast.BinOp):
            continue
        left, right = node.elt.left, node.elt.right
        if isinstance(node.elt.op, ast.Add) and isinstance(left, ast.Name) and isinstance(right, ast.Constant):
            target = node.generators[0].target
            if right.value == 1 and isinstance(target, ast.Name) and left.id == target.id:
                return node.lineno
    return None


def bare_captures(function: FunctionNode) -> Iterator[int]:
    """The lines where a loop that carries ``hidden_states, residual`` keeps the hidden states without the residual."""
    for loop in walk(function):
        if not isinstance(loop, ast.For):
            continue
        carried = _carried_pair(loop)
        if carried is None or _is_rebound(loop, carried):
            continue
        for question in walk(loop):
            if isinstance(question, ast.If) and _asks_for_capture(question.test):
                yield from (call.lineno for call in _kept(question.body, carried))


def _carried_pair(loop: ast.For) -> tuple[str, str] | None:
    for node in walk(loop):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        names = _pair_names(node.targets[0])
        if (
            names is not None
            and "residual" in names[1]
            and set(names) <= _names(node.value)
            and _runs_layer(node.value, loop)
        ):
            return names
    return None


def _pair_names(target: ast.expr) -> tuple[str, str] | None:
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return None
    first, second = target.elts
    return (first.id, second.id) if isinstance(first, ast.Name) and isinstance(second, ast.Name) else None


def _is_rebound(loop: ast.For, carried: tuple[str, str]) -> bool:
    """Whether the loop binds one of the pair in another way too, by which the residual may be in it already."""
    for node in walk(loop):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_pair_names(target) == carried for target in targets):
                continue
            if any(_names(target) & set(carried) for target in targets):
                return True
    return False


def _asks_for_capture(test: ast.expr) -> bool:
    for node in walk(test):
        if isinstance(node, ast.Attribute) and "captur" in node.attr:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "captur" in node.value:
            return True
    return False


def _kept(body: list[ast.stmt], carried: tuple[str, str]) -> Iterator[ast.Call]:
    """The calls below ``body`` that keep the hidden states bare, but where the residual was asked for first."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.If, ast.IfExp)) and _names(node.test) & {carried[1]}:
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call) and _appended(node) and _is_bare(node.args[0], carried[0]):
            yield node


def _appended(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "append" and len(call.args) == 1


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in walk(node) if isinstance(one, ast.Name)}


def _is_bare(value: ast.expr, name: str) -> bool:
    """``hidden_states``, or a copy of it."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        value = value.func.value
    return isinstance(value, ast.Name) and value.id == name


def partial_return(function: FunctionNode) -> int | None:
    """The line where a setter leaves some pipeline ranks alone without an error, or None."""
    if _refuses_pipelines(function):
        return None
    for index, statement in enumerate(function.body):
        if not isinstance(statement, ast.If) or not _asks_for_rank(statement.test):
            continue
        if any(isinstance(one, ast.Raise) for part in statement.body for one in walk(part)):
            continue
        if isinstance(statement.body[-1], ast.Return) and len(function.body) > index + 1:
            return statement.lineno
        if not statement.orelse and index == len(function.body) - 1 and not isinstance(statement.body[-1], ast.Return):
            return statement.lineno
    return None


def _asks_for_rank(test: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in {"is_last_rank", "is_first_rank"} for node in walk(test)
    )


def _refuses_pipelines(function: FunctionNode) -> bool:
    """Whether it raises where there is more than one rank."""
    for node in walk(function):
        if isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for part in node.body for one in walk(part)):
            words = {one.attr for one in walk(node.test) if isinstance(one, ast.Attribute)}
            words |= _names(node.test)
            if words & {"world_size", "pp_size", "pp_world_size", "is_last_rank", "is_first_rank"}:
                return True
    return False
