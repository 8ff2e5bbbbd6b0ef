"""A default for the layers of a setter that the runtime also calls without them."""

from __future__ import annotations

import ast
import re

from eagle3_lint.facts.nodes import walk
from eagle3_lint.findings.model import Edit, Fix
from eagle3_lint.fixes.imports import import_names
from eagle3_lint.fixes.spelling import Spelling, typing_imports
from eagle3_lint.fixes.text import at_offset, replacement
from eagle3_lint.project.classes import Found
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.sources.reading import parse_source

_NULLABLE = re.compile(r"\b(?:Optional|None|Union|Any|object)\b")


def default_fix(found: Found, function: FunctionNode) -> Fix | None:
    """The fix that gives the one required parameter of the setter ``found`` the default None.

    Safe where the setter deals with None already, or only hands the layers to a setter of the same name. None where
    other parameters are required too.
    """
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    required = plain[1 : len(plain) - len(arguments.defaults)]
    if len(required) != 1 or any(default is None for default in arguments.kw_defaults):
        return None
    edits = _edits(found, function, required[0])
    if not edits:
        return None
    if _deals_with_none(function, required[0].arg, found.member.name):
        return Fix("safe", edits)
    return Fix("unsafe", edits, f"say which layers are captured where {required[0].arg} is None")


def _edits(found: Found, function: FunctionNode, parameter: ast.arg) -> tuple[Edit, ...]:
    source = found.definer.module.source
    line, offset = parameter.end_lineno or parameter.lineno, parameter.end_col_offset or 0
    if parameter.annotation is None:
        return (at_offset(source, line, offset, "=None"),)
    written = ast.unparse(parameter.annotation)
    if _NULLABLE.search(written) or isinstance(parameter.annotation, ast.Constant):
        return (at_offset(source, line, offset, " = None"),)
    node = parameter.annotation
    optional = typing_imports(found.definer.module, function.lineno).optional(Spelling(written))
    text = f"{optional.text} = None"
    edit = replacement(source, node.lineno, node.col_offset, line, offset, text)
    if not optional.needs:
        return (edit,)
    first = found.definer.facts.first_line
    imports = import_names(source, parse_source(source), "typing", optional.needs, first)
    return (*imports, edit) if imports else ()


def _deals_with_none(function: FunctionNode, parameter: str, setter: str) -> bool:
    """Whether every use of ``parameter`` asks for None first or hands it on to another ``setter``."""
    handed: set[int] = set()
    for node in walk(function):
        if (
            isinstance(node, ast.Compare)
            and _is_name(node.left, parameter)
            and isinstance(node.ops[0], (ast.Is, ast.IsNot))
        ):
            return True
        if isinstance(node, (ast.UnaryOp, ast.BoolOp)):
            operands = [node.operand] if isinstance(node, ast.UnaryOp) else node.values[:1]
            if any(_is_name(one, parameter) for one in operands):
                return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == setter:
            handed.update(id(one) for one in (*node.args, *(keyword.value for keyword in node.keywords)))
    return all(id(node) in handed for node in walk(function) if isinstance(node, ast.Name) and node.id == parameter)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
