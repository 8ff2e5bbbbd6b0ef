"""Capture state that an object reads of itself before anybody has set it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.project.capture_flow import (
    CAPTURE_STATE,
    CaptureFlow,
    Holder,
    foreign_bases,
    is_setter,
    may_name_state,
)
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.effects import Event

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

_MOST_DEPTH = 4
# A literal start lets the matcher leap through the text.
_OWN_CALL = re.compile(r"\.(?:(?<=\bself\.)|(?<=\)\.))([A-Za-z_]\w*)")
_STATE_NAME = re.compile(rf"\bself\s*(?:\.|,\s*[\"'])\s*(\w*(?:{CAPTURE_STATE.pattern})\w*)")
_ASSIGNED = re.compile(rf"^\s+self\.(\w*(?:{CAPTURE_STATE.pattern})\w*)(?:: [^=\n]+)? = ", re.MULTILINE)
_COMPUTED = re.compile(r"__dict__|\bsetattr\(\s*self\s*,\s*[^\"'\s]|vars\(\s*self\s*\)")


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
    mentioned = _mentioned_state(flow, info, setters) - _plainly_set(flow, info)
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
    """The names of capture state in what the forward and the setters may run; asks the text alone."""
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
        names.update(_state_names(flow, method, _STATE_NAME))
        above = "super" in flow.text(method)
        for name in flow.words(method, _OWN_CALL):
            following = info.find_after(method.definer, name) if above else None
            pending.extend(one for one in (info.find(name), following) if one is not None)
    return names


def _plainly_set(flow: CaptureFlow, info: ClassInfo) -> set[str]:
    """The names of capture state that the effective constructor assigns by itself; asks the text alone."""
    constructor = info.find("__init__")
    return set(_state_names(flow, constructor, _ASSIGNED)) if constructor is not None else set()


def _state_names(flow: CaptureFlow, method: Found, pattern: re.Pattern[str]) -> frozenset[str]:
    """What ``pattern`` finds in ``method``, which most methods are too plain to be searched for."""
    return flow.words(method, pattern) if may_name_state(flow.text(method)) else frozenset()


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
    stored = re.compile(rf"\.{re.escape(name)}\s*(?::[^=\n]*)?=[^=]|setattr\([^)]*[\"']{re.escape(name)}[\"']")
    for one in info.project_classes:
        for member in one.members.values():
            if member.kind != "function" or is_setter(member.name):
                continue
            text = Found(one, member).text
            if member.name == "__init__":
                if _COMPUTED.search(text):
                    return True
            elif stored.search(text):
                return True
    return False
