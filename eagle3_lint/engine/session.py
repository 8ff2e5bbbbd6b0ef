"""The per-process index behind one door: workspaces by tree, and findings by file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.files import package_files, siblings
from eagle3_lint.sources.reading import read_bytes
from eagle3_lint.sources.tree import SourceTree, find_tree_from, installed_tree, tree_of_file

if TYPE_CHECKING:
    from eagle3_lint.cache.store import Store
    from eagle3_lint.engine.file_check import FileResult
    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.engine.own_text import OwnFindings
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.findings.report import InternalError
    from eagle3_lint.findings.suppression import Kind


@dataclass(frozen=True)
class SessionOptions:
    """What the answers of a session depend on, beside the files.

    ``search_path`` is where an installed SGLang is looked for; ``sys.path`` if None. ``with_fixes`` says that findings
    are to carry their fixes, which hosts don't show.
    """

    engine: str = "auto"
    sglang: str | None = None
    cache: bool = True
    cache_dir: str | None = None
    pedantic: bool = False
    target_version: tuple[int, int] | None = None
    search_path: tuple[str, ...] | None = None
    with_fixes: bool = False


class Session:
    """Answers for the files of any number of trees; knowledge of other files is read from disk, once.

    ``parallel`` allows a second process, which only a program that has no threads of its own may ask for. ``texts`` take
    the place of files, by absolute path.
    """

    def __init__(
        self,
        options: SessionOptions,
        progress: Callable[[str], None] | None = None,
        parallel: bool = False,
        texts: Mapping[str, bytes] | None = None,
    ) -> None:
        self.options = options
        self._texts = dict(texts or {})
        self.parallel = parallel
        self._progress = progress
        self._workspaces: dict[tuple[str | None, tuple[str, ...]], Workspace] = {}
        self._trees: dict[str, SourceTree | None] = {}
        self._packages: dict[str, tuple[str, ...]] = {}
        self._configured: SourceTree | None = None
        self._configured_known = False
        self._store: Store | None = None
        self._answers = 0
        self._failures: list[InternalError] = []
        self._told: set[InternalError] = set()
        self._buffered: tuple[tuple[str, bytes], Workspace] | None = None

    @property
    def workspaces(self) -> tuple[Workspace, ...]:
        """Every workspace opened so far."""
        return tuple(self._workspaces.values())

    @property
    def internal_errors(self) -> tuple[InternalError, ...]:
        """The failures of rules over whole projects."""
        buffered = (self._buffered[1],) if self._buffered else ()
        return tuple(error for workspace in (*self.workspaces, *buffered) for error in workspace.internal_errors)

    def take_failures(self) -> tuple[InternalError, ...]:
        """The failures of rules since the last call, which a host tells beside what ``findings_of`` answers."""
        found = dict.fromkeys((*self._failures, *self.internal_errors))
        new = tuple(error for error in found if error not in self._told)
        self._told.update(new)
        self._failures.clear()
        return new

    def tree_around(self, path: str) -> SourceTree | None:
        """The tree that the file ``path`` lies in."""
        directory = os.path.dirname(path)
        if directory not in self._trees:
            self._trees[directory] = tree_of_file(directory)
        return self._trees[directory]

    def _files_around(self, path: str) -> tuple[str, ...]:
        directory = os.path.dirname(path)
        if directory not in self._packages:
            self._packages[directory] = package_files(directory)
        return self._packages[directory]

    def configured_tree(self) -> SourceTree | None:
        """The tree that files outside any tree build on: the configured one, one around the working directory, or the
        installed one.

        Raises ReleaseError where the configured one can't be had.
        """
        if not self._configured_known:
            self._configured_known = True
            if self.options.sglang is not None:
                from eagle3_lint.sources.cachedir import cache_dir
                from eagle3_lint.sources.releases import release_tree

                folder = cache_dir(self.options.cache_dir)
                self._configured = release_tree(self.options.sglang, folder, self._progress)
            else:
                self._configured = find_tree_from(os.getcwd()) or installed_tree(self.options.search_path)
        return self._configured

    def workspace_of(self, path: str, data: bytes | None = None) -> Workspace:
        """The workspace that answers for the file ``path``; a fresh one where a host's buffer differs from the disk."""
        tree = self.tree_around(path)
        extra: tuple[str, ...] = ()
        if tree is None:
            tree = self.configured_tree()
            extra = siblings(path, self._files_around(path))
        if data is not None and not _same_on_disk(path, data):
            if self._buffered is None or self._buffered[0] != (path, data):
                self._buffered = ((path, data), self.open(tree, extra, {path: data}))
            return self._buffered[1]
        key = (tree.root if tree else None, extra)
        found = self._workspaces.get(key)
        if found is None:
            found = self._workspaces[key] = self.open(tree, extra)
        return found

    def open(
        self, tree: SourceTree | None, extra: tuple[str, ...] = (), buffers: dict[str, bytes] | None = None
    ) -> Workspace:
        """A new workspace over ``tree`` and ``extra``, with this session's engine and cache."""
        return Workspace(
            tree,
            extra,
            {**self._texts, **(buffers or {})},
            self.options.engine,
            self._memory(tree, extra),
            self.options.pedantic,
            self.parallel,
            self.options.with_fixes,
        )

    def _memory(self, tree: SourceTree | None, extra: tuple[str, ...]) -> Memory | None:
        if not self.options.cache:
            return None
        if self._store is None:
            from eagle3_lint.cache.store import Store
            from eagle3_lint.sources.cachedir import cache_dir

            self._store = Store(os.path.join(cache_dir(self.options.cache_dir), "facts"))
        from eagle3_lint import __version__
        from eagle3_lint.engine.memory import Memory

        root = tree.root if tree is not None else os.path.dirname(extra[0]) if extra else ""
        settings = f"{self.options.engine} {self.options.pedantic} {self.options.with_fixes} {extra}"
        return Memory(self._store, root, __version__, settings)

    @property
    def cache_problem(self) -> str:
        """Why the cache could not be used, or the empty string."""
        return self._store.problem if self._store is not None else ""

    def findings_of(
        self,
        path: str,
        data: bytes | None,
        codes: frozenset[str],
        *,
        honour_pylint: bool = True,
        honour_noqa: bool = True,
    ) -> tuple[Finding, ...]:
        """The findings of ``codes`` that belong to the file ``path``, without those that its comments silence.

        ``data`` is the host's own text of the file, if it has one. A comment of a kind that the host reads itself
        (``honour_pylint``, ``honour_noqa``) is left to it.
        """
        from eagle3_lint.findings.report import ordered
        from eagle3_lint.rules.registry import all_codes

        result = self.check_file(os.path.abspath(path), data, codes.intersection(all_codes()))
        self._failures.extend(result.internal_errors)
        kinds: set[Kind] = {"eagle3-lint"}
        if honour_pylint:
            kinds.add("pylint")
        if honour_noqa:
            kinds.add("noqa")
        self._save_now_and_then()
        return ordered(result.kept(frozenset(kinds)))

    def check_file(
        self, path: str, data: bytes | None, codes: frozenset[str], found: OwnFindings | None = None
    ) -> FileResult:
        """Everything that the rules ``codes`` find in one file, with its suppressions.

        ``found`` is what its own text was found to show, if somebody looked already.
        """
        from eagle3_lint.engine.file_check import check_file

        return check_file(self.workspace_of(path, data), path, codes, self.target, found)

    @property
    def target(self) -> tuple[int, int]:
        """The Python version that the linted code is for."""
        return self.options.target_version or sys.version_info[:2]

    def _save_now_and_then(self) -> None:
        """Save after the first, second, fourth, eighth … answer that taught something.

        A host doesn't say which file is its last, and saving after each would cost more than linting it.
        """
        if any(workspace.has_news for workspace in self._workspaces.values()):
            self._answers += 1
            if self._answers & (self._answers - 1) == 0:
                self.save()

    def save(self) -> None:
        """Keep what was learnt for the next run."""
        for workspace in self._workspaces.values():
            workspace.save()


@lru_cache(maxsize=8)
def open_session(options: SessionOptions) -> Session:
    """The session of this process for ``options``."""
    return Session(options)


def _same_on_disk(path: str, data: bytes) -> bool:
    try:
        return read_bytes(path) == data
    except UnreadableSourceError:
        return False
