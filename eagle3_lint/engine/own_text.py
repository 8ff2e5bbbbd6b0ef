"""What the text of one file shows by itself: whether it is Python at all, and what the rules about single files find."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.findings.sieve import may_silence
from eagle3_lint.findings.suppression import UNUSED_CODE
from eagle3_lint.rules.catalogue import CODES, about_classes, known

if TYPE_CHECKING:
    import ast

    from eagle3_lint.engine.workspace import Workspace
    from eagle3_lint.rules.base import Rule
    from eagle3_lint.rules.context import ModuleContext
    from eagle3_lint.sources.text import SourceText

UNREADABLE = "EGL901"


@dataclass(frozen=True)
class OwnFindings:
    """What was found in one text; ``visited`` are other files that were asked for it. ``may_name_ours`` is False where
    somebody has made sure that no comment of it names one of our codes."""

    findings: tuple[Finding, ...]
    internal_errors: tuple[InternalError, ...] = ()
    visited: frozenset[str] = frozenset()
    may_name_ours: bool = True


class OwnText:
    """The check of one text; it is read and parsed at most once, and only where that is needed."""

    def __init__(self, workspace: Workspace, path: str, codes: frozenset[str], target: tuple[int, int]) -> None:
        self._workspace = workspace
        self._path = path
        self._target = target
        self._codes = codes
        self._errors: list[InternalError] = []
        self._visited: set[str] = set()
        self._tree: ast.Module | None = None
        self._made: ModuleContext | None = None

    @cached_property
    def _key(self) -> str:
        return f"{self._path}\n{self._target}\n{sorted(self._codes)}"

    def recall(self) -> OwnFindings | None:
        """What was found in an earlier run in the same text, or None."""
        if self._workspace.memory is None:
            return None
        found = self._workspace.recall_file(self._path, self._key)
        return None if found is None else OwnFindings(found)

    def remember(self, found: OwnFindings) -> None:
        """Keep what was found for later runs, unless a rule failed."""
        if not found.internal_errors:
            self._workspace.remember_file(self._path, self._key, found.findings, found.visited)

    @property
    def is_for_classes(self) -> bool:
        """Whether the file is parsed for its classes anyway, which tells whether it is Python."""
        return self._workspace.is_model_file(self._path) and bool(about_classes(self._codes))

    def look(self, *, is_python: bool = False, tree: ast.Module | None = None) -> OwnFindings:
        """Look at the text now; with ``is_python`` somebody else makes sure that it can be parsed, or gives the ``tree``."""
        self._tree = tree
        try:
            source = self._workspace.source(self._path)
            if not is_python and tree is None:
                self._require_python()
            findings = self._findings(source)
            may_name_ours = UNUSED_CODE not in self._codes or self._may_name_ours(source)
        except UnreadableSourceError as error:
            findings, may_name_ours = (unreadable(self._path, error),), True
        finally:
            # Each of these leads to the other: a run without garbage collection would keep the trees of all its files.
            self._made = self._tree = None
        return OwnFindings(findings, tuple(self._errors), frozenset(self._visited), may_name_ours)

    def _may_name_ours(self, source: SourceText) -> bool:
        if self._made is not None and not self._made.may_hold_directives:
            return False
        return may_silence(source, CODES, frozenset(), unused=True)

    def require_python(self) -> Finding | None:
        """The finding that the text can't be parsed, if so."""
        try:
            self._require_python()
        except UnreadableSourceError as error:
            return unreadable(self._path, error)
        return None

    def _require_python(self) -> None:
        if self.is_for_classes:
            # Who has parsed it may be another process: its text isn't asked for.
            self._workspace.opened.modules.load(self._path)
        else:
            self._parsed(self._workspace.source(self._path))

    def _parsed(self, source: SourceText) -> ast.Module:
        if self._tree is None:
            from eagle3_lint.sources.reading import parse_source

            self._tree = parse_source(source)
        return self._tree

    def _findings(self, source: SourceText) -> tuple[Finding, ...]:
        from eagle3_lint.rules.registry import load

        rules = map(load, _about_texts(self._codes))
        return tuple(one for rule in rules if rule.check_module for one in self._of_rule(source, rule))

    def _of_rule(self, source: SourceText, rule: Rule) -> tuple[Finding, ...]:
        assert rule.check_module is not None
        try:
            return tuple(rule.check_module(self._context(source)))
        except UnreadableSourceError:
            raise
        except Exception as error:  # noqa: BLE001 - a rule's own fault must not stop the others
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
                self._workspace.with_fixes,
            )
        return self._made


@cache
def _about_texts(codes: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(codes - about_classes(codes)))


def unreadable(path: str, error: UnreadableSourceError) -> Finding:
    """The finding that stands for a file that can't be linted."""
    span = Span(error.line, error.column, error.line, error.column + 1)
    return engine_finding(UNREADABLE, path, span, f"This file can't be linted: {error.reason}.", error.reason)


def engine_finding(code: str, path: str, span: Span, message: str, scope: str) -> Finding:
    """A finding of one of the rules that the engine itself checks."""
    entry = known(code)
    assert entry is not None
    return Finding(code, entry.symbol, entry.severity, path, span, message, scope=scope)
