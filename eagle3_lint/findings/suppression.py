"""Comments that silence findings, read the same way for every front end.

Understood are flake8's ``noqa`` (https://flake8.pycqa.org/en/latest/user/violations.html), pylint's pragmas with
pylint's scopes (https://pylint.readthedocs.io/en/stable/user_guide/messages/message_control.html), and
``# eagle3-lint: ignore[EGL101] reason``. Only comments count: the same text inside a string is not a directive.
Nothing here raises on text that Python can't read; what could be tokenized before the fault is honoured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eagle3_lint.findings.codes import PREFIX, PYLINT_BLOCK, PYLINT_CHECKER, Code, pylint_id
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.sieve import NOQA, NOQA_FILE, OWN, may_silence

if TYPE_CHECKING:
    import ast

    from eagle3_lint.findings.comments import Comment, Header, Layout
    from eagle3_lint.findings.pragmas import LineStates
    from eagle3_lint.sources.text import SourceText

Kind = Literal["noqa", "pylint", "eagle3-lint"]
KINDS: frozenset[Kind] = frozenset(("noqa", "pylint", "eagle3-lint"))
UNUSED_CODE = "EGL902"
UNUSED_SYMBOL = "unused-suppression"

_WORD = re.compile(r"[^\s,]+")
_PRAGMA = re.compile(r"\bpylint:\s*(?P<body>[^;#\n]+)")
_PRAGMA_TOKEN = re.compile(r"\b(?P<action>disable-next|disable-all|skip-file|disable|enable)\b|(?P<assign>=)|[\w-]+")
_CATEGORIES = {"error": "E", "warning": "W"}


@dataclass(frozen=True)
class Entry:
    """One code or symbol of a directive, as written, and the column that it starts at."""

    text: str
    column: int


@dataclass(frozen=True)
class Directive:
    """One suppressing comment, or one ``key=value`` of a pylint pragma.

    Without ``entries`` it is about every code. ``first`` to ``last`` are the lines that it stands for, which are more
    than one where a string or a backslash joins lines; ``whole_file`` ones stand for all. ``anchor`` is the line that
    pylint's scopes are counted from. ``reason`` is the text after the codes.
    """

    kind: Kind
    action: str
    entries: tuple[Entry, ...]
    span: Span
    first: int
    last: int
    whole_file: bool = False
    anchor: int = 0
    reason: str = ""
    blanket: bool = False

    def matches(self, code: Code) -> bool:
        """Whether the directive names ``code``, by itself, by a prefix, by its symbol, or all codes at once."""
        return self.blanket or any(_matches(self.kind, entry.text, code) for entry in self.entries)


@dataclass(frozen=True)
class Unused:
    """A code or symbol of ours in a directive that silenced nothing; ``entry`` is "" where none is written."""

    directive: Directive
    entry: str
    span: Span


class Suppressions:
    """The directives of one file, and what they silence; ``codes`` are all that there are."""

    def __init__(
        self,
        directives: tuple[Directive, ...],
        codes: Collection[Code] = (),
        layout: Layout | None = None,
        tree: Callable[[], ast.Module | None] | None = None,
    ) -> None:
        self.directives = directives
        self._codes = {code.code: code for code in codes}
        self._layout = layout
        self._tree = tree
        self._states: dict[str, LineStates | None] = {}
        self._whole_file = [directive for directive in directives if directive.whole_file]
        self._by_line: dict[int, list[Directive]] = {}
        for directive in directives:
            if directive.action in ("noqa", "ignore") and not directive.whole_file:
                for line in range(directive.first, directive.last + 1):
                    self._by_line.setdefault(line, []).append(directive)

    def __bool__(self) -> bool:
        return bool(self.directives)

    def covers(self, code: str, symbol: str, span: Span) -> Directive | None:
        """The first directive that silences a finding of ``code`` at ``span``, or None."""
        return next(iter(self.covering(code, symbol, span)), None)

    def covering(self, code: str, symbol: str, span: Span) -> tuple[Directive, ...]:
        """Every directive that silences a finding of ``code`` at ``span``; all of them count as used."""
        if not self.directives:
            return ()
        meant = self._codes.get(code) or Code(code, symbol, "error", "")
        header = self._definition(span)
        found = [entry for entry in self._whole_file if entry.matches(meant)]
        for line in (span.line, *(header.lines if header else ())):
            found += [entry for entry in self._by_line.get(line, ()) if entry.matches(meant)]
        states = self._pylint_states(meant)
        if states is not None:
            lines = (span.line, *(header.decorator_lines if header else ()))
            found += [state for state in map(states.at, lines) if state is not None]
        return tuple(dict.fromkeys(found))

    def unused(
        self, used: Iterable[tuple[Directive, str]], active: Collection[str], *, complete: bool = False
    ) -> tuple[Unused, ...]:
        """The codes and symbols of ours that silenced nothing.

        ``used`` pairs each directive with a code that it silenced; ``active`` are the codes that ran, for of a code
        that didn't run nothing can be told; ``complete`` says that every rule ran, so that an ``ignore`` without codes
        can be judged too. A plain ``noqa``, another tool's code, and what silences unused-suppression itself are
        never unused. What another directive silences is left out.
        """
        pairs: dict[Directive, set[str]] = {}
        for directive, code in used:
            pairs.setdefault(directive, set()).add(code)
        return tuple(
            unused
            for directive in self.directives
            for unused in self._unused_of(directive, pairs.get(directive, set()), active, complete)
            if all(other is directive for other in self.covering(UNUSED_CODE, UNUSED_SYMBOL, unused.span))
        )

    def _definition(self, span: Span) -> Header | None:
        """The definition whose name ``span`` is at, rather than something further right in its header."""
        header = self._layout.headers.get(span.line) if self._layout else None
        return header if header is not None and span.column <= header.name_column else None

    def _unused_of(
        self, directive: Directive, used: set[str], active: Collection[str], complete: bool
    ) -> Iterable[Unused]:
        if directive.action == "enable":
            return
        if directive.blanket:
            if complete and directive.kind == "eagle3-lint" and not used:
                yield Unused(directive, "", directive.span)
            return
        for entry in directive.entries:
            if self._is_ours(directive.kind, entry.text):
                meant = {one.code for one in self._codes.values() if _matches(directive.kind, entry.text, one)}
                if meant != {UNUSED_CODE} and not meant & used and meant <= set(active):
                    line = directive.span.line
                    yield Unused(directive, entry.text, Span(line, entry.column, line, entry.column + len(entry.text)))

    def _is_ours(self, kind: Kind, text: str) -> bool:
        if kind == "eagle3-lint":
            return True
        if kind == "noqa":
            return text.upper().startswith(PREFIX)
        is_symbol = any(code.symbol == text for code in self._codes.values())
        return is_symbol or (text[1:3] == PYLINT_BLOCK and text[1:].isdigit())

    def _pylint_states(self, code: Code) -> LineStates | None:
        if code.code not in self._states:
            pragmas = [
                directive
                for directive in self.directives
                if directive.kind == "pylint" and not directive.whole_file and directive.matches(code)
            ]
            self._states[code.code] = self._scoped(pragmas) if pragmas else None
        return self._states[code.code]

    def _scoped(self, pragmas: list[Directive]) -> LineStates:
        from eagle3_lint.findings.pragmas import line_states

        return line_states(pragmas, self._tree() if self._tree else None, self._layout)


def suppressions(
    source: SourceText,
    codes: Collection[Code],
    tree: Callable[[], ast.Module | None] | None = None,
    kinds: Collection[Kind] = KINDS,
    at: Collection[int] | None = None,
    *,
    unused: bool = False,
) -> Suppressions:
    """The directives of ``source``.

    ``codes`` are all that there are, which tells ours from other tools'. ``tree`` gives the file's syntax tree, or None
    where it has none; it is called only when a pylint pragma needs its scope, and defaults to parsing the text.
    ``kinds`` leaves out what the host handles itself or was told to disregard. With ``at``, only findings on these lines
    will be asked about; with ``unused``, also what silences nothing at all. Text where nothing looks like a directive
    about them is not tokenized.
    """
    if not may_silence(source, codes, at, unused=unused):
        return Suppressions(())
    from eagle3_lint.findings.comments import read_layout

    layout = read_layout(source)
    directives = [
        directive for comment in layout.comments for directive in _directives(comment) if directive.kind in kinds
    ]
    if not directives:
        return Suppressions(())
    return Suppressions(tuple(directives), codes, layout, tree or (lambda: _parse(source)))


def _parse(source: SourceText) -> ast.Module | None:
    from eagle3_lint.errors import UnreadableSourceError
    from eagle3_lint.sources.reading import parse_source

    try:
        return parse_source(source)
    except UnreadableSourceError:
        return None


def _directives(comment: Comment) -> Iterable[Directive]:
    yield from _noqa_file(comment)
    yield from _noqa(comment)
    yield from _own(comment)
    yield from _pragma(comment)


def _noqa_file(comment: Comment) -> Iterable[Directive]:
    match = NOQA_FILE.match(comment.text)
    if match and comment.alone:
        yield _directive(comment, "noqa", "noqa", match, _entries(comment, match), whole_file=True)


def _noqa(comment: Comment) -> Iterable[Directive]:
    for match in NOQA.finditer(comment.text):
        yield _directive(comment, "noqa", "noqa", match, _entries(comment, match))


def _own(comment: Comment) -> Iterable[Directive]:
    for match in OWN.finditer(comment.text):
        rest = comment.text[match.end() :]
        if match["list"] is None and rest.lstrip().startswith("["):
            continue
        whole_file = match["action"] == "ignore-file"
        yield _directive(
            comment,
            "eagle3-lint",
            match["action"],
            match,
            _entries(comment, match),
            whole_file=whole_file,
            blanket=match["list"] is None,
            reason=rest.partition("#")[0].strip(),
        )


def _directive(
    comment: Comment,
    kind: Kind,
    action: str,
    match: re.Match[str],
    entries: tuple[Entry, ...],
    *,
    whole_file: bool = False,
    blanket: bool | None = None,
    reason: str = "",
) -> Directive:
    return Directive(
        kind=kind,
        action=action,
        entries=entries,
        span=_span(comment, match.start(), match.end()),
        first=comment.first,
        last=comment.last,
        whole_file=whole_file,
        reason=reason,
        blanket=not entries if blanket is None else blanket,
    )


def _span(comment: Comment, start: int, end: int) -> Span:
    return Span(comment.line, comment.column + start, comment.line, comment.column + end)


def _entries(comment: Comment, match: re.Match[str]) -> tuple[Entry, ...]:
    text = match["codes"]
    if text is None:
        return ()
    base = comment.column + match.start("codes")
    return tuple(Entry(word.group(), base + word.start()) for word in _WORD.finditer(text))


def _pragma(comment: Comment) -> Iterable[Directive]:
    match = _last_pragma(comment.text)
    if match is None:
        return
    reason = comment.text[match.end() :].strip(";# ")
    for action, entries in _pragma_parts(match["body"], comment.column + match.start("body")):
        names = {entry.text for entry in entries}
        whole_file = action in ("skip-file", "disable-all") or (action == "disable" and "all" in names)
        yield Directive(
            kind="pylint",
            action=action,
            entries=entries,
            span=_span(comment, match.start(), match.end()),
            first=comment.first,
            last=comment.last,
            whole_file=whole_file,
            anchor=comment.logical_line + 1 if action == "disable-next" else comment.logical_line,
            reason=reason,
            blanket=whole_file or "all" in names,
        )


def _last_pragma(text: str) -> re.Match[str] | None:
    """The pragma that pylint reads: the last one with a ``#`` of its own."""
    found: re.Match[str] | None = None
    for match in _PRAGMA.finditer(text):
        if found is None or "#" in text[found.end() : match.start()]:
            found = match
    return found


