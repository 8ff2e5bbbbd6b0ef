"""Which wrappers hold an inner model with an interface that they don't expose, and which class is to be changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.facts.extract import dotted_name
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.reading_forward import first_parameter
from eagle3_lint.project.roles import EAGLE3_SETTER, Candidate

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project


@dataclass(frozen=True)
class MissingDelegation:
    """``owner`` is the class to change: it assigns the inner model, or defines the helper or default that supplies it.

    ``wrappers`` are the classes that lack ``setter`` because of it (the owner itself, or classes that inherit from it);
    ``registered`` every registered class that is the owner, inherits from it, or forwards to it.
    """

    owner: ClassInfo
    setter: str
    attribute: str
    candidates: tuple[Candidate, ...]
    wrappers: tuple[ClassInfo, ...]
    registered: tuple[ClassInfo, ...]


def missing_delegations(
    project: Project, setter: str = EAGLE3_SETTER, classes: Iterable[ClassInfo] | None = None
) -> tuple[MissingDelegation, ...]:
    """Every missing delegation of ``setter`` in ``project`` (or among ``classes``), one for each class to change."""
    groups: dict[ClassInfo, list[tuple[ClassInfo, tuple[Candidate, ...]]]] = {}
    for info in project.classes if classes is None else classes:
        candidates = unexposed_inner(project, info, setter)
        if candidates:
            groups.setdefault(_owner(project, info, candidates, setter), []).append((info, candidates))
    found: list[MissingDelegation] = []
    reaches = _reaches(project, setter) if groups else ()
    for owner, members in groups.items():
        wrappers = tuple(info for info, _ in members)
        registered = _hit(reaches, owner, wrappers)
        if not registered and _is_unused(project, owner):
            continue
        candidates = next((held for info, held in members if info is owner), members[0][1])
        found.append(MissingDelegation(owner, setter, candidates[0].attribute, candidates, wrappers, registered))
    return tuple(sorted(found, key=lambda one: (one.owner.path, one.owner.line)))


def unexposed_inner(project: Project, info: ClassInfo, setter: str) -> tuple[Candidate, ...]:
    """The inner models of ``info`` where it should expose ``setter`` and doesn't; empty where all is well or unknown."""
    roles = project.roles
    if not roles.is_multimodal(info) or roles.is_draft(info) or roles.exposure(info, setter) is not None:
        return ()
    if roles.forwards_to(info):
        return ()
    inner = tuple(one for one in roles.inner_models(info, setter) if not roles.is_draft(one.info))
    return inner if any(roles.supports(one, setter) for one in inner) else ()


def _owner(project: Project, info: ClassInfo, candidates: tuple[Candidate, ...], setter: str) -> ClassInfo:
    classes = info.project_classes
    for candidate in candidates:
        if project.roles.supports(candidate, setter) and candidate.chosen_at.owner in classes:
            return candidate.chosen_at.owner
    attribute = project.construct(info).attributes[candidates[0].attribute]
    for site in attribute.sites:
        if site.owner in classes:
            return site.owner
    return info


def _is_unused(project: Project, owner: ClassInfo) -> bool:
    """Whether nothing can go wrong with ``owner``: its module registers others, or all that is made of it is in order."""
    if "EntryClass" in owner.module.final:
        return True
    return any(info.inherits_from(owner) for info in project.registered)


@dataclass(frozen=True)
class _Reach:
    """A registered class that may be hit, and the classes that it forwards to."""

    info: ClassInfo
    forwarded: frozenset[ClassInfo]


def _reaches(project: Project, setter: str) -> tuple[_Reach, ...]:
    roles = project.roles
    found = []
    for info in sorted(project.registered, key=lambda one: one.dotted):
        attributes = dict.fromkeys((*roles.forwards_to(info), *roles.hands_forward_to(info)))
        if not roles.forwards_to(info) and (roles.is_draft(info) or roles.exposure(info, setter) is not None):
            continue
        held = frozenset(one.info for attribute in attributes for one in roles.candidates(info, attribute))
        found.append(_Reach(info, held))
    return tuple(found)


def _hit(reaches: tuple[_Reach, ...], owner: ClassInfo, wrappers: tuple[ClassInfo, ...]) -> tuple[ClassInfo, ...]:
    return tuple(
        reach.info
        for reach in reaches
        if reach.info.inherits_from(owner) or not reach.forwarded.isdisjoint(wrappers)
    )


def delegated_attribute(function: FunctionNode, method: str) -> str | None:
    """The attribute of ``self`` whose ``method`` this function calls, or None where it doesn't delegate."""
    holder = first_parameter(function)
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method:
            name = dotted_name(call.func.value)
            if name.startswith(f"{holder}."):
                return name.partition(".")[2]
    return None


def delegating_wrapper(
    project: Project, setter: str, like: tuple[Candidate, ...]
) -> tuple[ClassInfo, str, Found] | None:
    """A registered wrapper that delegates ``setter`` already; best one whose inner model is of the same family as ``like``."""
    wanted = {one for candidate in like for one in candidate.info.project_classes}
    best: tuple[tuple[int, str], tuple[ClassInfo, str, Found]] | None = None
    for info in project.registered:
        found = info.find(setter)
        if found is None or setter not in found.text or not project.roles.is_multimodal(info):
            continue
        function = found.function()
        attribute = delegated_attribute(function, setter) if function is not None else None
        if attribute is None or project.roles.is_draft(info):
            continue
        shared = sum(one in wanted for c in project.roles.candidates(info, attribute) for one in c.info.project_classes)
        rank = (-shared, info.dotted)
        if best is None or rank < best[0]:
            best = (rank, (info, attribute, found))
    return best[1] if best else None
