"""The investigation of one model class, step by step: what ``explain`` shows.

Each step names the file and the line that it stands on, so that every one of them can be checked by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.fixes.spelling import typing_imports
from eagle3_lint.project.capture import capture_of, lacking_inner
from eagle3_lint.project.contract import PROTOCOLS, Protocol, capture_setter
from eagle3_lint.project.delegation import delegated_attribute, delegating_wrapper
from eagle3_lint.project.forward_route import forward_route
from eagle3_lint.project.roles import EAGLE3_SETTER, MULTIMODAL_HOOKS, Candidate
from eagle3_lint.project.subjects import interface_methods
from eagle3_lint.rules.project_context import listed
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.engine.workspace import Workspace
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.project.capture_flow import CaptureWrite, SetterEffects
    from eagle3_lint.project.classes import ClassInfo, Found
    from eagle3_lint.project.contract import ContractMethod
    from eagle3_lint.project.project import Project
    from eagle3_lint.project.roles import Exposure

TITLES: dict[Protocol, str] = {"eagle3": "EAGLE-3", "dflash": "DFlash", "dspark": "DSpark"}

CALLS = "What the runtime calls on a target"
CLASS = "The class"
HOLDS = "How it holds the inner model"
REFERENCE = "The reference implementation"
OTHER = "A wrapper that delegates already"
REST = "The rest of the interface"
FORWARD = "The way of the forward"
TYPING = "Typing names that the file imports"
FOUND = "What the rules find"
VERDICT = "The verdict"


@dataclass(frozen=True)
class Step:
    """One step; ``path`` is absolute, None (with line 0) where there is no place to show."""

    title: str
    message: str
    path: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Subject:
    """A class under investigation with the inner models that matter, and the capture setter in question."""

    project: Project
    info: ClassInfo
    setter: str
    inner: tuple[Candidate, ...]

    @property
    def supporting(self) -> tuple[Candidate, ...]:
        """The inner models that have the setter."""
        return tuple(one for one in self.inner if self.project.roles.supports(one, self.setter))

    @property
    def wrapper(self) -> ClassInfo:
        """The class that holds the inner model: the subject, or what it forwards to."""
        if not self.inner or self._holds(self.info):
            return self.info
        roles = self.project.roles
        for attribute in roles.passes_on_to(self.info):
            for one in roles.candidates(self.info, attribute):
                if self._holds(one.info):
                    return one.info
        return self.info

    def _holds(self, info: ClassInfo) -> bool:
        first = self.inner[0]
        return any(one.info is first.info for one in self.project.roles.candidates(info, first.attribute))


def investigate(workspace: Workspace, info: ClassInfo, findings: tuple[Finding, ...]) -> tuple[Step, ...]:
    """Every step of the investigation of ``info``; ``findings`` are what the rules find on it."""
    subject = subject_of(workspace.project, info)
    return (
        *_calls(subject),
        *_class(subject),
        *_holding(subject),
        *_reference(subject),
        *_delegating(subject),
        *_rest(subject),
        *_forward(subject),
        *_typing(subject, findings),
        *_findings(findings),
        *_verdict(subject),
    )


def subject_of(project: Project, info: ClassInfo) -> Subject:
    """``info`` with the inner models for whose sake it should expose EAGLE-3's setter, else all that it holds."""
    inner = lacking_inner(project, info, EAGLE3_SETTER) or project.roles.language_models(info)
    return Subject(project, info, EAGLE3_SETTER, inner)


# The runtime


def _calls(subject: Subject) -> Iterator[Step]:
    contract = subject.project.contract
    setters = [capture_setter(protocol) for protocol in PROTOCOLS]
    called = {method.name for protocol in PROTOCOLS for method in contract.called(protocol)}
    methods = [one for one in contract.methods if one.name in setters or one.name in called]
    for method in sorted(methods, key=lambda one: (one.name not in setters, one.name != subject.setter, one.name)):
        if not method.call_sites:
            yield Step(
                CALLS, f"every release calls {method.name} on an EAGLE-3 target (the tree has no runtime to read)"
            )
        yield from _call_sites(method)


