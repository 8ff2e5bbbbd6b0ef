"""What a star import binds."""

from __future__ import annotations

from eagle3_lint.project.modules import Modules
from eagle3_lint.project.names import absolute_module


def star_exports(modules: Modules, dotted: str, visited: set[str]) -> frozenset[str] | None:
    """The names that ``from DOTTED import *`` binds, or None where that can't be read.

    The files that the answer depends on are added to ``visited``; where there is no file, the directories that it could be in.
    """
    return _exports(modules, dotted, frozenset(), visited)


def _exports(modules: Modules, dotted: str, seen: frozenset[str], visited: set[str]) -> frozenset[str] | None:
    module = modules.named(dotted)
    visited.update(modules.roots if module is None else (module.path,))
    if module is None or dotted in seen:
        return None
    if module.facts.exports is not None:
        return frozenset(module.facts.exports)
    names = {name for name in module.final if not name.startswith("_") and "." not in name and name != "*"}
    stars = module.final.get("*")
    for index in stars.indexes if stars else ():
        binding = module.binding(index)
        inner = _exports(modules, absolute_module(module, binding.target, binding.level), seen | {dotted}, visited)
        if inner is None:
            return None
        names |= inner
    return frozenset(names)
