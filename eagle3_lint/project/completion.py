"""Fills the gaps that following a constructor leaves, by inference: which object a call makes that isn't followed.

A factory outside the packages of models, an object that is called, a member of an enumeration: the interpreter marks
what it gave up on and what inference may tell more about. ``auto`` asks astroid about a mark only where the answer can
change a finding: in an attribute of a multimodal wrapper that is no draft. ``astroid`` asks about every call that the
interpreter can't tell the result of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.interpreter import Attribute, Constructed
from eagle3_lint.project.values import (
    ExternalInstance,
    InstanceValue,
    SelfValue,
    Site,
    UnknownValue,
    Value,
    Values,
    union,
)
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project
    from eagle3_lint.project.with_astroid.inference import Inference


class Completion:
    """The objects of one project's classes after construction, as completely as they can be told."""

    def __init__(self, project: Project, engine: str) -> None:
        self._project = project
        self._everything = engine == "astroid"
        self._inference: Inference | None = None
        self._makers: dict[str, bool] = {}
        self._constructed: dict[ClassInfo, Constructed] = {}

    def construct(self, info: ClassInfo) -> Constructed:
        """The attributes of a new object of ``info``."""
        found = self._constructed.get(info)
        if found is None:
            # Whether inference is wanted depends on what the constructor leaves: that question gets the plain answer.
            found = self._constructed[info] = self._project.interpreter.construct(info)
            gaps = [name for name, attribute in found.attributes.items() if any(map(self._site, attribute.values))]
            if gaps and self._wanted(info):
                found = self._constructed[info] = self._filled(found, gaps)
        return found

    def _wanted(self, info: ClassInfo) -> bool:
        roles = self._project.roles
        return self._everything or (roles.is_multimodal(info) and not roles.is_draft(info))

    def _site(self, value: Value) -> Site | None:
        """The call to infer instead of ``value``, if there is one."""
        if isinstance(value, UnknownValue):
            if value.inferable is not None and (not value.maker or self._knows_models(value.maker)):
                return value.inferable
            return value.site if self._everything else None
        if isinstance(value, ExternalInstance) and not value.dotted.rpartition(".")[2][:1].isupper():
            return value.built_at if self._knows_models(value.dotted) else None
        return None

    def _knows_models(self, dotted: str) -> bool:
        """Whether ``dotted`` is of a module of the tree whose text names a package of models: else it makes none."""
        module = dotted.rpartition(".")[0]
        known = self._makers.get(module)
        if known is None:
            known = self._makers[module] = self._mentions_models(module)
        return known

    def _mentions_models(self, module: str) -> bool:
        modules = self._project.modules
        while module and modules.find(module) is None:
            module = module.rpartition(".")[0]
        path = modules.find(module) if module else None
        if path is None or not path.endswith(".py"):
            return False
        try:
            text = modules.source(path).text
        except UnreadableSourceError:
            return False
        packages = (package.split(".")[1:] for package in self._project.names.packages)
        return any(all(mentions(text, part) for part in parts) for parts in packages)

    def _filled(self, made: Constructed, names: list[str]) -> Constructed:
        attributes = dict(made.attributes)
        for name in names:
            attribute = attributes[name]
            values = union(*(self._inferred(value) for value in attribute.values))
            attributes[name] = Attribute(values, attribute.sites)
        return replace(made, attributes=attributes, objects={**made.objects, SelfValue(made.info): attributes})

    def _inferred(self, value: Value) -> Values:
        site = self._site(value)
        if site is None:
            return (value,)
        if self._inference is None:
            from eagle3_lint.project.with_astroid.inference import Inference

            self._inference = Inference(self._project.names)
        classes, certain = self._inference.made_by_call(site)
        built = tuple(InstanceValue(info, site, site) for info in classes)
        return built if built and certain else (*built, value)
