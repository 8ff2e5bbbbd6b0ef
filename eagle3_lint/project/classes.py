"""The classes of the project: bases, method resolution order, members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from eagle3_lint.facts.assigned import assigned
from eagle3_lint.facts.module import ClassFacts, Member
from eagle3_lint.findings.model import Span
from eagle3_lint.project.linearization import InconsistentHierarchy, external_order, merge
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.values import ClassValue, ExternalValue, UnknownValue, Values
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.resolver import Resolver


@dataclass(frozen=True)
class Order:
    """A method resolution order, without ``object``; ``problem`` says why it can't be told, else it is empty.

    With a problem, ``classes`` still holds what is known, nearest first. ``is_cyclic`` tells of a class that inherits from
    itself.
    """

    classes: tuple[ClassInfo | ExternalValue, ...]
    problem: str = ""
    is_cyclic: bool = False

    @property
    def dotted(self) -> tuple[str, ...]:
        """The dotted names, in order."""
        return tuple(one.dotted for one in self.classes)


class DirectBases(NamedTuple):
    """The bases of a class, without ``object``; ``problem`` says which of them can't be told, if any."""

    classes: tuple[ClassInfo | ExternalValue, ...]
    problem: str


@dataclass(frozen=True)
class Found:
    """Where a name is defined for a class."""

    definer: ClassInfo
    member: Member

    @property
    def line(self) -> int:
        """The line of the definition."""
        return self.member.place.line

    def span(self) -> Span:
        """The span of the member's name."""
        return self.definer.module.name_span(self.member.place, self.member.name)

    @property
    def text(self) -> str:
        """The source lines of the definition."""
        return self.definer.module.lines_of(self.member.place)

    def function(self) -> FunctionNode | None:
        """The function, or None where the member is no plain ``def``."""
        if self.member.kind != "function":
            return None
        return self.definer.module.function(self.member.place)


class ClassInfo:
    """One class statement of the project."""

    def __init__(self, names: Resolver, module: Module, index: int) -> None:
        self._names = names
        self.module = module
        self.index = index
        self.facts: ClassFacts = module.facts.classes[index]
        self.dotted = f"{module.name}.{self.facts.qualname}"
        self._found: dict[str, Found | None] = {}
        self._mentions: dict[str, bool] = {}
        self._order: Order | None = None
        self._is_looking = False

    def __repr__(self) -> str:
        return f"<class {self.dotted}>"

    @cached_property
    def key(self) -> str:
        """What tells this class from all others of the project, those of the same name in its file included."""
        return f"{self.dotted}#{self.index}"

    @property
    def name(self) -> str:
        """The bare name."""
        return self.facts.name

    @property
    def path(self) -> str:
        """The absolute path of the file that defines it."""
        return self.module.path

    @property
    def line(self) -> int:
        """The line of the ``class`` statement."""
        return self.facts.place.line

    def span(self) -> Span:
        """The span of the name in the ``class`` statement."""
        return self.module.name_span(self.facts.place, self.facts.name)

    @cached_property
    def text(self) -> str:
        """The source lines of the class statement."""
        return self.module.lines_of(self.facts.place)

    @cached_property
    def bases(self) -> tuple[Values, ...]:
        """What each base expression may denote."""
        return tuple(self._names.base_values(self, base) for base in self.facts.bases)

    @cached_property
    def near_bases(self) -> tuple[ClassInfo, ...]:
        """The classes of models that its bases may be; other files of the tree aren't read for it."""
        return self._names.near_bases(self)

    @cached_property
    def kin(self) -> tuple[ClassInfo, ...]:
        """This class and the classes of models that it may inherit from, in no particular order."""
        found: dict[ClassInfo, None] = {self: None}
        pending = [self]
        while pending:
            for base in pending.pop().near_bases:
                if base not in found:
                    found[base] = None
                    pending.append(base)
        return tuple(found)

    @cached_property
    def may_take_a_forward(self) -> bool:
        """Whether a method of this class that a constructor may run assigns an attribute ``forward``."""
        return any(
            name == "forward"
            for member in self.facts.members
            if member.kind == "function" and member.name != "forward"
            if mentions(self.module.lines_of(member.place), "forward")
            for name, _ in assigned(self.module.function(member.place))
        )

    def may_mention(self, *names: str) -> bool:
        """Whether one of ``names`` may stand in the source of this class or its kin; False is certain for what models can
        bring."""
        return any(one.module.mentions(*names) and mentions(one.text, *names) for one in self.kin)

    @cached_property
    def direct(self) -> DirectBases:
        """The class that each base is."""
        chosen: list[ClassInfo | ExternalValue] = []
        self._is_looking = True
        problem = ""
        for base, values in zip(self.facts.bases, self.bases, strict=True):
            some, why = _one_base(values, base.dotted or "an expression", self)
            problem = problem or why
            chosen.extend(some)
        self._is_looking = False
        return DirectBases(tuple(chosen), problem)

    @property
    def order(self) -> Order:
        """The method resolution order."""
        if self._is_looking:
            return _cyclic(self)
        if self._order is None:
            # Bases first: going down a deep hierarchy would exhaust Python's stack.
            for one in _bases_first(self):
                if one._order is None:
                    one._order = self._names.order_of(one)
        return self._order or _cyclic(self)

    @property
    def _may_be_cyclic(self) -> bool:
        return self._order is None or self._order.is_cyclic

    @cached_property
    def project_classes(self) -> tuple[ClassInfo, ...]:
        """The classes of the project in the method resolution order, this one first."""
        return tuple(one for one in self.order.classes if isinstance(one, ClassInfo))

    @cached_property
    def members(self) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""
        return self._names.members_of(self)

    def find(self, name: str) -> Found | None:
        """Where ``name`` is defined along the method resolution order, within the project."""
        if name not in self._found:
            # A class comes first in its own order: what it has itself is found without reading its bases.
            own = self.members.get(name)
            self._found[name] = Found(self, own) if own is not None else self._find_in(self.project_classes, name)
        return self._found[name]

    def mentions(self, name: str) -> bool:
        """Whether ``name`` may stand in the source of this class, or of a project class that it inherits from."""
        known = self._mentions.get(name)
        if known is None:
            known = any(one.module.mentions(name) and mentions(one.text, name) for one in self.project_classes)
            self._mentions[name] = known
        return known

    def find_after(self, owner: ClassInfo, name: str) -> Found | None:
        """Where ``super()`` in a method of ``owner`` finds ``name`` on an instance of this class."""
        classes = self.project_classes
        start = classes.index(owner) + 1 if owner in classes else 0
        return self._find_in(classes[start:], name)

    @staticmethod
    def _find_in(classes: tuple[ClassInfo, ...], name: str) -> Found | None:
        for one in classes:
            member = one.members.get(name)
            if member is not None:
                return Found(one, member)
        return None

    def inherits_from(self, other: ClassInfo) -> bool:
        """Whether ``other`` is this class or one of its bases."""
        return other in self.order.classes


