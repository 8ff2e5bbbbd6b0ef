"""Which wrappers hold an inner model with an interface that they don't expose, and which class is to be changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.project.classes import ClassInfo
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


def missing_delegations(project: Project, setter: str = EAGLE3_SETTER) -> tuple[MissingDelegation, ...]:
    """Every missing delegation of ``setter`` in ``project``, one for each class to change."""
    groups: dict[ClassInfo, list[tuple[ClassInfo, tuple[Candidate, ...]]]] = {}
    for info in project.classes:
        candidates = unexposed_inner(project, info, setter)
        if candidates:
            groups.setdefault(_owner(project, info, candidates), []).append((info, candidates))
    found: list[MissingDelegation] = []
    for owner, members in groups.items():
        wrappers = tuple(info for info, _ in members)
        registered = _hit(project, owner, wrappers, setter)
        if not registered and project.entries(owner.module):
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


def _owner(project: Project, info: ClassInfo, candidates: tuple[Candidate, ...]) -> ClassInfo:
    classes = info.project_classes
    for candidate in candidates:
        if project.roles.supports(candidate) and candidate.chosen_at.owner in classes:
            return candidate.chosen_at.owner
    attribute = project.construct(info).attributes[candidates[0].attribute]
    for site in attribute.sites:
        if site.owner in classes:
            return site.owner
    return info


def _hit(project: Project, owner: ClassInfo, wrappers: tuple[ClassInfo, ...], setter: str) -> tuple[ClassInfo, ...]:
    roles = project.roles
    found = []
    for info in project.registered:
        if roles.is_draft(info) or roles.exposure(info, setter) is not None:
            if not roles.forwards_to(info):
                continue
        if info.inherits_from(owner) or _forwards(project, info, wrappers):
            found.append(info)
    return tuple(sorted(found, key=lambda one: one.dotted))


def _forwards(project: Project, info: ClassInfo, wrappers: tuple[ClassInfo, ...]) -> bool:
    roles = project.roles
    attributes = dict.fromkeys((*roles.forwards_to(info), *roles.hands_forward_to(info)))
    return any(
        candidate.info in wrappers for attribute in attributes for candidate in roles.candidates(info, attribute)
    )
