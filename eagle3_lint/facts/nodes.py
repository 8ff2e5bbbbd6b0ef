"""What is asked of single nodes of a syntax tree, wherever facts are drawn from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def dotted_name(node: ast.expr) -> str:
    """``a.b.c`` for a chain of attributes on a name, else the empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(one.lineno for one in decorators)) if decorators else node.lineno


def is_docstring(node: ast.stmt) -> bool:
    """Whether ``node`` would be the docstring of what it comes first in."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """``root`` and every node below it, in the order of ``ast.walk`` and in half its time; contexts are left out."""
    nodes = [root]
    for node in nodes:
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                nodes.extend([one for one in value if isinstance(one, ast.AST)])
            elif isinstance(value, ast.AST) and name != "ctx":
                nodes.append(value)
        yield node
