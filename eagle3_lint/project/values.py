"""What an expression of the linted code may denote, as far as its source tells.

The values are small and immutable; an expression has a tuple of them, one for each possibility.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from eagle3_lint.facts.module import Place
from eagle3_lint.project.classes import ClassInfo, ExternalValue

if TYPE_CHECKING:
    from eagle3_lint.project.interpreter import Frame
    from eagle3_lint.project.modules import Module


class Site(NamedTuple):
    """A place in a file, and the class in whose code it lies."""

    path: str
    line: int
    offset: int
    owner: ClassInfo | None = None


@dataclass(frozen=True)
class ClassValue:
    """A class of the project; ``named_at`` is where the code that chose it names it."""

    info: ClassInfo
    named_at: Site | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ModuleValue:
    """A module or package of the project."""

    dotted: str


@dataclass(frozen=True)
class ConstantValue:
    """A literal: None, a bool, a number or a string."""

    value: object


@dataclass(frozen=True)
class InstanceValue:
    """An object of a project class; ``arguments`` are those constructor arguments that hold classes or functions."""

    info: ClassInfo
    built_at: Site
    chosen_at: Site | None = field(default=None, compare=False)
    arguments: tuple[tuple[str, Values], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class SelfValue:
    """The object whose construction is followed."""

    info: ClassInfo


@dataclass(frozen=True)
class ExternalInstance:
    """What calling something outside the project returned."""

    dotted: str
    built_at: Site = field(compare=False)


@dataclass(frozen=True, eq=False)
class FunctionValue:
    """A function, method or lambda of the project, with what it is bound to; its body is parsed when asked for."""

    module: Module
    place: Place
    owner: ClassInfo | None = None
    receiver: Value | None = None
    closure: Frame | None = None
    preset: tuple[tuple[str, Values], ...] = ()
    inline: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None
    name: str = "a lambda"
    decorators: tuple[str, ...] = ()

    @property
    def node(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
        """The syntax tree; raises UnreadableSourceError where the file no longer has the function."""
        return self.inline if self.inline is not None else self.module.function(self.place)

    def _identity(self) -> tuple[object, ...]:
        return (self.module.path, self.place.line, self.place.offset, self.receiver)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionValue) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.module.path, self.place.line, self.place.offset))


@dataclass(frozen=True)
class SuperValue:
    """``super()`` inside a method of ``owner`` on ``receiver``."""

    owner: ClassInfo
    receiver: Value


@dataclass(frozen=True)
class SequenceValue:
    """A list, tuple or module list. ``items`` by position, or, when ``uniform``, what any element may be."""

    items: tuple[Values, ...]
    uniform: bool = False

    def any_item(self) -> Values:
        """What an element at an unknown position may be."""
        return union(*self.items)


@dataclass(frozen=True)
class MappingValue:
    """A dictionary: constant keys where they are known."""

    entries: tuple[tuple[object, Values], ...]

    def any_item(self) -> Values:
        """What an entry under an unknown key may be."""
        return union(*(values for _, values in self.entries))


@dataclass(frozen=True)
class UnknownValue:
    """What the source can't tell, and why; ``missing`` where a module of the project lacks the name.

    ``weight`` says how much the reason tells: 0 nothing, 1 who chooses the value, 2 the very thing that can't be told.
    """

    reason: str
    missing: bool = field(default=False, compare=False)
    weight: int = field(default=0, compare=False)


Value = (
    ClassValue
    | ExternalValue
    | ModuleValue
    | ConstantValue
    | InstanceValue
    | SelfValue
    | ExternalInstance
    | FunctionValue
    | SuperValue
    | SequenceValue
    | MappingValue
    | UnknownValue
)
Values = tuple[Value, ...]

MOST_ALTERNATIVES = 48


def union(*groups: Values) -> Values:
    """All values of ``groups``, each once, in order; past a limit the rest becomes one unknown."""
    if len(groups) == 1:
        return groups[0]
    if groups and len(groups[0]) == 1 and all(group is groups[0] for group in groups):
        return groups[0]
    merged: dict[Value, None] = {}
    for group in groups:
        merged.update(dict.fromkeys(group))
    if len(merged) > MOST_ALTERNATIVES:
        kept = list(merged)[:MOST_ALTERNATIVES]
        return (*kept, UnknownValue("too many alternatives"))
    return tuple(merged)
