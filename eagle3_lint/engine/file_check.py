"""One file under lint: whether it can be read at all, and what each rule finds in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from eagle3_lint.engine.own_text import UNREADABLE, OwnFindings, OwnText, engine_finding
from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError
from eagle3_lint.findings.suppression import KINDS, UNUSED_CODE, Directive, Kind, Suppressions, suppressions
from eagle3_lint.rules.catalogue import CODES

if TYPE_CHECKING:
    from eagle3_lint.sources.text import SourceText


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
            engine_finding(
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
        if source is None:
            return Suppressions(())
        return suppressions(source, CODES, None, kinds, self._lines(), unused=UNUSED_CODE in self.codes)

    def _lines(self) -> frozenset[int] | None:
        """The lines of the findings; None in a file that isn't Python, where nobody can tell what is joined."""
        if any(one.code == UNREADABLE for one in self.findings):
            return None
        return frozenset(one.span.line for one in self.findings)


def check_file(
    workspace: Workspace,
    path: str,
    codes: frozenset[str],
    target: tuple[int, int],
    found: OwnFindings | None = None,
) -> FileResult:
    """Everything that the rules ``codes`` find in the file ``path``; ``found`` is what its own text shows, if known."""
    own = _own(OwnText(workspace, path, codes, target), found)
    findings = list(own.findings)
    if workspace.is_model_file(path) and not any(one.code == UNREADABLE for one in findings):
        findings.extend(workspace.project_findings_in(path, codes))
    wanted = tuple(one for one in findings if one.code in codes)
    active = codes if own.may_name_ours else codes - {UNUSED_CODE}
    return FileResult(path, lambda: _read(workspace, path), wanted, active, own.internal_errors)


def _own(text: OwnText, found: OwnFindings | None) -> OwnFindings:
    """What the file's own text shows, from the last run where it hasn't changed since."""
    remembered = text.recall()
    if remembered is not None:
        return remembered
    if found is None:
        found = text.look()
    elif text.is_for_classes and (broken := text.require_python()) is not None:
        found = OwnFindings((broken,))
    text.remember(found)
    return found


def _read(workspace: Workspace, path: str) -> SourceText | None:
    try:
        return workspace.source(path)
    except UnreadableSourceError:
        return None
