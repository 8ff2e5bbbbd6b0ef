"""Imports: a name added to one that is there, or a new one in its place.

The order is isort's (https://pycqa.github.io/isort/), which SGLang's own formatter uses: the standard library first, plain
imports before ``from`` imports, modules and names in order; a file that has another order keeps it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from itertools import islice

from eagle3_lint.facts.nodes import first_line, is_docstring
from eagle3_lint.findings.model import Edit, Span
from eagle3_lint.fixes.text import (
    WIDTH,
    ending_at,
    indent_of,
    insertion,
    is_blank_before,
)
from eagle3_lint.sources.text import SourceText

_Import = (ast.Import, ast.ImportFrom)


def import_names(
    source: SourceText, tree: ast.Module, module: str, names: Sequence[str], above: int
) -> tuple[Edit, ...]:
    """The edits after which ``from module import names`` has run by line ``above``; none where no place is sure.

    They extend an import from ``module`` at the top level, else add a statement.
    """
    existing = import_from(tree.body, module, above)
    if existing is not None:
        return added_names(source, existing, names)
    statement = f"from {module} import {', '.join(sorted(names, key=_order))}"
    return new_import(source, tree, module, statement, above)


def import_from(body: Sequence[ast.stmt], module: str, above: int) -> ast.ImportFrom | None:
    """The first import from ``module`` in ``body``, above line ``above``, that can take more names."""
    for statement in body:
        if statement.lineno >= above:
            return None
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module != module:
            continue
        if statement.names[0].name != "*" and (statement.end_lineno or statement.lineno) < above:
            return statement
    return None


def type_checking_import(blocks: Iterable[ast.If], module: str, above: int) -> ast.ImportFrom | None:
    """The first import from ``module`` in ``blocks``, those of ``if TYPE_CHECKING:``, above line ``above``."""
    for statement in blocks:
        found = import_from(statement.body, module, above)
        if found is not None:
            return found
    return None


def added_names(source: SourceText, statement: ast.ImportFrom, names: Sequence[str]) -> tuple[Edit, ...]:
    """``names`` put among those of ``statement``, in their order if they have one, in the layout that it has."""
    if _has_own_lines(source, statement):
        return _added_lines(source, statement, names)
    if statement.lineno == statement.end_lineno and _is_too_wide(source, statement, names):
        return _one_name_a_line(source, statement, names)
    before: dict[int, list[str]] = {}
    for name in sorted(names, key=_order):
        before.setdefault(index_among(statement.names, name), []).append(name)
    edits: list[Edit] = []
    for index, group in before.items():
        if index < len(statement.names):
            alias = statement.names[index]
            column = source.column(alias.lineno, alias.col_offset)
            edits.append(insertion(source, alias.lineno, column, "".join(f"{name}, " for name in group)))
        else:
            line, column = _end(source, statement.names[-1])
            edits.append(insertion(source, line, column, "".join(f", {name}" for name in group)))
    return tuple(edits)


def index_among(names: Sequence[ast.alias], name: str) -> int:
    """Where ``name`` goes among ``names``: in their order if they have one, else last."""
    for order in (_order, _caseless):
        keys = [order(alias.name) for alias in names]
        if keys == sorted(keys):
            return sum(key < order(name) for key in keys)
    return len(names)


def new_import(source: SourceText, tree: ast.Module, module: str, statement: str, above: int) -> tuple[Edit, ...]:
    """The edit that adds ``statement``, which imports ``module``, at the top of the module and above line ``above``.

    None where the first statements share their lines with others.
    """
    head = _head(tree)
    imports = _leading_imports(tree, head, above)
    if imports:
        edit = _among(source, imports, module, plain=statement.startswith("import "))
    else:
        edit = _first(source, tree, head)
    if edit is None:
        return ()
    line, text = edit
    text = text.replace("\n", ending_at(source, max(line - 1, 1))).replace("IMPORT", statement)
    return (insertion(source, line, 1, text),) if line <= above else ()


def _head(tree: ast.Module) -> list[ast.stmt]:
    """The docstring and the ``__future__`` imports."""
    found: list[ast.stmt] = []
    for node in tree.body:
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_future and (found or not is_docstring(node)):
            break
        found.append(node)
    return found


def _leading_imports(tree: ast.Module, head: list[ast.stmt], above: int) -> list[ast.Import | ast.ImportFrom]:
    """The imports that follow the head, up to the first other statement, above line ``above``."""
    found: list[ast.Import | ast.ImportFrom] = []
    for node in islice(tree.body, len(head), None):
        if not isinstance(node, _Import) or node.lineno >= above:
            break
        found.append(node)
    return found


def _among(
    source: SourceText, imports: list[ast.Import | ast.ImportFrom], module: str, *, plain: bool
) -> tuple[int, str] | None:
    """The line to insert at, and the text with ``IMPORT`` for the statement, next to imports of the same section."""
    standard = module.partition(".")[0] in sys.stdlib_module_names
    section = [node for node in imports if is_standard(node) == standard]
    if not section:
        at = imports[0] if standard else imports[-1]
        if standard:
            return (at.lineno, "IMPORT\n\n") if _starts_line(source, at) else None
        return _below(source, at, "\nIMPORT\n")
    own_kind = [node for node in section if isinstance(node, ast.Import) == plain]
    following = next((node for node in own_kind if _module(node) > module), None)
    if following is None and plain and not own_kind:
        following = section[0]
    if following is not None:
        return (following.lineno, "IMPORT\n") if _starts_line(source, following) else None
    return _below(source, own_kind[-1] if own_kind else section[-1], "IMPORT\n")


def _below(source: SourceText, node: ast.stmt, text: str) -> tuple[int, str] | None:
    """Insert ``text`` below the line that ``node`` ends on; None where that line goes on or the file ends there."""
    line, column = _end(source, node)
    rest = source.lines[line - 1][column - 1 :].strip()
    if (rest and not rest.startswith("#")) or line >= len(source.lines):
        return None
    return line + 1, text


def _first(source: SourceText, tree: ast.Module, head: list[ast.stmt]) -> tuple[int, str] | None:
    """The line and text for the first import of a module."""
    if head:
        return _below(source, head[-1], "\nIMPORT\n")
    if not tree.body:
        return None
    first = tree.body[0]
    line = first_line(first)
    if line != first.lineno or _starts_line(source, first):
        return line, "IMPORT\n\n"
    return None


def is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether ``node`` imports from the standard library."""
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    return not relative and _module(node).partition(".")[0] in sys.stdlib_module_names


