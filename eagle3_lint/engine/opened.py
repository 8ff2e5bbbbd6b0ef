"""A workspace whose project has been opened: its modules, its contract, and the rules run over it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.cache.answers import States, states_of
from eagle3_lint.engine.by_family import check_families
from eagle3_lint.engine.loading import load_models
from eagle3_lint.engine.outcome import Census, Outcome
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.extract import facts_and_statements
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError, ordered
from eagle3_lint.project.contract import Contract, builtin_contract, read_contract
from eagle3_lint.project.modules import Module, Modules
from eagle3_lint.project.names import absolute_module
from eagle3_lint.project.project import Project
from eagle3_lint.rules.base import Note, Rule
from eagle3_lint.rules.project_context import ProjectContext
from eagle3_lint.rules.registry import load
from eagle3_lint.sources.reading import parse_source, read_source
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    import ast

    from eagle3_lint.engine.second_process import Ended
    from eagle3_lint.engine.workspace import Workspace


class OpenedProject:
    """The project of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        memory = workspace.memory
        self.memory = memory
        self.modules = Modules(workspace.roots, workspace.contents, memory.facts if memory else facts_and_statements)
        self.parallel = workspace.parallel
        self.is_rememberable = True
        self.internal_errors: list[InternalError] = []
        self.visited_elsewhere: set[str] = set()

    @cached_property
    def contract(self) -> Contract:
        """What the runtime of the tree calls on a target; the built-in default where there is no runtime."""
        known = self._known_contract
        if known is None:
            known = self.read_contract()
            self.install_contract(known)
            self.remember_contract()
        return known

    @property
    def knows_contract(self) -> bool:
        """Whether the contract can be had without reading the runtime."""
        return self._known_contract is not None

    def read_contract(self) -> Contract:
        """The contract as the runtime of the tree has it now."""
        assert self._workspace.tree is not None
        return read_contract(self._workspace.tree.root, read_source, parse_source)

    def install_contract(self, contract: Contract) -> None:
        """Take ``contract`` as read."""
        self._known_contract = contract

    def remember_contract(self) -> None:
        """Keep the contract that was read for later runs."""
        tree = self._workspace.tree
        if self.memory is not None and tree is not None and self._known_contract is not None:
            kept = self.memory.keep_contract(self._workspace.runtime_state, tree.root, self._known_contract)
            self.is_rememberable = kept

    @cached_property
    def _known_contract(self) -> Contract | None:
        tree = self._workspace.tree
        if tree is None or not tree.has_runtime:
            return builtin_contract()
        return self.memory.contract(self._workspace.runtime_state) if self.memory is not None else None

    @cached_property
    def project(self) -> Project:
        """The classes of the tree and of the extra files."""
        load_models(self, self._workspace.model_files)
        return self._new_project()

    def project_to_check(self) -> Project:
        """The project for one check: where none is open yet, one of its own, of which a check may need only a part."""
        return self.project if "project" in self.__dict__ else self._new_project()

    def _new_project(self) -> Project:
        tree = self._workspace.tree
        models = tree.models if tree is not None else None
        return Project(self.modules, models, lambda: self.contract, self._workspace.extra, self._workspace.engine)

    def check(self, codes: frozenset[str]) -> tuple[dict[str, tuple[Finding, ...]], Census]:
        """Everything that the rules ``codes`` find in the project, nothing for rules about one file; and what its files
        hold."""
        rules = [rule for code in sorted(codes) if (rule := load(code)).check_project is not None]
        outcome, project = check_families(self, rules)
        found: dict[str, tuple[Finding, ...]] = dict.fromkeys(codes, ())
        for rule in rules:
            found[rule.code] = self._concluded(rule, project, outcome)
        return found, outcome.census

    def _concluded(self, rule: Rule, project: Project, outcome: Outcome) -> tuple[Finding, ...]:
        pedantic = self._workspace.pedantic
        findings = ordered(one for one in outcome.findings.get(rule.code, ()) if pedantic or not one.pedantic)
        if rule.conclude is None:
            return findings
        context = self._context(project, project.model_paths)
        concluded: list[Finding] = []
        with self._noting_failures(rule, context):
            concluded.extend(rule.conclude(context, findings, outcome.notes.get(rule.code, ())))
        return ordered(concluded)

    def survey(self, rules: Iterable[Rule], project: Project, module: Module) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """What those of ``rules`` that survey files survey in ``module``, with their codes; a failure is kept for the report."""
        for rule in rules:
            if rule.survey is not None:
                context = self._context(project, frozenset((module.path,)))
                found: list[tuple[Any, ...]] = []
                with self._noting_failures(rule, context):
                    found.extend(rule.survey(context, module))
                yield from ((rule.code, one) for one in found)

    def run(
        self, rule: Rule, project: Project, paths: frozenset[str], surveyed: tuple[Note, ...] = ()
    ) -> tuple[list[Finding], list[Note]]:
        """What ``rule`` finds and notes in the classes of ``paths``, when it has ``surveyed`` this in all model files.

        A failure of the rule is kept for the report, beside what it found until then.
        """
        assert rule.check_project is not None
        context = self._context(project, paths, surveyed)
        found: list[Finding] = []
        with self._noting_failures(rule, context):
            found.extend(rule.check_project(context))
        return found, context.notes

    def _context(self, project: Project, paths: frozenset[str], surveyed: tuple[Note, ...] = ()) -> ProjectContext:
        workspace = self._workspace
        return ProjectContext(project, workspace.root, paths, workspace.with_fixes, surveyed)

    @contextmanager
    def _noting_failures(self, rule: Rule, context: ProjectContext) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a rule's own fault must not stop the others
            at = context.current
            self.internal_errors.append(
                InternalError(rule.code, at.path if at else self._workspace.root, at.line if at else 1, describe(error))
            )

    def census(self, project: Project, paths: frozenset[str]) -> Census:
        """What each of ``paths`` holds."""
        counts: Census = {}
        roles = project.roles
        for info in project.classes_in(paths):
            classes, registered, wrappers = counts.get(info.path, (0, 0, 0))
            is_registered = roles.is_registered(info)
            is_wrapper = is_registered and roles.is_multimodal(info) and not roles.is_draft(info)
            counts[info.path] = (classes + 1, registered + is_registered, wrappers + is_wrapper)
        return counts

    @property
    def ended(self) -> Ended | None:
        """Where second processes go that were told to end; None where nobody waits for them."""
        return self._workspace.ended

    @property
    def runtime_state(self) -> bytes:
        """A digest of the runtime of the tree."""
        return self._workspace.runtime_state

    def content_digest(self, path: str) -> bytes:
        """A digest of the content of the file ``path``."""
        return self._workspace.content_digest(path)

    def size_of(self, path: str) -> int:
        """How large the file ``path`` is; 0 where it can't be read."""
        return self._workspace.size_of(path)

    def readable(self, path: str) -> SourceText | None:
        """The text of the file ``path``, or None where it can't be read."""
        try:
            return self.modules.source(path)
        except UnreadableSourceError:
            return None

    def look_beside(self, path: str, tree: ast.Module) -> Any:
        """What is asked in passing of the text of a model file that is parsed for its facts; None where nothing is."""
        ask = self._workspace.look_beside
        return ask(path, tree) if ask is not None else None

    def looked_at(self, path: str, answer: Any) -> None:
        """Hand on what ``look_beside`` gave."""
        if answer is not None:
            self._workspace.looked_at[path] = answer

    def outside(self) -> frozenset[str]:
        """The files and directories looked at that aren't among the models."""
        consulted = (path for path in self.modules.consulted if not self._workspace.is_model_file(path))
        return frozenset((*consulted, *self.visited_elsewhere))

    def outside_states(self) -> States | None:
        """What is outside the models and was looked at, as it is on disk; None where a buffer lies over some of it."""
        outside = self.outside()
        if not outside.isdisjoint(self._workspace.contents.buffered):
            return None
        return states_of(outside)

    def star_exports(self, source: SourceText, visited: set[str]) -> Callable[[str, int], frozenset[str] | None]:
        """For a file: the names that a star import in it binds, or None where that can't be read.

        The files (or directories, where there is no file) that an answer depends on are added to ``visited``.
        """

        def exports(target: str, level: int) -> frozenset[str] | None:
            return self._exports(self.modules.imported_from(source.path, level, target), frozenset(), visited)

        return exports

    def _exports(self, dotted: str, seen: frozenset[str], visited: set[str]) -> frozenset[str] | None:
        module = self.modules.named(dotted)
        visited.update(self._workspace.roots if module is None else (module.path,))
        if module is None or dotted in seen:
            return None
        if module.facts.exports is not None:
            return frozenset(module.facts.exports)
        names = {name for name in module.final if not name.startswith("_") and "." not in name and name != "*"}
        stars = module.final.get("*")
        for index in stars.indexes if stars else ():
            binding = module.binding(index)
            inner = self._exports(absolute_module(module, binding.target, binding.level), seen | {dotted}, visited)
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
