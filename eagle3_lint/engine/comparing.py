"""What one tree gained and lost against another: each registered class under each protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from eagle3_lint.project.capture import capture_of
from eagle3_lint.project.contract import PROTOCOLS, Protocol, capture_setter

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.project import Project

Kind = Literal["gained", "lost", "changed", "added", "removed"]

CAPABLE = frozenset({"own", "inherited", "delegated", "forwarded", "instance"})


def called_protocols(project: Project) -> tuple[Protocol, ...]:
    """The protocols whose setters the runtime of ``project`` calls, EAGLE-3 always among them."""
    return tuple(one for one in PROTOCOLS if one == "eagle3" or capture_setter(one) in project.contract.protocols)


def changes(before: Project, after: Project, *, all_classes: bool = False) -> list[dict[str, Any]]:
    """The differences of ``after`` to ``before``, as JSON has them, by class and protocol.

    A registered class is the same under the same short name, which is what the registry knows it by, in whatever file
    it is; with ``all_classes`` a class is the same under the same dotted name.
    """
    called = {*called_protocols(before), *called_protocols(after)}
    old, new = _named(before, all_classes), _named(after, all_classes)
    found = [
        change
        for name in sorted(old.keys() | new.keys())
        for protocol in PROTOCOLS
        if protocol in called
        for change in _change(before, after, old.get(name), new.get(name), protocol)
    ]
    return sorted(found, key=lambda one: (one["class"], PROTOCOLS.index(one["protocol"])))


def _named(project: Project, all_classes: bool) -> dict[str, ClassInfo]:
    classes: Iterable[ClassInfo] = project.classes if all_classes else project.registered
    return {info.dotted if all_classes else info.name: info for info in classes}


def _change(
    before: Project, after: Project, old: ClassInfo | None, new: ClassInfo | None, protocol: Protocol
) -> Iterable[dict[str, Any]]:
    setter = capture_setter(protocol)
    was = capture_of(before, old, setter).state if old is not None else None
    now = capture_of(after, new, setter).state if new is not None else None
    if was == now:
        return
    project, info = (after, new) if new is not None else (before, old)
    assert info is not None
    yield {
        "class": info.dotted,
        "protocol": protocol,
        "before": was,
        "after": now,
        "kind": kind_of(was, now),
        "role": project.roles.role(info),
    }


def kind_of(before: str | None, after: str | None) -> Kind:
    """What it means that the state of a class went from ``before`` to ``after``; None where there is no such class.

    From or to a state that nobody knows, nothing is said to be gained or lost.
    """
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if "unknown" not in (before, after) and (before in CAPABLE) != (after in CAPABLE):
        return "gained" if after in CAPABLE else "lost"
    return "changed"
