"""The error that a setter owes its caller where the inner model can't capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from eagle3_lint.facts.nodes import walk
from eagle3_lint.findings.model import Edit, Fix, Safety
from eagle3_lint.fixes.delegation import raising
from eagle3_lint.fixes.methods import Line, Lines, rendered
from eagle3_lint.fixes.style import ClassStyle, class_style
from eagle3_lint.fixes.text import end_of_line, indent_of, insertion, is_blank_before, replacement
from eagle3_lint.project.classes import Found
from eagle3_lint.project.effects import Path
from eagle3_lint.project.modules import FunctionNode

_QUESTIONS = frozenset({"hasattr", "getattr"})


def raising_fix(found: Found, function: FunctionNode, asked: Path, safety: Safety) -> Fix | None:
    """The fix that makes ``function``, the setter ``found``, raise where the path ``asked`` doesn't exist.

    None where the question isn't asked in one of the usual ways: an ``if`` around all that the setter does, an early
    return, or a caught ``AttributeError``.
    """
    if any(not part.isidentifier() for part in asked):
        return None
    source = found.definer.module.source
    if not is_blank_before(source, function.lineno, function.col_offset):
        return None
    style = class_style(source, found.definer.facts)
    style = replace(style, indent=indent_of(source, function.lineno))
    edit = _Setter(found, function, style, ".".join(asked[:-1]), asked[-1]).edit()
    return Fix(safety, (edit,)) if edit is not None else None


class _Setter:
    """One setter, and what it asks for."""

    def __init__(self, found: Found, function: FunctionNode, style: ClassStyle, inner: str, name: str) -> None:
        self._source = found.definer.module.source
        self._function = function
        self._style = style
        self._inner = inner
        self._name = name
        self._answers = frozenset(_answers(function))

    def edit(self) -> Edit | None:
        """The edit at the first statement that asks."""
        for node in self._function.body:
            if isinstance(node, ast.If) and self._asks(node.test):
                return self._at_if(node)
            if isinstance(node, ast.Try):
                return self._at_try(node)
        return None

    def _at_if(self, node: ast.If) -> Edit | None:
        last = node.body[-1]
        if _gives_up(last) and not node.orelse and _is_negative(node.test):
            return self._instead(last, raising(self._style, 2, self._inner, self._name))
        if _is_negative(node.test) or node is not self._function.body[-1]:
            return None
        if not node.orelse:
            lines = (Line(1, "else:"), *raising(self._style, 2, self._inner, self._name))
            return self._below(node, lines) if is_blank_before(self._source, node.lineno, node.col_offset) else None
        end = node.orelse[-1]
        if isinstance(end, (ast.If, ast.Return)) or not is_blank_before(self._source, end.lineno, end.col_offset):
            return None
        return self._below(end, raising(self._style, 2, self._inner, self._name))

    def _at_try(self, node: ast.Try) -> Edit | None:
        for handler in node.handlers:
            body = handler.body[0]
            if len(handler.body) == 1 and isinstance(body, ast.Pass) and _catches(handler):
                return self._instead(body, (Line(0, "raise"),))
        return None

    def _asks(self, test: ast.expr) -> bool:
        """Whether ``test`` asks for existence, itself or by what ``getattr`` gave before."""
        names = {node.id for node in walk(test) if isinstance(node, ast.Name)}
        return bool(names & (_QUESTIONS | self._answers))

    def _below(self, node: ast.stmt, lines: Lines) -> Edit:
        line = node.end_lineno or node.lineno
        text = self._style.ending + rendered(self._style, lines)
        return insertion(self._source, line, end_of_line(self._source, line), text)

    def _instead(self, node: ast.stmt, lines: Lines) -> Edit | None:
        if not is_blank_before(self._source, node.lineno, node.col_offset):
            return None
        text = rendered(self._style, lines).lstrip(" \t")
        end_line, end_offset = node.end_lineno or node.lineno, node.end_col_offset or 0
        return replacement(self._source, node.lineno, node.col_offset, end_line, end_offset, text)


def _answers(function: FunctionNode) -> Iterator[str]:
    """The local names that ``getattr`` gives their value."""
    for node in walk(function):
        value = node.value if isinstance(node, (ast.Assign, ast.NamedExpr)) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "getattr":
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _gives_up(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and (
        node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    )


def _is_negative(test: ast.expr) -> bool:
    """Whether ``test`` holds where something is missing."""
    if isinstance(test, ast.BoolOp):
        return any(_is_negative(value) for value in test.values)
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.Is) and isinstance(test.comparators[0], ast.Constant)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _catches(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.type, ast.Name) and handler.type.id == "AttributeError"
