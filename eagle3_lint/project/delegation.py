"""Which wrappers hold an inner model with an interface that they don't expose, and which class is to be changed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.effects import effects_of
from eagle3_lint.project.forward_route import is_body
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.reading_forward import first_parameter
from eagle3_lint.project.roles import Candidate
from eagle3_lint.project.subjects import capture_setters
from eagle3_lint.sources.identifiers import mentions

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
    project: Project, setter: str, classes: Iterable[ClassInfo], registered: Iterable[ClassInfo]
) -> tuple[MissingDelegation, ...]:
    """Every missing delegation of ``setter`` among ``classes``, one for each class to change.

    ``registered`` are the registered ones that it may strike.
    """
    groups: dict[ClassInfo, list[tuple[ClassInfo, tuple[Candidate, ...]]]] = {}
    for info in classes:
        candidates = unexposed_inner(project, info, setter)
        if candidates:
            groups.setdefault(_owner(project, info, candidates, setter), []).append((info, candidates))
    found: list[MissingDelegation] = []
    reaches = _Reaches(_reaches(project, setter, registered) if groups else ())
    for owner, members in groups.items():
        wrappers = tuple(info for info, _ in members)
        struck = reaches.hit(owner, wrappers)
        if not struck and _is_unused(project, owner):
            continue
        candidates = next((held for info, held in members if info is owner), members[0][1])
        found.append(MissingDelegation(owner, setter, candidates[0].attribute, candidates, wrappers, struck))
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
    return project.roles.is_inherited(owner)


@dataclass(frozen=True)
class _Reach:
    """A registered class that may be hit, and the classes that it forwards to."""

    info: ClassInfo
    forwarded: frozenset[ClassInfo]


class _Reaches:
    """Who is hit, without asking everybody for each class to change."""

    def __init__(self, reaches: tuple[_Reach, ...]) -> None:
        self._reaches = reaches
        self._by_class: dict[ClassInfo, list[int]] = {}
        self._by_forwarded: dict[ClassInfo, list[int]] = {}
        for number, reach in enumerate(reaches):
            for one in reach.info.project_classes:
                self._by_class.setdefault(one, []).append(number)
            for one in reach.forwarded:
                self._by_forwarded.setdefault(one, []).append(number)

    def hit(self, owner: ClassInfo, wrappers: tuple[ClassInfo, ...]) -> tuple[ClassInfo, ...]:
        """The classes that are ``owner``, inherit from it, or forward to one of ``wrappers``, in their order."""
        numbers = set(self._by_class.get(owner, ()))
        for wrapper in wrappers:
            numbers.update(self._by_forwarded.get(wrapper, ()))
        return tuple(self._reaches[number].info for number in sorted(numbers))


def _reaches(project: Project, setter: str, registered: Iterable[ClassInfo]) -> tuple[_Reach, ...]:
    roles = project.roles
    found = []
    for info in sorted(registered, key=lambda one: one.dotted):
        if not roles.forwards_to(info) and (roles.is_draft(info) or roles.exposure(info, setter) is not None):
            continue
        held = frozenset(
            one.info for attribute in roles.passes_on_to(info) for one in roles.candidates(info, attribute)
        )
        found.append(_Reach(info, held))
    return tuple(found)


def delegated_attribute(function: FunctionNode, method: str) -> str | None:
    """The attribute of ``self`` whose ``method`` this function calls, or None where it doesn't delegate."""
    holder = first_parameter(function)
    for call in walk(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method:
            name = dotted_name(call.func.value)
            if name.startswith(f"{holder}."):
                return name.partition(".")[2]
    return None


@dataclass(frozen=True)
class Example:
    """A registered wrapper whose own ``setter`` calls the one of its inner model; ``is_silent`` where it does so only if
    there is one, and nothing otherwise. ``kin`` are the classes that the inner model may be, and inherits from."""

    wrapper: ClassInfo
    attribute: str
    found: Found
    is_silent: bool
    kin: tuple[str, ...]


def delegating_wrapper(project: Project, setter: str, like: tuple[Candidate, ...]) -> Example | None:
    """The wrapper to take for a model: best one that isn't silent, and whose inner model is of the family of ``like``."""
    wanted = frozenset(lineage(like))
    return min(
        examples(project, setter, project.registered),
        key=lambda one: likeness(one.wrapper.dotted, one.is_silent, one.kin, wanted),
        default=None,
    )


def example_like(project: Project, setter: str, wanted: tuple[str, ...]) -> tuple[str, str, bool, str, int] | None:
    """Of the same wrapper, for an inner model of the classes ``wanted``: its name, the attribute of its inner model,
    whether it is silent, and where its ``setter`` is defined."""
    found = (one for ones in project.each_file(_examples_in).values() for one in ones)
    ranked = min(
        (
            (likeness(dotted, is_silent, kin, wanted), shown)
            for its_setter, key, dotted, is_silent, kin, shown in found
            if its_setter == setter and key in project.registered_keys
        ),
        default=None,
    )
    return None if ranked is None else ranked[1]


def _examples_in(project: Project, module: Module) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        (
            setter,
            one.wrapper.key,
            one.wrapper.dotted,
            one.is_silent,
            one.kin,
            (one.wrapper.name, one.attribute, one.is_silent, one.found.definer.path, one.found.line),
        )
        for setter in capture_setters(project)
        for one in examples(project, setter, project.classes_of(module))
    )


def likeness(dotted: str, is_silent: bool, kin: Iterable[str], wanted: Collection[str]) -> tuple[bool, int, str]:
    """The smaller, the better the wrapper ``dotted`` shows what to write for an inner model of the classes ``wanted``."""
    return is_silent, -sum(one in wanted for one in kin), dotted


def lineage(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """The classes that the ``candidates`` are and inherit from."""
    return tuple(one.dotted for candidate in candidates for one in candidate.info.project_classes)


def examples(project: Project, setter: str, classes: Iterable[ClassInfo]) -> tuple[Example, ...]:
    """Every wrapper among ``classes`` that hands ``setter`` on to an inner causal LM that has it."""
    found = (_example(project, info, setter) for info in classes)
    return tuple(one for one in found if one is not None)


def _example(project: Project, info: ClassInfo, setter: str) -> Example | None:
    member = info.members.get(setter)
    roles = project.roles
    if member is None or not roles.is_multimodal(info) or roles.is_draft(info):
        return None
    found = Found(info, member)
    function = found.function() if mentions(found.text, setter) else None
    attribute = delegated_attribute(function, setter) if function is not None else None
    if function is None or attribute is None or is_body(project, info, attribute):
        return None
    held = roles.candidates(info, attribute)
    if not any(roles.supports(one, setter) for one in held):
        return None
    return Example(info, attribute, found, _is_silent(function, attribute, setter), lineage(held))


def _is_silent(function: FunctionNode, attribute: str, setter: str) -> bool:
    effects = effects_of(function)
    path = ("self", *attribute.split("."), setter)
    calls = [event for event in effects.of("call") if event.path == path]
    return all(event.is_guarded_by(path) for event in calls) and not any(effects.of("raise"))
