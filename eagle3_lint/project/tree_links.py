"""What the classes of a tree have to do with each other, for who looks at some of them only."""

from __future__ import annotations

from typing import Any, NamedTuple


class TreeLinks(NamedTuple):
    """``registered`` are the keys of all classes that the registry takes, ``inherited`` of those that these may inherit
    from. ``reach`` are the model files that the classes under check can lead to, None for all."""

    registered: frozenset[str]
    inherited: frozenset[str]
    reach: frozenset[str] | None = None

    def encoded(self) -> tuple[Any, ...]:
        """The same as lists of strings."""
        return sorted(self.registered), sorted(self.inherited), None if self.reach is None else sorted(self.reach)

    @classmethod
    def decoded(cls, plain: tuple[Any, ...]) -> TreeLinks:
        """What ``encoded`` made ``plain`` of."""
        registered, inherited, reach = plain
        return cls(frozenset(registered), frozenset(inherited), None if reach is None else frozenset(reach))
