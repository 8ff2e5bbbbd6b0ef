"""What part each class plays: target, draft, component; multimodal wrapper; what it exposes and what it holds.

The order of questions follows SGLang's registry and its multimodal runtime (``general_mm_embed_routine``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eagle3_lint.project.classes import ClassInfo, ExternalValue, Found
from eagle3_lint.project.contract import CAPTURE_SETTER
from eagle3_lint.project.interpreter import Attribute
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.names import absolute_module
from eagle3_lint.project.reading_forward import (
    attributes_of_self,
    called_names,
    forwarded_attributes,
    language_model_arguments,
    reads_target_states,
)
from eagle3_lint.project.values import (
    ExternalInstance,
    FunctionValue,
    InstanceValue,
    SequenceValue,
    Site,
    UnknownValue,
    Values,
)
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

EAGLE3_SETTER = CAPTURE_SETTER
FAMILY = (
    EAGLE3_SETTER,
    "set_dflash_layers_to_capture",
    "set_dspark_layers_to_capture",
    "get_embed_and_head",
    "set_embed_and_head",
    "get_embed",
    "set_embed",
    "get_input_embeddings",
)
MULTIMODAL_HOOKS = ("pad_input_ids", "get_image_feature", "get_video_feature", "get_audio_feature")
_MULTIMODAL_ROUTINE = "general_mm_embed_routine"
# Drafts that get the target's states by another way than ``spec_info`` are told by the names SGLang gives all of them.
_DRAFT_NAME = re.compile(r"Eagle|EAGLE|MTP|NextN|Nextn|DFlash|DSpark|Draft")

Role = Literal["target", "draft", "component", "other"]
How = Literal["own", "inherited", "instance", "forwarded"]


@dataclass(frozen=True)
class Exposure:
    """How a class has a method. ``definer`` is the class whose code defines it; ``via`` the attribute it is forwarded to."""

    how: How
    definer: ClassInfo | None
    path: str
    line: int
    via: str = ""
    function: Found | None = None


@dataclass(frozen=True)
class Candidate:
    """One class that an attribute of ``holder`` may hold."""

    holder: ClassInfo
    attribute: str
    info: ClassInfo
    built_at: Site
    chosen_at: Site
    instance: InstanceValue


@dataclass(frozen=True)
class Doubt:
    """An attribute whose class the source can't tell, and why."""

    attribute: str
    reason: str
    path: str
    line: int