def _module(node: ast.Import | ast.ImportFrom) -> str:
    return node.names[0].name if isinstance(node, ast.Import) else node.module or ""


def _starts_line(source: SourceText, node: ast.stmt) -> bool:
    """Whether ``node`` is the first thing on its line, which no backslash joins to the line above."""
    above = source.lines[node.lineno - 2] if node.lineno > 1 else ""
    return is_blank_before(source, node.lineno, node.col_offset) and not above.endswith("\\")


def _end(source: SourceText, node: ast.stmt | ast.alias) -> tuple[int, int]:
    line = node.end_lineno or node.lineno
    return line, source.column(line, node.end_col_offset or 0)


def _has_own_lines(source: SourceText, statement: ast.ImportFrom) -> bool:
    """Whether each name stands on a line of its own, in parentheses."""
    lines = [alias.lineno for alias in statement.names]
    return (
        len(set(lines)) == len(lines)
        and lines[0] > statement.lineno
        and "(" in source.lines[statement.lineno - 1]
        and (statement.end_lineno or 0) > (statement.names[-1].end_lineno or 0)
        and all(is_blank_before(source, alias.lineno, alias.col_offset) for alias in statement.names)
    )


def _added_lines(source: SourceText, statement: ast.ImportFrom, names: Sequence[str]) -> tuple[Edit, ...]:
    """A line for each of ``names``; a comma that the last name lacks is added behind it."""
    edits: list[Edit] = []
    at_lines: dict[int, list[str]] = {}
    for name in sorted(names, key=_order):
        index = index_among(statement.names, name)
        line = statement.names[index].lineno if index < len(statement.names) else 0
        at_lines.setdefault(line, []).append(name)
    last_line, last_column = _end(source, statement.names[-1])
    for line, group in at_lines.items():
        indent = indent_of(source, statement.names[0].lineno)
        ending = ending_at(source, statement.lineno)
        text = "".join(f"{indent}{name},{ending}" for name in group)
        if line == 0:
            rest = source.lines[last_line - 1][last_column - 1 :].lstrip()
            if not rest.startswith(","):
                edits.append(insertion(source, last_line, last_column, ","))
            edits.append(insertion(source, last_line + 1, 1, text))
        else:
            edits.append(insertion(source, line, 1, text))
    return tuple(edits)


def _is_too_wide(source: SourceText, statement: ast.ImportFrom, names: Sequence[str]) -> bool:
    """Whether the line was within the formatter's width, and won't be with ``names``."""
    line = source.lines[statement.lineno - 1]
    added = sum(len(name) + 2 for name in names)
    rest = line[_end(source, statement)[1] - 1 :].strip()
    return len(line) <= WIDTH < len(line) + added and not rest and "(" not in line and ";" not in line


def _one_name_a_line(source: SourceText, statement: ast.ImportFrom, names: Sequence[str]) -> tuple[Edit, ...]:
    """The names of ``statement`` and ``names`` in parentheses, each on its line, as isort and Black write them."""
    outer = indent_of(source, statement.lineno)
    ending = ending_at(source, statement.lineno)
    clauses = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in statement.names]
    for name in sorted(names, key=_order, reverse=True):
        clauses.insert(index_among(statement.names, name), name)
    unit = "\t" if outer.startswith("\t") else "    "
    lines = ["(", *(f"{outer}{unit}{clause}," for clause in clauses), f"{outer})"]
    first, (line, column) = statement.names[0], _end(source, statement.names[-1])
    start = source.column(first.lineno, first.col_offset)
    return (Edit(source.path, Span(first.lineno, start, line, column), ending.join(lines)),)


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: the order that isort gives imported names."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def _caseless(name: str) -> tuple[int, str]:
    return 0, name.lower()