def _pragma_parts(body: str, column: int) -> list[tuple[str, tuple[Entry, ...]]]:
    """The actions of a pragma with their messages; a malformed one ends at the fault, as in pylint."""
    parts: list[tuple[str, tuple[Entry, ...]]] = []
    entries: tuple[Entry, ...] = ()
    action, assigned = "", False
    for token in _PRAGMA_TOKEN.finditer(body):
        if token["action"]:
            if action:
                parts.append((action, entries))
            action, assigned, entries = token["action"], False, ()
        elif token["assign"]:
            if not action or assigned or action in ("skip-file", "disable-all"):
                return parts
            assigned = True
        elif not assigned:
            return parts
        else:
            entries = (*entries, Entry(token.group(), column + token.start()))
    if action in ("skip-file", "disable-all") or (action and entries):
        parts.append((action, entries))
    return parts


def _matches(kind: Kind, text: str, code: Code) -> bool:
    if kind == "pylint":
        return _matches_message(text, code)
    if kind == "eagle3-lint" and text == code.symbol:
        return True
    return code.code.startswith(text.upper())


def _matches_message(text: str, code: Code) -> bool:
    if text in (code.symbol, "all"):
        return True
    message_id = pylint_id(code.code, code.severity)
    category = _CATEGORIES.get(text.lower(), text.upper())
    return category in (message_id, message_id[0]) or text.lower() == PYLINT_CHECKER
