"""Facts of one module: the names that it binds, its classes and their members.

Pure: they follow from the source alone and are cached by its content. Bodies of functions are not part of the
facts; ``eagle3_lint.project.modules`` parses the few that a rule asks for. A release has tens of thousands of these
records: named tuples are made in a third of the time of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

BindingKind = Literal["import", "from", "star", "class", "function", "assign", "opaque", "deleted"]
MemberKind = Literal["function", "assign", "declared", "class", "opaque"]


class Place(NamedTuple):
    """Where a statement stands: lines from 1, offsets as ``ast`` counts them."""

    line: int
    offset: int
    end_line: int
    end_offset: int


class Binding(NamedTuple):
    """One statement that binds one name at module level.

    ``target`` is the imported module of ``import`` and ``from``, the original name of ``from`` is ``original``; a
    ``class`` binding has the class's index in ``ModuleFacts.classes``. ``shape`` is ``name`` where a plain
    dotted name is assigned, ``list`` for a list or tuple of such; ``names`` are they.
    """

    name: str
    kind: BindingKind
    place: Place
    target: str = ""
    original: str = ""
    level: int = 0
    class_index: int = -1
    shape: Literal["", "name", "list"] = ""
    names: tuple[str, ...] = ()


class Alternatives(NamedTuple):
    """The bindings that a name may have at one point, by index; ``preferred`` when the first wins if it works (``try``)."""

    indexes: tuple[int, ...]
    preferred: bool = False


class Member(NamedTuple):
    """One statement of a class body that binds one name."""

    name: str
    kind: MemberKind
    place: Place
    first_line: int = 0
    decorators: tuple[str, ...] = ()
    conditional: bool = False
    class_index: int = -1


class BaseExpression(NamedTuple):
    """A base class as it is written: a dotted name, or ``""`` where it is another expression."""

    dotted: str
    place: Place


class ClassFacts(NamedTuple):
    """One class statement at module level, or nested in such a class.

    ``environment`` holds the names used by its bases whose bindings at this point differ from the module's final
    ones (``class X(X)``). ``metaclass`` is the dotted name of one that is given plainly.
    """

    name: str
    qualname: str
    place: Place
    first_line: int
    bases: tuple[BaseExpression, ...]
    keywords: tuple[str, ...]
    members: tuple[Member, ...]
    environment: tuple[tuple[str, Alternatives], ...] = ()
    decorators: tuple[str, ...] = ()
    metaclass: str = ""


@dataclass(frozen=True)
class ModuleFacts:
    """All facts of one module."""

    bindings: tuple[Binding, ...]
    final: tuple[tuple[str, Alternatives], ...]
    classes: tuple[ClassFacts, ...]
    exports: tuple[str, ...] | None
    typing_only: tuple[str, ...] = ()
