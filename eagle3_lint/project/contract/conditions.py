"""What holds where a call is made: the tests around it, and the early exits and asserts before it.

A guard is a test that implies that the method exists; the same tests tell for which algorithm the call is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.contract.flow import Flow, Frame, Place, bound_arguments, handed_parameter
from eagle3_lint.project.contract.model import PROTOCOLS, Protocol
from eagle3_lint.project.contract.roles import Role, Roles
from eagle3_lint.project.contract.scopes import Function, last_identifier

_EXITS = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_MISSING_METHOD = frozenset({"AttributeError", "Exception", "BaseException"})
_DEPTH_LIMIT = 4
_ALGORITHMS: tuple[tuple[Protocol, re.Pattern[str]], ...] = tuple(
    (protocol, re.compile("eagle" if protocol == "eagle3" else protocol, re.IGNORECASE)) for protocol in PROTOCOLS
)


@dataclass(frozen=True, eq=False)
class Condition:
    """``test`` is known to be ``truth``; where it isn't, the runtime raises (``raises``) or just doesn't get there."""

    test: ast.expr
    truth: bool
    line: int
    raises: bool


@dataclass(frozen=True)
class Guard:
    """How the runtime makes sure that a method exists."""

    line: int
    raises: bool


@dataclass(frozen=True)
class Method:
    """The method that is called, and on what."""

    name: str
    receiver: Place
    role: Role


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block


def _exits(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], _EXITS)


def _raises(block: list[ast.stmt]) -> bool:
    """Whether every way through ``block`` raises, an ``elif`` chain down to its last branch."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return _raises(last.body) and _raises(last.orelse)
    return isinstance(last, ast.Raise)


def conditions(function: Function, node: ast.AST) -> list[Condition]:
    """Everything that is known to hold where ``node`` is evaluated in ``function``, nearest first."""
    found: list[Condition] = []
    child: ast.AST = node
    while (parent := function.parents.get(child)) is not None:
        found.extend(_of_parent(parent, child))
        found.extend(_of_earlier(parent, child))
        child = parent
    return found


