"""One tree of models under lint: its project, opened when a rule first asks for it, and the findings of each rule."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.extract import facts_of
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError
from eagle3_lint.project.modules import Modules
from eagle3_lint.sources.reading import parse_source, read_source
from eagle3_lint.sources.tree import SourceTree

if TYPE_CHECKING:
    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.project.contract import Contract
    from eagle3_lint.project.project import Project
    from eagle3_lint.rules.base import Rule
    from eagle3_lint.sources.text import SourceText


class Workspace:
    """A tree, or files outside any tree that build on one."""

    def __init__(
        self,
        tree: SourceTree | None,
        extra: tuple[str, ...] = (),
        buffers: dict[str, bytes] | None = None,
        engine: str = "auto",
        memory: Memory | None = None,
        pedantic: bool = False,
    ) -> None:
        self.tree = tree
        self._pedantic = pedantic
        self._memory = memory
        self._runtime = b""
        self.extra = extra
        self._engine = engine
        roots = dict.fromkeys(_package_root(path) for path in extra)
        if tree is not None:
            roots.setdefault(tree.root)
        self.roots = tuple(roots)
        self.modules = Modules(self.roots, buffers, memory.facts if memory else facts_of)
        self._found: dict[str, tuple[Finding, ...]] = {}
        self._by_path: dict[str, dict[str, list[Finding]]] = {}
        self._census: dict[str, tuple[int, int, int]] = {}
        self._recalled = False
        self._learnt = False
        self.internal_errors: list[InternalError] = []

    @property
    def root(self) -> str:
        """The directory that paths in messages are relative to."""
        if self.tree is not None and not self.extra:
            return self.tree.root
        return self.roots[0] if self.roots else os.getcwd()

    @cached_property
    def contract(self) -> Contract:
        """What the runtime of the tree calls on a target; the built-in default where there is no runtime."""
        if self.tree is None or not self.tree.has_runtime:
            from eagle3_lint.project.contract.model import builtin_contract

            self._runtime = b"none"
            return builtin_contract()
        root = self.tree.root
        if self._memory is None:
            return _read_contract(root)
        contract, self._runtime = self._memory.contract(root, lambda: _read_contract(root))
        return contract

    @cached_property
    def project(self) -> Project:
        """The classes of the tree and of the extra files."""
        from eagle3_lint.project.project import Project

        models = self.tree.models if self.tree is not None else None
        return Project(self.modules, models, self.contract, self.extra, self._engine)

    def is_model_file(self, path: str) -> bool:
        """Whether ``path`` is one of the project's own modules, so that its facts are wanted anyway."""
        return path in self.extra or (self.tree is not None and path.startswith(self.tree.models + os.sep))

    def project_findings(self, rule: Rule) -> tuple[Finding, ...]:
        """Everything that ``rule`` finds in the project, wherever it is."""
        if rule.check_project is None:
            return ()
        self._recall()
        found = self._found.get(rule.code)
        if found is None:
            found = self._found[rule.code] = self._check_project(rule)
            self._learnt = True
        return found

    def project_findings_in(self, path: str, rule: Rule) -> tuple[Finding, ...]:
        """What ``rule`` finds in the file ``path``."""
        by_path = self._by_path.get(rule.code)
        if by_path is None:
            by_path = self._by_path[rule.code] = {}
            for one in self.project_findings(rule):
                by_path.setdefault(one.path, []).append(one)
        return tuple(by_path.get(path, ()))

    def census(self) -> dict[str, tuple[int, int, int]]:
        """For each model file: how many classes it has, how many of them are registered, how many of these wrappers."""
        self._recall()
        if not self._census:
            roles = self.project.roles
            for info in self.project.classes:
                classes, registered, wrappers = self._census.get(info.path, (0, 0, 0))
                is_registered = roles.is_registered(info)
                is_wrapper = is_registered and roles.is_multimodal(info) and not roles.is_draft(info)
                self._census[info.path] = (classes + 1, registered + is_registered, wrappers + is_wrapper)
            self._learnt = True
        return self._census

    def recall_file(self, path: str, key: str) -> tuple[Finding, ...] | None:
        """What the text of ``path`` was found to show in an earlier run, or None."""
        full = self._file_key(path, key)
        return self._memory.file_findings(full) if self._memory is not None and full else None

    def remember_file(self, path: str, key: str, found: tuple[Finding, ...]) -> None:
        """Keep what the text of ``path`` shows, unless it depends on what other files export."""
        full = self._file_key(path, key)
        if self._memory is not None and full:
            self._memory.keep_file_findings(full, found)
            self._learnt = True

    def _file_key(self, path: str, key: str) -> bytes:
        from eagle3_lint.cache.store import digest

        try:
            data = self.modules.data(path)
        except UnreadableSourceError:
            return b""
        return b"" if b"import *" in data else digest(os.fsencode(key), data)

    def save(self) -> None:
        """Keep what was learnt for the next run, where there is a cache."""
        if self._memory is None or not self._learnt:
            return
        self._learnt = False
        self._memory.save()
        if self._recalled and self._key:
            from eagle3_lint.engine.memory import Recalled

            failed = {error.rule for error in self.internal_errors}
            kept = {code: found for code, found in self._found.items() if code not in failed}
            outside = {path for path in self.modules.consulted if not self.is_model_file(path)}
            self._memory.keep(self._key, outside, Recalled(kept, self._census))

    def _recall(self) -> None:
        if self._recalled:
            return
        self._recalled = True
        known = self._memory.recall(self._key) if self._memory is not None and self._key else None
        if known is not None:
            self._found.update(known.findings)
            self._census.update(known.census)

    @cached_property
    def _key(self) -> bytes:
        """A digest of all that the findings always depend on; empty where they depend on more than is looked at."""
        from eagle3_lint.cache.store import digest

        if self.contract and not self._runtime:
            return b""
        parts = [self._runtime, b"pedantic" if self._pedantic else b""]
        for path in self.model_files:
            try:
                data = self.modules.data(path)
            except UnreadableSourceError as error:
                data = f"unreadable: {error.reason}".encode()
            parts.extend((os.fsencode(path), digest(data)))
        return digest(*parts)

    @cached_property
    def model_files(self) -> tuple[str, ...]:
        """Every Python file of the models directory, subpackages too, and the extra files."""
        from eagle3_lint.project.files import python_files

        return python_files(self.tree.models if self.tree is not None else None, self.extra)

    def _check_project(self, rule: Rule) -> tuple[Finding, ...]:
        from eagle3_lint.rules.project_context import ProjectContext

        assert rule.check_project is not None
        context = ProjectContext(self.project, self.root, self._pedantic)
        found: list[Finding] = []
        try:
            found.extend(rule.check_project(context))
        except Exception as error:  # a rule's own fault must not stop the others
            at = context.current
            self.internal_errors.append(
                InternalError(rule.code, at.path if at else self.root, at.line if at else 1, describe(error))
            )
        return tuple(found)

    def star_exports(self, source: SourceText) -> Callable[[str, int], frozenset[str] | None]:
        """For a file: the names that a star import in it binds, or None where that can't be read."""

        def exports(target: str, level: int) -> frozenset[str] | None:
            package = self.modules.name_of(source.path)
            if os.path.basename(source.path) != "__init__.py":
                package = package.rpartition(".")[0]
            for _ in range(level - 1):
                package = package.rpartition(".")[0]
            dotted = target if level == 0 else ".".join(part for part in (package, target) if part)
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
            from eagle3_lint.project.names import absolute_module

            binding = module.binding(index)
            inner = self._exports(absolute_module(module, binding.target, binding.level), seen | {dotted})
            if inner is None:
                return None
            names |= inner
        return frozenset(names)


def _read_contract(root: str) -> Contract:
    from eagle3_lint.project.contract import read_contract

    return read_contract(root, read_source, parse_source)


def describe(error: Exception) -> str:
    """An unexpected error with the place in this program that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace is not None else ""
    return f"{type(error).__name__}: {error}{where}"


def _package_root(path: str) -> str:
    """The directory above the outermost package that ``path`` lies in."""
    directory = os.path.dirname(path)
    while os.path.isfile(os.path.join(directory, "__init__.py")) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def siblings(path: str) -> tuple[str, ...]:
    """The Python files of the package around ``path``; the files beside it where it lies in none."""
    directory = os.path.dirname(path)
    root = _package_root(path)
    if root == directory:
        return tuple(sorted({path, *_python_files(directory)}))
    top = os.path.join(root, os.path.relpath(path, root).split(os.sep)[0])
    found: set[str] = {path}
    for folder, folders, _ in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.startswith("."))
        found.update(_python_files(folder))
    return tuple(sorted(found))


def _python_files(directory: str) -> Iterable[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        full = os.path.join(directory, name)
        if name.endswith(".py") and os.path.isfile(full):
            yield full
