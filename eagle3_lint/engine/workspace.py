"""One tree of models under lint: its files, its project, and what the rules about classes find in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.cache.answers import runtime_state
from eagle3_lint.cache.store import digest
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.contents import Contents
from eagle3_lint.sources.files import RUNTIME_FOLDERS, package_root, python_files
from eagle3_lint.sources.tree import SourceTree

if TYPE_CHECKING:
    from eagle3_lint.cache.parts import Parts
    from eagle3_lint.engine.class_rules import Census, ClassFindings
    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.facts.imports import Import
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.findings.report import InternalError
    from eagle3_lint.project.contract import Contract
    from eagle3_lint.project.modules import Modules
    from eagle3_lint.project.project import Project
    from eagle3_lint.sources.text import SourceText


class Workspace:
    """A tree, or files outside any tree that build on one. Modules are parsed, and rules run, when they are asked for."""

    def __init__(
        self,
        tree: SourceTree | None,
        extra: tuple[str, ...] = (),
        buffers: dict[str, bytes] | None = None,
        engine: str = "auto",
        memory: Memory | None = None,
        pedantic: bool = False,
        with_fixes: bool = True,
    ) -> None:
        self.tree = tree
        self.with_fixes = with_fixes
        self.extra = extra
        self.pedantic = pedantic
        self.engine = engine
        self.contents = Contents(buffers)
        self.memory = memory
        self.internal_errors: list[InternalError] = []
        roots = dict.fromkeys(package_root(path) for path in extra)
        if tree is not None:
            roots.setdefault(tree.root)
        self.roots = tuple(roots)
        self._by_path: dict[str, list[Finding]] = {}
        self._digests: dict[str, bytes] = {}
        self._learnt = False

    # Files

    @property
    def root(self) -> str:
        """The directory that paths in messages are relative to."""
        if self.tree is not None and not self.extra:
            return self.tree.root
        return self.roots[0] if self.roots else os.getcwd()

    @cached_property
    def model_files(self) -> tuple[str, ...]:
        """Every Python file of the models directory, subpackages too, and the extra files."""
        return python_files(self._models, self.extra)

    @property
    def _models(self) -> str | None:
        return self.tree.models if self.tree is not None else None

    def is_model_file(self, path: str) -> bool:
        """Whether ``path`` is one of the project's own modules."""
        return path in self.extra or (self._models is not None and path.startswith(self._models + os.sep))

    def source(self, path: str) -> SourceText:
        """The text of the file ``path``; raises UnreadableSourceError where it can't be read."""
        return self.contents.source(path)

    def content_digest(self, path: str) -> bytes:
        """A digest of the content of the file ``path``, or of why it can't be read."""
        found = self._digests.get(path)
        if found is None:
            try:
                data = self.contents.data(path)
            except UnreadableSourceError as error:
                data = f"unreadable: {error.reason}".encode()
            found = self._digests[path] = digest(data)
        return found

    @cached_property
    def _runtime_state(self) -> bytes:
        return runtime_state(self.tree.root) if self.tree is not None else b""

    @cached_property
    def key(self) -> bytes:
        """A digest of all that the findings of every project depend on: the models and the runtime."""
        files = (part for path in self.model_files for part in (os.fsencode(path), self.content_digest(path)))
        return digest(self._runtime_state, *files)

    # The project

    @cached_property
    def modules(self) -> Modules:
        """The modules of the tree and of the extra files."""
        from eagle3_lint.facts.extract import facts_and_statements
        from eagle3_lint.project.modules import Modules

        return Modules(
            self.roots, self.contents, self.memory.facts if self.memory is not None else facts_and_statements
        )

    @cached_property
    def project(self) -> Project:
        """The classes of the tree and of the extra files."""
        from eagle3_lint.project.project import Project

        return Project(self.modules, self._models, lambda: self.contract, self.extra, self.engine, self._parts)

    @cached_property
    def contract(self) -> Contract:
        """What the runtime of the tree calls on a target; the built-in default where there is no runtime."""
        from eagle3_lint.project.contract import builtin_contract, read_contract
        from eagle3_lint.sources.reading import parse_source, read_source

        if self.tree is None or not self.tree.has_runtime:
            return builtin_contract()
        known = self.memory.contract(self._runtime_state) if self.memory is not None else None
        if known is None:
            known = read_contract(self.tree.root, read_source, parse_source)
            if self.memory is not None and _is_from_runtime(known, self.tree):
                self.memory.keep_contract(self._runtime_state, known)
        return known

    @cached_property
    def _parts(self) -> Parts | None:
        if self._project_memory is None:
            return None
        from eagle3_lint.project.imports import ImportGraph
        from eagle3_lint.project.project import model_packages

        packages = model_packages(self.modules, self._models, self.extra)
        graph = ImportGraph(self.modules, frozenset(self.model_files), packages, self._imports_of)
        return self._project_memory.parts(graph.reached, self.content_digest, self._runtime_state)

    @cached_property
    def _project_memory(self) -> Memory | None:
        """The memory for what depends on several files; None where a buffer lies over one of which it knows what is on disk."""
        return self.memory if all(map(self.is_model_file, self.contents.buffered)) else None

    def _imports_of(self, path: str) -> Iterable[Import]:
        assert self.memory is not None
        try:
            return self.memory.imports(self.content_digest(path), self.source(path))
        except UnreadableSourceError:
            return ()

    # What the rules about classes find

    @cached_property
    def _known(self) -> tuple[dict[str, tuple[Finding, ...]], Census]:
        """What each rule found in the project, in this run or an earlier one, and what its files hold."""
        recalled = self._project_memory.recall(self.key) if self._project_memory is not None else None
        return recalled or ({}, {})

    def prepare(self, codes: frozenset[str]) -> None:
        """Find everything that the rules ``codes`` find in the project, or recall it from the last run."""
        from eagle3_lint.rules.catalogue import about_classes

        asked = about_classes(codes)
        missing = asked - self._known[0].keys() if asked else asked
        if not missing:
            return
        found = self._look(missing)
        for code in missing:
            self._known[0][code] = tuple(one for one in found.of(code) if self.pedantic or not one.pedantic)
        self._known[1].update(found.census)
        self.internal_errors.extend(found.internal_errors)
        self._by_path.clear()
        self._learnt = True

    def _look(self, codes: frozenset[str]) -> ClassFindings:
        from eagle3_lint.engine.class_rules import ClassRules
        from eagle3_lint.rules.project_context import ProjectContext
        from eagle3_lint.rules.registry import load

        rules = [rule for code in sorted(codes) if (rule := load(code)).check_project is not None]
        return ClassRules(
            self.project,
            rules,
            lambda project, paths: ProjectContext(project, self.root, paths, self.with_fixes),
            self._parts,
        ).findings()

    def project_findings(self, code: str) -> tuple[Finding, ...]:
        """Everything that the rule ``code`` finds in the project, wherever it is; nothing for rules about one file."""
        self.prepare(frozenset((code,)))
        return self._known[0].get(code, ())

    def project_findings_in(self, path: str, codes: frozenset[str]) -> tuple[Finding, ...]:
        """What the rules ``codes`` find in the file ``path``, by code."""
        self.prepare(codes)
        if not self._by_path:
            for _, found in sorted(self._known[0].items()):
                for one in found:
                    self._by_path.setdefault(one.path, []).append(one)
        return tuple(one for one in self._by_path.get(path, ()) if one.code in codes)

    def census(self) -> Census:
        """What the model files hold, once ``prepare`` was asked for a rule about classes."""
        return self._known[1]

    # What is kept for the next run

    def recall_file(self, path: str, key: str) -> tuple[Finding, ...] | None:
        """What the text of ``path`` was found to show in an earlier run, or None."""
        return self.memory.file_findings(self._file_key(path, key)) if self.memory is not None else None

    def remember_file(self, path: str, key: str, found: tuple[Finding, ...], visited: Iterable[str]) -> None:
        """Keep what the text of ``path`` shows, as long as the files ``visited`` for it stay what they are."""
        if self.memory is not None and self.contents.buffered.isdisjoint(visited):
            self.memory.keep_file_findings(self._file_key(path, key), found, visited)
            self._learnt = True

    def _file_key(self, path: str, key: str) -> bytes:
        return digest(os.fsencode(key), self.content_digest(path))

    @property
    def has_news(self) -> bool:
        """Whether something was learnt since the last save."""
        return self._learnt

    def save(self) -> None:
        """Keep what was learnt for the next run, where there is a cache."""
        if self.memory is None or not self._learnt:
            return
        self._learnt = False
        self.memory.save()
        if "project" not in self.__dict__ or self._parts is None or not self.is_rememberable:
            return
        self._parts.save(self.outside)
        failed = {error.rule for error in self.internal_errors}
        findings, census = self._known
        kept = {code: found for code, found in findings.items() if code not in failed}
        self.memory.keep(self.key, self.outside, kept, census)

    @property
    def outside(self) -> frozenset[str]:
        """The files and directories beside the models that what is found here, or was in earlier runs, depends on."""
        consulted = frozenset(path for path in self.modules.consulted if not self.is_model_file(path))
        return consulted | self._parts.outside if self._parts is not None else consulted

    @property
    def is_rememberable(self) -> bool:
        """Whether the contract depends on nothing but the state of the runtime's folders."""
        return self.tree is None or not self.tree.has_runtime or _is_from_runtime(self.contract, self.tree)


def _is_from_runtime(contract: Contract, tree: SourceTree) -> bool:
    """Whether ``contract`` was read from the folders of the runtime alone: a call of a setter was found in them."""
    folders = tuple(os.path.join(tree.root, "sglang", "srt", folder) + os.sep for folder in RUNTIME_FOLDERS)
    return any(
        site.path.startswith(folders)
        for method in contract.methods
        if method.name.endswith("_layers_to_capture")
        for site in method.call_sites
    )
