"""Method resolution order, as Python computes it (C3, https://docs.python.org/3/howto/mro.html)."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

# Base classes of these standard modules are looked up in Python itself; all of them are loaded by any run.
_KNOWN_MODULES = frozenset({"abc", "builtins", "collections", "collections.abc", "enum", "typing"})
# What ``typing`` puts in place of these names when they are used as bases (``__mro_entries__``).
_REPLACED = {
    "typing.NamedTuple": ("builtins.tuple",),
    "typing.TypedDict": ("builtins.dict",),
    "typing_extensions.NamedTuple": ("builtins.tuple",),
    "typing_extensions.TypedDict": ("builtins.dict",),
    "typing_extensions.Protocol": ("typing.Protocol", "typing.Generic"),
    "typing_extensions.Generic": ("typing.Generic",),
}
# Classes elsewhere that are known to have no metaclass of their own.
_PLAIN_CLASSES = frozenset({"torch.nn.Module"})

_Item = TypeVar("_Item")


class InconsistentHierarchy(Exception):
    """Python itself would raise ``TypeError`` for these bases."""


def merge(orders: Sequence[Sequence[_Item]]) -> list[_Item]:
    """The C3 merge of ``orders``; raises ``InconsistentHierarchy`` where there is none."""
    pending = [list(reversed(order)) for order in orders if order]
    merged: list[_Item] = []
    in_tails: dict[_Item, int] = {}
    for order in pending:
        for item in order[:-1]:
            in_tails[item] = in_tails.get(item, 0) + 1
    while pending:
        head = next((order[-1] for order in pending if not in_tails.get(order[-1])), None)
        if head is None:
            raise InconsistentHierarchy
        merged.append(head)
        for order in pending:
            if order[-1] == head:
                order.pop()
                if order:
                    in_tails[order[-1]] -= 1
        pending = [order for order in pending if order]
    return merged


@cache
def external_order(dotted: str) -> tuple[str, ...]:
    """The order of a class outside the project, without ``object``: itself, and its bases where Python can tell."""
    if dotted in _REPLACED:
        return _REPLACED[dotted]
    found = _known(dotted)
    if found is None:
        return (dotted,)
    order = [f"{base.__module__}.{base.__qualname__}" for base in found.__mro__ if base is not object]
    return tuple(order)


def _known(dotted: str) -> type | None:
    """The class that Python itself has under this name, where that is certain to be what a base is."""
    module, _, name = dotted.rpartition(".")
    if module not in _KNOWN_MODULES or dotted in _REPLACED:
        return None
    found = getattr(builtins if module == "builtins" else importlib.import_module(module), name, None)
    return found if isinstance(found, type) else None


@cache
def external_metaclass(dotted: str) -> tuple[str, ...]:
    """The order of the metaclass of a class outside the project; empty where nobody can tell it."""
    found = _known(dotted)
    if found is None:
        return ("builtins.type",) if dotted in _PLAIN_CLASSES else ()
    return external_order(f"{type(found).__module__}.{type(found).__qualname__}")