def compute_order(info: ClassInfo) -> Order:
    """The method resolution order of ``info``, from those of its bases; a class that inherits from itself has none."""
    direct, problem = info.direct
    if _inherits_from_itself(info):
        return _cyclic(info)
    orders: list[list[ClassInfo | ExternalValue]] = []
    for one in direct:
        if isinstance(one, ExternalValue):
            orders.append([ExternalValue(dotted) for dotted in external_order(one.dotted)])
        else:
            inherited = one.order
            problem = problem or inherited.problem
            orders.append(list(inherited.classes))
    heads: list[ClassInfo | ExternalValue] = [head for order in orders for head in order[:1]]
    replaced = any(isinstance(one, ExternalValue) and external_order(one.dotted)[:1] != (one.dotted,) for one in direct)
    try:
        if len(set(heads)) != len(heads) and not replaced:
            raise InconsistentHierarchy
        chain: list[list[ClassInfo | ExternalValue]] = [[info], *orders, list(dict.fromkeys(heads))]
        merged = merge(chain)
    except InconsistentHierarchy:
        known = dict.fromkeys([info, *(one for order in orders for one in order)])
        return Order(tuple(known), problem or f"Python can't order the bases of {info.name}")
    return Order(tuple(merged), problem)


def _cyclic(info: ClassInfo) -> Order:
    return Order((info,), f"{info.name} inherits from itself", is_cyclic=True)


def _bases_first(info: ClassInfo) -> list[ClassInfo]:
    """``info`` and the classes that it inherits from whose order isn't known, each after its bases."""
    found: list[ClassInfo] = []
    seen = {info}
    pending: list[tuple[ClassInfo, Iterator[ClassInfo | ExternalValue]]] = [(info, iter(info.direct.classes))]
    while pending:
        one, bases = pending[-1]
        base = next((b for b in bases if isinstance(b, ClassInfo) and b._order is None and b not in seen), None)
        if base is None:
            found.append(one)
            pending.pop()
        else:
            seen.add(base)
            pending.append((base, iter(base.direct.classes)))
    return found


def _inherits_from_itself(info: ClassInfo) -> bool:
    seen: set[ClassInfo] = set()
    pending = [info]
    while pending:
        for base in pending.pop().direct.classes:
            if base is info:
                return True
            if isinstance(base, ClassInfo) and base not in seen and base._may_be_cyclic:
                seen.add(base)
                pending.append(base)
    return False


def _one_base(values: Values, base_name: str, info: ClassInfo) -> tuple[tuple[ClassInfo | ExternalValue, ...], str]:
    if values == (ExternalValue("builtins.object"),):
        return (), ""
    chosen: list[ClassInfo | ExternalValue] = []
    for value in values:
        if isinstance(value, ClassValue):
            chosen.append(value.info)
        elif isinstance(value, ExternalValue):
            chosen.append(value)
    if len(values) == 1 and len(chosen) == 1:
        return tuple(chosen), ""
    inside = [one for one in chosen if isinstance(one, ClassInfo)]
    if len(inside) == 1 and not any(isinstance(value, UnknownValue) for value in values):
        return tuple(inside), ""
    if not chosen:
        return (), f"the base {base_name} of {info.name} can't be told from the source"
    first = tuple(one for one in chosen[:1] if one != ExternalValue("builtins.object"))
    return first, f"the base {base_name} of {info.name} depends on a condition"


def topmost(info: ClassInfo, has_fault: Callable[[ClassInfo], bool]) -> ClassInfo:
    """The topmost of ``info`` and its bases that has a fault which ``info`` itself is known to have."""
    return next((one for one in reversed(info.project_classes) if one is info or has_fault(one)), info)
