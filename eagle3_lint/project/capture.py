"""How each class stands to one capture setter: the column ``capture`` of the support matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.delegation import delegated_attribute, unexposed_inner
from eagle3_lint.project.effects import effects_of
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.roles import EAGLE3_SETTER, Candidate, Doubt

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

State = Literal["own", "inherited", "delegated", "forwarded", "instance", "missing", "unsupported", "unknown"]


@dataclass(frozen=True)
class Capture:
    """The state of one class; ``note`` says why where it is unknown."""

    state: State
    note: str = ""


def capture_of(project: Project, info: ClassInfo, setter: str = EAGLE3_SETTER) -> Capture:
    """How ``info`` stands to ``setter``."""
    roles = project.roles
    exposure = roles.exposure(info, setter)
    if info.order.is_refused:
        return Capture("unknown", info.order.problem)
    if exposure is not None:
        if exposure.how == "own" and exposure.function is not None:
            function = exposure.function.function()
            if function is not None and _delegates(project, info, function, setter):
                return Capture("delegated")
        return Capture(exposure.how)
    if lacking_inner(project, info, setter):
        return Capture("missing")
    if info.order.problem:
        return Capture("unknown", info.order.problem)
    doubts = roles.doubts(info)
    if doubts and not roles.is_draft(info):
        return Capture("unknown", _doubtful(project, info, doubts[0], setter))
    if not project.construct(info).complete:
        return Capture("unknown", "its construction is too large to follow")
    return Capture("unsupported")


def _doubtful(project: Project, info: ClassInfo, doubt: Doubt, setter: str) -> str:
    module = project.modules.load(doubt.path)
    return (
        f"the class of self.{doubt.attribute} ({module.shown(doubt.line)}) can't be told: {doubt.reason}; "
        f"{info.name} itself has no {setter}"
    )


def lacking_inner(project: Project, info: ClassInfo, setter: str) -> tuple[Candidate, ...]:
    """The inner models for whose sake ``info`` should expose ``setter``, its own or those of what it forwards to."""
    roles = project.roles
    own = unexposed_inner(project, info, setter)
    if own or roles.is_draft(info) or roles.exposure(info, setter) is not None:
        return own
    for attribute in roles.passes_on_to(info):
        for candidate in roles.candidates(info, attribute):
            inner = unexposed_inner(project, candidate.info, setter)
            if inner:
                return inner
    return ()


def _delegates(project: Project, info: ClassInfo, function: FunctionNode, setter: str) -> bool:
    """Whether the setter only hands on to what ``info`` wraps; one that keeps capture state of its own is the class's own."""
    if delegated_attribute(function, setter) is None or not project.roles.is_multimodal(info):
        return False
    return not any(event.path[0] == "self" for event in effects_of(function).of("write"))
