"""The classes of the project: bases, method resolution order, members."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.facts.module import ClassFacts, Member
from eagle3_lint.findings.model import Span
from eagle3_lint.project.linearization import InconsistentHierarchy, external_order, merge
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.values import ClassValue, ConstantValue, ExternalValue, UnknownValue, Values

if TYPE_CHECKING:
    from eagle3_lint.project.resolver import Resolver


@dataclass(frozen=True)
class Order:
    """A method resolution order, without ``object``; ``problem`` says why it can't be told, else it is empty.

    With a problem, ``classes`` still holds what is known, nearest first.
    """

    classes: tuple[ClassInfo | ExternalValue, ...]
    problem: str = ""

    @property
    def dotted(self) -> tuple[str, ...]:
        """The dotted names, in order."""
        return tuple(one.dotted for one in self.classes)


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

    def __repr__(self) -> str:
        return f"<class {self.dotted}>"

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
    def kin(self) -> tuple[ClassInfo, ...]:
        """This class and the classes of models that it may inherit from, in no particular order."""
        found: dict[ClassInfo, None] = {self: None}
        pending = [self]
        while pending:
            for base in self._names.near_bases(pending.pop()):
                if base not in found:
                    found[base] = None
                    pending.append(base)
        return tuple(found)

    def may_mention(self, word: str) -> bool:
        """Whether the source of this class or its kin has ``word`` in it; False is certain for what models can bring."""
        return any(one.module.mentions(word) and word in one.text for one in self.kin)

    @cached_property
    def order(self) -> Order:
        """The method resolution order."""
        return self._names.order_of(self)

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
            self._found[name] = self._find_in(self.project_classes, name)
        return self._found[name]

    def mentions(self, word: str) -> bool:
        """Whether the source of this class, or of a project class that it inherits from, has ``word`` in it."""
        known = self._mentions.get(word)
        if known is None:
            known = any(one.module.mentions(word) and word in one.text for one in self.project_classes)
            self._mentions[word] = known
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


def compute_order(info: ClassInfo, in_progress: set[ClassInfo]) -> Order:
    """The method resolution order of ``info``; ``in_progress`` are it and the classes whose orders wait for it."""
    direct: list[ClassInfo | ExternalValue] = []
    problem = ""
    for base, values in zip(info.facts.bases, info.bases, strict=True):
        base_name = base.dotted or "an expression"
        chosen, why = _one_base(values, base_name, info)
        problem = problem or why
        direct.extend(one for one in chosen if one is not None)
    orders: list[list[ClassInfo | ExternalValue]] = []
    for one in direct:
        if isinstance(one, ExternalValue):
            orders.append([ExternalValue(dotted) for dotted in external_order(one.dotted)])
        else:
            inherited = one.order if one not in in_progress else Order((one,), f"{one.name} inherits from itself")
            problem = problem or inherited.problem
            orders.append(list(inherited.classes))
    heads: list[ClassInfo | ExternalValue] = [head for order in orders for head in order[:1]]
    replaced = any(isinstance(one, ExternalValue) and external_order(one.dotted)[:1] != (one.dotted,) for one in direct)
    try:
        if len(set(heads)) != len(heads) and not replaced:
            raise InconsistentHierarchy
        merged = merge([[info], *orders, list(dict.fromkeys(heads))])
    except InconsistentHierarchy:
        known = dict.fromkeys([info, *(one for order in orders for one in order)])
        return Order(tuple(known), problem or f"Python can't order the bases of {info.name}")
    return Order(tuple(merged), problem)


def _one_base(
    values: Values, base_name: str, info: ClassInfo
) -> tuple[tuple[ClassInfo | ExternalValue | None, ...], str]:
    chosen: list[ClassInfo | ExternalValue | None] = []
    for value in values:
        if isinstance(value, ClassValue):
            chosen.append(value.info)
        elif isinstance(value, ExternalValue):
            chosen.append(None if value.dotted == "builtins.object" else value)
        elif isinstance(value, ConstantValue | UnknownValue):
            continue
    if len(values) == 1 and len(chosen) == 1:
        return tuple(chosen), ""
    inside = [one for one in chosen if isinstance(one, ClassInfo)]
    if len(inside) == 1 and not any(isinstance(value, UnknownValue) for value in values):
        return tuple(inside), ""
    if not chosen:
        return (), f"the base {base_name} of {info.name} can't be told from the source"
    return tuple(chosen[:1]), f"the base {base_name} of {info.name} depends on a condition"

