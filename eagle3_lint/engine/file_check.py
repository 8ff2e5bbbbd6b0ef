"""One file under lint: whether it can be read at all, and what each rule finds in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.findings.codes import known
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.findings.suppression import KINDS, UNUSED_CODE, Directive, Kind, Suppressions, suppressions
from eagle3_lint.sources.reading import parse_source

if TYPE_CHECKING:
    import ast

    from eagle3_lint.rules.base import Rule
    from eagle3_lint.rules.context import ModuleContext
    from eagle3_lint.sources.text import SourceText

UNREADABLE = "EGL901"


@dataclass(frozen=True)
class FileResult:
    """What was found in one file, before its comments are asked; ``codes`` are the rules that ran.

    ``read`` gives the text, which most files without findings need not give.
    """

    path: str
    read: Callable[[], SourceText | None]
    findings: tuple[Finding, ...]
    codes: frozenset[str] = frozenset()
    internal_errors: tuple[InternalError, ...] = ()

    @cached_property
    def suppressions(self) -> Suppressions:
        """The comments that silence findings, of every kind."""
        return self._of_kinds(KINDS)

    def kept(self, kinds: frozenset[Kind] = KINDS) -> tuple[Finding, ...]:
        """The findings that no comment of ``kinds`` silences, and the comments of any kind that silence nothing."""
        asked = self.suppressions if kinds == KINDS else self._of_kinds(kinds)
        open_ones = tuple(one for one in self.findings if asked.covers(one.code, one.symbol, one.span) is None)
        return (*open_ones, *self.unused())

    def silenced(self) -> Iterator[tuple[Finding, Directive]]:
        """The findings that a comment silences, each with every comment that does."""
        for one in self.findings:
            for directive in self.suppressions.covering(one.code, one.symbol, one.span):
                yield one, directive

    def unused(self) -> tuple[Finding, ...]:
        """EGL902: the codes and symbols of ours in comments that silence nothing."""
        if UNUSED_CODE not in self.codes:
            return ()
        from eagle3_lint.rules.registry import all_codes

        used = [(directive, one.code) for one, directive in self.silenced()]
        complete = self.codes.issuperset(all_codes())
        return tuple(
            _finding(
                UNUSED_CODE,
                self.path,
                one.span,
                f"This comment silences {one.entry or 'eagle3-lint'}, which finds nothing here. Take it out.",
                one.entry,
            )
            for one in self.suppressions.unused(used, self.codes, complete=complete)
        )

    def _of_kinds(self, kinds: frozenset[Kind]) -> Suppressions:
        if not self.findings and UNUSED_CODE not in self.codes:
            return Suppressions(())
        source = self.read()
        return suppressions(source, None, kinds) if source is not None else Suppressions(())


def check_file(
    workspace: Workspace, path: str, codes: frozenset[str], target: tuple[int, int] | None = None
) -> FileResult:
    """Everything that the rules ``codes`` find in the file ``path``."""
    return _FileCheck(workspace, path, codes, target or sys.version_info[:2]).run()


def unreadable(path: str, error: UnreadableSourceError) -> Finding:
    """The finding that stands for a file that can't be linted."""
    span = Span(error.line, error.column, error.line, error.column + 1)
    return _finding(UNREADABLE, path, span, f"This file can't be linted: {error.reason}.", error.reason)


def _finding(code: str, path: str, span: Span, message: str, scope: str) -> Finding:
    entry = known(code)
    assert entry is not None
    return Finding(code, entry.symbol, entry.severity, path, span, message, scope=scope)


class _FileCheck:
    """The check of one file; its text is read and parsed at most once, and only where that is needed."""

    def __init__(self, workspace: Workspace, path: str, codes: frozenset[str], target: tuple[int, int]) -> None:
        self._workspace = workspace
        self._path = path
        self._target = target
        self._codes = codes
        self._errors: list[InternalError] = []
        self._tree: ast.Module | None = None
        self._made: ModuleContext | None = None
        self._visited: set[str] = set()

    def run(self) -> FileResult:
        """Run the rules; a file that isn't Python has the one finding that says so."""
        own = self._own_findings()
        found = list(own)
        if self._workspace.is_model_file(self._path) and not any(one.code == UNREADABLE for one in own):
            self._workspace.prepare(self._codes)
            for code in sorted(self._codes):
                found.extend(self._workspace.project_findings_in(self._path, code))
        wanted = tuple(one for one in found if one.code in self._codes)
        return FileResult(self._path, self._read, wanted, self._codes, tuple(self._errors))

    def _own_findings(self) -> tuple[Finding, ...]:
        """What the file's own text shows, from the last run where it hasn't changed since."""
        key = f"{self._path}\n{self._target}\n{sorted(self._codes)}"
        remembered = self._workspace.recall_file(self._path, key)
        if remembered is not None:
            return remembered
        try:
            found = self._check_text()
        except UnreadableSourceError as error:
            found = (unreadable(self._path, error),)
        if not self._errors:
            self._workspace.remember_file(self._path, key, found, self._visited)
        return found

    def _check_text(self) -> tuple[Finding, ...]:
        from eagle3_lint.rules.registry import load

        source = self._workspace.source(self._path)
        self._require_python(source)
        rules = [load(code) for code in sorted(self._codes)]
        return tuple(one for rule in rules if rule.check_module for one in self._module_findings(source, rule))

    def _require_python(self, source: SourceText) -> None:
        if self._workspace.is_model_file(self._path):
            self._workspace.opened.modules.load(self._path)
        else:
            self._parsed(source)

    def _parsed(self, source: SourceText) -> ast.Module:
        if self._tree is None:
            self._tree = parse_source(source)
        return self._tree

    def _module_findings(self, source: SourceText, rule: Rule) -> tuple[Finding, ...]:
        assert rule.check_module is not None
        try:
            return tuple(rule.check_module(self._context(source)))
        except UnreadableSourceError:
            raise
        except Exception as error:  # a rule's own fault must not stop the others
            from eagle3_lint.engine.opened import describe

            self._errors.append(InternalError(rule.code, self._path, 1, describe(error)))
            return ()

    def _context(self, source: SourceText) -> ModuleContext:
        if self._made is None:
            from eagle3_lint.rules.context import ModuleContext

            opened = self._workspace.opened
            self._made = ModuleContext(
                source,
                lambda: self._parsed(source),
                self._target,
                opened.star_exports(source, self._visited),
                opened.modules.name_of(self._path),
            )
        return self._made

    def _read(self) -> SourceText | None:
        try:
            return self._workspace.source(self._path)
        except UnreadableSourceError:
            return None
