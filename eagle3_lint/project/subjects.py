"""Which classes the rules about delegating methods look at, and who is hit by what they find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.roles import EAGLE3_SETTER, FAMILY

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project


def interface_methods(project: Project) -> tuple[str, ...]:
    """The interface family of the release: the fixed names and whatever else its runtime calls on a target."""
    return tuple(dict.fromkeys((*FAMILY, *(method.name for method in project.contract.methods))))


def capture_setters(project: Project) -> tuple[str, ...]:
    """The capture setters that the release's runtime calls, the one of EAGLE-3 first."""
    return tuple(dict.fromkeys((EAGLE3_SETTER, *sorted(project.contract.protocols))))


def delegating_subjects(project: Project, paths: frozenset[str]) -> tuple[ClassInfo, ...]:
    """The registered targets of ``paths``, then its loose wrappers."""
    targets = [info for info in project.registered_in(paths) if not project.roles.is_draft(info)]
    loose = [info for info in project.classes_in(paths) if _is_loose(project, info)]
    return (*targets, *loose)


def is_delegating_subject(project: Project, info: ClassInfo) -> bool:
    """Whether ``info`` is one of the delegating subjects of its file."""
    is_target = project.roles.is_registered(info) and not project.roles.is_draft(info)
    return is_target or _is_loose(project, info)


def _is_loose(project: Project, info: ClassInfo) -> bool:
    """Whether ``info`` is a wrapper of a module without ``EntryClass`` from which no registered class descends."""
    roles = project.roles
    return (
        not roles.is_inherited(info)
        and "EntryClass" not in info.module.final
        and roles.is_multimodal(info)
        and not roles.is_draft(info)
    )


def effective_methods(
    subjects: tuple[ClassInfo, ...], names: tuple[str, ...]
) -> Iterator[tuple[str, Found, tuple[ClassInfo, ...]]]:
    """Each method of ``names`` that some of ``subjects`` have, with all of them that have this very definition."""
    for name in names:
        users: dict[tuple[ClassInfo, int], tuple[Found, list[ClassInfo]]] = {}
        for info in subjects:
            found = info.find(name)
            if found is not None and not info.order.problem:
                users.setdefault((found.definer, found.line), (found, []))[1].append(info)
        for found, infos in users.values():
            yield name, found, tuple(infos)


def registered_among(project: Project, infos: tuple[ClassInfo, ...]) -> tuple[ClassInfo, ...]:
    """Those of ``infos`` that the registry takes."""
    return tuple(info for info in infos if project.roles.is_registered(info))
