"""Between astroid's nodes and the facts of a module: both know where a statement stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from astroid import nodes

from eagle3_lint.facts.module import Member, MemberKind, Place

_Definition = nodes.FunctionDef | nodes.ClassDef


def place_of(node: nodes.NodeNG) -> Place:
    """Where ``node`` stands; a decorated definition stands at its ``def``."""
    line = node.position.lineno if isinstance(node, _Definition) and node.position is not None else node.lineno
    return Place(line, node.col_offset, node.end_lineno, node.end_col_offset)


def key_of(node: nodes.NodeNG) -> tuple[int, int]:
    """The line and offset of ``node``, which tell statements of one file apart."""
    place = place_of(node)
    return (place.line, place.offset)


def classes_in(body: Iterable[nodes.NodeNG]) -> Iterator[nodes.ClassDef]:
    """Every class of these statements and those nested in them, outside functions."""
    for node in body:
        if isinstance(node, nodes.ClassDef):
            yield node
            yield from classes_in(node.body)
        elif not isinstance(node, nodes.FunctionDef) and node.is_statement:
            yield from classes_in(child for child in node.get_children() if _holds_statements(child))


def is_typing_only(node: nodes.NodeNG) -> bool:
    """Whether ``node`` lies in the arm of a condition that only type checkers follow."""
    child = node
    parent = node.parent
    while parent is not None and not isinstance(parent, nodes.Module):
        if isinstance(parent, nodes.If):
            negated, test = _without_not(parent.test)
            if dotted_name(test).rpartition(".")[2] == "TYPE_CHECKING" and child is not parent.test:
                in_body = any(child is one for one in parent.body)
                if in_body is not negated:
                    return True
        child, parent = parent, parent.parent
    return False


def dotted_name(node: nodes.NodeNG) -> str:
    """``a.b.c`` for a chain of attributes on a name, else the empty string."""
    parts: list[str] = []
    while isinstance(node, nodes.Attribute):
        parts.append(node.attrname)
        node = node.expr
    return ".".join((node.name, *reversed(parts))) if isinstance(node, nodes.Name) else ""


def member(name: str, node: nodes.NodeNG, owner: nodes.ClassDef) -> Member | None:
    """The member that ``node`` gives the class ``owner``; None where it only declares a type."""
    statement = node.statement()
    conditional = statement.parent is not owner and not isinstance(node, nodes.AssignAttr)
    if isinstance(node, _Definition):
        decorators = tuple(node.decorators.nodes) if node.decorators is not None else ()
        kind: MemberKind = "class" if isinstance(node, nodes.ClassDef) else "function"
        place = place_of(node)
        first = min([place.line, *(one.lineno for one in decorators)])
        return Member(name, kind, place, first, tuple(_decorator(one) for one in decorators), conditional)
    if isinstance(statement, nodes.AnnAssign) and statement.value is None:
        return None
    if isinstance(statement, nodes.AugAssign):
        return None
    plain = isinstance(statement, nodes.AnnAssign) or (
        isinstance(statement, nodes.Assign) and any(target is node for target in statement.targets)
    )
    return Member(name, "assign" if plain else "opaque", place_of(statement), statement.lineno, (), conditional)


def _decorator(node: nodes.NodeNG) -> str:
    return dotted_name(node.func if isinstance(node, nodes.Call) else node)


def _without_not(test: nodes.NodeNG) -> tuple[bool, nodes.NodeNG]:
    negated = False
    while isinstance(test, nodes.UnaryOp) and test.op == "not":
        negated, test = not negated, test.operand
    return negated, test


def _holds_statements(node: nodes.NodeNG) -> bool:
    return bool(node.is_statement) or isinstance(node, nodes.MatchCase)
