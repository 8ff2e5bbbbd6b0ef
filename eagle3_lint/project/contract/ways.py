"""What every way through a function of the runtime calls on a target, and what only some of its ways call.

A way is what the function does under one configuration: which arm of each condition it takes, and where it returns. A
method that each way calls is required; one that only some ways call is not, for the others are complete without it,
or by other methods. Ways that raise are none. Where a test asks for the algorithm, the ways of one protocol take one
arm; where it asks for the batch, a server takes both in its life.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from eagle3_lint.project.contract.calls import TargetCall
from eagle3_lint.project.contract.guards import EXITS, names_asked_for, protocols_named, spoken_of
from eagle3_lint.project.contract.model import Protocol
from eagle3_lint.project.contract.runtime import FUNCTIONS, Function, RuntimeFile, last_identifier

Needs = frozenset[str]
End = Literal["", "return", "raise", "loop"]
Outcomes = frozenset[tuple[Needs, End]]

_NOTHING: Outcomes = frozenset({(frozenset(), "")})
_SERVING = re.compile(r"(?:\w+_)?batch|forward_mode")
_DRAFT_FLAGS = frozenset({"is_draft_worker", "is_draft_model", "is_draft"})
_MOST_OUTCOMES = 64
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)


@dataclass
class Ways:
    """The ways through the functions of one file, for one protocol; ``calls`` are its calls on a target."""

    file: RuntimeFile
    calls: Mapping[ast.Call, TargetCall]
    protocol: Protocol
    _known: dict[Function, frozenset[Needs]] = field(default_factory=dict)
    _marked: set[ast.AST] = field(default_factory=set)

    def __post_init__(self) -> None:
        exits = (node for node in self.file.parents if isinstance(node, EXITS))
        for node in (*self.calls, *exits, *self._helper_calls):
            for one in (node, *self.file.enclosing(node)):
                if one in self._marked:
                    break
                self._marked.add(one)

    @cached_property
    def _helper_calls(self) -> dict[ast.Call, Function]:
        """The calls of functions of this file that get to a call on a target."""
        reaching = {self.file.function_of(call) for call in self.calls}
        called = {call: helper for call in self.file.calls if (helper := self._helper(call)) is not None}
        found: dict[ast.Call, Function] = {}
        while True:
            more = {call: helper for call, helper in called.items() if helper in reaching and call not in found}
            if not more:
                return found
            found.update(more)
            reaching |= {self.file.function_of(call) for call in more}

    def _helper(self, call: ast.Call) -> Function | None:
        """The function of this file that is called by its name, or as a method of the caller's own instance."""
        named = self.file.functions.get(last_identifier(call.func), ())
        if isinstance(call.func, ast.Name):
            plain = (one for one in named if not isinstance(self.file.parents.get(one), ast.ClassDef))
            return next(plain, None)
        if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
            return None
        classes = [one for one in self.file.enclosing(call) if isinstance(one, ast.ClassDef)]
        return next((one for one in named if self.file.parents.get(one) in classes), None)

    def roots(self, function: Function) -> frozenset[Function]:
        """The functions of this file that get to ``function`` and that nothing in the file calls; itself if none does."""
        found, seen, pending = set[Function](), {function}, [function]
        while pending:
            one = pending.pop()
            callers = {self.file.function_of(call) for call, helper in self._helper_calls.items() if helper is one}
            if not callers:
                found.add(one)
            new = {caller for caller in callers if caller is not None} - seen
            seen |= new
            pending.extend(new)
        return frozenset(found or {function})

    def instead_of(self, name: str, function: Function) -> frozenset[Needs]:
        """What each way through ``function`` that doesn't call ``name`` needs beyond what those need that do."""
        ways = self.through(function)
        beside = [needs for needs in ways if name in needs]
        shared = frozenset.intersection(*beside) if beside else frozenset[str]()
        return frozenset(needs - shared for needs in ways if name not in needs)

    def through(self, function: Function) -> frozenset[Needs]:
        """What each way through ``function`` needs, helpers of the same file included."""
        if function not in self._known:
            self._known[function] = frozenset({frozenset()})
            ends = self._block(function.body)
            self._known[function] = frozenset(needs for needs, end in ends if end != "raise")
        return self._known[function]

    def _block(self, block: Sequence[ast.stmt]) -> Outcomes:
        found = _NOTHING
        for statement in block:
            if statement in self._marked:
                found = _then(found, self._statement(statement))
        return found

    def _statement(self, node: ast.stmt) -> Outcomes:
        if isinstance(node, _SCOPES):
            return _NOTHING
        if isinstance(node, ast.If):
            return self._chain(node)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            head = node.test if isinstance(node, ast.While) else node.iter
            body = frozenset((needs, "" if end == "loop" else end) for needs, end in self._block(node.body))
            return _then(self._expression(head), body, self._block(node.orelse))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return _then(*(self._expression(item.context_expr) for item in node.items), self._block(node.body))
        if isinstance(node, ast.Try):
            return _then(self._block(node.body), self._block(node.orelse), self._block(node.finalbody))
        if isinstance(node, ast.Match):
            return _then(self._expression(node.subject), self._match(node))
        end: End = ""
        if isinstance(node, EXITS):
            end = "raise" if isinstance(node, ast.Raise) else "return" if isinstance(node, ast.Return) else "loop"
        return _then(self._expression(node), frozenset({(frozenset(), end)}))

    def _chain(self, node: ast.If) -> Outcomes:
        """An ``if`` with its ``elif`` branches, the last first, so that no chain is too long."""
        chain = [node]
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
            chain.append(chain[-1].orelse[0])
        found = self._block(chain[-1].orelse)
        for one in reversed(chain):
            found = _then(self._expression(one.test), self._choice(one.test, self._block(one.body), found))
        return found

    def _match(self, node: ast.Match) -> Outcomes:
        found: Outcomes = frozenset()
        complete = False
        for case in node.cases:
            named = protocols_named(ast.unparse(case.pattern))
            complete |= case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            if not named or self.protocol in named:
                found |= self._block(case.body)
        return found if complete and found else found | _NOTHING

    def _expression(self, node: ast.AST) -> Outcomes:
        if node not in self._marked or isinstance(node, _SCOPES):
            return _NOTHING
        if isinstance(node, ast.IfExp):
            arms = self._choice(node.test, self._expression(node.body), self._expression(node.orelse))
            return _then(self._expression(node.test), arms)
        if isinstance(node, ast.BoolOp):
            found = _NOTHING
            for test, value in reversed(list(zip((None, *node.values), node.values, strict=False))):
                found = _then(self._expression(value), found)
                if test is not None:
                    truth = isinstance(node.op, ast.And)
                    found = self._choice(test, found, _NOTHING) if truth else self._choice(test, _NOTHING, found)
            return found
        found = _then(*(self._expression(child) for child in ast.iter_child_nodes(node)))
        if isinstance(node, ast.Call):
            if node in self.calls:
                return _then(found, frozenset({(frozenset({self.calls[node].name}), "")}))
            if node in self._helper_calls:
                ways: Outcomes = frozenset((needs, "") for needs in self.through(self._helper_calls[node]))
                found = _then(found, ways or _NOTHING)
        return found

    def _choice(self, test: ast.expr, then: Outcomes, otherwise: Outcomes) -> Outcomes:
        """Either arm of a condition: the one of the protocol, both in turn for a batch's, else one of the two."""
        known = self._truth(test)
        allowed = [
            self._asked(test, truth, outcomes)
            for truth, outcomes in ((True, then), (False, otherwise))
            if known in (truth, None)
        ]
        if len(allowed) == 2 and _speaks_of_batch(test):
            first, second = (frozenset(one for one in outcomes if one[1] != "raise") for outcomes in allowed)
            if first and second:
                return _limited((a | b, x if x == y else "") for a, x in first for b, y in second)
        return _limited(one for outcomes in allowed for one in outcomes)

    def _truth(self, test: ast.expr) -> bool | None:
        """What ``test`` is on a target that is served by the protocol; None where that isn't told."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            known = self._truth(test.operand)
            return None if known is None else not known
        if isinstance(test, ast.BoolOp):
            values = {self._truth(value) for value in test.values}
            decisive = isinstance(test.op, ast.Or)
            return decisive if decisive in values else None if None in values else not decisive
        if last_identifier(test) in _DRAFT_FLAGS:
            return False
        possible = [truth for truth in (True, False) if self._is_possible(test, truth)]
        return possible[0] if len(possible) == 1 else None

    def _is_possible(self, test: ast.expr, truth: bool) -> bool:
        spoken = set(spoken_of(test, truth))
        served = {protocol for protocol, holds in spoken if holds}
        return (self.protocol, False) not in spoken and (not served or self.protocol in served)

    def _asked(self, test: ast.expr, truth: bool, outcomes: Outcomes) -> Outcomes:
        """An arm that is entered where a method is there is complete by that method."""
        names = frozenset(names_asked_for(self.file, test, truth))
        return frozenset((needs | names, end) for needs, end in outcomes)


def _then(*steps: Outcomes) -> Outcomes:
    """What comes of several steps in turn; none follows one that ends the function, or the loop."""
    found = steps[0] if steps else _NOTHING
    for step in steps[1:]:
        ended = [one for one in found if one[1]]
        found = _limited([*ended, *((a | b, end) for a, done in found if not done for b, end in step)])
    return found


def _limited(outcomes: Iterable[tuple[Needs, End]]) -> Outcomes:
    """As a set; where there are too many, what all of them need is all that is told."""
    found = frozenset(outcomes)
    if len(found) <= _MOST_OUTCOMES:
        return found
    return frozenset((frozenset.intersection(*(needs for needs, end in found if end == one)), one) for _, one in found)


def _speaks_of_batch(test: ast.expr) -> bool:
    return any(_SERVING.fullmatch(last_identifier(node)) is not None for node in ast.walk(test))
