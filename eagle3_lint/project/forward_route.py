"""Whether a wrapper's forward goes through the inner model's own forward, or around it.

Where it hands the inner model itself on (``general_mm_embed_routine(language_model=self.language_model)``), or runs it
(``self.language_model(…)``), the inner model's own forward deals with the captured states: delegating the interface is
all that is missing. A forward that runs the body inside (``self.llm.model``), or computes the logits itself, has to deal
with them too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.reading_forward import LOGITS, first_parameter

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

Route = Literal["inner_call", "bypass", "unknown"]

_HEADS = frozenset({"logits_processor", "lm_head"})
_STACK = frozenset({"layers", "embed_tokens"})
# These look at the object and run nothing of it.
_OBSERVERS = frozenset({"hasattr", "getattr", "isinstance", "id", "type", "repr", "str", "print", "len", "bool"})


@dataclass(frozen=True)
class ForwardRoute:
    """The way of one class's forward; ``path`` and ``line`` show where that is to be seen, ``reason`` says what is there."""

    kind: Route
    path: str
    line: int
    reason: str


def forward_route(project: Project, info: ClassInfo, attribute: str) -> ForwardRoute:
    """How the effective forward of ``info`` uses the inner model in ``attribute``.

    ``bypass`` wins over ``inner_call``: one way around is enough to lose the states.
    """
    return _Reading(project, info, attribute).route()


def is_body(project: Project, info: ClassInfo, attribute: str) -> bool:
    """Whether ``attribute`` of ``info`` holds nothing but decoder stacks, which have no head and return hidden states."""
    candidates = project.roles.candidates(info, attribute)
    attributes = [project.construct(one.info).attributes.keys() for one in candidates]
    return bool(attributes) and all(names & _STACK and not names & _HEADS for names in attributes)


class _Reading:
    """One look at the forward of one class, with the methods of its own that it calls."""

    def __init__(self, project: Project, info: ClassInfo, attribute: str) -> None:
        self._project = project
        self._info = info
        self._attribute = attribute

    def route(self) -> ForwardRoute:
        """The answer."""
        info, attribute = self._info, self._attribute
        if attribute in self._project.roles.hands_forward_to(info):
            site = self._project.construct(info).attributes["forward"].sites[0]
            return ForwardRoute("inner_call", site.path, site.line, f"self.forward is the forward of self.{attribute}")
        found = info.find("forward")
        if found is None:
            return ForwardRoute("unknown", info.path, info.line, "it has no forward")
        through: ForwardRoute | None = None
        for method, function in self._run(found):
            for kind, line, reason in self._uses(function):
                route = ForwardRoute(kind, method.definer.path, line, reason)
                if kind == "bypass":
                    return route
                through = through or route
        if through is None:
            return ForwardRoute("unknown", found.definer.path, found.line, f"its forward never runs self.{attribute}")
        if is_body(self._project, info, attribute):
            reason = f"self.{attribute} has no head of its own: what it returns are hidden states"
            return ForwardRoute("bypass", through.path, through.line, reason)
        return through

    def _run(self, first: Found) -> Iterator[tuple[Found, FunctionNode]]:
        """The forward and the methods of the object that it calls, each once."""
        pending = [first]
        seen: set[tuple[str, int]] = set()
        while pending:
            method = pending.pop()
            key = (method.definer.path, method.line)
            function = method.function() if key not in seen else None
            seen.add(key)
            if function is None:
                continue
            yield method, function
            holder = first_parameter(function)
            for call in _calls(function):
                called = self._called(call, holder, method.definer)
                if called is not None:
                    pending.append(called)

    def _called(self, call: ast.Call, holder: str, definer: ClassInfo) -> Found | None:
        if not isinstance(call.func, ast.Attribute):
            return None
        base = call.func.value
        if isinstance(base, ast.Call) and dotted_name(base.func) == "super":
            return self._info.find_after(definer, call.func.attr)
        return self._info.find(call.func.attr) if isinstance(base, ast.Name) and base.id == holder else None

    def _uses(self, function: FunctionNode) -> Iterator[tuple[Route, int, str]]:
        inner = f"self.{self._attribute}"
        read = _Paths(function)
        for call in _calls(function):
            runs = read.path(call.func).removesuffix(".forward")
            name = runs.rpartition(".")[2]
            if runs == inner:
                yield "inner_call", call.lineno, f"its forward runs {inner} itself"
            elif runs.startswith("self.") and name in LOGITS:
                yield "bypass", call.lineno, f"its forward computes the logits with {runs}"
            elif self._is_body(runs):
                yield "bypass", call.lineno, f"its forward runs {runs}, around the forward of {inner}"
            if name in _OBSERVERS:
                continue
            for handed in (*call.args, *(keyword.value for keyword in call.keywords)):
                path = read.path(handed)
                if path == inner:
                    yield "inner_call", call.lineno, f"its forward hands {inner} itself to {name or 'a function'}"
                elif self._is_body(path):
                    yield "bypass", call.lineno, f"its forward hands {path} on, around the forward of {inner}"

    def _is_body(self, path: str) -> bool:
        """Whether ``path`` is the decoder stack inside the inner model."""
        prefix, _, name = path.rpartition(".")
        if prefix != f"self.{self._attribute}":
            return False
        roles, construct = self._project.roles, self._project.construct
        return name == "model" or any(
            "layers" in construct(part.info).attributes
            for one in roles.candidates(self._info, self._attribute)
            for part in roles.candidates(one.info, name)
        )


class _Paths:
    """What the expressions of one function denote, the object's own name and plain local aliases replaced."""

    def __init__(self, function: FunctionNode) -> None:
        holder = first_parameter(function)
        self._known = {holder: "self"} if holder else {}
        for node in walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                path = self.path(node.value)
                if path.startswith("self."):
                    self._known.setdefault(node.targets[0].id, path)

    def path(self, node: ast.expr) -> str:
        """The dotted path of ``node`` (``self.language_model``), or the empty string."""
        name, dot, rest = dotted_name(node).partition(".")
        return f"{self._known.get(name, name)}{dot}{rest}" if name else ""


def _calls(function: FunctionNode) -> Iterator[ast.Call]:
    return (node for node in walk(function) if isinstance(node, ast.Call))
