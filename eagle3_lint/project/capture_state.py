"""Capture state that an object reads of itself before anybody has set it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.facts.assigned import COMPUTING, assigned, assigns_computed
from eagle3_lint.project.capture_flow import (
    CAPTURE_STATE,
    CaptureFlow,
    Holder,
    foreign_bases,
    is_setter,
)
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.effects import Event
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

_MOST_DEPTH = 4


@dataclass(frozen=True)
class UnsetRead:
    """``method`` reads ``name`` of its object at ``line``, and nothing has set it."""

    name: str
    method: Found
    line: int


def unset_reads(
    project: Project, holder: Holder, makers: tuple[Holder, ...], setters: tuple[str, ...]
) -> tuple[UnsetRead, ...]:
    """The capture state that the forward of ``holder``, or one of its ``setters``, reads although nothing ever set it.

    ``makers`` are objects whose constructors may set attributes of ``holder`` after they made it.
    """
    flow, info = project.capture_flow, holder.info
    mentioned = _mentioned_state(flow, info, setters)
    if not mentioned or info.order.problem or foreign_bases(info):
        return ()
    made = flow.constructed(holder)
    given = {name for maker in makers for name in _given(flow, maker, holder)}
    unset = {name for name in mentioned - made.attributes.keys() - given if info.find(name) is None}
    if not unset or not made.complete:
        return ()
    if any(info.find(name) is not None for name in ("__getattr__", "__getattribute__", "__new__")):
        return ()
    found: dict[str, UnsetRead] = {}
    for read in _reads(flow, holder, setters):
        if read.name in unset and read.name not in found and not _may_be_set_elsewhere(info, read.name):
            found[read.name] = read
    return tuple(found.values())


def _mentioned_state(flow: CaptureFlow, info: ClassInfo, setters: tuple[str, ...]) -> set[str]:
    """The names of capture state in what the forward and the setters may run."""
    if not any(flow.mentions_state(one.module) for one in info.project_classes):
        return set()
    names: set[str] = set()
    seen: set[tuple[str, int]] = set()
    pending = [found for found in map(info.find, ("forward", *setters)) if found is not None]
    while pending:
        method = pending.pop()
        if (method.definer.path, method.line) in seen or method.member.kind != "function":
            continue
        seen.add((method.definer.path, method.line))
        effects = flow.effects(method)
        own = (
            {one.path[1] for one in effects.events if one.path[:1] == ("self",) and one.path[1:]} if effects else set()
        )
        names.update(name for name in own if CAPTURE_STATE.search(name) is not None)
        above = [info.find_after(method.definer, name) for name in flow.super_calls(method)]
        pending.extend(one for one in (*map(info.find, own), *above) if one is not None)
    return names


def _given(flow: CaptureFlow, maker: Holder, holder: Holder) -> Iterator[str]:
    if holder.instance is not None:
        yield from flow.constructed(maker).objects.get(holder.instance, {})


def _reads(flow: CaptureFlow, holder: Holder, setters: tuple[str, ...]) -> Iterator[UnsetRead]:
    for entry in ("forward", *setters):
        found = holder.info.find(entry)
        if found is not None:
            yield from _reads_of(flow, holder, found, 0, set())


def _reads_of(flow: CaptureFlow, holder: Holder, method: Found, depth: int, written: set[str]) -> Iterator[UnsetRead]:
    effects = flow.effects(method) if method.member.kind == "function" else None
    if effects is None or depth > _MOST_DEPTH:
        return
    for name in flow.super_calls(method):
        following = holder.info.find_after(method.definer, name)
        if following is not None:
            yield from _reads_of(flow, holder, following, depth + 1, written)
    for event in effects.events:
        if event.path[:1] != ("self",) or len(event.path) < 2:
            continue
        name = event.path[1]
        if event.kind == "write" and len(event.path) == 2:
            written.add(name)
        elif event.kind == "call" and len(event.path) == 2 and not _depends(event):
            following = holder.info.find(name)
            if following is not None and following.line != method.line:
                yield from _reads_of(flow, holder, following, depth + 1, written)
        elif event.kind in {"read", "call"} and name not in written and _is_bold(event, name):
            yield UnsetRead(name, method, event.line)


def _is_bold(event: Event, name: str) -> bool:
    """Whether ``event`` takes it for granted that the capture state ``name`` is there."""
    if CAPTURE_STATE.search(name) is None or event.safe:
        return False
    return not event.is_guarded_by(("self", name)) and not _depends(event, name)


def _depends(event: Event, name: str = "") -> bool:
    """Whether ``event`` happens only where another attribute of the object allows it, which may go with the class."""
    return any(guard.path[:1] == ("self",) and len(guard.path) == 2 and guard.path[1] != name for guard in event.guards)


def _may_be_set_elsewhere(info: ClassInfo, name: str) -> bool:
    """Whether other code than constructors and setters sets ``name``, or a constructor sets names that it computes."""
    for one in info.project_classes:
        for member in one.members.values():
            if member.kind != "function" or is_setter(member.name):
                continue
            found = Found(one, member)
            is_constructor = member.name == "__init__"
            function = found.function() if mentions(found.text, *(COMPUTING if is_constructor else (name,))) else None
            if function is None:
                continue
            if assigns_computed(function) if is_constructor else any(name == one for one, _ in assigned(function)):
                return True
    return False
