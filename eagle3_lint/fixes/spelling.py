"""How a file spells the types that a new method needs, with what it imports."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eagle3_lint.project.modules import Module

_UNION = re.compile(r"(?:->|[,(\s]\w+:)\s*[\w.\[\], ]+\|\s*None\b")
_TYPING = ("typing", "typing_extensions")


@dataclass(frozen=True)
class Spelling:
    """The text of a type, and the names of ``typing`` that have to be imported for it."""

    text: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypingImports:
    """What a module has of ``typing`` above one of its lines.

    ``names`` maps names of typing to the module's own, ``module`` is its name for ``typing`` itself or empty;
    ``unions`` tells whether it writes ``X | None``, ``deferred`` whether Python evaluates its annotations at all.
    """

    names: dict[str, str]
    module: str
    unions: bool
    deferred: bool

    def optional_layers(self) -> Spelling:
        """``Optional[List[int]]``."""
        return self.optional(self.layers())

    def layers(self) -> Spelling:
        """``List[int]``."""
        if "List" in self.names:
            return Spelling(f"{self.names['List']}[int]")
        if self.module and "Optional" not in self.names:
            return Spelling(f"{self.module}.List[int]")
        if self.names.keys() & {"Optional"} or self.unions or self.deferred:
            return Spelling("list[int]")
        return Spelling("List[int]", ("List",))

    def optional(self, inner: Spelling) -> Spelling:
        """``inner`` or None."""
        if "Optional" in self.names:
            return Spelling(f"{self.names['Optional']}[{inner.text}]", inner.needs)
        if self.unions or (self.deferred and "List" not in self.names and not self.module):
            return Spelling(f"{inner.text} | None", inner.needs)
        if self.module:
            return Spelling(f"{self.module}.Optional[{inner.text}]", inner.needs)
        return Spelling(f"Optional[{inner.text}]", (*inner.needs, "Optional"))

    def pair(self, item: str) -> Spelling:
        """A tuple of two ``item``; needs nothing, as built-in tuples can be subscripted."""
        name = self.names.get("Tuple") or (f"{self.module}.Tuple" if self.module else "tuple")
        return Spelling(f"{name}[{item}, {item}]")


def typing_imports(module: Module, line: int) -> TypingImports:
    """What ``module`` has of ``typing`` above ``line``."""
    deferred = any(
        one.kind == "from" and one.target == "__future__" and one.original == "annotations"
        for one in module.facts.bindings
    )
    names: dict[str, str] = {}
    whole = ""
    for one in module.facts.bindings:
        if one.place.line >= line or (not deferred and (one.place.offset or one.name in module.facts.typing_only)):
            continue
        if one.kind == "from" and one.level == 0 and one.target in _TYPING and _is_sole(module, one.name):
            names.setdefault(one.original, one.name)
        elif one.kind == "import" and one.target == "typing" and _is_sole(module, one.name):
            whole = whole or one.name
    return TypingImports(names, whole, _UNION.search(module.source.text) is not None, deferred)


def is_imported(module: Module, name: str, line: int) -> bool:
    """Whether ``import name`` binds ``name`` in ``module`` above ``line``, and nothing else does."""
    return _is_sole(module, name) and any(
        one.kind == "import" and one.name == name and one.target == name and one.place.line < line
        for one in module.facts.bindings
    )


def _is_sole(module: Module, name: str) -> bool:
    """Whether every binding of ``name`` is an import from one module."""
    found = {(one.kind, one.target, one.original) for one in module.facts.bindings if one.name == name}
    return len(found) == 1
