"""Which model files each model file imports, however indirectly."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle3_lint.facts.imports import Import
    from eagle3_lint.project.modules import Modules


class ImportGraph:
    """The model files that each of the ``models`` imports anywhere in it; they lie in ``packages``.

    ``imports_of`` gives the imports that are written in a file, so that no file has to be parsed.
    """

    def __init__(
        self,
        modules: Modules,
        models: Collection[str],
        packages: tuple[str, ...],
        imports_of: Callable[[str], Iterable[Import]],
    ) -> None:
        self._modules = modules
        self._models = models
        self._packages = packages
        self._imports_of = imports_of
        self._known: dict[str, tuple[str, ...]] = {}

    def reached(self, paths: Iterable[str]) -> frozenset[str]:
        """The files ``paths``, and all that they import."""
        pending = list(paths)
        found = set(pending)
        while pending:
            new = set(self.imported(pending.pop())) - found
            found |= new
            pending.extend(new)
        return frozenset(found)

    def imported(self, path: str) -> tuple[str, ...]:
        """The model files that the file ``path`` itself imports."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = tuple(self._imported(path))
        return known

    def _imported(self, path: str) -> Iterable[str]:
        found: dict[str, None] = {}
        for level, target, names in self._imports_of(path):
            dotted = self._modules.imported_from(path, level, target)
            if not self._is_near_models(dotted):
                continue
            holder = self._modules.find(dotted)
            # What a module that is no package has inside it is in no other file.
            inner = names if holder is None or not holder.endswith(".py") or _is_package(holder) else ()
            for other in (holder, *(self._modules.find(f"{dotted}.{name}") for name in inner)):
                if other in self._models and other is not None:
                    found[other] = None
        return found

    def _is_near_models(self, dotted: str) -> bool:
        """Whether ``dotted`` is in a package of models, or leads to one."""
        return not dotted or any(
            f"{one}.".startswith(f"{other}.")
            for package in self._packages
            for one, other in ((package, dotted), (dotted, package))
        )


def _is_package(path: str) -> bool:
    return os.path.basename(path) == "__init__.py"
