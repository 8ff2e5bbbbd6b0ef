"""Runs the rules about single files over one text, which needs no other file but what its star imports bind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.rules.catalogue import about_classes, known

if TYPE_CHECKING:
    from eagle3_lint.engine.workspace import Workspace
    from eagle3_lint.rules.base import Rule
    from eagle3_lint.rules.context import ModuleContext

UNREADABLE = "EGL901"


@dataclass
class TextFindings:
    """What was found in one text, and which rules failed; ``visited`` are other files that were asked for it."""

    findings: tuple[Finding, ...] = ()
    internal_errors: list[InternalError] = field(default_factory=list)
    visited: set[str] = field(default_factory=set)


def check_text(workspace: Workspace, path: str, codes: frozenset[str], target: tuple[int, int]) -> TextFindings:
    """What the rules ``codes`` about single files find in the file ``path``, or found when its text was the same."""
    key = f"{path}\n{target}\n{sorted(codes)}"
    recalled = workspace.recall_file(path, key)
    if recalled is not None:
        return TextFindings(recalled)
    found = TextFindings()
    try:
        found.findings = _looked_for(workspace, path, codes, target, found)
    except UnreadableSourceError as error:
        found.findings = (unreadable(path, error),)
    if not found.internal_errors:
        workspace.remember_file(path, key, found.findings, found.visited)
    return found


def _looked_for(
    workspace: Workspace, path: str, codes: frozenset[str], target: tuple[int, int], found: TextFindings
) -> tuple[Finding, ...]:
    context = _context(workspace, path, target, found.visited)
    if workspace.is_model_file(path) and about_classes(codes):
        # it is parsed for its classes anyway, or was in an earlier run
        workspace.modules.load(path)
    else:
        _ = context.tree
    return tuple(one for rule in _rules(codes) for one in _of_rule(rule, context, found.internal_errors))


def _context(workspace: Workspace, path: str, target: tuple[int, int], visited: set[str]) -> ModuleContext:
    from eagle3_lint.project.star_exports import star_exports
    from eagle3_lint.rules.context import ModuleContext
    from eagle3_lint.sources.reading import parse_source

    source = workspace.source(path)
    modules = workspace.modules
    return ModuleContext(
        source,
        partial(parse_source, source),
        target,
        lambda module, level: star_exports(modules, modules.imported_from(path, level, module), visited),
        modules.name_of(path),
        workspace.with_fixes,
    )


def _of_rule(rule: Rule, context: ModuleContext, errors: list[InternalError]) -> Sequence[Finding]:
    assert rule.check_module is not None
    try:
        return tuple(rule.check_module(context))
    except UnreadableSourceError:
        raise
    except Exception as error:  # noqa: BLE001 - a rule's own fault must not stop the others
        errors.append(InternalError.of(rule.code, context.source.path, 1, error))
        return ()


def _rules(codes: frozenset[str]) -> Iterator[Rule]:
    from eagle3_lint.rules.registry import load

    return (rule for code in sorted(codes - about_classes(codes)) if (rule := load(code)).check_module)


def unreadable(path: str, error: UnreadableSourceError) -> Finding:
    """The finding that stands for a file that can't be linted."""
    span = Span(error.line, error.column, error.line, error.column + 1)
    return engine_finding(UNREADABLE, path, span, f"This file can't be linted: {error.reason}.", error.reason)


def engine_finding(code: str, path: str, span: Span, message: str, scope: str) -> Finding:
    """A finding of one of the rules that the engine itself checks."""
    entry = known(code)
    assert entry is not None
    return Finding(code, entry.symbol, entry.severity, path, span, message, scope=scope)
