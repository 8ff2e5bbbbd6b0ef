"""``check``: from the paths of a command line to a report."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from eagle3_lint.engine.file_check import FileResult
from eagle3_lint.engine.module_rules import unreadable
from eagle3_lint.engine.session import Session, SessionOptions
from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import TreeError
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError, Report, Suppressed, ordered
from eagle3_lint.rules.catalogue import about_classes
from eagle3_lint.rules.registry import select, shows_pedantic
from eagle3_lint.sources.discovery import Discovered, discover
from eagle3_lint.sources.tree import report_root


@dataclass(frozen=True)
class Request:
    """What the user asked for. ``paths`` is None where none was given; ``buffer`` is the name and the text of standard
    input; ``texts`` take the place of files, by absolute path; ``also`` are further paths to lint, whose findings are
    elsewhere."""

    paths: tuple[str, ...] | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    sglang: str | None = None
    engine: str = "auto"
    cache: bool = True
    cache_dir: str | None = None
    target_version: tuple[int, int] | None = None
    buffer: tuple[str, bytes] | None = None
    progress: Callable[[str], None] | None = None
    texts: Mapping[str, bytes] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    with_fixes: bool = True


def check(request: Request) -> Report:
    """Lint what ``request`` names.

    Raises UsageError for unknown codes, TreeError where no paths are given and no SGLang is found, ReleaseError where a
    release can't be had.
    """
    return checked(request)[0]


def checked(request: Request) -> tuple[Report, Callable[[str], bytes]]:
    """The report of ``check``, and what gives the very bytes of a file that were linted."""
    codes = select(request.select, request.ignore, request.pedantic)
    session = session_for(request)
    with _without_collector():
        run = _Run(session, request, frozenset(codes))
        return run.report(), run.data_of


def session_for(request: Request) -> Session:
    """A session with the options of ``request``."""
    options = SessionOptions(
        request.engine,
        request.sglang,
        request.cache,
        request.cache_dir,
        shows_pedantic(request.select, request.pedantic),
        request.target_version,
        with_fixes=request.with_fixes,
    )
    return Session(options, request.progress, texts=request.texts)


def default_paths(session: Session) -> tuple[str, ...]:
    """What is linted where no path is given: the models of the tree found here. Raises TreeError where there is none."""
    tree = session.configured_tree()
    if tree is None:
        raise TreeError(
            "no SGLang source tree here or above, and none installed: give paths, or --sglang PATH or VERSION"
        )
    return (tree.models,)


@contextmanager
def _without_collector() -> Iterator[None]:
    """No cyclic garbage collection inside the block: syntax trees hold no cycles, and looking for some costs a fifth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Run:
    """One run over a set of files."""

    def __init__(self, session: Session, request: Request, codes: frozenset[str]) -> None:
        self._session = session
        self._request = request
        self._codes = codes
        self._results: dict[str, FileResult] = {}

    def report(self) -> Report:
        """Lint every file; then ask for what the given files cause elsewhere."""
        paths = self._paths()
        discovered = self._discover(paths)
        given = _paths_of(discovered)
        if self._request.also:
            discovered = _together(discovered, discover(self._request.also))
        files = discovered.files
        for path in files:
            self._results[path] = self._session.check_file(path, self._buffer_of(path), self._codes)
        linted = _paths_of(discovered)
        failures = [unreadable(path, error) for path, error in discovered.unreadable if "EGL901" in self._codes]
        elsewhere = self._elsewhere(linted)
        counts = self._counts(files)
        self._session.save()
        kept, suppressed = self._split([*self._results.values(), *elsewhere])
        return Report(
            root=report_root(sorted(linted)),
            findings=ordered(one if one.path in given else replace(one, elsewhere=True) for one in (*failures, *kept)),
            suppressed=len(suppressed),
            files=len(linted),
            classes=counts["classes"],
            registered=counts["registered"],
            wrappers=counts["wrappers"],
            internal_errors=self._internal_errors(elsewhere),
            suppressions=tuple(suppressed),
            linted=files,
            given=tuple(os.path.abspath(path) for path in paths),
            active=tuple(sorted(self._codes)),
            cache_problem=self._session.cache_problem,
        )

    def data_of(self, path: str) -> bytes:
        """The content of the linted file ``path``."""
        return self._session.workspace_of(path, self._buffer_of(path)).contents.data(path)

    def _paths(self) -> tuple[str, ...]:
        return default_paths(self._session) if self._request.paths is None else self._request.paths

    def _discover(self, paths: tuple[str, ...]) -> Discovered:
        if self._request.buffer is not None:
            return Discovered((os.path.abspath(self._request.buffer[0]),), ())
        return discover(paths)

    def _buffer_of(self, path: str) -> bytes | None:
        buffer = self._request.buffer
        return buffer[1] if buffer is not None and os.path.abspath(buffer[0]) == path else None

    def _elsewhere(self, given: frozenset[str]) -> list[FileResult]:
        """The findings in files that weren't given, where a given file is among their causes."""
        found: dict[str, list[Finding]] = {}
        for workspace in self._workspaces(given):
            for code in sorted(self._codes):
                for one in workspace.project_findings(code):
                    if one.path not in given and not given.isdisjoint(one.caused_by):
                        found.setdefault(one.path, []).append(replace(one, elsewhere=True))
        results = []
        for path, findings in sorted(found.items()):
            plain = self._session.check_file(path, None, frozenset())
            results.append(replace(plain, findings=tuple(findings)))
        return results

    def _workspaces(self, given: Iterable[str]) -> Sequence[Workspace]:
        """The workspaces that hold a given file among their models; others have nothing to say of elsewhere."""
        if self._request.buffer is not None:
            path = os.path.abspath(self._request.buffer[0])
            opened = [self._session.workspace_of(path, self._request.buffer[1])]
        else:
            opened = list(self._session.workspaces)
        return [one for one in opened if any(one.is_model_file(path) for path in given)]

    def _split(self, results: Iterable[FileResult]) -> tuple[list[Finding], list[Suppressed]]:
        kept: list[Finding] = []
        suppressed: list[Suppressed] = []
        for result in results:
            silenced = dict(result.silenced())
            kept.extend(one for one in result.findings if one not in silenced)
            kept.extend(result.unused())
            suppressed.extend(Suppressed(one, "inSource", directive.reason) for one, directive in silenced.items())
        return kept, suppressed

    def _counts(self, files: tuple[str, ...]) -> dict[str, int]:
        """What the linted model files hold; nothing where no rule looked at classes."""
        linted = frozenset(files)
        counts = {"classes": 0, "registered": 0, "wrappers": 0}
        if not about_classes(self._codes):
            return counts
        for workspace in self._workspaces(files):
            for path, (classes, registered, wrappers) in workspace.census().items():
                if path in linted:
                    counts["classes"] += classes
                    counts["registered"] += registered
                    counts["wrappers"] += wrappers
        return counts

    def _internal_errors(self, elsewhere: Iterable[FileResult]) -> tuple[InternalError, ...]:
        found = [error for result in (*self._results.values(), *elsewhere) for error in result.internal_errors]
        return tuple(dict.fromkeys((*found, *self._session.internal_errors)))


def _paths_of(discovered: Discovered) -> frozenset[str]:
    return frozenset((*discovered.files, *(path for path, _ in discovered.unreadable)))


def _together(one: Discovered, other: Discovered) -> Discovered:
    failures = dict((*other.unreadable, *one.unreadable))
    return Discovered(
        tuple(sorted({*one.files, *other.files})),
        tuple(sorted(failures.items(), key=lambda item: item[0])),
    )
