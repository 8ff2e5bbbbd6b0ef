"""Which model files have to be looked at together, and which others each such family depends on.

Files belong together when a class of one inherits from, forwards to, or is registered by the other: what rules say of a
class never speaks of classes outside its family, save those that its file imports. So families can be checked apart
from each other, in any order and in several processes, and what was found in one stays true until a file changes
that the family imports, however indirectly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from eagle3_lint.cache.store import digest

if TYPE_CHECKING:
    from eagle3_lint.project.modules import Module
    from eagle3_lint.project.project import Project

Family = frozenset[str]


def families(project: Project) -> tuple[Family, ...]:
    """The model files of ``project``, as sets of paths that belong together."""
    groups = _Groups(project.model_files)
    _join_kin(project, groups)
    for info in project.classes:
        if "__getattr__" in info.members or (info.module.mentions("forward = ") and "forward = " in info.text):
            for attribute in project.roles.passes_on_to(info):
                for candidate in project.roles.candidates(info, attribute):
                    groups.join(info.path, candidate.info.path)
    for module in project.model_modules():
        for info in project.entries(module):
            groups.join(module.path, info.path)
    return groups.all()


def _join_kin(project: Project, groups: _Groups) -> None:
    """Join each class with what it may inherit from, classes in between that other statements have replaced included."""
    seen = dict.fromkeys(project.classes)
    pending = list(seen)
    while pending:
        info = pending.pop()
        for base in info.near_bases:
            groups.join(info.path, base.path)
            if base not in seen:
                seen[base] = None
                pending.append(base)


class Imports:
    """What the model files of a project import, however indirectly, as digests; ``content`` gives that of one file.

    Files that import each other in a circle have one digest, so that each file is looked at once.
    """

    def __init__(self, project: Project, content: Callable[[str], bytes]) -> None:
        self._project = project
        self._content = content
        self._digests: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        self._lowest: dict[str, int] = {}
        self._open: list[str] = []

    def digest(self, family: Family) -> bytes:
        """Changes whenever a file of ``family``, or one that it imports, does."""
        for path in family:
            if path not in self._digests:
                self._walk(path)
        return digest(*sorted({self._digests[path] for path in family}))

    def _walk(self, start: str) -> None:
        """Tarjan's search for circles, on a stack of its own (https://doi.org/10.1137/0201010)."""
        pending = [(start, iter(self._enter(start)))]
        while pending:
            path, following = pending[-1]
            for other in following:
                if other not in self._numbers:
                    pending.append((other, iter(self._enter(other))))
                    break
                if other not in self._digests:
                    self._lowest[path] = min(self._lowest[path], self._numbers[other])
            else:
                pending.pop()
                if self._lowest[path] == self._numbers[path]:
                    self._close(path)
                if pending:
                    above = pending[-1][0]
                    self._lowest[above] = min(self._lowest[above], self._lowest[path])

    def _enter(self, path: str) -> tuple[str, ...]:
        self._numbers[path] = self._lowest[path] = len(self._numbers)
        self._open.append(path)
        return imported_files(self._project, path)

    def _close(self, path: str) -> None:
        """Give a digest to the files of the circle that ``path`` began: what they hold and what they import beside it."""
        circle = [self._open.pop()]
        while circle[-1] != path:
            circle.append(self._open.pop())
        inside = sorted(digest(os.fsencode(one), self._content(one)) for one in circle)
        imported = {other for one in circle for other in imported_files(self._project, one)}
        outside = sorted({self._digests[other] for other in imported if other in self._digests})
        found = digest(digest(*inside), digest(*outside))
        for one in circle:
            self._digests[one] = found


def imported_files(project: Project, path: str) -> tuple[str, ...]:
    """The model files that the file ``path`` imports anywhere in it."""
    known = project.imported.get(path)
    if known is None:
        module = project.modules.at(path)
        known = project.imported[path] = tuple(_imported(project, module)) if module is not None else ()
    return known


def _imported(project: Project, module: Module) -> Iterable[str]:
    models = project.model_paths
    found: dict[str, None] = {}
    for level, target, names in module.facts.imports:
        base = module.package
        for _ in range(level - 1):
            base = base.rpartition(".")[0]
        dotted = target if level == 0 else ".".join(part for part in (base, target) if part)
        if not project.names.follows(dotted) and not any(project.names.follows(f"{dotted}.{name}") for name in names):
            continue
        for candidate in (dotted, *(f"{dotted}.{name}" for name in names)):
            path = project.modules.find(candidate)
            if path in models and path is not None:
                found[path] = None
    return found


class _Groups:
    """Disjoint sets of paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._parents = {path: path for path in paths}

    def join(self, one: str, other: str) -> None:
        """Put the sets of ``one`` and ``other`` together; a path that isn't known is left out."""
        if one in self._parents and other in self._parents:
            self._parents[self._root(one)] = self._root(other)

    def all(self) -> tuple[Family, ...]:
        """Every set, in the order of its first path."""
        sets: dict[str, list[str]] = {}
        for path in sorted(self._parents):
            sets.setdefault(self._root(path), []).append(path)
        return tuple(frozenset(paths) for paths in sets.values())

    def _root(self, path: str) -> str:
        while self._parents[path] != path:
            self._parents[path] = self._parents[self._parents[path]]
            path = self._parents[path]
        return path
