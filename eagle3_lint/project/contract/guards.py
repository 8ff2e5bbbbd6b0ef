"""What holds where a call is made: the tests around it, and the early exits and asserts before it.

A guard is a test that implies that the method exists; the same tests tell for which algorithm the call is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.contract.calls import TargetCall, is_model, side_of, taken
from eagle3_lint.project.contract.model import PROTOCOLS, Protocol
from eagle3_lint.project.contract.runtime import FUNCTIONS, RuntimeFile, last_identifier

EXITS = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_MISSING_METHOD = frozenset({"AttributeError", "Exception", "BaseException"})
_DEPTH_LIMIT = 4
_MOST_VALUES = 8
_ALGORITHMS: tuple[tuple[Protocol, re.Pattern[str]], ...] = tuple(
    (protocol, re.compile("eagle" if protocol == "eagle3" else protocol, re.IGNORECASE)) for protocol in PROTOCOLS
)


@dataclass(frozen=True, eq=False)
class Condition:
    """``test`` is known to be ``truth``; where it isn't, the runtime raises (``raises``) or just doesn't get there."""

    test: ast.expr
    truth: bool
    raises: bool


@dataclass(frozen=True)
class Guard:
    """How the runtime makes sure that a method exists: a model without it is refused (``raises``) or passed over."""

    raises: bool


def raises(block: list[ast.stmt]) -> bool:
    """Whether every way through ``block`` raises, an ``elif`` chain down to its last branch."""
    while block and isinstance(block[-1], ast.If):
        if not raises(block[-1].body):
            return False
        block = block[-1].orelse
    return bool(block) and isinstance(block[-1], ast.Raise)


def conditions(file: RuntimeFile, node: ast.AST) -> Iterator[Condition]:
    """Everything that is known to hold where ``node`` is evaluated in its function, nearest first."""
    child = node
    for parent in file.enclosing(node):
        if isinstance(parent, FUNCTIONS) and child not in parent.body:
            return
        yield from _of_parent(parent, child)
        yield from _of_earlier(parent, child)
        if isinstance(parent, FUNCTIONS):
            return
        child = parent


def _of_parent(parent: ast.AST, child: ast.AST) -> Iterator[Condition]:
    if isinstance(parent, (ast.If, ast.While)):
        if child in parent.body:
            yield Condition(parent.test, True, raises(parent.orelse))
        elif child in parent.orelse:
            yield Condition(parent.test, False, raises(parent.body))
    elif isinstance(parent, ast.IfExp):
        if child is not parent.test:
            yield Condition(parent.test, child is parent.body, False)
    elif isinstance(parent, ast.BoolOp):
        # ``a and b`` evaluates b only where a is true, ``a or b`` only where it is false.
        for value in parent.values[: parent.values.index(child) if child in parent.values else 0]:
            yield Condition(value, isinstance(parent.op, ast.And), False)


def _of_earlier(parent: ast.AST, child: ast.AST) -> Iterator[Condition]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if not isinstance(block, list) or child not in block:
            continue
        for statement in reversed(block[: block.index(child)]):
            if isinstance(statement, ast.Assert):
                yield Condition(statement.test, True, True)
            elif isinstance(statement, ast.If):
                if statement.body and isinstance(statement.body[-1], EXITS):
                    yield Condition(statement.test, False, raises(statement.body))
                elif statement.orelse and isinstance(statement.orelse[-1], EXITS):
                    yield Condition(statement.test, True, raises(statement.orelse))


def guard_of(call: TargetCall) -> Guard | None:
    """The guard of one call in its own function; None where there is none."""
    for condition in conditions(call.file, call.call):
        if _present(condition.test, condition.truth, call, 0):
            return Guard(condition.raises)
    return _handled(call)


def _handled(call: TargetCall) -> Guard | None:
    child: ast.AST = call.call
    for parent in call.file.enclosing(call.call):
        if isinstance(parent, FUNCTIONS):
            return None
        if isinstance(parent, ast.Try) and child in parent.body:
            for handler in parent.handlers:
                if _catches_missing(handler.type):
                    return None if _raises_again(handler) else Guard(raises(handler.body))
        child = parent
    return None


def _catches_missing(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds: Iterable[ast.expr] = kind.elts if isinstance(kind, ast.Tuple) else (kind,)
    return any(last_identifier(each) in _MISSING_METHOD for each in kinds)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler may let the very error through: then nothing is guarded."""
    return any(
        isinstance(node, ast.Raise)
        and (node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name))
        for node in walk(handler)
    )


