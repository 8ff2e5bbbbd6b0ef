"""The names that each scope of a module binds, in the order in which Python binds them.

Source: https://docs.python.org/3/reference/executionmodel.html#naming-and-binding
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ScopeKind = Literal["module", "class", "function", "comprehension", "type parameters"]


class Binding(NamedTuple):
    """One binding: its line, whether it happens at run time, and the module that an import takes it from."""

    line: int
    runtime: bool
    module: str | None = None
    declared_only: bool = False


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

    def unbind(self, name: str, line: int) -> bool:
        """Delete ``name``; False if it isn't bound here."""
        scope = self.redirected.get(name, self)
        if scope.names.pop(name, None) is None:
            return False
        scope.deleted[name] = line
        return True

    def provides(self, name: str, at_runtime: bool) -> bool:
        """Whether a read of ``name`` in this scope finds something now.

        A name that a function binds, even for type checkers only, hides what is bound outside it; a name missing in
        a class is looked up in the module. The body of a class is invisible from scopes nested in it, but for the
        scopes of type parameters.
        """
        scope: Scope | None = self
        in_reach = True
        while scope is not None:
            if name in scope.redirected:
                scope, in_reach = scope.redirected[name], True
            if scope.kind != "class" or in_reach:
                binding = scope.names.get(name)
                if binding is not None and (binding.runtime or not at_runtime):
                    return True
                if binding is not None and scope.kind == "function" and not binding.declared_only:
                    return False
            in_reach = in_reach and scope.kind == "type parameters"
            if scope.parent is None:
                return scope.star_at_runtime or (scope.star_for_checkers and not at_runtime)
            scope = scope.parent
        return False
