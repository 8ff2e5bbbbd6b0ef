"""Which model files each model file imports, and a digest of all that it can depend on among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from eagle3_lint.cache.store import digest

if TYPE_CHECKING:
    from eagle3_lint.facts.imports import Import
    from eagle3_lint.project.project import Project


class ImportGraph:
    """The model files that each model file of ``project`` imports anywhere in it.

    ``imports_of`` gives the imports that are written in a file, so that no file has to be parsed.
    """

    def __init__(self, project: Project, imports_of: Callable[[str], Iterable[Import]]) -> None:
        self._project = project
        self._imports_of = imports_of
        self._known: dict[str, tuple[str, ...]] = {}
        self._near_models: dict[str, bool] = {}

    def imported(self, path: str) -> tuple[str, ...]:
        """The model files that the file ``path`` imports."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = tuple(self._imported(path))
        return known

    def _imported(self, path: str) -> Iterable[str]:
        modules = self._project.modules
        models = self._project.model_paths
        found: dict[str, None] = {}
        for level, target, names in self._imports_of(path):
            dotted = modules.imported_from(path, level, target)
            if not self._is_near_models(dotted):
                continue
            holder = modules.find(dotted)
            # What a module that is no package has inside it is in no other file.
            inner = names if holder is None or not holder.endswith(".py") or _is_package(holder) else ()
            for other in (holder, *(modules.find(f"{dotted}.{name}") for name in inner)):
                if other in models and other is not None:
                    found[other] = None
        return found

    def _is_near_models(self, dotted: str) -> bool:
        """Whether ``dotted`` is in a package of models, or leads to one."""
        known = self._near_models.get(dotted)
        if known is None:
            names = self._project.names
            leads = any(package.startswith(f"{dotted}.") for package in names.packages) if dotted else True
            known = self._near_models[dotted] = leads or names.follows(dotted)
        return known


def _is_package(path: str) -> bool:
    return os.path.basename(path) == "__init__.py"


class Digests:
    """What model files import, however indirectly, as digests; ``content`` gives that of one file.

    Files that import each other in a circle have one digest, so that each file is looked at once.
    """

    def __init__(self, imported: Callable[[str], tuple[str, ...]], content: Callable[[str], bytes]) -> None:
        self._imported = imported
        self._content = content
        self._digests: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        self._lowest: dict[str, int] = {}
        self._open: list[str] = []

    def digest(self, paths: Iterable[str]) -> bytes:
        """Changes whenever a file of ``paths``, or one that it imports, does."""
        found = set()
        for path in paths:
            if path not in self._digests:
                self._walk(path)
            found.add(self._digests[path])
        return digest(*sorted(found))

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
        return self._imported(path)

    def _close(self, path: str) -> None:
        """Give a digest to the files of the circle that ``path`` began: what they hold and what they import beside it."""
        circle = [self._open.pop()]
        while circle[-1] != path:
            circle.append(self._open.pop())
        inside = sorted(digest(os.fsencode(one), self._content(one)) for one in circle)
        outside = sorted(
            {self._digests[other] for one in circle for other in self._imported(one) if other in self._digests}
        )
        found = digest(digest(*inside), digest(*outside))
        for one in circle:
            self._digests[one] = found
