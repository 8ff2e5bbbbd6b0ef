"""Which model files have to be looked at together.

Files belong together when a class of one inherits from, forwards to, or is registered by the other: what rules say of a
class never speaks of classes outside its family, save those that its file imports. So families can be checked apart
from each other, and what was found in one stays true until a file changes that the family imports, however indirectly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.modules import Module
    from eagle3_lint.project.project import Project

Family = frozenset[str]


class Links(NamedTuple):
    """What one file says of others: the ``paths`` that belong to its family because of its classes and its
    ``EntryClass``, and the keys of the classes that it registers, and of those that these may inherit from."""

    paths: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()


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


def families(linked: Mapping[str, Links]) -> tuple[Family, ...]:
    """The files in sets that belong together, in the order of their first path, where each is ``linked`` to others."""
    family: dict[str, set[str]] = {path: {path} for path in linked}
    for path, found in linked.items():
        for other in found.paths:
            if other in family and family[other] is not family[path]:
                small, large = sorted((family[path], family[other]), key=len)
                large |= small
                family.update(dict.fromkeys(small, large))
    return tuple(dict.fromkeys(frozenset(family[path]) for path in sorted(linked)))
