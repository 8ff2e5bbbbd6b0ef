"""The project: every module, class, role and interface of the tree being linted, computed when asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from eagle3_lint.facts.module import ClassFacts
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract import Contract, Protocol
from eagle3_lint.project.families import Family, Links, families, links
from eagle3_lint.project.interpreter import Constructed, Interpreter
from eagle3_lint.project.modules import Module, Modules
from eagle3_lint.project.resolver import open_resolver
from eagle3_lint.project.roles import Roles
from eagle3_lint.project.values import ClassValue, SequenceValue
from eagle3_lint.sources.files import python_files

if TYPE_CHECKING:
    from eagle3_lint.cache.parts import Parts
    from eagle3_lint.project.capture_flow import CaptureFlow

T = TypeVar("T")


class Project:
    """One tree of models, with whatever else its names lead to.

    ``models`` is the directory whose modules the registry scans (None where the linted files lie in no tree);
    ``extra`` are linted files outside it, each a model module of its own. ``engine`` says who resolves names;
    ``contract`` reads what the runtime calls, where that is asked for. ``parts`` has what is known of the files from earlier
    runs, if anything is.
    """

    def __init__(
        self,
        modules: Modules,
        models: str | None,
        contract: Callable[[], Contract],
        extra: tuple[str, ...] = (),
        engine: str = "auto",
        parts: Parts | None = None,
    ) -> None:
        self.modules = modules
        self.models = models
        self._parts = parts
        self._read_contract = contract
        self.extra = extra
        self.names = open_resolver(engine, modules, model_packages(modules, models, extra))
        self.interpreter = Interpreter(self.names)
        self.roles = Roles(self)
        self._answers: dict[Callable[[Project], Any], Any] = {}
        self._answers_by_file: dict[Callable[[Project, Module], tuple[Any, ...]], dict[str, tuple[Any, ...]]] = {}
        self._classes_of: dict[str, tuple[ClassInfo, ...]] = {}
        self._classes_in: dict[frozenset[str], tuple[ClassInfo, ...]] = {}
        self._registered_in: dict[frozenset[str], tuple[ClassInfo, ...]] = {}

    @cached_property
    def contract(self) -> Contract:
        """What the runtime of the tree calls on a target."""
        return self._read_contract()

    @cached_property
    def model_files(self) -> tuple[str, ...]:
        """Every Python file of the models directory, subpackages too, and the extra files."""
        return python_files(self.models, self.extra)

    @cached_property
    def model_paths(self) -> frozenset[str]:
        """``model_files``, to ask whether a file is one of them."""
        return frozenset(self.model_files)

    def model_modules(self) -> Iterator[Module]:
        """The readable modules of ``model_files``."""
        return self._readable(self.model_files)

    def _readable(self, paths: Iterable[str]) -> Iterator[Module]:
        for path in paths:
            module = self.modules.at(path)
            if module is not None:
                yield module

    def classes_of(self, module: Module) -> tuple[ClassInfo, ...]:
        """The classes of ``module``; of several with one name only the one that the module ends up with."""
        found = self._classes_of.get(module.path)
        if found is None:
            last = {facts.qualname: index for index, facts in enumerate(module.facts.classes)}
            found = self._classes_of[module.path] = tuple(
                self.names.info(module, index)
                for index, facts in enumerate(module.facts.classes)
                if last[facts.qualname] == index and not _hidden(facts, module)
            )
        return found

    @cached_property
    def classes(self) -> tuple[ClassInfo, ...]:
        """Every class of the models directory."""
        return self.classes_in(self.model_paths)

    @cached_property
    def registered(self) -> tuple[ClassInfo, ...]:
        """The classes that ``EntryClass`` of a module directly in the models directory names, or of an extra file."""
        return self._registered_by(self.model_files)

    @cached_property
    def _links(self) -> dict[str, Links]:
        return {path: Links(*found) for path, found in self.each_file(links).items()}

    @cached_property
    def registered_keys(self) -> frozenset[str]:
        """The keys of all registered classes."""
        return frozenset(key for found in self._links.values() for key in found.registered)

    @cached_property
    def inherited_keys(self) -> frozenset[str]:
        """The keys of the classes that these may inherit from, and their own."""
        return frozenset(key for found in self._links.values() for key in found.inherited)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The model files in sets of those that have to be looked at together."""
        return families(self._links)

    def classes_in(self, paths: frozenset[str]) -> tuple[ClassInfo, ...]:
        """The classes of the model files ``paths``."""
        found = self._classes_in.get(paths)
        if found is None:
            modules = self._readable(self._models_of(paths))
            found = self._classes_in[paths] = tuple(info for module in modules for info in self.classes_of(module))
        return found

    def _models_of(self, paths: frozenset[str]) -> list[str]:
        return sorted(paths & self.model_paths)

    def registered_in(self, paths: frozenset[str]) -> tuple[ClassInfo, ...]:
        """The registered classes of the model files ``paths``, which are whole families."""
        found = self._registered_in.get(paths)
        if found is None:
            inside = (info for info in self._registered_by(self._models_of(paths)) if info.path in paths)
            found = self._registered_in[paths] = tuple(sorted(inside, key=lambda info: info.path))
        return found

    def _registered_by(self, paths: Iterable[str]) -> tuple[ClassInfo, ...]:
        found: dict[ClassInfo, None] = {}
        for module in self._readable(paths):
            if self.is_scanned(module):
                found.update(dict.fromkeys(self.entries(module)))
        return tuple(found)

    def once(self, question: Callable[[Project], T]) -> T:
        """The answer of ``question`` about this project, which is asked once."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: T = self._answers[question]
        return answer

    def each_file(self, question: Callable[[Project, Module], tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        """What ``question`` says of each model file, by path; nothing of those that can't be read.

        The answers, tuples of strings and numbers, are kept for later runs: each may depend on its file alone, and on what
        that imports.
        """
        if question not in self._answers_by_file:
            self._answers_by_file[question] = {path: self._about(path, question) for path in self.model_files}
        return self._answers_by_file[question]

    def _about(self, path: str, question: Callable[[Project, Module], tuple[Any, ...]]) -> tuple[Any, ...]:
        name = f"{question.__module__}.{question.__qualname__}"
        known = self._parts.find(name, (path,)) if self._parts is not None else None
        if not isinstance(known, tuple):
            module = self.modules.at(path)
            known = tuple(question(self, module)) if module is not None else ()
            if self._parts is not None:
                self._parts.keep(name, (path,), known)
        return known

    def entries(self, module: Module) -> tuple[ClassInfo, ...]:
        """The classes that ``EntryClass`` of ``module`` names."""
        if "EntryClass" not in module.final and "*" not in module.final:
            return ()
        found: dict[ClassInfo, None] = {}
        for value in self.names.resolve(module, "EntryClass"):
            items = value.any_item() if isinstance(value, SequenceValue) else (value,)
            found.update({item.info: None for item in items if isinstance(item, ClassValue)})
        return tuple(found)

    def required_of(self, info: ClassInfo, protocol: Protocol) -> tuple[str, ...]:
        """The methods without which no way of the runtime serves a target of ``protocol`` such as ``info``."""
        return tuple(
            method.name
            for method in self.contract.required(protocol)
            if not method.call_sites
            or any(
                not any(self.roles.exposure(info, other) for other in site.unless)
                for site in method.required_sites(protocol)
            )
        )

    def construct(self, info: ClassInfo) -> Constructed:
        """The attributes of an object of ``info`` as the runtime builds it."""
        return self.interpreter.construct(info)

    @cached_property
    def capture_flow(self) -> CaptureFlow:
        """What capture setters write and who reads it."""
        from eagle3_lint.project.capture_flow import CaptureFlow

        return CaptureFlow(self)

    def is_scanned(self, module: Module) -> bool:
        """Whether the registry looks into ``module``."""
        return os.path.dirname(module.path) == self.models or module.path in self.extra


def model_packages(modules: Modules, models: str | None, extra: tuple[str, ...]) -> tuple[str, ...]:
    """The packages that the directory ``models`` and the files ``extra`` lie in."""
    found = dict.fromkeys(modules.name_of(path).partition(".")[0] for path in extra)
    if models:
        found.setdefault(modules.name_of(models))
    return tuple(name for name in found if name != "sglang")


def _hidden(facts: ClassFacts, module: Module) -> bool:
    """Whether another statement has taken the class's name by the end of the module."""
    top = facts.qualname.partition(".")[0]
    found = module.final.get(top)
    return found is None or not any(
        (binding := module.binding(index)).kind == "class"
        and (facts.qualname != top or module.facts.classes[binding.class_index] is facts)
        for index in found.indexes
    )
