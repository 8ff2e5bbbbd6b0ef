"""One tree of models under lint: what each rule finds in it, remembered where nothing has changed.

The project (every module parsed, every class) is opened only when some rule has to look again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.contents import Contents
from eagle3_lint.sources.files import package_root, python_files
from eagle3_lint.sources.tree import SourceTree

if TYPE_CHECKING:
    import ast

    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.engine.outcome import Census
    from eagle3_lint.engine.second_process import Ended
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.findings.report import InternalError
    from eagle3_lint.sources.text import SourceText


class Workspace:
    """A tree, or files outside any tree that build on one.

    ``look_beside`` is what whoever parses a model file for its facts is to ask of its text in passing; the answers are
    put into ``looked_at``, by path. ``ended`` is where second processes go that were told to end, if somebody waits for them.
    """

    def __init__(
        self,
        tree: SourceTree | None,
        extra: tuple[str, ...] = (),
        buffers: dict[str, bytes] | None = None,
        engine: str = "auto",
        memory: Memory | None = None,
        pedantic: bool = False,
        parallel: bool = False,
        with_fixes: bool = True,
    ) -> None:
        self.tree = tree
        self.with_fixes = with_fixes
        self.parallel = parallel
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
        self.look_beside: Callable[[str, ast.Module], Any] | None = None
        self.looked_at: dict[str, Any] = {}
        self.ended: Ended | None = None
        self._recalled_files: dict[tuple[str, str], tuple[Finding, ...]] = {}
        self._found: dict[str, tuple[Finding, ...]] = {}
        self._by_path: dict[str, list[Finding]] = {}
        self._census: Census = {}
        self._digests: dict[str, bytes] = {}
        self._recalled = False
        self._learnt = False

    @property
    def root(self) -> str:
        """The directory that paths in messages are relative to."""
        if self.tree is not None and not self.extra:
            return self.tree.root
        return self.roots[0] if self.roots else os.getcwd()

    @cached_property
    def opened(self) -> OpenedProject:
        """The parsed project; opening it is what takes time."""
        from eagle3_lint.engine.opened import OpenedProject

        return OpenedProject(self)

    @cached_property
    def model_files(self) -> tuple[str, ...]:
        """Every Python file of the models directory, subpackages too, and the extra files."""
        return python_files(self.tree.models if self.tree is not None else None, self.extra)

    @cached_property
    def _models(self) -> str:
        assert self.tree is not None
        return self.tree.models + os.sep

    def is_model_file(self, path: str) -> bool:
        """Whether ``path`` is one of the project's own modules, so that its facts are wanted anyway."""
        return path in self.extra or (self.tree is not None and path.startswith(self._models))

    def source(self, path: str) -> SourceText:
        """The text of the file ``path``; raises UnreadableSourceError where it can't be read."""
        return self.opened.modules.source(path) if "opened" in self.__dict__ else self.contents.source(path)

    def knows_facts(self, path: str) -> bool:
        """Whether the model file ``path`` need not be parsed for its facts."""
        return self.memory is not None and self.memory.knows_facts(self.content_digest(path))

    def prepare(self, codes: frozenset[str]) -> None:
        """Find everything that the rules ``codes`` find in the project, or recall it from the last run."""
        from eagle3_lint.rules.catalogue import about_classes

        asked = about_classes(codes)
        if not asked:
            return
        self._recall()
        missing = asked - self._found.keys()
        if missing:
            found, census = self.opened.check(missing)
            self._found.update(found)
            self._by_path.clear()
            self._census.update(census)
            self.internal_errors.extend(self.opened.internal_errors)
            self._learnt = True

    def project_findings(self, code: str) -> tuple[Finding, ...]:
        """Everything that the rule ``code`` finds in the project, wherever it is; nothing for rules about one file."""
        self.prepare(frozenset((code,)))
        return self._found.get(code, ())

    def project_findings_in(self, path: str, codes: frozenset[str]) -> tuple[Finding, ...]:
        """What the rules ``codes`` find in the file ``path``, by code."""
        self.prepare(codes)
        if not self._by_path:
            for code in sorted(self._found):
                for one in self._found[code]:
                    self._by_path.setdefault(one.path, []).append(one)
        return tuple(one for one in self._by_path.get(path, ()) if one.code in codes)

    def census(self) -> Census:
        """What the model files hold, once ``prepare`` was asked for a rule about classes."""
        return self._census

    def recall_file(self, path: str, key: str) -> tuple[Finding, ...] | None:
        """What the text of ``path`` was found to show in an earlier run, or None."""
        if self.memory is None:
            return None
        known = self._recalled_files.get((path, key))
        if known is None:
            known = self.memory.file_findings(self._file_key(path, key))
            if known is not None:
                self._recalled_files[path, key] = known
        return known

    def remember_file(self, path: str, key: str, found: tuple[Finding, ...], visited: Iterable[str]) -> None:
        """Keep what the text of ``path`` shows, as long as the files ``visited`` for it stay what they are."""
        if self.memory is not None and self.contents.buffered.isdisjoint(visited):
            self.memory.keep_file_findings(self._file_key(path, key), found, visited)
            self._learnt = True

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
        if "opened" not in self.__dict__ or not self.opened.is_rememberable:
            return
        from eagle3_lint.engine.memory import Recalled

        outside = self.opened.outside()
        if not outside.isdisjoint(self.contents.buffered):
            # what lies there on disk isn't what the findings depend on
            return
        failed = {error.rule for error in self.internal_errors}
        kept = {code: found for code, found in self._found.items() if code not in failed}
        self.memory.keep(self.key, outside, Recalled(kept, self._census))

    def _recall(self) -> None:
        if self._recalled:
            return
        self._recalled = True
        known = self.memory.recall(self.key) if self.memory is not None else None
        if known is not None:
            self._found.update(known.findings)
            self._by_path.clear()
            self._census.update(known.census)

    def _file_key(self, path: str, key: str) -> bytes:
        from eagle3_lint.cache.store import digest

        return digest(os.fsencode(key), self.content_digest(path))

    @cached_property
    def key(self) -> bytes:
        """A digest of all that the findings of every project depend on: the models and the runtime."""
        from eagle3_lint.cache.store import digest

        parts = [self.runtime_state]
        for path in self.model_files:
            parts.extend((os.fsencode(path), self.content_digest(path)))
        return digest(*parts)

    @cached_property
    def runtime_state(self) -> bytes:
        """A digest of the runtime of the tree."""
        from eagle3_lint.cache.answers import runtime_state

        return runtime_state(self.tree.root) if self.tree is not None else b""

    def size_of(self, path: str) -> int:
        """How large the file ``path`` is; 0 where it can't be read."""
        try:
            return len(self.contents.data(path))
        except UnreadableSourceError:
            return 0

    def content_digest(self, path: str) -> bytes:
        """A digest of the content of the file ``path``, or of why it can't be read."""
        found = self._digests.get(path)
        if found is None:
            from eagle3_lint.cache.store import digest

            try:
                data = self.contents.data(path)
            except UnreadableSourceError as error:
                data = f"unreadable: {error.reason}".encode()
            found = self._digests[path] = digest(data)
        return found
