"""``--since``: the working tree's findings without those that the tree at a revision has too.

Both are linted whole, so that what a change causes in files that it doesn't touch is seen. Findings are compared by
fingerprint, after the paths and module names of the revision have followed git's renames; a class or function that
moved to another file, with its findings, is known by its name.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from eagle3_lint.engine.checking import Request, check, default_paths, session_for
from eagle3_lint.engine.scope import Checkout, Scope
from eagle3_lint.errors import UnreadableSourceError, UsageError
from eagle3_lint.facts.nodes import walk
from eagle3_lint.findings.fingerprint import ONCE_A_CLASS, fingerprints, fingerprints_of
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError, Report
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.sources.cachedir import cache_dir
from eagle3_lint.sources.files import package_root, siblings
from eagle3_lint.sources.git import renames
from eagle3_lint.sources.identifiers import mentions
from eagle3_lint.sources.reading import parse_source
from eagle3_lint.sources.snapshots import Revision, Wanted, revision_of
from eagle3_lint.sources.text import SourceText
from eagle3_lint.sources.tree import tree_of_file

# Their findings are about files and comments, which no name tells from others elsewhere.
_NAMELESS = "EGL9"


@dataclass(frozen=True)
class Comparison:
    """What a revision has, and what of the working tree has to be linted to compare.

    ``request`` lints the working tree whole; ``reported`` and ``silenced`` are the findings of the revision, without and
    with a comment that silences them, as if their files lay in the working tree; ``internal_errors`` are failures of
    rules on it.
    """

    request: Request
    reported: tuple[Finding, ...]
    silenced: tuple[Finding, ...]
    internal_errors: tuple[InternalError, ...]
    has_moved: Callable[[Finding, Finding], bool]

    def new_in(self, report: Report) -> Report:
        """``report`` with those findings alone that the revision hasn't; the others become ``unchanged``."""
        now = fingerprints_of(report)
        before = fingerprints((*self.reported, *self.silenced), report.root)
        known = dict(zip(before, self.reported, strict=False))
        present = set(now.values())
        gone = [finding for name, finding in known.items() if name not in present]
        left = [finding for finding in report.findings if now[finding] not in known]
        moved = set(self._moved(left, gone))
        new = tuple(finding for finding in left if finding not in moved)
        unchanged = tuple(finding for finding in report.findings if finding not in set(new))
        return replace(
            report,
            findings=new,
            unchanged=(*report.unchanged, *unchanged),
            internal_errors=(*report.internal_errors, *self.internal_errors),
        )

    def _moved(self, left: Iterable[Finding], gone: Iterable[Finding]) -> Iterator[Finding]:
        """Those of ``left`` that are one of ``gone`` at another place."""
        pool: dict[tuple[str, ...], list[Finding]] = {}
        for finding in gone:
            pool.setdefault(_portable(finding), []).append(finding)
        for finding in left:
            candidates = pool.get(_portable(finding), [])
            match = next((one for one in candidates if self.has_moved(one, finding)), None)
            if match is not None:
                candidates.remove(match)
                yield finding


def compared_with(request: Request, revision: str) -> Comparison:
    """What the files that ``request`` names, and the models that they lie among, have at ``revision``.

    Raises GitError where that can't be had, UsageError for a path that is neither here nor there, and what ``check``
    raises.
    """
    session = session_for(request)
    paths = (request.buffer[0],) if request.buffer else request.paths
    scope = Scope(
        session, tuple(os.path.abspath(path) for path in (default_paths(session) if paths is None else paths))
    )
    sides = tuple(_Side(scope, one, revision_of(one.repository, revision)) for one in scope.checkouts)
    _require_known(scope, sides, revision)
    with ExitStack() as stack:
        folder = cache_dir(request.cache_dir) if request.cache else None
        roots = [stack.enter_context(side.revision.snapshot(side.wanted, folder)) for side in sides]
        update = _Update(tuple(zip(sides, roots, strict=True)))
        report = check(_request_for(request, scope, update))
        reported = tuple(update.applied(finding) for finding in report.findings)
        silenced = tuple(update.applied(one.finding) for one in report.suppressions)
    return Comparison(_whole(request, scope), reported, silenced, report.internal_errors, _Moves(sides).has_moved)


