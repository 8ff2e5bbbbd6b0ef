"""``explain``: everything that is to be said of one class, remembered for as long as the tree stays the same.

A remembered answer must come in little more than the program's start-up: what looks at classes is imported only where
there is no answer yet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from eagle3_lint.errors import TreeError, UnreadableSourceError, UsageError

if TYPE_CHECKING:
    from eagle3_lint.engine.investigation import Lines
    from eagle3_lint.engine.workspace import Workspace
    from eagle3_lint.findings.model import Edit, Finding
    from eagle3_lint.project.classes import ClassInfo

VERSION = 1
_MOST_NEAR = 5


class ExplainRequest(NamedTuple):
    """What the user asked for: ``name`` is a class, by its short name, its dotted name, or the end of it."""

    name: str
    sglang: str | None = None
    engine: str = "auto"
    cache: bool = True
    cache_dir: str | None = None
    progress: Callable[[str], None] | None = None


class Explanation(NamedTuple):
    """``document`` is the answer as JSON has it; its paths are relative to ``root``.

    ``problems`` are faults of this program that may have left something out.
    """

    root: str
    document: dict[str, Any]
    problems: tuple[str, ...] = ()


def explain(request: ExplainRequest) -> Explanation:
    """The investigation of the class that ``request`` names.

    Raises UsageError, with near misses, for a name that no class of the tree has, or several have; TreeError where no
    tree is found; ReleaseError where a release can't be had.
    """
    from eagle3_lint.engine.session import Session, SessionOptions

    options = SessionOptions(request.engine, request.sglang, request.cache, request.cache_dir, with_fixes=True)
    session = Session(options, request.progress, parallel=True)
    tree = session.configured_tree()
    if tree is None:
        raise TreeError("no SGLang source tree here or above, and none installed: give --sglang PATH or VERSION")
    workspace = session.open(tree)
    memory = workspace.memory
    known = memory.explanation(workspace.key, request.name) if memory is not None else None
    if known is not None:
        return Explanation(workspace.root, known)
    info = class_named(request.name, workspace.opened.project.classes, workspace.opened.project.registered)
    document = describe(workspace, info)
    workspace.save()
    problems = tuple(map(str, workspace.internal_errors))
    if memory is not None and not problems and workspace.opened.is_rememberable:
        memory.keep_explanation(workspace.key, request.name, workspace.opened.outside(), document)
    return Explanation(workspace.root, document, problems)


def describe(workspace: Workspace, info: ClassInfo, lines: Lines | None = None) -> dict[str, Any]:
    """The explanation of ``info`` as JSON has it; who asks for several classes has ``lines`` at hand."""
    from eagle3_lint.engine.investigation import Lines, investigate
    from eagle3_lint.project.capture import capture_of

    source = lines or Lines(workspace)
    findings = findings_about(workspace, info)
    steps = investigate(workspace, info, findings)
    patch, safety = patch_of(workspace, findings)
    return {
        "version": VERSION,
        "class": info.dotted,
        "steps": [
            {
                "title": step.title,
                "message": step.message,
                "path": _relative(workspace, step.path) if step.path is not None else None,
                "line": step.line or None,
                "source": source.at(step.path, step.line),
            }
            for step in steps
        ],
        "verdict": capture_of(workspace.opened.project, info).state,
        "patch": patch,
        "patch_safety": safety,
    }


def class_named(name: str, classes: Iterable[ClassInfo], registered: Iterable[ClassInfo]) -> ClassInfo:
    """The class that ``name`` means; of several with one short name the registered one.

    Raises UsageError where there is none, with near misses, and where several are meant.
    """
    every = tuple(classes)
    found = tuple(one for one in every if one.dotted == name) or _ending(name, every)
    if len(found) > 1:
        found = tuple(one for one in registered if one in found) or found
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name!r} is the name of several classes: {', '.join(sorted(one.dotted for one in found))}")
    near = _near(name, every)
    raise UsageError(
        f"no class {name!r} in the models directory" + (f" (did you mean {', '.join(near)}?)" if near else "")
    )


def _ending(name: str, classes: tuple[ClassInfo, ...]) -> tuple[ClassInfo, ...]:
    return tuple(one for one in classes if one.dotted.endswith(f".{name}"))


def _near(name: str, classes: tuple[ClassInfo, ...]) -> list[str]:
    import difflib

    short = name.rpartition(".")[2]
    names = {one.name.lower(): one.name for one in classes}
    close = difflib.get_close_matches(short.lower(), names, n=_MOST_NEAR, cutoff=0.6)
    inside = sorted((known for lowered, known in names.items() if len(short) > 3 and short.lower() in lowered), key=len)
    return list(dict.fromkeys((*(names[one] for one in close), *inside)))[:_MOST_NEAR]


def findings_about(workspace: Workspace, info: ClassInfo) -> tuple[Finding, ...]:
    """What the rules that are on by default find on ``info``, or in what makes it what it is."""
    from eagle3_lint.rules.registry import all_codes, is_pedantic

    codes = tuple(code for code in all_codes() if not is_pedantic(code))
    workspace.prepare(frozenset(codes))
    return tuple(
        one
        for code in codes
        for one in workspace.project_findings(code)
        if one.class_name == info.dotted or info.dotted in one.registered
    )


def patch_of(workspace: Workspace, findings: Iterable[Finding]) -> tuple[str | None, str | None]:
    """The fixes of ``findings`` as one unified diff, and their safety; (None, None) where there are none."""
    from eagle3_lint.fixes.diff import unified_diff
    from eagle3_lint.fixes.text import OverlappingEditsError, apply_edits

    edits: dict[str, list[Edit]] = {}
    safeties: list[str] = []
    for finding in findings:
        if finding.fix is None or not finding.fix.edits:
            continue
        fresh = {path: list(known) for path, known in edits.items()}
        for edit in finding.fix.edits:
            fresh.setdefault(edit.path, []).append(edit)
        try:
            for path, group in fresh.items():
                apply_edits(workspace.source(path).text, group)
        except (OverlappingEditsError, UnreadableSourceError):
            continue
        edits = fresh
        safeties.append(finding.fix.safety)
    if not edits:
        return None, None
    pieces = []
    for path, group in sorted(edits.items()):
        before = workspace.source(path).text
        pieces.append(unified_diff(_relative(workspace, path), before, apply_edits(before, group)))
    return "".join(pieces), "safe" if set(safeties) == {"safe"} else "unsafe"


def _relative(workspace: Workspace, path: str) -> str:
    return os.path.relpath(path, workspace.root).replace(os.sep, "/")
