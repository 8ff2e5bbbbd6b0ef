"""The scopes of pylint's pragmas, computed from the standard library's syntax tree.

pylint gives a pragma to the innermost block whose lines contain it. In a module, class or function the pragma
holds for the whole block when it comes before the first statement, and from its own line on otherwise; in any other
statement it holds from its line to the end of that branch. Pragmas are applied in their order in the file. Which node
counts as innermost follows astroid's tree, peculiarities included; a test compares the outcome with pylint's own on
generated modules.

Source: https://pylint.readthedocs.io/en/stable/user_guide/messages/message_control.html#block-disables
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eagle3_lint.findings.comments import Layout
    from eagle3_lint.findings.suppression import Directive

_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (ast.ClassDef, *_FUNCTIONS)
_BRANCHED = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_CHILDLESS = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.expr_context, ast.operator)
# a version of Python without ``except*`` has no such node
_TRIES: tuple[type[ast.AST], ...] = (ast.Try, *filter(None, (getattr(ast, "TryStar", None),)))


class _Block(NamedTuple):
    """The lines that one pragma speaks for: ``start`` to ``end``, in a node whose own first line is ``first``."""

    first: int
    first_child: int
    start: int
    end: int
    is_module: bool


class LineStates:
    """For each line that a pragma decides: the directive that disables it there, or None where it is enabled."""

    def __init__(self) -> None:
        self.lines: dict[int, Directive | None] = {}
        self.last_line = 0
        self.beyond: list[tuple[int, Directive | None]] = []

    def at(self, line: int) -> Directive | None:
        """The directive that disables ``line``; after the last statement the nearest pragma above decides."""
        if line in self.lines:
            return self.lines[line]
        if self.last_line and line > self.last_line:
            earlier = [state for at, state in self.beyond if at <= line]
            return earlier[-1] if earlier else None
        return None


def line_states(pragmas: Sequence[Directive], tree: ast.Module | None, layout: Layout | None) -> LineStates:
    """The lines that ``pragmas`` disable and enable, applied in order.

    Without a ``tree`` (a file that can't be parsed) a pragma beside code holds for its line, and one on a line of its
    own for the rest of the file.
    """
    alone = {comment.line for comment in layout.comments if comment.alone} if layout else set()
    states = LineStates()
    states.last_line = _last(tree) if tree else 0
    for pragma in pragmas:
        state = None if pragma.action == "enable" else pragma
        states.beyond.append((pragma.anchor, state))
        if pragma.action == "disable-next":
            states.lines[pragma.anchor] = state
        elif tree is not None:
            _apply(states.lines, pragma.anchor, state, _innermost(tree, pragma.anchor))
        else:
            end = pragma.last if pragma.span.line not in alone else max(pragma.last, _end_of(layout))
            states.lines.update(dict.fromkeys(range(pragma.anchor, end + 1), state))
    return states


def _end_of(layout: Layout | None) -> int:
    return layout.last_line if layout else 0


def _apply(lines: dict[int, Directive | None], at: int, state: Directive | None, block: _Block | None) -> None:
    if block is None:
        return
    start = block.start
    if start == block.first and start >= block.first_child and block.first in lines:
        start = at
    before = None if at > block.first_child else state
    for line in range(start, block.end + 1):
        if line >= at:
            lines[line] = state
        elif line not in lines or not (block.is_module or block.first < line):
            lines[line] = before


def _innermost(node: ast.AST, at: int, function: ast.AST | None = None) -> _Block | None:
    """The block of the first node, children before parents, whose lines contain ``at``."""
    if _is_expanded(node) and _reaches(node, at):
        for child in _children(node):
            found = _innermost(child, at, node)
            if found is not None:
                return found
    first, last = _first(node, function), _last(node, function)
    if not first <= at <= last:
        return None
    start, end = _range(node, at, first, last)
    first_child = _first(_body(node)[0]) if isinstance(node, _SCOPES) and _body(node) else last
    return _Block(first, first_child, start, end, isinstance(node, ast.Module))


def _is_expanded(node: ast.AST) -> bool:
    """astroid's nodes without a position of their own, and those on one line, are not searched."""
    if isinstance(node, ast.Module):
        return True
    return hasattr(node, "lineno") and _own_first(node) != node.end_lineno  # type: ignore[attr-defined]


def _reaches(node: ast.AST, at: int) -> bool:
    return isinstance(node, ast.Module) or _own_first(node) <= at <= _last(node)


def _own_first(node: ast.AST) -> int:
    """astroid's ``lineno``: of a decorated function the line of its first decorator."""
    if isinstance(node, _DEFINITIONS) and node.decorator_list:
        return node.decorator_list[0].lineno
    return int(getattr(node, "lineno", 0))


def _first(node: ast.AST, parent: ast.AST | None = None) -> int:
    if isinstance(node, _FUNCTIONS) and node.decorator_list:
        return _own_first(node) + sum(_height(decorator) for decorator in node.decorator_list)
    if isinstance(node, ast.arguments):
        inside = next(_children(node), None)
        above = _first(parent) if isinstance(parent, _FUNCTIONS) else int(getattr(parent, "lineno", 0))
        return max(above, int(getattr(inside, "lineno", 0)))
    if isinstance(node, ast.comprehension):
        return node.target.lineno
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return int(getattr(node, "lineno", 0))


def _height(node: ast.expr) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _last(node: ast.AST, parent: ast.AST | None = None) -> int:
    if isinstance(node, ast.Module):
        return _last(node.body[-1]) if node.body else 0
    if isinstance(node, ast.arguments):
        return _last_of_arguments(node, parent)
    if isinstance(node, ast.comprehension):
        return _last(node.ifs[-1] if node.ifs else node.iter)
    if isinstance(node, ast.match_case):
        return _last(node.body[-1])
    return int(getattr(node, "end_lineno", 0) or 0)


def _last_of_arguments(node: ast.arguments, parent: ast.AST | None) -> int:
    """Arguments end where astroid's last field ends, which only annotations of ``*args`` and ``**kwargs`` move."""
    if not (node.args or node.posonlyargs or node.kwonlyargs):
        for argument in (node.kwarg, node.vararg):
            if argument is not None and argument.annotation is not None:
                return _last(argument.annotation)
    return _first(node, parent)


def _body(node: ast.AST) -> list[ast.stmt]:
    """The statements of a block; a docstring is none of them."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, _SCOPES) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return body[1:]
    return body


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The children that astroid has, in its order, for the nodes where order or kind differ."""
    if isinstance(node, _CHILDLESS):
        return
    if isinstance(node, _DEFINITIONS):
        yield from _children_of_definition(node)
    elif isinstance(node, ast.Module):
        yield from _body(node)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield from (value,) if key is None else (key, value)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            yield item.context_expr
            yield from () if item.optional_vars is None else (item.optional_vars,)
        yield from node.body
    elif isinstance(node, ast.ExceptHandler):
        yield from _children_of_handler(node)
    else:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _CHILDLESS):
                yield child


