"""A workspace whose project has been opened: its modules, its contract, and the rules run over it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.facts.extract import facts_of
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError
from eagle3_lint.project.contract import Contract, builtin_contract, read_contract
from eagle3_lint.project.modules import Modules
from eagle3_lint.project.names import absolute_module
from eagle3_lint.project.project import Project
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext
from eagle3_lint.sources.reading import parse_source
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.engine.workspace import Census, Workspace


class OpenedProject:
    """The project of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        memory = workspace.memory
        self.modules = Modules(workspace.roots, workspace.contents, memory.facts if memory else facts_of)
        self.is_rememberable = True

    @cached_property
    def contract(self) -> Contract:
        """What the runtime of the tree calls on a target; the built-in default where there is no runtime."""
        tree = self._workspace.tree
        if tree is None or not tree.has_runtime:
            return builtin_contract()
        memory = self._workspace.memory
        if memory is None:
            return _read_contract(tree.root)
        contract, self.is_rememberable = memory.contract(tree.root, lambda: _read_contract(tree.root))
        return contract

    @cached_property
    def project(self) -> Project:
        """The classes of the tree and of the extra files."""
        tree = self._workspace.tree
        return Project(
            self.modules,
            tree.models if tree is not None else None,
            self.contract,
            self._workspace.extra,
            self._workspace.engine,
        )

    def check(self, rule: Rule) -> tuple[Finding, ...]:
        """Everything that ``rule`` finds; a failure of the rule is noted, and what it found until then is kept."""
        assert rule.check_project is not None
        context = ProjectContext(self.project, self._workspace.root, self._workspace.pedantic)
        found: list[Finding] = []
        try:
            found.extend(rule.check_project(context))
        except Exception as error:  # noqa: BLE001 - a rule's own fault must not stop the others
            at = context.current
            self._workspace.internal_errors.append(
                InternalError(
                    rule.code, at.path if at else self._workspace.root, at.line if at else 1, describe(error)
                )
            )
        return tuple(found)

    def census(self) -> Census:
        """For each model file: how many classes it has, how many of them are registered, how many of these wrappers."""
        counts: Census = {}
        roles = self.project.roles
        for info in self.project.classes:
            classes, registered, wrappers = counts.get(info.path, (0, 0, 0))
            is_registered = roles.is_registered(info)
            is_wrapper = is_registered and roles.is_multimodal(info) and not roles.is_draft(info)
            counts[info.path] = (classes + 1, registered + is_registered, wrappers + is_wrapper)
        return counts

    def outside(self) -> frozenset[str]:
        """The files and directories looked at that aren't among the models."""
        return frozenset(path for path in self.modules.consulted if not self._workspace.is_model_file(path))

    def star_exports(self, source: SourceText) -> Callable[[str, int], frozenset[str] | None]:
        """For a file: the names that a star import in it binds, or None where that can't be read."""
        name = self.modules.name_of(source.path)
        package = name if os.path.basename(source.path) == "__init__.py" else name.rpartition(".")[0]

        def exports(target: str, level: int) -> frozenset[str] | None:
            base = package
            for _ in range(level - 1):
                base = base.rpartition(".")[0]
            dotted = target if level == 0 else ".".join(part for part in (base, target) if part)
            return self._exports(dotted, frozenset())

        return exports

    def _exports(self, dotted: str, seen: frozenset[str]) -> frozenset[str] | None:
        module = self.modules.named(dotted)
        if module is None or dotted in seen:
            return None
        if module.facts.exports is not None:
            return frozenset(module.facts.exports)
        names = {name for name in module.final if not name.startswith("_") and "." not in name and name != "*"}
        stars = module.final.get("*")
        for index in stars.indexes if stars else ():
            binding = module.binding(index)
            inner = self._exports(absolute_module(module, binding.target, binding.level), seen | {dotted})
            if inner is None:
                return None
            names |= inner
        return frozenset(names)


def describe(error: Exception) -> str:
    """An unexpected error with the place in this program that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace is not None else ""
    return f"{type(error).__name__}: {error}{where}"


def _read_contract(root: str) -> Contract:
    from eagle3_lint.sources.reading import read_source

    return read_contract(root, read_source, parse_source)
