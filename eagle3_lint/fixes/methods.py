"""New methods of a class, where its neighbours put such methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from eagle3_lint.facts.module import ClassFacts, Member
from eagle3_lint.facts.nodes import is_docstring
from eagle3_lint.findings.model import Edit
from eagle3_lint.fixes.style import ClassStyle
from eagle3_lint.fixes.text import (
    WIDTH,
    end_of_line,
    indent_of,
    insertion,
    is_blank_before,
    replacement,
)
from eagle3_lint.project.modules import Module
from eagle3_lint.project.roles import FAMILY
from eagle3_lint.sources.text import SourceText

_FOLLOWED = "load_weights"


@dataclass(frozen=True)
class Line:
    """One line of a method: how many levels below the class body it is indented, and its text."""

    level: int
    text: str


Lines = tuple[Line, ...]


def fits(style: ClassStyle, level: int, text: str) -> bool:
    """Whether ``text`` at this level is within the formatter's width."""
    return len((style.indent + style.unit * level).expandtabs(4)) + len(text) <= WIDTH


def statement(style: ClassStyle, level: int, before: str, inside: str, after: str) -> Lines:
    """``before`` + ``inside`` + ``after`` on one line, on three where it would be too long, as Black breaks it."""
    whole = before + inside + after
    if not inside or fits(style, level, whole):
        return (Line(level, whole),)
    return Line(level, before), Line(level + 1, inside), Line(level, after)


def added_methods(module: Module, facts: ClassFacts, style: ClassStyle, methods: Sequence[Lines]) -> tuple[Edit, ...]:
    """The edits that add ``methods`` to the class ``facts``: after its other methods of the interface, before
    ``load_weights``, else after its last method; at the end of a class that has none."""
    source = module.source
    plain = [member for member in facts.members if _is_plain(source, member, style)]
    family = [member for member in plain if member.name in FAMILY or member.name.endswith("_layers_to_capture")]
    if family:
        return (_after(source, family[-1].place.end_line, style, methods),)
    followed = next((member for member in plain if member.name == _FOLLOWED), None)
    if followed is not None:
        return (_before(source, followed, style, methods),)
    if plain:
        return (_after(source, plain[-1].place.end_line, style, methods),)
    return _at_the_end(module, facts, style, methods)


def _is_plain(source: SourceText, member: Member, style: ClassStyle) -> bool:
    """Whether ``member`` is a method that stands directly in the class body, on lines of its own."""
    return (
        member.kind == "function"
        and not member.conditional
        and is_blank_before(source, member.place.line, member.place.offset)
        and indent_of(source, member.place.line) == style.indent
    )


def _rendered(style: ClassStyle, methods: Sequence[Lines]) -> str:
    """The text of ``methods``, without a line ending at its end."""
    return (style.ending * (style.blank + 1)).join(rendered(style, method) for method in methods)


def rendered(style: ClassStyle, lines: Lines) -> str:
    """The text of ``lines``, each indented, without a line ending at its end."""
    return style.ending.join(f"{style.indent}{style.unit * line.level}{line.text}" for line in lines)


def _after(source: SourceText, line: int, style: ClassStyle, methods: Sequence[Lines]) -> Edit:
    """``methods`` below ``line`` and the comments that still belong to the body that it ends."""
    line = _with_comments(source, line, len(style.indent))
    text = style.ending * (style.blank + 1) + _rendered(style, methods)
    return insertion(source, line, end_of_line(source, line), text)


def _with_comments(source: SourceText, line: int, indent: int) -> int:
    """The last of the comments below ``line`` that are indented deeper than ``indent``."""
    last = line
    for number in range(line + 1, len(source.lines) + 1):
        text = source.lines[number - 1]
        if not text.strip():
            continue
        if not text.lstrip().startswith("#") or len(indent_of(source, number)) <= indent:
            break
        last = number
    return last


def _before(source: SourceText, member: Member, style: ClassStyle, methods: Sequence[Lines]) -> Edit:
    """``methods`` above ``member``, its decorators and the comments that stand right on top of it."""
    line = member.first_line or member.place.line
    while line > 2 and source.lines[line - 2].startswith(style.indent + "#"):
        line -= 1
    text = _rendered(style, methods) + style.ending * (style.blank + 1)
    return insertion(source, line, 1, text)


def _at_the_end(module: Module, facts: ClassFacts, style: ClassStyle, methods: Sequence[Lines]) -> tuple[Edit, ...]:
    """``methods`` in a class without methods; in the place of a ``pass`` that its body consists of."""
    source = module.source
    body = module.class_node(facts).body
    first, last = body[0], body[-1]
    on_own_line = is_blank_before(source, first.lineno, first.col_offset)
    text = _rendered(style, methods)
    if _is_filler(last) and all(is_docstring(node) for node in body[:-1]):
        edit = replacement(
            source,
            last.lineno,
            last.col_offset,
            last.end_lineno or last.lineno,
            last.end_col_offset or 0,
            text[len(style.indent) :] if is_blank_before(source, last.lineno, last.col_offset) else style.ending + text,
        )
        return (edit,)
    edits: list[Edit] = []
    if not on_own_line:
        column = source.column(first.lineno, first.col_offset)
        edits.append(insertion(source, first.lineno, column, style.ending + style.indent))
    line = _with_comments(source, facts.place.end_line, len(indent_of(source, facts.place.line)))
    edits.append(insertion(source, line, end_of_line(source, line), style.ending * (style.blank + 1) + text))
    return tuple(edits)


def _is_filler(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...
    )