def _children_of_definition(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    if node.decorator_list:
        yield _spanning(node.decorator_list[0], node.decorator_list[-1], node.decorator_list)
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from node.keywords
    else:
        yield node.args
        yield from () if node.returns is None else (node.returns,)
    yield from getattr(node, "type_params", ())
    yield from _body(node)


def _children_of_handler(node: ast.ExceptHandler) -> Iterator[ast.AST]:
    """astroid gives the name of ``except … as name`` the lines of the whole handler."""
    if node.type is not None:
        yield node.type
    if node.name is not None:
        yield _spanning(node, node, [])
    yield from node.body


def _spanning(first: ast.AST, last: ast.AST, elements: Sequence[ast.expr]) -> ast.AST:
    """A node of our own for one that astroid has and the standard library doesn't."""
    return ast.Tuple(list(elements), ast.Load(), lineno=_own_first(first), end_lineno=_last(last))


def _range(node: ast.AST, at: int, first: int, last: int) -> tuple[int, int]:
    if isinstance(node, _SCOPES):
        return first, last
    if isinstance(node, _TRIES):
        return at, _end_in_try(node, at, first, last)
    if isinstance(node, _BRANCHED):
        return at, _end_of_branch(node, at, first, last)
    return at, last


def _end_in_try(node: ast.AST, at: int, first: int, last: int) -> int:
    handlers: Iterable[ast.ExceptHandler] = getattr(node, "handlers", ())
    for handler in handlers:
        if handler.type and at == handler.type.lineno:
            return _last(handler)
        if _first(handler.body[0]) <= at <= _last(handler.body[-1]):
            return _last(handler.body[-1])
    final: list[ast.stmt] = getattr(node, "finalbody", [])
    if final and at == _first(final[0]) - 1:
        return _last(final[0])
    if final and _first(final[0]) <= at <= _last(final[-1]):
        return _last(final[-1])
    return _end_of_branch(node, at, first, last)


def _end_of_branch(node: ast.AST, at: int, first: int, last: int) -> int:
    body: list[ast.stmt] = getattr(node, "body", [])
    if at < first:
        return last
    if at == _first(body[0]):
        return at
    if at <= _last(body[-1]):
        return _last(body[-1])
    return _end_of_else(node, at, last, _first(body[0]) - 1)


def _end_of_else(node: ast.AST, at: int, last: int, without_else: int) -> int:
    body: list[ast.stmt] = getattr(node, "body", [])
    other: list[ast.stmt] = getattr(node, "orelse", [])
    if at == last:
        return at
    if not other:
        return without_else or last
    if at <= _last(body[-1]):
        return _last(body[-1])
    if isinstance(other[0], (*_BRANCHED, *_TRIES)):
        return _end_of_else(other[0], at, _last(other[0]), 0)
    return _last(other[-1])