def _call_sites(method: ContractMethod) -> Iterator[Step]:
    for site in method.call_sites:
        protocols = listed(tuple(TITLES[one] for one in site.protocols))
        target = (
            f"an {protocols} target"
            if protocols.startswith("E")
            else f"a {protocols} target"
            if protocols
            else "a target"
        )
        if not site.guarded and site.protocols and not site.required_for:
            asks = "without asking first, on some of its ways"
        elif not site.guarded:
            asks = "without asking first: a class without it stops the server with AttributeError"
        elif site.guard_raises:
            asks = "after asking whether it is there: a class without it is refused with an error"
        else:
            asks = "only where it is there"
        yield Step(CALLS, f"{site.function} calls {method.name}{site.shape} on {target}, {asks}", site.path, site.line)


# The class


def _class(subject: Subject) -> Iterator[Step]:
    info, roles = subject.info, subject.project.roles
    yield Step(CLASS, f"{info.name} is {_role(subject)}", info.path, info.line)
    for upper in info.project_classes[1:]:
        yield Step(CLASS, f"it inherits from {upper.name}", upper.path, upper.line)
    if info.order.problem:
        yield Step(CLASS, f"its hierarchy can't be told whole: {info.order.problem}", info.path, info.line)
    for module in subject.project.model_modules() if roles.is_registered(info) else ():
        if info in subject.project.entries(module):
            line = _entry_line(module.facts.bindings, info.line)
            yield Step(CLASS, "EntryClass registers it", module.path, line)
            break
    yield from _draft(subject) if roles.is_draft(info) else _multimodal(subject)


def _entry_line(bindings: Iterable[object], default: int) -> int:
    from eagle3_lint.facts.module import Binding

    lines = [one.place.line for one in bindings if isinstance(one, Binding) and one.name == "EntryClass"]
    return lines[-1] if lines else default


def _role(subject: Subject) -> str:
    info, roles = subject.info, subject.project.roles
    registered = "registered" if roles.is_registered(info) else "not registered"
    kind = {
        "draft": "a draft model",
        "target": "a target",
        "component": "a component of other models",
        "other": "no model",
    }[roles.role(info)]
    wrapper = ", a multimodal wrapper" if roles.is_multimodal(info) else ""
    return f"{kind}, {registered}{wrapper}"


def _draft(subject: Subject) -> Iterator[Step]:
    forward = subject.info.find("forward")
    line = _line_of(forward, "spec_info") if forward is not None else None
    if forward is not None and line is not None:
        yield Step(CLASS, "it reads the states of its target from spec_info, as drafts do", forward.definer.path, line)
    else:
        message = "it carries the name of a draft, or builds one: the runtime never captures from it"
        yield Step(CLASS, message, subject.info.path, subject.info.line)


def _multimodal(subject: Subject) -> Iterator[Step]:
    if not subject.project.roles.is_multimodal(subject.info):
        return
    for hook in MULTIMODAL_HOOKS:
        found = subject.info.find(hook)
        if found is not None:
            yield Step(CLASS, f"its {hook} makes it a multimodal wrapper", found.definer.path, found.line)
            return
    forward = subject.info.find("forward")
    if forward is not None:
        message = "its forward, or what its constructor assigns, makes it a multimodal wrapper"
        yield Step(CLASS, message, forward.definer.path, forward.line)


# The inner model


def _holding(subject: Subject) -> Iterator[Step]:
    roles, wrapper = subject.project.roles, subject.wrapper
    if wrapper is not subject.info:
        via = roles.passes_on_to(subject.info)
        yield Step(
            HOLDS,
            f"it hands on to self.{next(iter(via), '')}, a {wrapper.name}, which holds the inner model",
            wrapper.path,
            wrapper.line,
        )
    for one in subject.inner:
        yield Step(HOLDS, f"self.{one.attribute} is built as {one.info.name}", one.built_at.path, one.built_at.line)
        if (one.chosen_at.path, one.chosen_at.line) != (one.built_at.path, one.built_at.line):
            yield Step(HOLDS, f"{one.info.name} is chosen here", one.chosen_at.path, one.chosen_at.line)
    for doubt in roles.doubts(subject.info):
        yield Step(HOLDS, f"self.{doubt.attribute} can't be told: {doubt.reason}", doubt.path, doubt.line)
    if not subject.inner and not roles.doubts(subject.info):
        yield Step(HOLDS, "it holds no inner model that could capture", subject.info.path, subject.info.line)


