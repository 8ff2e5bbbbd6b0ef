"""``check --fix`` and ``--diff``: apply what findings propose until nothing changes, then write, or show, the result.

Nothing is written before every file's new text is known, so that an interrupt leaves each file as it was or as it is to be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eagle3_lint.engine.checking import Request, checked
from eagle3_lint.errors import FixError, UnreadableSourceError
from eagle3_lint.findings.model import Edit, Finding
from eagle3_lint.findings.report import Report
from eagle3_lint.fixes.text import OverlappingEditsError, apply_edits
from eagle3_lint.sources.reading import parse_source, read_bytes, read_source
from eagle3_lint.sources.writing import replace_file

if TYPE_CHECKING:
    from eagle3_lint.sources.text import SourceText

MOST_ROUNDS = 40
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Change:
    """The new content of one file, ``path`` its own, at the end of any links."""

    path: str
    shown_as: str
    before: bytes
    after: bytes
    encoding: str

    def texts(self) -> tuple[str, str]:
        """The old and the new text."""
        return read_source(self.path, self.before).text, read_source(self.path, self.after).text


@dataclass(frozen=True)
class Fixed:
    """What fixing comes to: the report on what remains, and the files to write."""

    report: Report
    changes: tuple[Change, ...]


def fix(request: Request, *, unsafe: bool, reported: Callable[[Report], Report]) -> Fixed:
    """Lint what ``request`` names, with every fix that applies made; nothing is written.

    Safe fixes, with ``unsafe`` the others too, of the findings that ``reported`` leaves in a report (a baseline takes
    some out). Files that weren't given aren't changed. A fix that would break a file's syntax, or whose file lies behind a
    link that leaves the root or may not be written, is refused, which the notes of the report say.

    Raises what ``check`` raises.
    """
    return _Fixing(request, unsafe, reported).run()


def write(changes: Iterable[Change]) -> None:
    """Write the files of ``changes``, each whole or not at all; raises FixError where one can't be."""
    for change in changes:
        try:
            if os.path.realpath(change.path) != change.path or read_bytes(change.path) != change.before:
                raise FixError(f"{change.path} was changed while it was being fixed: left as it is")
            replace_file(change.path, change.after)
        except UnreadableSourceError as error:
            raise FixError(f"can't write {change.path}: {error.reason}") from None
        except OSError as error:
            raise FixError(f"can't write {change.path}: {error.strerror or error}") from None