class Roles:
    """Answers about the classes of one project; each is computed once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._exposures: dict[tuple[ClassInfo, str], Exposure | None] = {}
        self._pending: set[tuple[ClassInfo, str]] = set()
        self._drafts: dict[ClassInfo, bool] = {}
        self._near_drafts: dict[str, bool] = {}
        self._multimodal: dict[ClassInfo, bool] = {}

    def is_inherited(self, info: ClassInfo) -> bool:
        """Whether ``info`` is registered, or a registered class may inherit from it."""
        return info.key in self._project.inherited_keys

    def is_registered(self, info: ClassInfo) -> bool:
        """Whether the registry takes ``info``."""
        return info.key in self._project.registered_keys

    def role(self, info: ClassInfo) -> Role:
        """The part that ``info`` plays."""
        if self.is_draft(info):
            return "draft"
        if self.is_registered(info):
            return "target"
        modules = any(
            isinstance(one, ExternalValue) and one.dotted.rpartition(".")[2] in {"Module", "PreTrainedModel"}
            for one in info.order.classes
        )
        return "component" if modules else "other"

    def is_multimodal(self, info: ClassInfo) -> bool:
        """Whether ``info`` has, itself, by inheritance or by assignment, what the multimodal runtime calls."""
        found = self._multimodal.get(info)
        if found is None:
            found = self._multimodal[info] = self._is_multimodal(info)
        return found

    def _is_multimodal(self, info: ClassInfo) -> bool:
        if not info.may_mention(*MULTIMODAL_HOOKS, _MULTIMODAL_ROUTINE):
            return False
        if any(info.find(hook) is not None for hook in MULTIMODAL_HOOKS):
            return True
        found = info.find("forward")
        if found is not None and mentions(found.text, _MULTIMODAL_ROUTINE):
            forward = found.function()
            if forward is not None and _MULTIMODAL_ROUTINE in called_names(forward):
                return True
        if not any(info.mentions(hook) for hook in MULTIMODAL_HOOKS):
            return False
        attributes = self._project.construct(info).attributes
        return any(hook in attributes for hook in MULTIMODAL_HOOKS)

    def is_draft(self, info: ClassInfo) -> bool:
        """Whether ``info`` is a speculative draft: it reads the target's states, or descends from one that does."""
        found = self._drafts.get(info)
        if found is None:
            self._drafts[info] = False
            found = self._drafts[info] = self._is_draft(info, 0)
        return found

    def _is_draft(self, info: ClassInfo, depth: int) -> bool:
        if any(_DRAFT_NAME.search(one.name) for one in info.project_classes):
            return True
        found = info.find("forward")
        if found is None or not any(self._near_draft(one.module) for one in info.project_classes):
            return False
        forward = found.function()
        if forward is None:
            return False
        if reads_target_states(forward):
            return True
        if depth > 2:
            return False
        used = attributes_of_self(forward)
        attributes = self._project.construct(info).attributes
        for name in sorted(used & attributes.keys()):
            for value in _instances(attributes[name].values):
                if value.info is not info and self._is_draft(value.info, depth + 1):
                    return True
        return False

    def _near_draft(self, module: Module) -> bool:
        """Whether ``module``, or a module that it imports from, mentions the states that drafts read."""
        found = self._near_drafts.get(module.path)
        if found is None:
            imported = {
                absolute_module(module, binding.target, binding.level)
                for binding in module.facts.bindings
                if binding.kind == "from"
            }
            follows = self._project.names.follows
            near = [
                module,
                *(m for name in sorted(imported) if follows(name) and (m := self._project.modules.named(name))),
            ]
            found = self._near_drafts[module.path] = any(one.mentions("spec_info") for one in near)
        return found

    def effective(self, info: ClassInfo, name: str) -> FunctionNode | None:
        """The function that ``name`` runs on an object of ``info``, along the method resolution order."""
        found = info.find(name)
        return found.function() if found is not None else None

    def exposure(self, info: ClassInfo, method: str) -> Exposure | None:
        """How ``info`` exposes ``method``, or None where it doesn't (or where nobody can know)."""
        key = (info, method)
        if key in self._exposures:
            return self._exposures[key]
        if key in self._pending:
            return None
        self._pending.add(key)
        try:
            found = self._exposure(info, method)
        finally:
            self._pending.discard(key)
        self._exposures[key] = found
        return found

    def _exposure(self, info: ClassInfo, method: str) -> Exposure | None:
        found = info.find(method)
        if found is not None:
            how: How = "own" if found.definer is info else "inherited"
            return Exposure(how, found.definer, found.definer.path, found.line, function=found)
        assigned = self._project.construct(info).attributes.get(method) if info.mentions(method) else None
        if assigned is not None:
            site = assigned.sites[0]
            return Exposure("instance", _definer_of(assigned) or site.owner, site.path, site.line)
        for attribute in self.forwards_to(info):
            for candidate in self.candidates(info, attribute):
                inner = self.exposure(candidate.info, method)
                if inner is not None:
                    return Exposure("forwarded", inner.definer, inner.path, inner.line, attribute, inner.function)
        return None

    def supports(self, candidate: Candidate, method: str = EAGLE3_SETTER) -> bool:
        """Whether the object held by an attribute has ``method``, put on it afterwards or by its class."""
        return self.exposure_of(candidate, method) is not None

    def exposure_of(self, candidate: Candidate, method: str) -> Exposure | None:
        """How the object held by an attribute exposes ``method``: by its class, or because its holder puts it on it."""
        put = self._project.construct(candidate.holder).objects.get(candidate.instance, {}).get(method)
        if put is not None:
            return Exposure("instance", None, put.sites[0].path, put.sites[0].line)
        return self.exposure(candidate.info, method)

    def forwards_to(self, info: ClassInfo) -> tuple[str, ...]:
        """The attributes that ``__getattr__`` of ``info`` forwards unknown names to."""
        found = self.effective(info, "__getattr__")
        return forwarded_attributes(found) if found is not None else ()

    def passes_on_to(self, info: ClassInfo) -> tuple[str, ...]:
        """The attributes that ``info`` forwards unknown names to, then those whose forward it takes as its own."""
        return tuple(dict.fromkeys((*self.forwards_to(info), *self.hands_forward_to(info))))

    def hands_forward_to(self, info: ClassInfo) -> tuple[str, ...]:
        """The attributes whose forward ``info`` takes as its own (``self.forward = self.thinker.forward``)."""
        taken = any(one.may_take_a_forward for one in info.project_classes)
        assigned = self._project.construct(info).attributes.get("forward") if taken else None
        if assigned is None:
            return ()
        receivers = {
            value.receiver.info
            for value in assigned.values
            if isinstance(value, FunctionValue) and isinstance(value.receiver, InstanceValue)
        }
        return tuple(
            name
            for name in self.held(info)
            if any(candidate.info in receivers for candidate in self.candidates(info, name))
        )

    def held(self, info: ClassInfo) -> tuple[str, ...]:
        """The attributes that hold objects of project classes."""
        return tuple(
            name for name, attribute in self._project.construct(info).attributes.items() if _instances(attribute.values)
        )

    def candidates(self, info: ClassInfo, attribute: str) -> tuple[Candidate, ...]:
        """The classes that ``attribute`` of an object of ``info`` may hold."""
        held = self._project.construct(info).attributes.get(attribute)
        found: dict[ClassInfo, Candidate] = {}
        for value in _instances(held.values) if held is not None else ():
            found.setdefault(
                value.info,
                Candidate(info, attribute, value.info, value.built_at, value.chosen_at or value.built_at, value),
            )
        return tuple(found.values())

    def inner_models(self, info: ClassInfo, method: str = EAGLE3_SETTER) -> tuple[Candidate, ...]:
        """The candidates of each attribute of which one supports ``method``."""
        found: list[Candidate] = []
        for attribute in self.held(info):
            candidates = self._whole(info, self.candidates(info, attribute))
            if any(self.supports(candidate, method) for candidate in candidates):
                found.extend(candidates)
        return tuple(found)

    def _whole(self, info: ClassInfo, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Those of ``candidates`` that aren't parts of another object that ``info`` holds (``self.language_model.model``)."""
        makers = {candidate.built_at.owner for candidate in candidates} - {None, *info.project_classes}
        if not makers:
            return candidates
        holders = [one.info for name in self.held(info) for one in self.candidates(info, name)]
        parts = {maker for maker in makers if maker and any(holder.inherits_from(maker) for holder in holders)}
        return tuple(candidate for candidate in candidates if candidate.built_at.owner not in parts)

    def language_models(self, info: ClassInfo) -> tuple[Candidate, ...]:
        """The candidates of the attributes that look like an inner language model, whether or not they support anything."""
        supporting = self.inner_models(info)
        if supporting:
            return supporting
        names = self._language_attributes(info)
        return tuple(candidate for name in names for candidate in self.candidates(info, name))

    def doubts(self, info: ClassInfo) -> tuple[Doubt, ...]:
        """The attributes that may hold a language model of which the source doesn't tell the class."""
        attributes = self._project.construct(info).attributes
        found: list[Doubt] = []
        for name in self._language_attributes(info):
            attribute = attributes.get(name)
            if attribute is None:
                continue
            if _instances(attribute.values):
                if name in self.forwards_to(info):
                    found.extend(doubt for one in self.candidates(info, name) for doubt in self.doubts(one.info))
                continue
            reason = _doubtful(attribute.values)
            if reason:
                site = attribute.sites[0]
                found.append(Doubt(name, reason, site.path, site.line))
        return tuple(found)

    def _language_attributes(self, info: ClassInfo) -> tuple[str, ...]:
        forward = self.effective(info, "forward")
        names: dict[str, None] = {}
        if forward is not None:
            names.update(dict.fromkeys(language_model_arguments(forward)))
        for name in ("language_model", "llm", "model", "inner"):
            names.setdefault(name)
        names.update(dict.fromkeys(self.forwards_to(info)))
        attributes = self._project.construct(info).attributes
        return tuple(name for name in names if name in attributes)


def _instances(values: Values) -> tuple[InstanceValue, ...]:
    found: list[InstanceValue] = []
    for value in values:
        if isinstance(value, InstanceValue):
            found.append(value)
        elif isinstance(value, SequenceValue):
            found.extend(item for item in value.any_item() if isinstance(item, InstanceValue))
    return tuple(found)


def _definer_of(attribute: Attribute) -> ClassInfo | None:
    for value in attribute.values:
        if isinstance(value, FunctionValue):
            return value.owner
    return None


def _doubtful(values: Values) -> str:
    """Why one of ``values`` can't be told, as exactly as that is known."""
    reasons = [(value.weight, value.reason) for value in values if isinstance(value, UnknownValue)]
    reasons += [
        (2, f"{value.dotted}, outside the project, builds it")
        for value in values
        if isinstance(value, ExternalInstance)
    ]
    return max(reasons, key=lambda one: one[0], default=(0, ""))[1]
