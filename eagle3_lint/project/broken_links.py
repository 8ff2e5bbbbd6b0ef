"""Where a method reaches, through the attributes of its object, for something that isn't there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.effects import Effects, Event, Path, effects_of
from eagle3_lint.project.existence import Existence, existence
from eagle3_lint.project.lookup import Holder, Lookup, Node, skipped_constructor
from eagle3_lint.project.reading_forward import first_parameter
from eagle3_lint.project.subjects import is_delegating_subject
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

Place = tuple[str, int, int, Path]

_MOST_DEPTH = 6
_REFLECTIONS = frozenset({"getattr", "hasattr", "setattr", "delattr"})


@dataclass(frozen=True)
class BrokenLink:
    """``event`` in the method ``found``, run on ``receiver``, asks for the last name of ``path``.

    ``lacking`` are the objects that surely don't have it, ``holding`` those that do.
    """

    found: Found
    event: Event
    path: Path
    receiver: Node
    lacking: tuple[Node, ...]
    holding: tuple[Node, ...]

    @property
    def name(self) -> str:
        """What is missing."""
        return self.path[-1]

    @property
    def place(self) -> Place:
        """Where it stands, whoever the method runs on."""
        return (self.found.definer.path, self.event.line, self.event.node.col_offset, self.path)


class BrokenLinks:
    """Finds the broken links of methods in one project.

    Calls of the methods ``names`` are followed into the objects that they are made on, save into objects of delegating
    subjects, which are looked at for themselves.
    """

    def __init__(self, project: Project, names: frozenset[str]) -> None:
        self._project = project
        self._names = names
        self._lookup = Lookup(project)
        self._effects: dict[tuple[str, int], tuple[Effects, Existence] | None] = {}

    def on(self, info: ClassInfo, found: Found) -> tuple[BrokenLink, ...]:
        """The broken links of the method ``found`` on an object of ``info``, and of what it hands on to."""
        effects = self._effects_of(found)
        if effects is None:
            return ()
        links: dict[Place, BrokenLink] = {}
        for link in self._of_method(self._lookup.start(info), found, info, set(), 0):
            links.setdefault(link.place, link)
        return tuple(links.values())

    def _of_method(
        self, receiver: Node, found: Found, origin: ClassInfo, seen: set[tuple[object, str, int]], depth: int
    ) -> Iterator[BrokenLink]:
        key = (receiver.value, found.definer.path, found.line)
        known = self._effects_of(found)
        if known is None or key in seen or depth > _MOST_DEPTH:
            return
        seen.add(key)
        effects, questions = known
        for event in effects.events:
            if event.kind in ("return", "raise") or event.path[0] != "self" or len(event.path) < 2:
                continue
            walk = _Walk(self._lookup, receiver, found, event, questions, origin)
            yield from walk.links()
            for holder in walk.called:
                inner = holder.info.find(event.path[-1]) if holder.info is not None else None
                if inner is not None and (len(event.path) == 2 or self._is_handed_on(holder, event.path[-1])):
                    yield from self._of_method(holder, inner, origin, seen, depth + 1)
        for inner in _through_super(receiver, found, effects):
            yield from self._of_method(receiver, inner, origin, seen, depth + 1)

    def _is_handed_on(self, holder: Node, name: str) -> bool:
        info = holder.info
        return name in self._names and info is not None and not is_delegating_subject(self._project, info)

    def _effects_of(self, found: Found) -> tuple[Effects, Existence] | None:
        key = (found.definer.path, found.line)
        if key not in self._effects:
            function = found.function() if not found.member.decorators else None
            effects = effects_of(function) if function is not None else None
            self._effects[key] = (effects, existence(effects)) if effects is not None else None
        return self._effects[key]


class _Walk:
    """Follows the path of one event, link by link."""

    def __init__(
        self, lookup: Lookup, receiver: Node, found: Found, event: Event, questions: Existence, origin: ClassInfo
    ) -> None:
        self._lookup = lookup
        self._receiver = receiver
        self._holder = receiver.info or origin
        self._found = found
        self._event = event
        self._questions = questions
        self._origin = origin
        self.called: tuple[Node, ...] = ()

    def links(self) -> Iterator[BrokenLink]:
        """The broken links; afterwards ``called`` are the objects whose method the event calls."""
        event = self._event
        own = _first_own_link(event, self._found)
        end = len(event.path) - (1 if event.safe or event.kind == "write" else 0)
        nodes: tuple[Node, ...] = (self._receiver,)
        for index in range(1, end):
            path = event.path[: index + 1]
            step = self._lookup.step(nodes, path[-1], Holder(path[:-1], self._holder, self._origin))
            # A name that the object itself lacks is no matter of delegation, unless the path leads on through it, or it
            # inherits the method and not the constructor that goes with it.
            delegates = index > 1 or len(event.path) > 2 or self._is_left_out(path[-1], step.lacking)
            if step.lacking and not step.unsure and delegates and index >= own and not self._is_made_sure(path):
                yield BrokenLink(self._found, event, path, self._receiver, step.lacking, step.holding)
            if step.unsure or not step.holding:
                return
            nodes = step.nodes
            if event.kind == "call" and index == len(event.path) - 1:
                self.called = step.holding

    def _is_left_out(self, name: str, lacking: tuple[Node, ...]) -> bool:
        return any(one.info is not None and skipped_constructor(one.info, name) is not None for one in lacking)

    def _is_made_sure(self, path: Path) -> bool:
        if path in self._questions.looked_up:
            return True
        if any(made[: len(path)] == path for made in self._questions.made_sure(self._event)):
            return True
        lines = self._found.definer.module.source.lines
        return any(guard.kind == "other" and "isinstance(" in lines[guard.line - 1] for guard in self._event.guards)


def _first_own_link(event: Event, found: Found) -> int:
    """The first link of the event's path that is written there; those before stand where a local name was bound."""
    node: ast.expr | ast.stmt = event.node
    written = 0
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _REFLECTIONS and node.args:
            node = node.args[0]
            written = 1
        else:
            node = node.func
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
        written += 1
    function = found.function()
    if isinstance(node, ast.Name) and function is not None and node.id == first_parameter(function):
        return 1
    return max(len(event.path) - written, 1)


def _through_super(receiver: Node, found: Found, effects: Effects) -> Iterator[Found]:
    """The methods that ``found`` runs through ``super()``."""
    if receiver.info is None or not mentions(found.text, "super"):
        return
    for call in walk(effects.node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            holder = call.func.value
            if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Name) and holder.func.id == "super":
                inner = receiver.info.find_after(found.definer, call.func.attr)
                if inner is not None:
                    yield inner
