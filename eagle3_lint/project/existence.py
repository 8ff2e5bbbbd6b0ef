"""What a function makes sure of before it uses something: whether an attribute exists at all."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle3_lint.project.effects import Effects, Event, Guard, Path


@dataclass(frozen=True)
class Existence:
    """The questions about existence in one function.

    ``looked_up`` are the paths read by ``getattr`` with a default: a test of what came out of it asks for existence
    too.
    """

    looked_up: frozenset[Path]

    def asks(self, guard: Guard, *, positive: bool) -> bool:
        """Whether ``guard`` says that its path exists (or, without ``positive``, that it doesn't)."""
        if guard.kind == "has":
            return guard.positive == positive
        if guard.path not in self.looked_up:
            return False
        return guard.positive == (positive if guard.kind == "true" else not positive) and guard.kind != "other"

    def made_sure(self, event: Event) -> frozenset[Path]:
        """The paths that exist where ``event`` happens."""
        return frozenset(guard.path for guard in event.guards if self.asks(guard, positive=True))

    def missing_at(self, event: Event) -> frozenset[Path]:
        """The paths that don't exist where ``event`` happens."""
        return frozenset(guard.path for guard in event.guards if self.asks(guard, positive=False))


def existence(effects: Effects) -> Existence:
    """What the function of ``effects`` asks about existence."""
    return Existence(frozenset(event.path for event in effects.of("read") if event.safe and _is_getattr(event.node)))


def _is_getattr(node: ast.expr | ast.stmt) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
