"""One file under lint: whether it can be read at all, and what each rule finds in it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.engine.workspace import Workspace, describe
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.findings.codes import known
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.findings.suppression import KINDS, Directive, Kind, Suppressions, suppressions
from eagle3_lint.sources.reading import parse_source
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.rules.base import Rule

UNREADABLE = "EGL901"


@dataclass(frozen=True)
class FileResult:
    """What was found in one file, before its comments are asked."""

    path: str
    source: SourceText | None
    findings: tuple[Finding, ...]
    internal_errors: tuple[InternalError, ...] = ()
    tree: Callable[[], ast.Module | None] | None = field(default=None, compare=False)

    @cached_property
    def suppressions(self) -> Suppressions:
        """The comments that silence findings, of every kind."""
        return self._of_kinds(KINDS)

    def kept(self, kinds: frozenset[Kind] = KINDS) -> tuple[Finding, ...]:
        """The findings that no comment of ``kinds`` silences."""
        asked = self.suppressions if kinds == KINDS else self._of_kinds(kinds)
        return tuple(one for one in self.findings if asked.covers(one.code, one.symbol, one.span) is None)

    def silenced(self) -> Iterator[tuple[Finding, Directive]]:
        """The findings that a comment silences, each with every comment that does."""
        for one in self.findings:
            for directive in self.suppressions.covering(one.code, one.symbol, one.span):
                yield one, directive

    def _of_kinds(self, kinds: frozenset[Kind]) -> Suppressions:
        return suppressions(self.source, self.tree, kinds) if self.source and self.findings else Suppressions(())


def check_file(
    workspace: Workspace, path: str, rules: tuple[Rule, ...], target: tuple[int, int] | None = None
) -> FileResult:
    """Everything that ``rules`` find in the file ``path``."""
    try:
        source = workspace.modules.source(path)
    except UnreadableSourceError as error:
        found = tuple(unreadable(path, error) for rule in rules if rule.code == UNREADABLE)
        return FileResult(path, None, found)
    return _FileCheck(workspace, source, target or sys.version_info[:2]).run(rules)


def unreadable(path: str, error: UnreadableSourceError) -> Finding:
    """The finding that stands for a file that can't be linted."""
    entry = known(UNREADABLE)
    assert entry is not None
    span = Span(error.line, error.column, error.line, error.column + 1)
    message = f"This file can't be linted: {error.reason}."
    return Finding(UNREADABLE, entry.symbol, entry.severity, path, span, message, name=None, scope=error.reason)


class _FileCheck:
    """The check of one readable file; its tree is parsed at most once."""

    def __init__(self, workspace: Workspace, source: SourceText, target: tuple[int, int]) -> None:
        self._workspace = workspace
        self._source = source
        self._target = target
        self._tree: ast.Module | None = None
        self._errors: list[InternalError] = []

    def run(self, rules: tuple[Rule, ...]) -> FileResult:
        """Run ``rules``; a file that isn't Python has the one finding that says so."""
        path = self._source.path
        try:
            self._require_python()
        except UnreadableSourceError as error:
            found = tuple(unreadable(path, error) for rule in rules if rule.code == UNREADABLE)
            return FileResult(path, self._source, found)
        findings: list[Finding] = []
        for rule in rules:
            if rule.check_module is not None:
                findings.extend(self._module_findings(rule))
            elif rule.check_project is not None:
                findings.extend(one for one in self._workspace.project_findings(rule) if one.path == path)
        return FileResult(path, self._source, tuple(findings), tuple(self._errors), self._parsed_or_none)

    def _require_python(self) -> None:
        if self._workspace.is_model_file(self._source.path):
            self._workspace.modules.load(self._source.path)
        else:
            self._parsed()

    def _parsed(self) -> ast.Module:
        if self._tree is None:
            self._tree = parse_source(self._source)
        return self._tree

    def _parsed_or_none(self) -> ast.Module | None:
        try:
            return self._parsed()
        except UnreadableSourceError:
            return None

    def _module_findings(self, rule: Rule) -> tuple[Finding, ...]:
        from eagle3_lint.rules.context import ModuleContext

        assert rule.check_module is not None
        context = ModuleContext(
            self._source,
            self._parsed,
            self._target,
            self._workspace.star_exports(self._source),
            self._workspace.modules.name_of(self._source.path),
        )
        try:
            return tuple(rule.check_module(context))
        except UnreadableSourceError as error:
            return (unreadable(self._source.path, error),)
        except Exception as error:  # a rule's own fault must not stop the others
            self._errors.append(InternalError(rule.code, self._source.path, 1, describe(error)))
            return ()

