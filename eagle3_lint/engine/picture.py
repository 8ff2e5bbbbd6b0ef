"""The chain of evidence of one class as a drawing has it: boxes in lanes, and what leads from one lane to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eagle3_lint.project.capture import capture_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from eagle3_lint.engine.investigation import Subject
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.roles import Candidate

_MOST_CANDIDATES = 2


def picture_of(subject: Subject, place: Callable[[str, int], str]) -> dict[str, Any]:
    """The drawing of ``subject``; ``place`` writes a path and a line.

    ``call`` is the runtime's call of the setter (None without a runtime), ``lanes`` are hierarchies: ``source`` is the
    lane that holds the object (None for the class itself), ``attribute`` the attribute that it is held in. A node has
    ``name``, ``place`` and ``setter``: where it defines the setter, or empty.
    """
    lanes = [_lane(subject, subject.info, None, "", place)]
    wrapper = subject.wrapper
    if wrapper is not subject.info:
        via = next(iter(subject.project.roles.passes_on_to(subject.info)), "")
        lanes.append(_lane(subject, wrapper, 0, via, place))
    holder = len(lanes) - 1
    shown = _shown(subject)
    for one in shown:
        lanes.append(_lane(subject, one.info, holder, one.attribute, place))
    return {
        "call": _call(subject, place),
        "setter": subject.setter,
        "state": capture_of(subject.project, subject.info, subject.setter).state,
        "lanes": lanes,
        "more": len({one.info for one in subject.inner}) - len(shown),
    }


def _shown(subject: Subject) -> tuple[Candidate, ...]:
    ranked = dict.fromkeys((*subject.supporting, *subject.inner))
    first: dict[ClassInfo, Candidate] = {}
    for one in ranked:
        first.setdefault(one.info, one)
    return tuple(first.values())[:_MOST_CANDIDATES]


def _call(subject: Subject, place: Callable[[str, int], str]) -> dict[str, Any] | None:
    method = subject.project.contract.method(subject.setter)
    if method is None or not method.call_sites:
        return None
    site = method.call_sites[0]
    return {
        "text": f"{method.name}{site.shape}",
        "place": place(site.path, site.line),
        "more": len(method.call_sites) - 1,
        "guarded": method.guarded,
    }


def _lane(
    subject: Subject, info: ClassInfo, source: int | None, attribute: str, place: Callable[[str, int], str]
) -> dict[str, Any]:
    found = info.find(subject.setter)
    nodes: list[dict[str, Any]] = []
    for one in info.project_classes:
        defines = found is not None and found.definer is one
        setter = place(one.path, found.line) if found is not None and defines else ""
        nodes.append({"name": one.name, "place": place(one.path, one.line), "setter": setter})
        if defines:
            break
    return {"source": source, "attribute": attribute, "nodes": nodes}