class _Fixing:
    """The rounds of one run."""

    def __init__(self, request: Request, unsafe: bool, reported: Callable[[Report], Report]) -> None:
        self._request = request
        self._unsafe = unsafe
        self._reported = reported
        self._texts: dict[str, bytes] = {}
        self._changes: dict[str, Change] = {}
        self._refused: dict[tuple[object, ...], None] = {}
        self._notes: dict[str, None] = {}
        self._cured: dict[str, int] = {}

    def run(self) -> Fixed:
        """Round after round, until one changes nothing."""
        applied: dict[str, int] = {}
        for _ in range(MOST_ROUNDS):
            report, data = checked(self._with_texts())
            applied = self._round(self._reported(report), data)
            if not applied:
                break
            for real, cured in applied.items():
                self._cured[real] = self._cured.get(real, 0) + cured
        else:
            for real in applied:
                self._give_up(real)
            report, _ = checked(self._with_texts())
        final = replace(report, fixed=sum(self._cured.values()), notes=(*report.notes, *self._notes))
        return Fixed(final, tuple(change for _, change in sorted(self._changes.items())))

    def _with_texts(self) -> Request:
        buffer = self._request.buffer
        if buffer is not None:
            path = os.path.abspath(buffer[0])
            return replace(self._request, buffer=(buffer[0], self._texts.get(path, buffer[1])))
        return replace(self._request, texts=dict(self._texts))

    def _give_up(self, real: str) -> None:
        """Leave a file as it was whose fixes go on for ever."""
        change = self._changes.pop(real)
        del self._cured[real]
        for path in [path for path in self._texts if path == real or os.path.realpath(path) == real]:
            del self._texts[path]
        self._notes[f"{change.shown_as} is not fixed: each fix of it asks for another"] = None

    def _round(self, report: Report, data: Callable[[str], bytes]) -> dict[str, int]:
        """Apply what fits together; for each file that this changes the number of findings that it cures."""
        wanted: dict[str, list[Finding]] = {}
        for one in report.findings:
            if self._is_wanted(one, report):
                wanted.setdefault(one.path, []).append(one)
        files: dict[str, list[str]] = {}
        for path in wanted:
            files.setdefault(os.path.realpath(path) if self._request.buffer is None else path, []).append(path)
        applied: dict[str, int] = {}
        for real, paths in files.items():
            reason = _refusal(paths[0], real, report) if self._request.buffer is None else ""
            if reason:
                self._refuse(wanted[path] for path in paths)
                self._notes[f"{paths[0]} is not fixed: {reason}"] = None
                continue
            cured = self._fix_file(real, paths[0], wanted[paths[0]], data(paths[0]))
            if cured:
                after = self._changes[real].after
                self._texts.update(dict.fromkeys(paths, after))
                applied[real] = cured + sum(len(wanted[path]) for path in paths[1:])
        return applied

    def _is_wanted(self, finding: Finding, report: Report) -> bool:
        fix = finding.fix
        return (
            fix is not None
            and bool(fix.edits)
            and (fix.safety == "safe" or self._unsafe)
            and not finding.elsewhere
            and all(edit.path == finding.path for edit in fix.edits)
            and _identity(finding) not in self._refused
        )

    def _refuse(self, groups: Iterable[Iterable[Finding]]) -> None:
        for group in groups:
            for one in group:
                self._refused[_identity(one)] = None

    def _fix_file(self, real: str, path: str, findings: list[Finding], data: bytes) -> int:
        """Make the fixes of ``findings`` that fit together; the number of findings cured."""
        source = read_source(path, data)
        if _encoded(source, source.text) != data:
            self._refuse([findings])
            self._notes[f"{path} is not fixed: its text can't be written back as it is ({source.encoding})"] = None
            return 0
        chosen = compatible(findings)
        after = _result(source, chosen)
        if after is None:
            chosen, after = self._one_by_one(source, chosen)
        if after is None or after == data:
            self._refuse([chosen])
            return 0
        before = self._changes[real].before if real in self._changes else data
        self._changes[real] = Change(real, path, before, after, source.encoding)
        return len(chosen)

    def _one_by_one(self, source: SourceText, findings: list[Finding]) -> tuple[list[Finding], bytes | None]:
        """Those of ``findings`` whose fixes leave the file Python; the others are refused."""
        kept: list[Finding] = []
        after: bytes | None = None
        for one in findings:
            made = _result(source, [*kept, one])
            if made is None:
                self._refuse([[one]])
                where = f"{source.path}:{one.span.line}"
                self._notes[f"{where}: the fix of {one.code} would break the syntax and is not made"] = None
            else:
                kept, after = [*kept, one], made
        return kept, after


def _identity(finding: Finding) -> tuple[object, ...]:
    """What tells a finding from others when lines have moved."""
    texts = tuple(edit.text for edit in finding.fix.edits) if finding.fix else ()
    return finding.code, finding.path, finding.scope, finding.name, finding.methods, texts


def compatible(findings: Iterable[Finding]) -> list[Finding]:
    """As many of ``findings`` as have fixes that don't touch each other; equal edits of two count once."""
    chosen: list[Finding] = []
    taken: dict[Edit, None] = {}
    for one in findings:
        edits = one.fix.edits if one.fix else ()
        if all(edit in taken or not any(_touch(edit, other) for other in taken) for edit in edits):
            chosen.append(one)
            taken.update(dict.fromkeys(edits))
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    a, b = one.span, other.span
    return (a.line, a.column) <= (b.end_line, b.end_column) and (b.line, b.column) <= (a.end_line, a.end_column)


def _result(source: SourceText, findings: Iterable[Finding]) -> bytes | None:
    """The content of the file with the fixes of ``findings``; None where it would no longer be Python."""
    edits = [edit for one in findings if one.fix for edit in one.fix.edits]
    try:
        text = apply_edits(source.text, edits)
        after = _encoded(source, text)
        made = read_source(source.path, after)
        parse_source(made)
    except (UnreadableSourceError, UnicodeEncodeError, OverlappingEditsError):
        return None
    return after if made.text == text else None


def _encoded(source: SourceText, text: str) -> bytes:
    return (_BOM if source.has_bom else b"") + text.encode(source.encoding)


def _refusal(path: str, real: str, report: Report) -> str:
    """Why the file ``path``, at ``real`` when links are followed, may not be written; else the empty string."""
    root = _root_of(path, report)
    if not _is_inside(real, os.path.realpath(root)):
        return f"a link leads out of {root}"
    if not os.access(real, os.W_OK) or not os.access(os.path.dirname(real), os.W_OK):
        return "permission denied"
    return ""


def _root_of(path: str, report: Report) -> str:
    """The directory that ``path`` may not lead out of: the report's root, else the given path that it was found below."""
    if _is_inside(path, report.root):
        return report.root
    below = [given for given in report.given if _is_inside(path, given) and given != path]
    return max(below, key=len, default=os.path.dirname(path))


def _is_inside(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)
