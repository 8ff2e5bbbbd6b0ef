"""How to provide a typing name: the advice, the evidence and the fix that EGL301 and EGL302 share."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eagle3_lint.facts.typing_names import typing_names
from eagle3_lint.facts.typing_use import TypingUse
from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Safety, Severity, Span
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.sources.text import SourceText

_TYPING_MODULES = ("typing", "typing_extensions")
_LONGEST_SHOWN = 88
_AMBIGUOUS = frozenset(
    """
    Buffer Container Counter Doc Format Match OrderedDict Pattern Reader Sentinel Text Type Writer cast deprecated final
    get_annotations overload override runtime sentinel
    """.split()
)
"""Names that something else may well be meant by, outside annotations."""


@dataclass(frozen=True)
class _Remedy:
    """What provides a name: ``statement`` as a user would write it, or ``alias`` added to an ``existing`` import."""

    module: str
    statement: str
    alias: str
    existing: ast.ImportFrom | None


def finding(
    context: ModuleContext, use: TypingUse, code: str, symbol: str, severity: Severity, consequence: str
) -> Finding:
    """The finding on ``use``; ``consequence`` says what comes of it."""
    remedy = _remedy(context, use)
    return Finding(
        code=code,
        symbol=symbol,
        severity=severity,
        path=context.source.path,
        span=use.span,
        message=f"{problem(use)} {consequence} {_advice(context.source, use, remedy)}",
        evidence=tuple(_evidence(context.source.path, use, remedy)),
        fix=_fix(context, use, remedy),
        name=use.name,
        scope=use.where,
    )


def problem(use: TypingUse) -> str:
    """What is wrong with ``use``, as a sentence."""
    if use.cause == "unbound" and use.written != use.name:
        return f"`{use.written}` is used, but `{use.written.partition('.')[0]}` is never imported."
    return f"`{use.written}` is {use.reason}."


def place(use: TypingUse) -> str:
    """Where ``use`` stands, in words: ``annotation of parameter `x` of `Model.forward` ``."""
    if not use.where:
        return use.role
    owned = use.role.startswith(("annotation of parameter", "return annotation", "base class", "default value"))
    return f"{use.role} {'of' if owned else 'in'} `{use.where}`"


def _remedy(context: ModuleContext, use: TypingUse) -> _Remedy:
    base = use.written.rpartition(".")[0]
    if base:
        statement = "import typing as t" if base == "t" else f"import {base}"
        return _Remedy("typing" if base == "t" else base, statement, "", None)
    module = "typing" if use.name in typing_names(context.target) else "typing_extensions"
    return _Remedy(module, f"from {module} import {use.name}", use.name, _existing(context.tree, use, module))


def _existing(tree: ast.Module, use: TypingUse, module: str) -> ast.ImportFrom | None:
    """The import of ``module`` at the top level, above ``use``, that can take one more name."""
    for statement in tree.body:
        if statement.lineno >= use.span.line:
            return None
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module != module:
            continue
        if statement.names[0].name != "*":
            return statement
    return None


def _advice(source: SourceText, use: TypingUse, remedy: _Remedy) -> str:
    """What to write."""
    line = use.binding_line
    if use.cause == "deleted":
        return f"Delete it after its last use, or not at all (line {line})."
    if use.cause == "later" and (use.binding_is_local or use.binding_module not in _TYPING_MODULES):
        return f"Move line {line} above this one."
    if use.cause == "type-checking" and (use.binding_is_local or use.binding_module not in _TYPING_MODULES):
        return f"Bind it at run time too, outside the `if TYPE_CHECKING:` of line {line}, or quote the annotation."
    if use.cause == "handler":
        return f"The name of the handler on line {line} hides it; give that another name."
    if remedy.existing is None:
        return f"Write `{remedy.statement}` at the top of the module."
    written = _with_name(remedy.existing, remedy.alias)
    where = f"line {remedy.existing.lineno}"
    if len(written) <= _LONGEST_SHOWN and remedy.existing.end_lineno == remedy.existing.lineno:
        return f"Make {where} `{written}`."
    return f"Add `{remedy.alias}` to the `from {remedy.module} import ...` on {where}."


def _with_name(statement: ast.ImportFrom, name: str) -> str:
    """``statement`` on one line, with ``name`` added."""
    index = _index(statement.names, name)
    clauses = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in statement.names]
    return f"from {statement.module} import {', '.join([*clauses[:index], name, *clauses[index:]])}"


def _evidence(path: str, use: TypingUse, remedy: _Remedy) -> Iterator[Evidence]:
    if use.binding_line is not None:
        yield Evidence(path, use.binding_line, f"`{use.written.partition('.')[0]}` is {_what_happens(use)} here")
    if remedy.existing is not None:
        yield Evidence(path, remedy.existing.lineno, f"other names are imported from {remedy.module} here")


def _what_happens(use: TypingUse) -> str:
    return {
        "type-checking": "bound for type checkers only",
        "later": "bound, too late,",
        "deleted": "deleted",
        "class-scope": "bound in a class",
        "handler": "bound for a handler only",
    }[use.cause]


def _fix(context: ModuleContext, use: TypingUse, remedy: _Remedy) -> Fix | None:
    """The import, added; None where that wouldn't help or would hide what the module means."""
    late = use.cause in ("type-checking", "later")
    helps = use.cause in ("unbound", "class-scope") or (
        late and not use.binding_is_local and use.binding_module in _TYPING_MODULES
    )
    if not helps:
        return None
    source = context.source
    if remedy.existing is not None:
        edit = _added_name(source, remedy.existing, remedy.alias)
    else:
        edit = _added_statement(source, context.tree, remedy.statement, use.span.line)
    sure = remedy.module == "typing" and (use.role != "expression" or use.name not in _AMBIGUOUS)
    safety: Safety = "safe" if sure and not late else "unsafe"
    remains = f"see that {remedy.module} is installed" if remedy.module == "typing_extensions" else ""
    return Fix(safety, (edit,), remains)


