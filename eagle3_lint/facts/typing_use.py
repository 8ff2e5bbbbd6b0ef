"""The uses of typing names that no binding provides, in one module.

The door to the analysis behind the rules EGL301 and EGL302: what is undefined follows the undefined-name rules of
pyflakes and ruff; what of it is evaluated follows Python
(https://docs.python.org/3/reference/executionmodel.html, PEP 484, 526, 563, 649 and 695).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from eagle3_lint.facts.typing_model import Cause, StarExports, StarImport, TypingUse
from eagle3_lint.facts.typing_words import Suspicion, normalized, occurrences, suspicion
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.facts.typing_scopes import Scope
    from eagle3_lint.facts.typing_walk import Unprovided

__all__ = [
    "StarExports",
    "StarImport",
    "TypingUse",
    "find_undefined_typing_names",
]

# A literal start lets the matcher leap from line to line.
_IMPORT_LINE = re.compile(r"\n[ \t\f]*(?:from|import)\b[^\n]*(?:\b(?:typing|typing_extensions|collections)\b|\*)")


def find_undefined_typing_names(
    source: SourceText,
    tree: Callable[[], ast.Module],
    target: tuple[int, int],
    star_exports: StarExports,
    words: frozenset[str] | None = None,
) -> tuple[TypingUse, ...]:
    """The uses in ``source`` of typing names that nothing provides, in their order.

    ``tree`` parses it, which the text of most modules makes needless. ``target`` is the Python version that the module
    is for; ``star_exports`` tells what a star import binds, or None, which silences every name that the import may
    provide; ``words`` are the ``table_words`` of the text, if somebody has them. Errors: none of its own;
    ``RecursionError`` can only come from running it at the end of Python's stack.
    """
    suspected = suspicion(source.text, words)
    return uses_of(source, tree(), target, star_exports, suspected) if suspected else ()


def uses_of(
    source: SourceText, tree: ast.Module, target: tuple[int, int], star_exports: StarExports, suspected: Suspicion
) -> tuple[TypingUse, ...]:
    """As ``find_undefined_typing_names``, for the ``suspected`` names only."""
    if not suspected:
        return ()
    from eagle3_lint.facts.typing_walk import Walk  # most modules need no walk

    text = normalized(source.text)
    imports = (match.end() - 2 for match in _IMPORT_LINE.finditer("\n" + text))
    lines = _lines((*occurrences(text, suspected.names | suspected.modules), *imports), text)
    declarations = _lines(occurrences(text, ("global", "nonlocal")), text)
    walk = Walk(source, suspected.names, suspected.modules, lines, declarations, target, star_exports)
    uses = (_use(unprovided) for unprovided in walk.run(tree))
    return tuple(sorted(uses, key=lambda use: (use.span.line, use.span.column, use.name)))


def _lines(offsets: Iterable[int], text: str) -> list[int]:
    """The numbers, ascending, of the lines that ``offsets`` are in."""
    lines: list[int] = []
    line, position = 1, 0
    for offset in sorted(offsets):
        line += text.count("\n", position, offset)
        position = offset
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines


class _Nearest(NamedTuple):
    """Why no binding provides a name, with the binding that comes nearest."""

    cause: Cause
    line: int | None = None
    module: str | None = None
    local: bool = False


def _use(unprovided: Unprovided) -> TypingUse:
    name, bound, node, env, hidden = unprovided
    span = env.place.span(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del) and env.scope.kind != "module":
        # what a function or a class deletes is its own, whatever the module binds
        nearest = _Nearest("deleted", span.line, None, True)
    elif env.evaluated and hidden is not None:
        binding, scope = hidden
        nearest = _Nearest("type-checking", binding.line, binding.module, scope.kind == "function")
    else:
        nearest = _nearest(bound, env.scope, span.line)
    return TypingUse(
        name=name,
        span=span,
        evaluated=env.evaluated,
        written=name if name == bound else f"{bound}.{name}",
        where=env.where,
        reason=_reason(bound, nearest, name != bound),
        cause=nearest.cause,
        role=env.role,
        at_import=env.at_import,
        binding_line=nearest.line,
        binding_module=nearest.module,
        binding_is_local=nearest.local,
    )


def _nearest(name: str, scope: Scope, line: int) -> _Nearest:
    """Why no binding provides ``name`` to a read in ``scope`` at ``line``."""
    own = scope
    while True:
        local = scope.kind == "function"
        if name in scope.deleted:
            return _Nearest("deleted", scope.deleted[name], None, local)
        if name in scope.handled:
            return _Nearest("handler", scope.handled[name], None, local)
        for binding in scope.past.get(name, ()):
            if local and binding.declared_only:
                return _Nearest("declared", binding.line, None, True)
            if scope.kind == "class" and scope is not own:
                return _Nearest("class-scope", binding.line, binding.module)
            if binding.line >= line:
                return _Nearest("later", binding.line, binding.module, local)
        if scope.parent is None:
            return _Nearest("unbound")
        scope = scope.parent


def _reason(bound: str, nearest: _Nearest, qualified: bool) -> str:
    """The cause in words."""
    if nearest.cause == "unbound":
        return f"`{bound}` is not imported" if qualified else "never imported"
    return {
        "type-checking": f"bound only under TYPE_CHECKING at line {nearest.line}",
        "later": f"bound later at line {nearest.line}",
        "deleted": f"deleted at line {nearest.line}",
        "class-scope": f"bound at line {nearest.line} in a class, whose names its functions don't see",
        "handler": f"bound only inside the handler at line {nearest.line}",
        "declared": f"declared at line {nearest.line}, which makes it a local name, and given no value",
    }[nearest.cause]
