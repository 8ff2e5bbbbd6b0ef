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
            (b.name, b.kind, _place(b.place), b.target, b.original, b.level, b.index, b.shape, b.names)
            for b in facts.bindings
        ),
        tuple((name, one.indexes, one.preferred) for name, one in facts.final),
        tuple(_class(one) for one in facts.classes),
        facts.exports,
        facts.typing_only,
    )


def decode(plain: Plain) -> ModuleFacts:
    """The facts that ``encode`` made ``plain`` of; raises ValueError or TypeError on anything else."""
    bindings, final, classes, exports, typing_only = plain
    return ModuleFacts(
        tuple(
            Binding(name, kind, Place(*place), target, original, level, index, shape, names)
            for name, kind, place, target, original, level, index, shape, names in bindings
        ),
        tuple((name, Alternatives(indexes, preferred)) for name, indexes, preferred in final),
        tuple(_decoded_class(one) for one in classes),
        exports,
        typing_only,
    )


def _place(place: Place) -> Plain:
    return (place.line, place.offset, place.end_line, place.end_offset)


def _class(one: ClassFacts) -> Plain:
    return (
        one.name,
        one.qualname,
        _place(one.place),
        one.first_line,
        tuple((base.dotted, _place(base.place)) for base in one.bases),
        one.keywords,
        tuple(
            (m.name, m.kind, _place(m.place), m.first_line, m.decorators, m.conditional, m.class_index)
            for m in one.members
        ),
        tuple((name, found.indexes, found.preferred) for name, found in one.environment),
        one.decorators,
    )


def _decoded_class(plain: Sequence[Any]) -> ClassFacts:
    name, qualname, place, first_line, bases, keywords, members, environment, decorators = plain
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
    )