def _reference(subject: Subject) -> Iterator[Step]:
    roles = subject.project.roles
    exposure = roles.exposure(subject.info, subject.setter)
    if exposure is not None:
        yield from _hierarchy(subject, subject.info, exposure)
    for one in subject.supporting:
        found = roles.exposure(one.info, subject.setter)
        if found is not None:
            yield from _hierarchy(subject, one.info, found)
    if exposure is None and not subject.supporting:
        for one in subject.inner:
            message = (
                f"{one.info.name}, in self.{one.attribute}, has no {subject.setter}: there is nothing to delegate to"
            )
            yield Step(REFERENCE, message, one.info.path, one.info.line)
        if not subject.inner:
            message = f"no class of its hierarchy has {subject.setter}"
            yield Step(REFERENCE, message, subject.info.path, subject.info.line)


def _hierarchy(subject: Subject, info: ClassInfo, exposure: Exposure) -> Iterator[Step]:
    """From ``info`` up to the class that defines the setter, then what the setter does."""
    definer = exposure.definer
    if exposure.how == "forwarded":
        yield Step(REFERENCE, f"__getattr__ of {info.name} forwards to self.{exposure.via}", info.path, info.line)
    elif definer is not None and definer is not info:
        lower = info
        for upper in info.project_classes[1 : _position(info, definer) + 1]:
            yield Step(REFERENCE, f"{lower.name} inherits from {upper.name}", lower.path, lower.line)
            lower = upper
    name = definer.name if definer is not None else info.name
    how = "puts {} on the object in its constructor" if exposure.how == "instance" else "defines {}"
    yield Step(REFERENCE, f"{name} {how.format(subject.setter)}", exposure.path, exposure.line)
    if exposure.function is not None:
        yield from _effects(subject, info, exposure.function)


def _position(info: ClassInfo, definer: ClassInfo) -> int:
    classes = info.project_classes
    return classes.index(definer) if definer in classes else 0


def _effects(subject: Subject, info: ClassInfo, found: Found) -> Iterator[Step]:
    function = found.function()
    attribute = delegated_attribute(function, subject.setter) if function is not None else None
    if attribute is not None:
        line = _line_of(found, f"{attribute}.{subject.setter}") or found.line
        yield Step(REFERENCE, f"it delegates to self.{attribute}", found.definer.path, line)
    effects = subject.project.capture_flow.setter(info, subject.setter)
    for write in _writes(effects):
        on = "each layer" if write.per_item else "itself" if write.holder.info is info else write.holder.info.name
        yield Step(REFERENCE, f"it sets {write.name} on {on}", write.path, write.line)
    yield from _readers(subject, effects)


def _writes(effects: SetterEffects | None) -> Iterator[CaptureWrite]:
    seen: set[str] = set()
    for write in effects.writes if effects is not None else ():
        if write.name not in seen:
            seen.add(write.name)
            yield write


def _readers(subject: Subject, effects: SetterEffects | None) -> Iterator[Step]:
    """Where the forward of the object that is written to reads each attribute first."""
    flow = subject.project.capture_flow
    for write in _writes(effects):
        place = None if write.per_item else _first_read(subject, write)
        if place is not None:
            path, line, method = place
            yield Step(REFERENCE, f"{write.holder.info.name}.{method} reads {write.name}", path, line)
        elif not write.per_item and flow.is_read(write) is False:
            message = f"nothing in the forward of {write.holder.info.name} reads {write.name}"
            yield Step(REFERENCE, message, write.holder.info.path, write.holder.info.line)


