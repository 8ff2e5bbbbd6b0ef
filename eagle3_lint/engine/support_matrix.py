"""The support matrix of a models directory: every class, its hierarchy, what it holds, and how it stands to each setter."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.session import Session, SessionOptions
from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.errors import TreeError, UsageError
from eagle3_lint.project.capture import capture_of
from eagle3_lint.project.roles import EAGLE3_SETTER, FAMILY
from eagle3_lint.sources.tree import SourceTree, tree_of_spec

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.contract import ContractMethod

VERSION = 1


@dataclass(frozen=True)
class MatrixRequest:
    """What the user asked for: the tree of ``path``, of ``sglang``, or the one around the working directory."""

    path: str | None = None
    sglang: str | None = None
    all_classes: bool = False
    engine: str = "auto"
    cache: bool = True
    cache_dir: str | None = None
    progress: Callable[[str], None] | None = None


def matrix(request: MatrixRequest) -> dict[str, Any]:
    """The matrix as JSON has it.

    Raises TreeError where no tree is found, ReleaseError where a release can't be had.
    """
    options = SessionOptions(request.engine, request.sglang, request.cache, request.cache_dir)
    session = Session(options, request.progress)
    tree = _tree(request, session)
    workspace = session.open(tree)
    described = describe(workspace, all_classes=request.all_classes)
    workspace.save()
    return described


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
        "classes": [
            _class(workspace, info, methods) for info in sorted(classes, key=lambda one: (one.path, one.line))
        ],
    }


def _tree(request: MatrixRequest, session: Session) -> SourceTree:
    if request.path is not None:
        tree = tree_of_spec(request.path)
        if tree is None:
            raise UsageError(f"{request.path}: no SGLang models directory there")
        return tree
    configured = session.configured_tree()
    if configured is None:
        raise TreeError("no SGLang source tree here or above, and none installed: give PATH, or --sglang PATH or VERSION")
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
