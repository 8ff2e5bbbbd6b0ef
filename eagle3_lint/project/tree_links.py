"""What the classes of a tree have to do with each other, for who looks at some of them only."""

from __future__ import annotations

from typing import Any, NamedTuple


class TreeLinks(NamedTuple):
    """``registered`` are the keys of all classes that the registry takes, ``inherited`` of those that these may inherit
    from; ``surveyed`` is what rules surveyed: the code of the rule, the path of the file and what was found in it."""

    registered: frozenset[str]
    inherited: frozenset[str]
    surveyed: tuple[tuple[str, str, tuple[Any, ...]], ...]

    def encoded(self) -> tuple[Any, ...]:
        """The same as tuples, lists, strings and numbers."""
        return sorted(self.registered), sorted(self.inherited), self.surveyed

    @classmethod
    def decoded(cls, plain: tuple[Any, ...]) -> TreeLinks:
        """What ``encoded`` made ``plain`` of."""
        registered, inherited, surveyed = plain
        return cls(frozenset(registered), frozenset(inherited), surveyed)