def _present(test: ast.expr, truth: bool, call: TargetCall, depth: int) -> bool:
    """Whether ``test`` being ``truth`` implies that the method exists."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _present(test.operand, not truth, call, depth)
    if isinstance(test, ast.BoolOp):
        every = isinstance(test.op, ast.And) is not truth
        answers = (_present(value, truth, call, depth) for value in test.values)
        return all(answers) if every else any(answers)
    if isinstance(test, ast.Compare):
        compared = compared_with_none(test)
        return compared is not None and _present(compared[0], compared[1] is truth, call, depth)
    if isinstance(test, ast.NamedExpr):
        return _present(test.value, truth, call, depth)
    if isinstance(test, ast.Call):
        return _call_tells(test, truth, call, depth)
    if not isinstance(test, (ast.Name, ast.Attribute)) or depth == _DEPTH_LIMIT:
        return False
    # A flag that starts as ``False`` says nothing until something else is assigned.
    values = [value for value in call.file.assigned(test) if not isinstance(value, ast.Constant)]
    return 0 < len(values) <= _MOST_VALUES and all(_present(value, truth, call, depth + 1) for value in values)


def _call_tells(test: ast.Call, truth: bool, call: TargetCall, depth: int) -> bool:
    name = last_identifier(test.func)
    if name in {"callable", "bool"} and len(test.args) == 1:
        return _present(test.args[0], truth, call, depth)
    if name in {"hasattr", "getattr", "isinstance"} and len(test.args) > 1:
        asked = test.args[1]
        if name == "isinstance":
            cls = call.file.classes.get(last_identifier(asked))
            named = cls is not None and any(isinstance(one, FUNCTIONS) and one.name == call.name for one in cls.body)
        else:
            named = isinstance(asked, ast.Constant) and asked.value == call.name
        return truth and named and _same(test.args[0], call)
    return depth < _DEPTH_LIMIT and _helper_tells(name, truth, call, depth + 1)


def _helper_tells(name: str, truth: bool, call: TargetCall, depth: int) -> bool:
    """Whether a function of the same file answers ``truth`` only where the method exists."""
    answers = [
        (isinstance(node.value, ast.Constant) and bool(node.value.value) is not truth)
        or _present(node.value, truth, call, depth)
        or any(_present(one.test, one.truth, call, depth) for one in conditions(call.file, node))
        for function in call.file.functions.get(name, ())
        for node in walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    return bool(answers) and all(answers)


def _same(asked: ast.expr, call: TargetCall) -> bool:
    """Whether the guard looks at what the method is called on; a type asked about stands for its instance."""
    if ast.dump(asked) == ast.dump(call.receiver):
        return True
    return is_model(call.file, asked) and side_of(call.file, asked) == side_of(call.file, call.receiver)


def compared_with_none(test: ast.Compare) -> tuple[ast.expr, bool] | None:
    """``x is not None`` as x and True, ``x is None`` as x and False."""
    right = test.comparators[0]
    if len(test.ops) != 1 or not (isinstance(right, ast.Constant) and right.value is None):
        return None
    if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
        return test.left, True
    return (test.left, False) if isinstance(test.ops[0], (ast.Is, ast.Eq)) else None


def names_asked_for(file: RuntimeFile, test: ast.expr, truth: bool) -> Iterator[str]:
    """The methods of a target that are surely there where ``test`` is ``truth``, as far as it asks for them by name."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from names_asked_for(file, test.operand, not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
        for value in test.values:
            yield from names_asked_for(file, value, truth)
    elif isinstance(test, ast.Call) and last_identifier(test.func) == "hasattr" and truth:
        name, receiver = taken(file, ast.Call(ast.Name("getattr"), test.args, []))
        if receiver is not None and side_of(file, receiver) != "draft":
            yield name


def algorithms(file: RuntimeFile, call: ast.Call) -> tuple[frozenset[Protocol], frozenset[Protocol]]:
    """For which protocols a call is made, and for which it isn't, by the tests that it stands under."""
    named: set[Protocol] = set()
    excluded: set[Protocol] = set()
    for condition in conditions(file, call):
        for protocol, holds in spoken_of(condition.test, condition.truth):
            (named if holds else excluded).add(protocol)
    return frozenset(named - excluded), frozenset(excluded)


def spoken_of(test: ast.expr, truth: bool) -> Iterator[tuple[Protocol, bool]]:
    """The protocols that are known to be served, or not to be, where ``test`` is ``truth``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from spoken_of(test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is truth:
            for value in test.values:
                yield from spoken_of(value, truth)
        elif truth:
            for value in test.values:
                yield from ((protocol, holds) for protocol, holds in spoken_of(value, truth) if holds)
    elif isinstance(test, ast.Compare) and (compared := compared_with_none(test)) is not None:
        yield from spoken_of(compared[0], compared[1] is truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        positive = isinstance(test.ops[0], (ast.Eq, ast.Is, ast.In))
        if positive or isinstance(test.ops[0], (ast.NotEq, ast.IsNot, ast.NotIn)):
            yield from ((protocol, positive is truth) for protocol in protocols_named(ast.unparse(test)))
    elif not (isinstance(test, ast.Call) and last_identifier(test.func) in {"hasattr", "getattr", "isinstance"}):
        # ``is_eagle()`` is true for EAGLE-3 too, so that only its falsehood says something about other algorithms.
        yield from ((protocol, truth) for protocol in protocols_named(last_identifier(test)))


def protocols_named(text: str) -> tuple[Protocol, ...]:
    """The protocols that a piece of source text names; EAGLE's workers serve EAGLE-3 too."""
    return tuple(protocol for protocol, pattern in _ALGORITHMS if pattern.search(text))
