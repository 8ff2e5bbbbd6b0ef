"""The names that each scope of a module binds, in the order in which Python binds them.

Source: https://docs.python.org/3/reference/executionmodel.html#naming-and-binding
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ScopeKind = Literal["module", "class", "function", "comprehension", "type parameters"]


Reader = Literal["runtime", "checker", "postponed annotation"]
"""Who reads a name: Python, running the line; a type checker, in order; an annotation, when all is bound."""


class Binding(NamedTuple):
    """One binding: its line, whether it happens at run time, and the module that an import takes it from."""

    line: int
    runtime: bool
    module: str | None = None
    declared_only: bool = False

    def serves(self, reader: Reader) -> bool:
        """Whether ``reader`` finds it: a name only declared, without a value, means something to annotations alone."""
        if self.declared_only:
            return reader == "postponed annotation"
        return self.runtime or reader != "runtime"


class Found(NamedTuple):
    """The outcome of a lookup; ``hidden`` is what only type checkers find, with the scope that binds it."""

    provided: bool
    hidden: tuple[Binding, Scope] | None = None


@dataclass(eq=False)
class Scope:
    """One scope; ``names`` holds what is bound at this point of the walk.

    ``redirected`` maps names declared ``global`` or ``nonlocal`` to the scope that holds them. ``past`` keeps every
    binding there was, ``unbound`` the line where a name was deleted or its handler ended.
    """

    kind: ScopeKind
    name: str
    parent: Scope | None
    names: dict[str, Binding] = field(default_factory=dict)
    redirected: dict[str, Scope] = field(default_factory=dict)
    past: dict[str, list[Binding]] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    handled: dict[str, int] = field(default_factory=dict)
    star_at_runtime: bool = False
    star_for_checkers: bool = False

    @property
    def module(self) -> Scope:
        """The scope of the module."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def enclosing_function(self) -> Scope | None:
        """The nearest scope outwards, this one included, whose names nested functions see, short of the module."""
        scope: Scope | None = self
        while scope is not None and scope.kind not in ("function", "type parameters"):
            scope = scope.parent
        return scope

    @property
    def walrus_target(self) -> Scope:
        """The scope in which ``:=`` binds."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, binding: Binding) -> None:
        """Bind ``name``; what only type checkers see doesn't replace what exists at run time."""
        scope = self.redirected.get(name, self)
        scope.past.setdefault(name, []).append(binding)
        current = scope.names.get(name)
        if current is None or binding.runtime or not current.runtime:
            scope.names[name] = binding

    def provide(self, name: str, binding: Binding) -> None:
        """Bind ``name`` unless it is bound."""
        if name not in self.names:
            self.bind(name, binding)

    def has(self, name: str) -> bool:
        """Whether ``name`` is bound in this scope itself."""
        return name in self.redirected.get(name, self).names

    def unbind(self, name: str, line: int) -> bool:
        """Delete ``name``; False if it isn't bound here. A function that deletes a global may never run."""
        if name in self.redirected:
            return self.has(name)
        if self.names.pop(name, None) is None:
            return False
        self.deleted[name] = line
        return True

    def lookup(self, name: str, reader: Reader) -> Found:
        """What a read of ``name`` in this scope finds now.

        A name that a function binds, for type checkers only or without a value, hides from Python what is bound
        outside it; a name missing in a class is looked up in the module. The body of a class is invisible from
        scopes nested in it, but for the scopes of type parameters.
        """
        scope: Scope | None = self
        in_reach = True
        hidden: tuple[Binding, Scope] | None = None
        while scope is not None:
            if name in scope.redirected:
                scope, in_reach = scope.redirected[name], True
            binding = scope.names.get(name) if in_reach or scope.kind != "class" else None
            if binding is not None and binding.serves(reader):
                return Found(True)
            if binding is not None and not binding.declared_only:
                hidden = hidden or (binding, scope)
            if binding is not None and scope.kind == "function" and reader == "runtime":
                break
            in_reach = in_reach and scope.kind == "type parameters"
            if scope.parent is None and (scope.star_at_runtime or (scope.star_for_checkers and reader != "runtime")):
                return Found(True)
            scope = scope.parent
        return Found(False, hidden)
