"""A part of a project, for who needs no more than that."""

from __future__ import annotations

from typing import Any, NamedTuple


class Limits(NamedTuple):
    """``paths`` are whole families of files; ``reach`` the model files that these can lead to, ``paths`` among them.

    ``registered`` and ``inherited`` are the keys of all classes of the project that the registry takes, and of those that
    these may inherit from.
    """

    paths: frozenset[str]
    reach: frozenset[str]
    registered: frozenset[str]
    inherited: frozenset[str]

    def encoded(self) -> tuple[Any, ...]:
        """The same as lists of strings."""
        return tuple(sorted(one) for one in self)

    @classmethod
    def decoded(cls, plain: tuple[Any, ...]) -> Limits:
        """What ``encoded`` made ``plain`` of."""
        return cls(*(frozenset(one) for one in plain))
