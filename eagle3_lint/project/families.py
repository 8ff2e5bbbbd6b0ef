"""Which model files have to be looked at together.

Files belong together when a class of one inherits from, forwards to, or is registered by the other: what rules say of a
class never speaks of classes outside its family, save those that its file imports. So families can be checked apart
from each other, in any order and in several processes, and what was found in one stays true until a file changes
that the family imports, however indirectly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.modules import Module
    from eagle3_lint.project.project import Project

Family = frozenset[str]


class Links(NamedTuple):
    """What one file says of others: the ``paths`` that belong to its family because of its classes and its
    ``EntryClass``, and the keys of the classes that it registers, and of those that these may inherit from; and what rules
    survey in it, with their codes."""

    paths: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    surveyed: tuple[tuple[str, tuple[Any, ...]], ...] = ()


def links(project: Project, module: Module) -> Links:
    """What ``module`` says of other files."""
    found: dict[str, None] = {}
    for info in project.classes_of(module):
        found.update(dict.fromkeys(one.path for one in info.kin))
        found.update(dict.fromkeys(_passed_on_to(project, info)))
    entries = project.entries(module)
    found.update(dict.fromkeys(info.path for info in entries))
    registered = entries if project.is_scanned(module) else ()
    inherited = dict.fromkeys(one.key for info in registered for one in info.kin)
    paths = tuple(path for path in found if path != module.path)
    return Links(paths, tuple(info.key for info in registered), tuple(inherited))


def _passed_on_to(project: Project, info: ClassInfo) -> Iterable[str]:
    if "__getattr__" in info.members or info.may_take_a_forward:
        for attribute in project.roles.passes_on_to(info):
            for candidate in project.roles.candidates(info, attribute):
                yield candidate.info.path


def families(paths: Iterable[str], linked: Mapping[str, Iterable[str]]) -> tuple[Family, ...]:
    """``paths`` in sets that belong together, where each is ``linked`` to others."""
    groups = _Groups(paths)
    for path, others in linked.items():
        for other in others:
            groups.join(path, other)
    return groups.all()


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
