"""How a body's loop over its layers captures: where it asks which layers, and what it keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.modules import FunctionNode

Loops = tuple[ast.For, ...]

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
    named: list[tuple[ast.AST, Loops]] = []
    memberships: list[tuple[ast.Compare, Loops]] = []
    harmless: set[int] = set()
    for node, loops in _with_loops(function):
        if _is_named(node, name):
            named.append((node, loops))
        if isinstance(node, ast.Compare):
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and _is_named(node.comparators[0], name):
                memberships.append((node, loops))
            harmless.update(id(part) for part in (node.left, node.comparators[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"len", "bool"}:
            harmless.update(id(argument) for argument in node.args)
        elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.UnaryOp)):
            harmless.update(id(part) for part in _tested(node))
    found = [_membership(function, node, loops) for node, loops in memberships]
    for node, loops in named:
        if isinstance(node, ast.Call) or (isinstance(node, ast.Attribute) and not _is_own(node)):
            found.append(LayerQuestion(node.lineno, False) if loops else None)
        elif id(node) not in harmless:
            return None
    questions = tuple(one for one in found if one is not None)
    return questions if len(questions) == len(found) else None


def _with_loops(root: ast.AST) -> Iterator[tuple[ast.AST, Loops]]:
    """Every node below ``root`` but names and constants, in the order of the text, with the loops around it, inner last."""
    pending: list[tuple[ast.AST, Loops]] = [(root, ())]
    while pending:
        node, loops = pending.pop()
        if isinstance(node, (ast.Name, ast.Constant)):
            continue
        if node is not root:
            yield node, loops
        own = node if isinstance(node, ast.For) else None
        inside = (*own.body, own.target) if own is not None else ()
        below = [
            (child, (*loops, own) if own is not None and child in inside else loops)
            for child in ast.iter_child_nodes(node)
        ]
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


def _membership(function: FunctionNode, node: ast.Compare, loops: Loops) -> LayerQuestion | None:
    if not loops:
        return LayerQuestion(node.lineno, True)
    below = _stays_below(function, node.left, loops)
    if below is None:
        return LayerQuestion(node.lineno, True) if not isinstance(node.left, ast.Name) else None
    if not below or not _ends_with_layers(loops[-1].iter) or _comes_after_layer(node, loops[-1]):
        return None
    return LayerQuestion(node.lineno, False)


def _stays_below(function: FunctionNode, index: ast.expr, loops: Loops) -> bool | None:
    """Whether ``index``, asked for inside ``loops``, is that of the layer that runs next, and so never their number.

    It is what a loop counts (``i``), what is computed from it without a constant (``start + i``,
    ``turn * len(self.layers) + i``), or a counter that starts at 0 and is raised later in the loop. None where that
    can't be told.
    """
    counted = {name for loop in loops for name in _names(loop.target)}
    if isinstance(index, ast.Name):
        if index.id in counted:
            return index.id in _names(loops[-1].target) or None
        bound = [one for one in walk(function) if _binds(one, index.id)]
        if len(bound) == 1 and isinstance(bound[0], ast.Assign) and _is_around(loops[-1], bound[0]):
            return _stays_below(function, bound[0].value, loops)
        return _counts(bound, index, loops)
    names = [one.id for one in walk(index) if isinstance(one, ast.Name) and one.id not in {"len", "self"}]
    plain = isinstance(index, ast.BinOp) and not any(isinstance(one, ast.Constant) for one in walk(index))
    return True if plain and _names(loops[-1].target) & set(names) and counted.issuperset(names) else None


def _binds(node: ast.AST, name: str) -> bool:
    """Whether the statement ``node`` gives the local ``name`` a value."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    inside = (one for target in targets if isinstance(target, ast.AST) for one in walk(target))
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in inside)


def _is_around(loop: ast.For, node: ast.AST) -> bool:
    return any(one is node for statement in loop.body for one in walk(statement))


def _counts(bound: list[ast.AST], index: ast.Name, loops: Loops) -> bool | None:
    """Whether ``index`` is bound to 0 before the loops, and raised by one in the innermost, after it is asked for."""
    if len(bound) != 2 or not isinstance(bound[0], ast.Assign) or not isinstance(bound[1], ast.AugAssign):
        return None
    steps = [one.value.value if isinstance(one.value, ast.Constant) else None for one in (bound[0], bound[1])]
    started = not _is_around(loops[0], bound[0])
    raised = _is_around(loops[-1], bound[1]) and bound[1].lineno > index.lineno
    return True if steps == [0, 1] and started and raised else None


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
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and not node.generators[0].ifs:
            target, shifted = node.generators[0].target, [node.elt]
        elif isinstance(node, ast.For):
            target, shifted = node.target, [one.slice for one in walk(node) if isinstance(one, ast.Subscript)]
        else:
            continue
        if isinstance(target, ast.Name) and any(_is_next(one, target.id) for one in shifted):
            return node.lineno
    return None


def _is_next(value: ast.expr, name: str) -> bool:
    """``name + 1``."""
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Add)
        and isinstance(value.left, ast.Name)
        and value.left.id == name
        and isinstance(value.right, ast.Constant)
        and value.right.value == 1
    )


def refuses_ids(function: FunctionNode) -> bool:
    """Whether ``function`` raises because of what it is given, other than for nothing at all."""
    order = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given = {one.arg for one in order[1:]}
    return any(
        bool(_names(node.test) & given) and not (isinstance(node.test, ast.Compare) and _is_none_test(node.test))
        for node in walk(function)
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body))
    )


def _is_none_test(test: ast.Compare) -> bool:
    return isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) and isinstance(
        test.comparators[0], ast.Constant
    )


def indexes(function: FunctionNode, written: ast.expr | ast.stmt) -> bool:
    """Whether what ``written`` writes on is picked by a number that is computed (``self.layers[i].flag = True``).

    Not where an error is caught in ``function``.
    """
    if any(isinstance(node, ast.Try) for node in walk(function)):
        return False
    holder = written.args[0] if isinstance(written, ast.Call) else getattr(written, "value", None)
    if isinstance(holder, ast.Name):
        bound = [one.value for one in walk(function) if isinstance(one, ast.Assign) and _binds(one, holder.id)]
        holder = bound[0] if len(bound) == 1 else None
    return isinstance(holder, ast.Subscript) and not isinstance(holder.slice, ast.Slice) and bool(_names(holder.slice))


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
        following = list(_after(function.body, loop))
        # Where nothing adds the residual afterwards, the last layer has done so.
        if not any(carried[1] in _names(statement) for statement in following):
            continue
        for statement in following:
            if isinstance(statement, ast.If) and _asks_for_capture(statement.test):
                yield from (call.lineno for call in _kept(statement.body, carried))
            if any(_binds(node, carried[0]) for node in walk(statement)):
                break


def _after(body: list[ast.stmt], loop: ast.For) -> Iterator[ast.stmt]:
    """What follows ``loop`` in ``body`` or a block inside it: first beside the loop, then further out."""
    for index, statement in enumerate(body):
        if statement is not loop and any(one is loop for one in walk(statement)):
            for block in ("body", "orelse", "finalbody"):
                yield from _after(getattr(statement, block, []), loop)
        elif statement is not loop:
            continue
        yield from body[index + 1 :]
        return


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
