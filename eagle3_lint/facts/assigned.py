"""Which attributes a piece of code assigns, on whatever object, and how."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from eagle3_lint.facts.nodes import dotted_name, walk

COMPUTING = ("setattr", "__dict__", "vars", "exec", "__getattribute__", "__class__")
"""Of whatever ``assigns_computed`` finds, the text has one of these identifiers."""
_SETTING = frozenset({"setattr", "add_module"})


def assigned(root: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each attribute that ``root`` assigns, by a statement or through ``setattr`` and its like, and the object that gets it."""
    for node in walk(root):
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                yield node.attr, node.value
        elif isinstance(node, ast.Call) and is_setting(node):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            called = node.func.value if isinstance(node.func, ast.Attribute) else arguments[0] if arguments else node
            for argument in arguments:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, called


def is_setting(call: ast.Call) -> bool:
    """Whether ``call`` puts an attribute on an object: ``setattr``, ``add_module``, ``register_buffer`` …"""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted_name(call.func)
    return name in _SETTING or name.startswith("register_")


def assigns_computed(root: ast.AST) -> bool:
    """Whether ``root`` may assign attributes that it computes the names of."""
    for node in walk(root):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in {"vars", "exec"}:
                return True
            if node.func.id == "setattr" and not _is_string(node.args[1:2]):
                return True
        elif isinstance(node, ast.Attribute):
            if node.attr == "__dict__" or (node.attr == "__class__" and isinstance(node.ctx, ast.Store)):
                return True
        elif isinstance(node, ast.FunctionDef) and node.name == "__getattribute__":
            return True
    return False


def _is_string(arguments: list[ast.expr]) -> bool:
    return all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in arguments)