class _Side:
    """One repository at the revision: which of its files are wanted, and what they are called now."""

    def __init__(self, scope: Scope, checkout: Checkout, revision: Revision) -> None:
        self._scope = scope
        self.checkout = checkout
        self.revision = revision

    def has(self, path: str) -> bool:
        """Whether the revision has the file or directory ``path`` of the working tree."""
        inside = self.checkout.inside(path)
        return inside is not None and (inside in self.blobs or any(one.startswith(f"{inside}/") for one in self.blobs))

    def text(self, path: str) -> str:
        """The text that the file ``path`` of the working tree has at the revision; empty where it isn't there."""
        blob = self.blobs.get(self.checkout.inside(path) or "")
        return self.revision.repository.blob(blob).decode("utf-8", "replace") if blob else ""

    @cached_property
    def blobs(self) -> dict[str, str]:
        """The names of the blobs by path."""
        return {entry.path: entry.name for entry in self.revision.entries}

    @cached_property
    def wanted(self) -> Wanted:
        """The files to lint, and what they build on."""
        chosen = self._scope.wanted(self.checkout, lambda folder: f"{folder}/__init__.py".lstrip("/") in self.blobs)
        return replace(chosen, files=chosen.files | self.renamed.keys())

    @cached_property
    def renamed(self) -> dict[str, str]:
        """The old path of each linted file that the revision has under another, to its present path."""
        import tempfile

        linted = (self.checkout.inside(path) for path in self._scope.files)
        added = [path for path in linted if path is not None and path not in self.blobs]
        absent = [one for one in self.revision.entries if one.is_python and not self._is_here(one.path)]
        if not added or not absent:
            return {}
        left_out = self.revision.repository.left_out()
        gone = [one for one in absent if one.path not in left_out]
        with tempfile.TemporaryDirectory(prefix="eagle3-lint-") as work:
            old = self.revision.write(gone, work)
            return renames(old, [(path, self.checkout.path(path)) for path in added])

    def _is_here(self, path: str) -> bool:
        return os.path.lexists(self.checkout.path(path))


class _Update:
    """Brings paths and dotted names of snapshots up to date."""

    def __init__(self, sides: tuple[tuple[_Side, str], ...]) -> None:
        self.sides = sides
        self._dotted: dict[str, str] = {
            _dotted(os.path.join(root, *old.split("/"))): _dotted(side.checkout.path(new))
            for side, root in sides
            for old, new in side.renamed.items()
        }

    def counterpart(self, path: str) -> str | None:
        """Where the snapshots have the path ``path`` of the working tree; None where they haven't."""
        for side, root in self.sides:
            inside = side.checkout.inside(path)
            found = os.path.join(root, *inside.split("/")) if inside is not None else ""
            if found and os.path.lexists(found):
                return found.rstrip(os.sep)
        return None

    def renamed(self) -> Iterator[str]:
        """The files of the snapshots that have another path now."""
        for side, root in self.sides:
            for old in side.renamed:
                yield os.path.join(root, *old.split("/"))

    def applied(self, finding: Finding) -> Finding:
        """``finding`` as if its file lay in the working tree."""
        inner = tuple(replace(one, class_name=self._name(one.class_name)) for one in finding.inner)
        class_name = None if finding.class_name is None else self._name(finding.class_name)
        return replace(
            finding, path=self._path(finding.path), class_name=class_name, scope=self._name(finding.scope), inner=inner
        )

    def _path(self, path: str) -> str:
        for side, root in self.sides:
            if path.startswith(root + os.sep):
                old = path[len(root) + 1 :].replace(os.sep, "/")
                return side.checkout.path(side.renamed.get(old, old))
        return path

    def _name(self, name: str) -> str:
        module = name
        while module:
            if module in self._dotted:
                return self._dotted[module] + name[len(module) :]
            module = module.rpartition(".")[0]
        return name


