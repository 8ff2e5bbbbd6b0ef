"""How to provide a typing name: the advice, the evidence and the fix that EGL301 and EGL302 share."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from eagle3_lint.facts.typing_names import typing_names
from eagle3_lint.facts.typing_use import TypingUse
from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Severity
from eagle3_lint.fixes.imports import added_names, import_from, index_among, new_import, type_checking_import
from eagle3_lint.rules.context import ModuleContext

_TYPING_MODULES = ("typing", "typing_extensions")
_LONGEST_SHOWN = 88
_AMBIGUOUS = frozenset(
    (
        "Buffer",
        "Container",
        "Counter",
        "Doc",
        "Format",
        "Match",
        "OrderedDict",
        "Pattern",
        "Reader",
        "Sentinel",
        "Text",
        "Type",
        "Writer",
        "cast",
        "deprecated",
        "final",
        "get_annotations",
        "overload",
        "override",
        "runtime",
        "sentinel",
    )
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
        message=f"{problem(use)} {consequence} {_advice(use, remedy)}",
        evidence=tuple(_evidence(context.source.path, use, remedy)),
        fix=_fix(context, use, remedy) if context.with_fixes else None,
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
    return _Remedy(module, f"from {module} import {use.name}", use.name, _existing(context, use, module))


def _existing(context: ModuleContext, use: TypingUse, module: str) -> ast.ImportFrom | None:
    """The import of ``module`` above ``use`` that takes one more name.

    One under ``if TYPE_CHECKING:`` where the module keeps there what only type checkers need.
    """
    above = use.span.line
    plain = import_from(context.imports, module, above)
    if use.evaluated or (plain is not None and any(alias.name != "TYPE_CHECKING" for alias in plain.names)):
        return plain
    if any(one.evaluated and one.name == use.name for one in context.typing_uses):
        return plain
    return type_checking_import(context.typing_blocks, module, above) or plain


def _advice(use: TypingUse, remedy: _Remedy) -> str:
    """What to write."""
    line = use.binding_line
    if use.cause == "deleted":
        return f"Delete it after its last use, or not at all (line {line})."
    if use.cause == "declared":
        return f"Give it a value on line {line}, or give what stands there another name."
    if use.cause == "later" and (use.binding_is_local or use.binding_module not in _TYPING_MODULES):
        return f"Move line {line} above this one."
    if use.cause == "type-checking" and (use.binding_is_local or use.binding_module not in _TYPING_MODULES):
        quoted = ", or quote the annotation" if "annotation" in use.role else ""
        return f"Bind it at run time too, not only under the `if TYPE_CHECKING:` of line {line}{quoted}."
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
    index = index_among(statement.names, name)
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
        "declared": "declared without a value",
    }[use.cause]


def _fix(context: ModuleContext, use: TypingUse, remedy: _Remedy) -> Fix | None:
    """The import, added; None where that wouldn't help, would hide what the module means, or has no sure place."""
    late = use.cause in ("type-checking", "later")
    helps = use.cause in ("unbound", "class-scope") or (
        late and not use.binding_is_local and use.binding_module in _TYPING_MODULES
    )
    edits = _edits(context, use, remedy) if helps else ()
    if not edits:
        return None
    sure = remedy.module == "typing" and (use.role != "expression" or use.name not in _AMBIGUOUS)
    same = not late or use.binding_module == remedy.module
    remains = f"see that {remedy.module} is installed" if remedy.module == "typing_extensions" else ""
    return Fix("safe" if sure and same else "unsafe", edits, remains)


def _edits(context: ModuleContext, use: TypingUse, remedy: _Remedy) -> tuple[Edit, ...]:
    if remedy.existing is not None:
        return added_names(context.source, remedy.existing, (remedy.alias,))
    return new_import(context.source, context.tree, remedy.module, remedy.statement, use.span.line)
