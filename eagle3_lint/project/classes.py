"""The classes of the project: bases, method resolution order, members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from eagle3_lint.facts.assigned import assigned
from eagle3_lint.facts.module import ClassFacts, Member
from eagle3_lint.findings.model import Span
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.sources.identifiers import mentions


@dataclass(frozen=True)
class ExternalValue:
    """Something that a package outside the project defines, by its dotted import name."""

    dotted: str


@dataclass(frozen=True)
class Order:
    """A method resolution order, without ``object``; ``problem`` says why it can't be told, else it is empty.

    With a problem, ``classes`` still holds what is known, nearest first. ``is_refused`` tells that Python makes no such
    class, or none of one of its bases: nothing is known of it then. ``metaclass`` is the order of its metaclass, empty where
    that can't be told.
    """

    classes: Bases
    problem: str = ""
    is_refused: bool = False
    is_cyclic: bool = False
    metaclass: Bases = ()

    @property
    def dotted(self) -> tuple[str, ...]:
        """The dotted names, in order."""
        return tuple(one.dotted for one in self.classes)

    @cached_property
    def project_classes(self) -> tuple[ClassInfo, ...]:
        """The classes of the project among them."""
        return tuple(one for one in self.classes if isinstance(one, ClassInfo))


class Classes(Protocol):
    """What a class asks of who knows the names of its project."""

    def order_of(self, info: ClassInfo) -> Order:
        """The method resolution order of ``info``."""

    def near_bases(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """The classes of models that the bases of ``info`` may be; other files of the tree aren't read for it."""

    def members_of(self, info: ClassInfo) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""


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

    def __init__(self, names: Classes, module: Module, index: int) -> None:
        self._names = names
        self.module = module
        self.index = index
        self.facts: ClassFacts = module.facts.classes[index]
        self.dotted = f"{module.name}.{self.facts.qualname}"
        self._found: dict[str, Found | None] = {}
        self._mentions: dict[str, bool] = {}

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

    @property
    def order(self) -> Order:
        """The method resolution order."""
        return self._names.order_of(self)

    @property
    def project_classes(self) -> tuple[ClassInfo, ...]:
        """The classes of the project in the method resolution order, this one first."""
        return self.order.project_classes

    @cached_property
    def members(self) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""
        return self._names.members_of(self)

    def find(self, name: str) -> Found | None:
        """Where ``name`` is defined along the method resolution order, within the project."""
        found = self._found.get(name)
        if found is None and name not in self._found:
            order = self.order
            found = None if order.is_refused else self._find_in(order.project_classes, name)
            # What has a problem may be asked in the middle of telling its bases.
            if not order.problem:
                self._found[name] = found
        return found

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


def topmost(info: ClassInfo, has_fault: Callable[[ClassInfo], bool]) -> ClassInfo:
    """The topmost of ``info`` and its bases that has a fault which ``info`` itself is known to have."""
    return next((one for one in reversed(info.project_classes) if one is info or has_fault(one)), info)


Bases = tuple[ClassInfo | ExternalValue, ...]