def _first_read(subject: Subject, write: CaptureWrite) -> tuple[str, int, str] | None:
    flow = subject.project.capture_flow
    for method in flow.reach(write.holder.info).methods:
        effects = flow.effects(method) if mentions(flow.text(method), write.name) else None
        for event in effects.of("read") if effects is not None else ():
            if event.path[-1:] == (write.name,):
                return method.definer.path, event.line, method.member.name
    return None


def _delegating(subject: Subject) -> Iterator[Step]:
    roles = subject.project.roles
    if roles.exposure(subject.info, subject.setter) is not None or roles.is_draft(subject.info):
        return
    if not roles.is_multimodal(subject.wrapper):
        return
    example = delegating_wrapper(subject.project, subject.setter, subject.supporting or subject.inner)
    if example is None:
        return
    wrapper, attribute, found = example.wrapper, example.attribute, example.found
    yield Step(OTHER, f"{wrapper.name} defines {subject.setter}", found.definer.path, found.line)
    line = _line_of(found, f"{attribute}.{subject.setter}") or found.line
    but = ", but does nothing where that lacks the method (EGL104)" if example.is_silent else ""
    yield Step(OTHER, f"it hands the layers on to self.{attribute}{but}", found.definer.path, line)
    for method in _required(subject):
        other = wrapper.find(method)
        if other is not None and method != subject.setter:
            yield Step(OTHER, f"and it defines {method}", other.definer.path, other.line)


def _line_of(found: Found, dotted: str) -> int | None:
    """The first line where ``found`` names an attribute that is called ``dotted``, on whatever object."""
    function = found.function()
    nodes = walk(function) if function is not None else ()
    named = (one for one in nodes if isinstance(one, ast.Attribute) and f".{dotted_name(one)}".endswith(f".{dotted}"))
    return min((one.end_lineno or one.lineno for one in named), default=None)


# The rest


def _required(subject: Subject) -> tuple[str, ...]:
    names = dict.fromkeys((subject.setter, *subject.project.required_of(subject.info, "eagle3")))
    return tuple(names)


def _rest(subject: Subject) -> Iterator[Step]:
    """Every other method of the interface: who has it, who needs it."""
    roles, info = subject.project.roles, subject.info
    required = set(_required(subject))
    for method in interface_methods(subject.project):
        if method == subject.setter:
            continue
        own = roles.exposure(info, method)
        inner = [(one, found) for one in subject.inner if (found := roles.exposure(one.info, method)) is not None]
        needed = ", which EAGLE-3 needs" if method in required else ""
        if own is not None:
            by = own.definer.name if own.definer is not None else info.name
            yield Step(REST, f"{method}{needed}: {_has(info.name, by)}", own.path, own.line)
        elif inner:
            one, found = inner[0]
            by = found.definer.name if found.definer is not None else one.info.name
            message = f"{method}{needed}: {info.name} lacks it, {_has(one.info.name, by)}"
            yield Step(REST, message, found.path, found.line)
        elif method in required:
            yield Step(REST, f"{method}{needed}: {info.name} lacks it", info.path, info.line)


def _has(name: str, definer: str) -> str:
    return f"{name} has it" if name == definer else f"{name} has it from {definer}"


def _forward(subject: Subject) -> Iterator[Step]:
    roles = subject.project.roles
    if not roles.is_multimodal(subject.wrapper) or roles.is_draft(subject.info):
        return
    for attribute in dict.fromkeys(one.attribute for one in subject.inner):
        route = forward_route(subject.project, subject.wrapper, attribute)
        if route.kind == "inner_call":
            end = "the inner model's own forward deals with the captured states, so that delegation is enough"
        elif route.kind == "bypass":
            end = "the wrapper's forward has to deal with the captured states itself"
        else:
            end = "whether delegation is enough can't be told from the source"
        yield Step(FORWARD, f"{route.reason}: {end}", route.path, route.line)