def _added_name(source: SourceText, statement: ast.ImportFrom, name: str) -> Edit:
    """``name`` put among the names of ``statement``, in the layout that it has."""
    index = _index(statement.names, name)
    if index < len(statement.names):
        alias = statement.names[index]
        return _insertion(source, alias.lineno, alias.col_offset, f"{name},{_separator(source, statement, alias)}")
    last = statement.names[-1]
    text = f",{_separator(source, statement, last)}{name}"
    return _insertion(source, last.end_lineno or last.lineno, last.end_col_offset or 0, text)


def _separator(source: SourceText, statement: ast.ImportFrom, alias: ast.alias) -> str:
    """What stands between ``alias`` and a neighbour: a line break where each name has its own line in parentheses."""
    lines = source.lines[statement.lineno - 1 : statement.names[0].lineno]
    before = source.lines[alias.lineno - 1][: source.column(alias.lineno, alias.col_offset) - 1]
    return " " if before.strip() or not any("(" in line for line in lines) else line_ending(source) + before


def _added_statement(source: SourceText, tree: ast.Module, statement: str, use_line: int) -> Edit:
    """``statement`` on a line of its own: above the first import, else below the module's docstring."""
    below = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            below = node.end_lineno or node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and below < node.lineno < use_line:
            return _insertion(source, node.lineno, 0, statement + line_ending(source))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and not below:
            below = node.end_lineno or node.lineno
        else:
            break
    if not below:
        first = min((_first_line(node) for node in tree.body), default=1)
        return _insertion(source, first, 0, statement + line_ending(source) * 2)
    length = len(source.lines[below - 1].encode("utf-8", "surrogatepass"))
    return _insertion(source, below, length, line_ending(source) * 2 + statement)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def line_ending(source: SourceText) -> str:
    """The line ending that ``source`` uses."""
    return "\r\n" if "\r\n" in source.text else "\n"


def _insertion(source: SourceText, line: int, offset: int, text: str) -> Edit:
    column = source.column(line, offset)
    return Edit(source.path, Span(line, column, line, column), text)


def _index(names: Sequence[ast.alias], name: str) -> int:
    """Where ``name`` goes among ``names``: in their order if they have one, else last."""
    keys = [_order(alias.name) for alias in names]
    if keys != sorted(keys):
        return len(keys)
    return sum(key < _order(name) for key in keys)


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: the order that isort gives imported names."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name
