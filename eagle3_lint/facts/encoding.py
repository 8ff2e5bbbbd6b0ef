"""Facts as plain tuples, the form in which they are kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eagle3_lint.facts.module import (
    Alternatives,
    BaseExpression,
    Binding,
    ClassFacts,
    Member,
    ModuleFacts,
    Place,
)

Plain = tuple[Any, ...]


def encode(facts: ModuleFacts) -> Plain:
    """``facts`` as nested tuples of numbers and strings."""
    return (
        tuple(
            [
                (name, kind, place[:], target, original, level, class_index, shape, names)
                for name, kind, place, target, original, level, class_index, shape, names in facts.bindings
            ]
        ),
        tuple([(name, *one) for name, one in facts.final]),
        tuple(_class(one) for one in facts.classes),
        facts.exports,
        facts.typing_only,
    )


def decode(plain: Plain) -> ModuleFacts:
    """The facts that ``encode`` made ``plain`` of; raises ValueError or TypeError on anything else."""
    bindings, final, classes, exports, typing_only = plain
    return ModuleFacts(
        tuple(
            Binding(name, kind, Place(*place), target, original, level, class_index, shape, names)
            for name, kind, place, target, original, level, class_index, shape, names in bindings
        ),
        tuple((name, Alternatives(indexes, preferred)) for name, indexes, preferred in final),
        tuple(_decoded_class(one) for one in classes),
        exports,
        typing_only,
    )


def _class(one: ClassFacts) -> Plain:
    return (
        one.name,
        one.qualname,
        one.place[:],
        one.first_line,
        tuple((dotted, place[:]) for dotted, place in one.bases),
        one.keywords,
        tuple(
            [
                (name, kind, place[:], first_line, decorators, conditional, class_index)
                for name, kind, place, first_line, decorators, conditional, class_index in one.members
            ]
        ),
        tuple((name, *found) for name, found in one.environment),
        one.decorators,
        one.metaclass,
    )


def _decoded_class(plain: Sequence[Any]) -> ClassFacts:
    name, qualname, place, first_line, bases, keywords, members, environment, decorators, metaclass = plain
    return ClassFacts(
        name,
        qualname,
        Place(*place),
        first_line,
        tuple(BaseExpression(dotted, Place(*where)) for dotted, where in bases),
        keywords,
        tuple(
            Member(member, kind, Place(*where), first, decorated, conditional, index)
            for member, kind, where, first, decorated, conditional, index in members
        ),
        tuple((known, Alternatives(indexes, preferred)) for known, indexes, preferred in environment),
        decorators,
        metaclass,
    )
