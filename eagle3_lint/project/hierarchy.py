"""The bases and the method resolution order of each class of one project, as Python makes them, or why it makes none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from eagle3_lint.facts.module import BaseExpression
from eagle3_lint.project.classes import Bases, ClassInfo, ExternalValue, Order
from eagle3_lint.project.linearization import InconsistentHierarchy, external_metaclass, external_order, merge
from eagle3_lint.project.values import ClassValue, UnknownValue, Values

_OBJECT = ExternalValue("builtins.object")
_TYPE = (ExternalValue("builtins.type"),)
# With parameters none of these is a base where another one brings it (``typing._GenericAlias.__mro_entries__``).
_GIVING_WAY = (ExternalValue("typing.Generic"), ExternalValue("typing.Protocol"))


class DirectBases(NamedTuple):
    """The bases of a class, without ``object``; ``problem`` says which of them can't be told, if any.

    ``is_object_first`` tells that ``object`` stands before another base.
    """

    classes: Bases
    problem: str
    is_object_first: bool


class Hierarchy:
    """The orders of the classes of one project.

    ``base_values`` says what a base expression of a class denotes.
    """

    def __init__(self, base_values: Callable[[ClassInfo, BaseExpression], Values]) -> None:
        self._base_values = base_values
        self._orders: dict[ClassInfo, Order] = {}
        self._direct: dict[ClassInfo, DirectBases] = {}
        self._looking: set[ClassInfo] = set()

    def order(self, info: ClassInfo) -> Order:
        """The method resolution order of ``info``."""
        if info not in self._orders and info not in self._looking:
            # Bases first: going down a deep hierarchy would exhaust Python's stack.
            for one in self._bases_first(info):
                if one not in self._orders:
                    self._orders[one] = self._order(one)
        return self._orders.get(info) or Order((info,), f"{info.name} inherits from itself")

    def _direct_of(self, info: ClassInfo) -> DirectBases:
        found = self._direct.get(info)
        if found is None:
            self._looking.add(info)
            values = [self._base_values(info, base) for base in info.facts.bases]
            self._looking.discard(info)
            found = self._direct[info] = _direct(info, values)
        return found

    def _order(self, info: ClassInfo) -> Order:
        direct = self._direct_of(info)
        if self._inherits_from_itself(info):
            return _cyclic(info)
        inherited = [self.order(one) for one in direct.classes if isinstance(one, ClassInfo)]
        refused = next((order for order in inherited if order.is_refused), None)
        if refused is not None:
            return Order((info,), refused.problem, is_refused=True)
        problem = direct.problem or next((order.problem for order in inherited if order.problem), "")
        orders = [self._order_of_base(one) for one in direct.classes]
        found = _merged(info, direct.classes, orders)
        if problem:
            known = dict.fromkeys([info, *(one for order in orders for one in order)])
            return Order(found or tuple(known), problem)
        if len(set(direct.classes)) < len(direct.classes):
            return _refused(info, f"its bases name {_doubled(direct.classes)} twice")
        if direct.is_object_first:
            return _refused(info, "object stands before another of its bases")
        if found is None:
            names = ", ".join(_name(one) for one in direct.classes)
            return _refused(info, f"no order of its bases {names} agrees with the order that each of them has itself")
        return self._with_metaclass(info, Order(found), direct.classes)

    def _order_of_base(self, base: ClassInfo | ExternalValue) -> Bases:
        if isinstance(base, ClassInfo):
            return self.order(base).classes
        return tuple(map(ExternalValue, external_order(base.dotted)))

    def _with_metaclass(self, info: ClassInfo, order: Order, direct: Bases) -> Order:
        """``order`` with the metaclass of ``info``, or why Python refuses it.

        Source: https://docs.python.org/3/reference/datamodel.html#determining-the-appropriate-metaclass
        """
        metaclass, giver = self._own_metaclass(info), info.name
        for base in direct:
            other = self._metaclass_of_base(base)
            if not other or not metaclass:
                return order
            if metaclass[0] in other:
                metaclass, giver = other, _name(base)
            elif other[0] not in metaclass:
                names = f"{_name(metaclass[0])} of {giver} nor {_name(other[0])} of {_name(base)}"
                return _refused(info, f"neither the metaclass {names} inherits from the other")
        return replace(order, metaclass=metaclass)

    def _own_metaclass(self, info: ClassInfo) -> Bases:
        if "metaclass" not in info.facts.keywords:
            return _TYPE
        written = BaseExpression(info.facts.metaclass, info.facts.place)
        values = self._base_values(info, written) if written.dotted else ()
        one = values[0] if len(values) == 1 else None
        if isinstance(one, ClassValue):
            order = self.order(one.info)
            return () if order.problem or _TYPE[0] not in order.classes else order.classes
        if isinstance(one, ExternalValue):
            known = tuple(map(ExternalValue, external_order(one.dotted)))
            return known if _TYPE[0] in known else ()
        return ()

    def _metaclass_of_base(self, base: ClassInfo | ExternalValue) -> Bases:
        if isinstance(base, ClassInfo):
            return self.order(base).metaclass
        return tuple(map(ExternalValue, external_metaclass(base.dotted)))

    def _bases_first(self, info: ClassInfo) -> list[ClassInfo]:
        """``info`` and the classes that it inherits from whose order isn't known, each after its bases."""
        found: list[ClassInfo] = []
        seen = {info}
        pending: list[tuple[ClassInfo, Iterator[ClassInfo | ExternalValue]]] = []
        pending.append((info, iter(self._direct_of(info).classes)))
        while pending:
            one, bases = pending[-1]
            base = next(
                (b for b in bases if isinstance(b, ClassInfo) and b not in self._orders and b not in seen), None
            )
            if base is None:
                found.append(one)
                pending.pop()
            else:
                seen.add(base)
                pending.append((base, iter(self._direct_of(base).classes)))
        return found

    def _inherits_from_itself(self, info: ClassInfo) -> bool:
        seen: set[ClassInfo] = set()
        pending = [info]
        while pending:
            for base in self._direct_of(pending.pop()).classes:
                if base is info:
                    return True
                if isinstance(base, ClassInfo) and base not in seen and self._may_be_cyclic(base):
                    seen.add(base)
                    pending.append(base)
        return False

    def _may_be_cyclic(self, info: ClassInfo) -> bool:
        order = self._orders.get(info)
        return order is None or order.is_cyclic