def _of_parent(parent: ast.AST, child: ast.AST) -> Iterator[Condition]:
    if isinstance(parent, (ast.If, ast.While)):
        line = parent.test.lineno
        if child in parent.body:
            yield Condition(parent.test, True, line, _raises(parent.orelse))
        elif child in parent.orelse:
            yield Condition(parent.test, False, line, _raises(parent.body))
    elif isinstance(parent, ast.IfExp):
        if child is not parent.test:
            yield Condition(parent.test, child is parent.body, parent.test.lineno, False)
    elif isinstance(parent, ast.BoolOp):
        # ``a and b`` evaluates b only where a is true, ``a or b`` only where it is false.
        for value in parent.values:
            if value is child:
                break
            yield Condition(value, isinstance(parent.op, ast.And), value.lineno, False)
    elif isinstance(parent, ast.comprehension):
        return
    elif isinstance(parent, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        for generator in parent.generators:
            for test in generator.ifs:
                yield Condition(test, True, test.lineno, False)


def _of_earlier(parent: ast.AST, child: ast.AST) -> Iterator[Condition]:
    for block in _blocks(parent):
        if child not in block:
            continue
        for statement in reversed(block[: block.index(child)]):
            if isinstance(statement, ast.Assert):
                yield Condition(statement.test, True, statement.lineno, True)
            elif isinstance(statement, ast.If):
                if _exits(statement.body):
                    yield Condition(statement.test, False, statement.test.lineno, _raises(statement.body))
                elif _exits(statement.orelse):
                    yield Condition(statement.test, True, statement.test.lineno, _raises(statement.orelse))


@dataclass
class Guards:
    """Finds guards of calls."""

    flow: Flow
    roles: Roles
    _known: dict[tuple[str, ast.Call], Guard | None] = field(default_factory=dict)

    def of(self, method: Method, function: Function, call: ast.Call) -> Guard | None:
        """The guard of one call of ``method``: in its own function, else in all of the function's callers."""
        key = (method.name, call)
        if key not in self._known:
            # The answer while the question is open: a helper that calls itself is guarded by its other callers only.
            self._known[key] = None
            if self.flow.budget.spend():
                self._known[key] = self._find(method, function, call)
        return self._known[key]

    def _find(self, method: Method, function: Function, call: ast.Call) -> Guard | None:
        frame = Frame(function)
        for condition in conditions(function, call):
            if self._present(condition.test, condition.truth, method, frame, 0):
                return Guard(condition.line, condition.raises)
        handled = self._handled(function, call)
        return handled if handled is not None else self._of_callers(method, function)

    def _of_callers(self, method: Method, function: Function) -> Guard | None:
        """The guard that every caller of a helper has before it hands the model over."""
        if not handed_parameter(method.receiver):
            return None
        # Looking into callers means parsing them: most don't even mention what a guard would ask for.
        if not self.flow.mentioned_by_callers(function, (method.name, *_MISSING_METHOD)):
            return None
        guards: list[Guard] = []
        for caller, receiver in self.flow.handers(method.receiver):
            handed = Method(method.name, receiver, method.role)
            guard = self.of(handed, caller.function, caller.call)
            if guard is None:
                return None
            guards.append(guard)
        return Guard(guards[0].line, all(guard.raises for guard in guards)) if guards else None

    def _handled(self, function: Function, call: ast.Call) -> Guard | None:
        child: ast.AST = call
        while (parent := function.parents.get(child)) is not None:
            if isinstance(parent, ast.Try) and child in parent.body:
                for handler in parent.handlers:
                    if not _catches_missing(handler.type):
                        continue
                    return None if _raises_again(handler) else Guard(parent.lineno, _raises(handler.body))
            elif isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body:
                for item in parent.items:
                    if _suppresses_missing(item.context_expr):
                        return Guard(parent.lineno, False)
            child = parent
        return None

    def _present(self, test: ast.expr, truth: bool, method: Method, frame: Frame, depth: int) -> bool:
        """Whether ``test`` being ``truth`` implies that the method exists."""
        if depth > _DEPTH_LIMIT:
            return False
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._present(test.operand, not truth, method, frame, depth)
        if isinstance(test, ast.BoolOp):
            every = isinstance(test.op, ast.And) is not truth
            answers = (self._present(value, truth, method, frame, depth) for value in test.values)
            return all(answers) if every else any(answers)
        if isinstance(test, ast.Compare):
            compared = _compared_with_none(test)
            return compared is not None and self._found(compared[0], compared[1] is truth, method, frame, depth)
        if isinstance(test, ast.NamedExpr):
            return self._present(test.value, truth, method, frame, depth)
        return self._found(test, truth, method, frame, depth)

    def _found(self, test: ast.expr, truth: bool, method: Method, frame: Frame, depth: int) -> bool:
        """The same for a test that is no combination of others."""
        if isinstance(test, ast.NamedExpr):
            return self._found(test.value, truth, method, frame, depth)
        if isinstance(test, ast.Call):
            name = last_identifier(test.func)
            if name in {"hasattr", "getattr"} and len(test.args) >= 2:
                return truth and self._asks_for(test, method, frame)
            if name in {"callable", "bool"} and len(test.args) == 1:
                return self._found(test.args[0], truth, method, frame, depth)
            if name == "isinstance" and len(test.args) == 2:
                return truth and self._is_supporting(test, method, frame)
            return self._predicate(test, truth, method, frame, depth)
        if isinstance(test, (ast.Name, ast.Attribute)):
            origins = self.flow.origins(Place(test, frame), lambda place: isinstance(place.expression, ast.Call))
            # A flag that starts as ``False`` says nothing until something else is assigned.
            tests = [
                origin
                for origin in origins
                if origin.expression is not test and not isinstance(origin.expression, ast.Constant)
            ]
            return bool(tests) and all(
                self._present(origin.expression, truth, method, origin.frame, depth + 1) for origin in tests
            )
        return False

    def _predicate(self, call: ast.Call, truth: bool, method: Method, frame: Frame, depth: int) -> bool:
        """A helper that answers the question: ``supports_capture(model)``."""
        if not self._may_answer(call, method, frame):
            return False
        answers = [
            self._returned(value, truth, method, Frame(function, bound_arguments(function, call, frame)), depth)
            for function in self.flow.resolve(call.func, frame)
            for value in function.returns
        ]
        return bool(answers) and all(answers)

    def _returned(self, value: ast.expr, truth: bool, method: Method, frame: Frame, depth: int) -> bool:
        """Whether a helper that answers ``truth`` with this return can do so only where the method exists."""
        if isinstance(value, ast.Constant) and bool(value.value) is not truth:
            return True
        if self._present(value, truth, method, frame, depth + 1):
            return True
        return any(
            self._present(condition.test, condition.truth, method, frame, depth + 1)
            for condition in conditions(frame.function, value)
        )

    def _may_answer(self, call: ast.Call, method: Method, frame: Frame) -> bool:
        """Cheaply, whether a helper is worth looking into: it must be told of the method, or know its name."""
        function = frame.function
        if isinstance(call.func, ast.Name):
            name = call.func.id
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            name = call.func.value.id
        else:
            return False
        found = function.imported(name)
        if found is None or self.flow.files.has(found.module, method.name):
            return method.name in function.module.source.text or found is not None
        return any(method.name in self.flow.strings(Place(argument, frame)) for argument in call.args[1:])

    def _asks_for(self, test: ast.Call, method: Method, frame: Frame) -> bool:
        if method.name not in self.flow.strings(Place(test.args[1], frame)):
            return False
        return self._same(Place(test.args[0], frame), method)

    def _is_supporting(self, test: ast.Call, method: Method, frame: Frame) -> bool:
        if not self.flow.knows_method(test.args[1], method.name, frame):
            return False
        cls = self.flow.class_of_name(test.args[1], frame)
        if cls is None or not any(method.name in base.methods for base in self.flow.lineage(cls)):
            return False
        return self._same(Place(test.args[0], frame), method)

    def _same(self, place: Place, method: Method) -> bool:
        """Whether the guard looks at what the method is called on; a type asked about stands for its instance."""
        if isinstance(place.expression, ast.Call) and last_identifier(place.expression.func) == "type":
            place = Place(place.expression.args[0], place.frame) if place.expression.args else place
        if ast.dump(place.expression) == ast.dump(method.receiver.expression):
            return True
        role = self.roles.one(place)
        return role.kind in {"model", "unknown"} and role.side == method.role.side

    def alternatives(self, method: Method, function: Function, call: ast.Call) -> tuple[str, ...]:
        """The methods whose presence keeps the runtime from making this call."""
        found: set[str] = set()
        for condition in conditions(function, call):
            found |= set(self._preventing(condition.test, not condition.truth, method, Frame(function)))
        return tuple(sorted(found - {method.name}))

    def _preventing(self, test: ast.expr, truth: bool, method: Method, frame: Frame) -> Iterator[str]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._preventing(test.operand, not truth, method, frame)
        elif isinstance(test, ast.BoolOp):
            for value in test.values:
                yield from self._preventing(value, truth, method, frame)
        elif (
            truth
            and isinstance(test, ast.Call)
            and last_identifier(test.func) == "hasattr"
            and len(test.args) == 2
            and self._same(Place(test.args[0], frame), method)
        ):
            yield from self.flow.strings(Place(test.args[1], frame))


def _compared_with_none(test: ast.Compare) -> tuple[ast.expr, bool] | None:
    """``x is not None`` as x and True, ``x is None`` as x and False."""
    if len(test.ops) != 1:
        return None
    right = test.comparators[0]
    if not (isinstance(right, ast.Constant) and right.value is None):
        return None
    if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
        return test.left, True
    return (test.left, False) if isinstance(test.ops[0], (ast.Is, ast.Eq)) else None


def _catches_missing(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds: Iterable[ast.expr] = kind.elts if isinstance(kind, ast.Tuple) else (kind,)
    return any(last_identifier(each) in _MISSING_METHOD for each in kinds)


def _suppresses_missing(context: ast.expr) -> bool:
    return (
        isinstance(context, ast.Call)
        and last_identifier(context.func) == "suppress"
        and any(last_identifier(kind) in _MISSING_METHOD for kind in context.args)
    )


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler may let the very error through: then nothing is guarded."""
    for node in walk(handler):
        if isinstance(node, ast.Raise) and (
            node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)
        ):
            return True
    return False


@dataclass(frozen=True)
class Algorithms:
    """The protocols that the conditions of a call speak of."""

    named: frozenset[Protocol]
    excluded: frozenset[Protocol]


def algorithms(function: Function, call: ast.Call) -> Algorithms:
    """For which protocols a call is made, and for which it isn't, by the tests that it stands under."""
    named: set[Protocol] = set()
    excluded: set[Protocol] = set()
    for condition in conditions(function, call):
        for protocol, holds in _spoken_of(condition.test, condition.truth):
            (named if holds else excluded).add(protocol)
    return Algorithms(frozenset(named - excluded), frozenset(excluded))


def _spoken_of(test: ast.expr, truth: bool) -> Iterator[tuple[Protocol, bool]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _spoken_of(test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is truth:
            for value in test.values:
                yield from _spoken_of(value, truth)
        elif truth:
            for value in test.values:
                yield from ((protocol, holds) for protocol, holds in _spoken_of(value, truth) if holds)
    elif isinstance(test, ast.Compare) and (compared := _compared_with_none(test)) is not None:
        yield from _spoken_of(compared[0], compared[1] is truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        positive = isinstance(test.ops[0], (ast.Eq, ast.Is, ast.In))
        if positive or isinstance(test.ops[0], (ast.NotEq, ast.IsNot, ast.NotIn)):
            yield from ((protocol, positive is truth) for protocol in protocols_named(ast.unparse(test)))
    elif not (isinstance(test, ast.Call) and last_identifier(test.func) in {"hasattr", "getattr", "isinstance"}):
        spoken = last_identifier(test)
        # ``is_eagle()`` is true for EAGLE-3 too, so that only its falsehood says something about other algorithms.
        yield from ((protocol, truth) for protocol in protocols_named(spoken))


def protocols_named(text: str) -> tuple[Protocol, ...]:
    """The protocols that a piece of source text names; EAGLE's workers serve EAGLE-3 too."""
    return tuple(protocol for protocol, pattern in _ALGORITHMS if pattern.search(text))
