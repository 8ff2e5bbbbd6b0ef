"""The support matrix of a models directory: every class, its hierarchy, what it holds, and how it stands to each setter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.session import Session, SessionOptions
from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import TreeError, UnreadableSourceError, UsageError
from eagle3_lint.project.capture import capture_of
from eagle3_lint.project.roles import EAGLE3_SETTER, FAMILY
from eagle3_lint.sources.reading import read_source
from eagle3_lint.sources.tree import SourceTree, tree_of_spec

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.contract import ContractMethod

VERSION = 1


@dataclass(frozen=True)
class MatrixRequest:
    """What the user asked for: the tree of ``path``, of ``sglang``, or the one around the working directory.

    ``against`` names another tree, to compare with. Beside what JSON has, ``named`` asks for the name of the release, and
    ``detailed``, for a page, for each class's investigation, fix and drawing.
    """

    path: str | None = None
    sglang: str | None = None
    all_classes: bool = False
    against: str | None = None
    named: bool = False
    detailed: bool = False
    engine: str = "auto"
    cache: bool = True
    cache_dir: str | None = None
    progress: Callable[[str], None] | None = None


def matrix(request: MatrixRequest) -> dict[str, Any]:
    """The matrix as JSON has it.

    Raises TreeError where no tree is found, ReleaseError where a release can't be had.
    """
    options = SessionOptions(request.engine, request.sglang, request.cache, request.cache_dir, with_fixes=True)
    session = Session(options, request.progress, parallel=True)
    tree = _tree(request, session)
    workspace = session.open(tree)
    described = describe(workspace, all_classes=request.all_classes)
    if request.named:
        described["sglang"] = release_name(tree)
    if request.detailed:
        _add_details(workspace, described["classes"])
    if request.against is not None:
        described["against"] = _against(request, session, workspace)
    workspace.save()
    return described


def release_name(tree: SourceTree) -> str | None:
    """The version that the sources of ``tree`` say they are; None where they don't."""
    for name in ("_version.py", "version.py"):
        try:
            text = read_source(os.path.join(tree.package, name)).text
        except UnreadableSourceError:
            continue
        match = re.search(r"""^__version__(?: *= *version)? *= *["']([\w.+-]+)["']""", text, re.MULTILINE)
        if match is not None:
            return match.group(1)
    return None


def _against(request: MatrixRequest, session: Session, workspace: Workspace) -> dict[str, Any]:
    from eagle3_lint.engine.comparing import changes
    from eagle3_lint.sources.cachedir import cache_dir
    from eagle3_lint.sources.releases import release_tree

    assert request.against is not None
    tree = release_tree(request.against, cache_dir(request.cache_dir), request.progress)
    other = session.open(tree)
    found = changes(other.opened.project, workspace.opened.project, all_classes=request.all_classes)
    other.save()
    return {"root": other.root, "sglang": release_name(tree), "changes": found}


def _add_details(workspace: Workspace, classes: list[dict[str, Any]]) -> None:
    from eagle3_lint.engine.explaining import describe as explain_class
    from eagle3_lint.engine.investigation import Lines, subject_of
    from eagle3_lint.engine.picture import picture_of

    project = workspace.opened.project
    lines = Lines(workspace)
    by_name = {info.dotted: info for info in project.classes}
    for entry in classes:
        info = by_name[entry["class"]]
        explained = explain_class(workspace, info, lines)
        picture = picture_of(subject_of(project, info), lambda path, line: f"{_relative(workspace, path)}:{line}")
        entry["details"] = {
            "steps": explained["steps"],
            "patch": explained["patch"],
            "patch_safety": explained["patch_safety"],
            "picture": picture,
        }


def describe(workspace: Workspace, *, all_classes: bool) -> dict[str, Any]:
    """Every class of ``workspace`` (only registered ones unless ``all_classes``)."""
    project = workspace.opened.project
    contract = project.contract
    methods = (*FAMILY, *(one.name for one in contract.methods if one.name not in FAMILY))
    classes = project.classes if all_classes else project.registered
    return {
        "version": VERSION,
        "root": workspace.root,
        "interface": [_interface(workspace, method) for method in contract.methods],
        "classes": [_class(workspace, info, methods) for info in sorted(classes, key=lambda one: (one.path, one.line))],
    }


def _tree(request: MatrixRequest, session: Session) -> SourceTree:
    if request.path is not None:
        tree = tree_of_spec(request.path)
        if tree is None:
            raise UsageError(f"{request.path}: no SGLang models directory there")
        return tree
    configured = session.configured_tree()
    if configured is None:
        raise TreeError(
            "no SGLang source tree here or above, and none installed: give PATH, or --sglang PATH or VERSION"
        )
    return configured


def _relative(workspace: Workspace, path: str) -> str:
    return os.path.relpath(path, workspace.root).replace(os.sep, "/")


def _interface(workspace: Workspace, method: ContractMethod) -> dict[str, Any]:
    return {
        "method": method.name,
        "guarded": method.guarded,
        "called_with": list(method.called_with),
        "call_sites": [{"path": _relative(workspace, site.path), "line": site.line} for site in method.call_sites],
    }


def _class(workspace: Workspace, info: ClassInfo, methods: tuple[str, ...]) -> dict[str, Any]:
    project = workspace.opened.project
    roles = project.roles
    capture = capture_of(project, info)
    found = {name: info.find(name) for name in methods}
    setters = [EAGLE3_SETTER, *sorted(project.contract.protocols - {EAGLE3_SETTER})]
    described: dict[str, Any] = {
        "class": info.dotted,
        "path": _relative(workspace, info.path),
        "line": info.line,
        "registered": roles.is_registered(info),
        "role": roles.role(info),
        "multimodal": roles.is_multimodal(info),
        "mro": list(info.order.dotted),
        "inner": [
            {
                "attribute": one.attribute,
                "class": one.info.dotted,
                "line": one.built_at.line,
                "supports": roles.supports(one),
            }
            for one in roles.language_models(info)
        ],
        "methods": {name: one.definer.dotted if one is not None else None for name, one in found.items()},
        "capture": capture.state,
        "protocols": {setter: capture_of(project, info, setter).state for setter in setters},
    }
    if capture.note:
        described["note"] = capture.note
    return described