def _merged(info: ClassInfo, direct: Bases, orders: list[Bases]) -> Bases | None:
    """The order of ``info`` from the ``orders`` of its bases; None where there is none."""
    heads = tuple(dict.fromkeys(order[0] for order in orders))
    try:
        return tuple(merge([(info,), *orders, heads]))
    except InconsistentHierarchy:
        kept = [order for one, order in zip(direct, orders, strict=True) if one not in _GIVING_WAY]
        return (
            _merged(info, tuple(one for one in direct if one not in _GIVING_WAY), kept)
            if len(kept) < len(orders)
            else None
        )


def _direct(info: ClassInfo, values: list[Values]) -> DirectBases:
    chosen: list[ClassInfo | ExternalValue] = []
    problem = ""
    for base, some in zip(info.facts.bases, values, strict=True):
        classes, why = _one_base(some)
        if why and not problem:
            place = info.module.shown(base.place.line)
            problem = f"the base {base.dotted or 'that is an expression'} of {info.name} at {place} {why}"
        chosen.extend(classes)
    objects = [index for index, some in enumerate(values) if some == (_OBJECT,)]
    return DirectBases(tuple(chosen), problem, bool(objects) and objects[0] < len(values) - 1)


def _one_base(values: Values) -> tuple[Bases, str]:
    """The class that a base of these values is, or the first that it may be and why it can't be told."""
    if values == (_OBJECT,):
        return (), ""
    chosen = [
        value.info if isinstance(value, ClassValue) else value
        for value in values
        if isinstance(value, (ClassValue, ExternalValue))
    ]
    if len(values) == 1 and len(chosen) == 1:
        return tuple(chosen), ""
    inside = [one for one in chosen if isinstance(one, ClassInfo)]
    unknown = [value for value in values if isinstance(value, UnknownValue)]
    if len(inside) == 1 and not unknown:
        return tuple(inside), ""
    if not chosen:
        return (), f"can't be told from the source{f': {unknown[0].reason}' if unknown else ''}"
    return tuple(one for one in chosen[:1] if one != _OBJECT), "depends on a condition"


def _cyclic(info: ClassInfo) -> Order:
    return replace(_refused(info, f"{info.name} inherits from itself"), is_cyclic=True)


def _refused(info: ClassInfo, why: str) -> Order:
    return Order((info,), f"Python refuses class {info.name} at {info.module.shown(info.line)}: {why}", is_refused=True)


def _doubled(bases: Bases) -> str:
    return next(_name(one) for one in bases if bases.count(one) > 1)


def _name(base: ClassInfo | ExternalValue) -> str:
    return base.dotted.rpartition(".")[2]