def _typing(subject: Subject, findings: tuple[Finding, ...]) -> Iterator[Step]:
    module = subject.wrapper.module
    imports = typing_imports(module, subject.wrapper.line)
    spelled = imports.optional_layers()
    lines: dict[int, list[str]] = {}
    for one in module.facts.bindings:
        if one.place.line >= subject.wrapper.line or one.level:
            continue
        if one.kind == "from" and one.target in ("typing", "typing_extensions"):
            renamed = one.original if one.original == one.name else f"{one.original} as {one.name}"
            lines.setdefault(one.place.line, []).append(renamed)
        elif one.kind == "import" and one.target in ("typing", "typing_extensions"):
            lines.setdefault(one.place.line, []).append(f"{one.target} itself")
    needs = f", for which {listed(spelled.needs)} has to be imported too" if spelled.needs else ""
    added = (edit.text for one in findings if one.fix is not None for edit in one.fix.edits)
    who = "the patch writes" if any(spelled.text in text for text in added) else "a new method would take"
    writes = f"{who} layer_ids: {spelled.text}{needs}"
    for line, names in lines.items():
        last = f"; {writes}" if line == next(reversed(lines)) else ""
        yield Step(TYPING, f"line {line} imports {listed(tuple(names))}{last}", module.path, line)
    if not lines:
        yield Step(TYPING, f"the file imports no name of typing; {writes}", module.path, 1)


# The end


def _findings(findings: tuple[Finding, ...]) -> Iterator[Step]:
    for one in findings:
        yield Step(FOUND, f"{one.code} {one.symbol}: {one.message}", one.path, one.span.line)
        if one.fix is not None and one.fix.remains:
            yield Step(FOUND, f"beside the fix of {one.code}: {one.fix.remains}", one.path, one.span.line)


def _verdict(subject: Subject) -> Iterator[Step]:
    for protocol in PROTOCOLS:
        setter = capture_setter(protocol)
        if protocol != "eagle3" and setter not in subject.project.contract.protocols:
            continue
        capture = capture_of(subject.project, subject.info, setter)
        message = f"{TITLES[protocol]}: {capture.state}. {_meaning(subject, capture.state, capture.note)}"
        if protocol == "dspark" and _falls_back(subject, setter):
            message += f" The runtime calls {capture_setter('dflash')} in its place."
        yield Step(VERDICT, message, subject.info.path, subject.info.line)


def _falls_back(subject: Subject, setter: str) -> bool:
    """Whether DSpark takes the setter of DFlash where a target has none of its own."""
    roles, dflash = subject.project.roles, capture_setter("dflash")
    called = subject.project.contract.method(setter)
    asked = called is not None and all(site.guarded and not site.guard_raises for site in called.call_sites)
    return asked and roles.exposure(subject.info, setter) is None and roles.exposure(subject.info, dflash) is not None


def _meaning(subject: Subject, state: str, note: str) -> str:
    name = subject.info.name
    if subject.project.roles.is_draft(subject.info):
        return f"{name} is a draft: nothing is ever captured from it."
    if state == "missing":
        held = listed(tuple(dict.fromkeys(f"self.{one.attribute}" for one in subject.inner)), "or") or "its inner model"
        return f"What {name} holds in {held} can capture, and {name} does not expose it."
    return {
        "own": f"{name} implements capture itself.",
        "inherited": f"{name} inherits capture from a base class.",
        "delegated": f"{name} delegates capture to its inner model.",
        "forwarded": f"{name} forwards what it lacks to its inner model by __getattr__.",
        "instance": f"{name} gets the setter in its constructor.",
        "unsupported": f"Neither {name} nor anything that it holds can capture.",
        "unknown": f"The source does not tell: {note}.",
    }[state]


class Lines:
    """The lines of a workspace's files, each file split once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[str, ...]] = {}

    def at(self, path: str | None, line: int) -> str | None:
        """The text of ``line`` of the file ``path``; None where there is none."""
        if path is None:
            return None
        if path not in self._known:
            try:
                self._known[path] = self._workspace.source(path).lines
            except UnreadableSourceError:
                self._known[path] = ()
        lines = self._known[path]
        return lines[line - 1] if 0 < line <= len(lines) else None