class _Moves:
    """Tells a definition that moved, with what is found in it, from one that is merely called the same."""

    def __init__(self, sides: Sequence[_Side]) -> None:
        self._sides = sides

    def has_moved(self, old: Finding, new: Finding) -> bool:
        """Whether ``old`` of the revision is ``new`` of the working tree, given that both are called the same."""
        if old.path == new.path:
            return True
        name = _qualified(old).partition(".")[0]
        if not name.isidentifier() or old.code.startswith(_NAMELESS):
            return False
        was_there = any(_defines(side.text(new.path), name) for side in self._sides)
        return not was_there and not _defines(_text(old.path), name)


def _defines(text: str, name: str) -> bool:
    """Whether ``text`` defines a class or function ``name``, or may: where it isn't Python."""
    if not mentions(text, name):
        return False
    try:
        nodes = walk(parse_source(SourceText("", text.encode(), text)))
    except UnreadableSourceError:
        return True
    return any(isinstance(one, ast.ClassDef | FunctionNode) and one.name == name for one in nodes)


def _require_known(scope: Scope, sides: Iterable[_Side], revision: str) -> None:
    for path in scope.given:
        if not os.path.lexists(path) and not any(side.has(path) for side in sides):
            raise UsageError(f"no such file or directory, here or at {revision}: {path!r}")


def _whole(request: Request, scope: Scope) -> Request:
    """``request`` for everything that is compared; a buffer of a file is linted with what it causes, as ever."""
    if request.buffer is not None:
        return request
    paths = request.paths and tuple(path for path in request.paths if os.path.lexists(path))
    return replace(request, paths=paths, also=scope.whole)


def _request_for(request: Request, scope: Scope, update: _Update) -> Request:
    """``request`` for the same in the snapshots."""
    wanted = [found for path in (*scope.given, *scope.whole) if (found := update.counterpart(path)) is not None]
    beside = [one for path in scope.loose for one in _beside(update, path)]
    tree = scope.configured_tree
    sglang = request.sglang
    if tree is not None:
        sglang = tree.root if update.counterpart(tree.models) is None else update.counterpart(tree.root)
    paths = tuple(dict.fromkeys((*wanted, *beside, *update.renamed())))
    return replace(request, paths=paths, sglang=sglang, buffer=None, texts={}, also=())


def _beside(update: _Update, path: str) -> Iterator[str]:
    directory = update.counterpart(os.path.dirname(path))
    if directory is not None:
        yield from (one for one in siblings(os.path.join(directory, os.path.basename(path))) if os.path.lexists(one))


def _dotted(path: str) -> str:
    """The dotted name of the module at ``path``."""
    tree = tree_of_file(path)
    name = tree.module_name(path) if tree is not None else None
    if name is None:
        relative = os.path.relpath(path, package_root(path))
        name = relative.removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")
    return name


def _qualified(finding: Finding) -> str:
    """The class or function of ``finding``, without its module."""
    return _without_module(finding.class_name or finding.scope, _dotted(finding.path))


def _without_module(name: str, module: str) -> str:
    return name[len(module) + 1 :] if name.startswith(f"{module}.") else name


def _portable(finding: Finding) -> tuple[str, ...]:
    """What a finding is, wherever its definition, and those that it speaks of, lie."""
    module = _dotted(finding.path)
    names = (_without_module(finding.class_name or "", module), _without_module(finding.scope, module))
    parts = (finding.code, *names, finding.name or "")
    if finding.code in ONCE_A_CLASS:
        return parts
    inner = {f"{one.attribute}={one.class_name.rpartition('.')[2]}" for one in finding.inner}
    return (*parts, *finding.methods, "", *sorted(inner))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
