"""``--engine auto`` and ``--engine astroid`` say the same of real releases, and astroid's own order is Python's C3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eagle3_lint.engine import MatrixRequest, Request, check, matrix
from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.output import renderer
from eagle3_lint.output.context import RenderContext
from eagle3_lint.project.classes import ClassInfo, ExternalValue
from eagle3_lint.project.linearization import external_order
from eagle3_lint.project.resolver import ENGINES
from eagle3_lint.project.with_astroid.resolver import AstroidResolver

if TYPE_CHECKING:
    from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release
REPOSITORY = Path(__file__).parents[2]
VERSIONS = ("0.4.10.post2", "0.5.9", "0.5.23")

Release = Callable[[str], "SourceTree"]


def findings(tree: SourceTree, engine: str) -> dict[str, Any]:
    """The JSON of every project rule's findings, pedantic ones too."""
    report = check(
        Request(
            paths=(tree.models,),
            select=("EGL1", "EGL2"),
            pedantic=True,
            engine=engine,
            cache=False,
        )
    )
    assert report.internal_errors == ()
    context = RenderContext("0", tree.root, lambda path, line: None)
    printed: dict[str, Any] = json.loads("".join(renderer("json")(report, context)))
    return printed


@pytest.mark.parametrize("version", VERSIONS)
def test_both_engines_have_the_same_findings(version: str, release: Release) -> None:
    tree = release(version)
    auto, astroid = (findings(tree, engine) for engine in ENGINES)

    assert auto["findings"]
    assert auto == astroid


@pytest.mark.parametrize("version", VERSIONS)
def test_both_engines_have_the_same_matrix(version: str, release: Release) -> None:
    tree = release(version)
    auto, astroid = (
        {
            one["class"]: one
            for one in matrix(MatrixRequest(tree.root, all_classes=True, engine=engine, cache=False))["classes"]
        }
        for engine in ENGINES
    )

    assert auto.keys() == astroid.keys()
    assert [(auto[name], astroid[name]) for name in auto if auto[name] != astroid[name]] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_astroids_own_order_is_ours(version: str, release: Release) -> None:
    tree = release(version)
    index = {info.dotted: info for info in Workspace(tree).project.classes}
    project = Workspace(tree, engine="astroid").project
    assert isinstance(project.names, AstroidResolver)

    differing: list[str] = []
    for info in project.classes:
        ours = index[info.dotted].order
        if ours.problem or not has_plain_bases(index[info.dotted]):
            continue
        theirs = project.names.own_order(info)
        if theirs is None or tuple(one.dotted for one in theirs) != ours.dotted:
            differing.append(f"{info.dotted}: {theirs}, not {ours.classes}")

    plain = sum(has_plain_bases(info) for info in index.values())
    assert plain > 0.95 * len(project.classes) > 400
    assert differing == []


def has_plain_bases(info: ClassInfo) -> bool:
    """Whether each base of ``info``, and of its bases, is one class and stays it.

    astroid takes the last class that a base may be where a condition decides (0.4.10.post2 imports another ``RMSNorm``
    where there is no accelerator), and a base for which Python puts in another (``typing.NamedTuple``) as it is.
    """
    return all(
        len(values) == 1
        and not (isinstance(values[0], ExternalValue) and external_order(values[0].dotted)[:1] != (values[0].dotted,))
        for one in info.project_classes
        for values in (one._names.base_values(one, base) for base in one.facts.bases)
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_auto_never_needs_astroid_on_a_release(version: str, release: Release) -> None:
    command = (
        "import sys\n"
        "from eagle3_lint.engine import MatrixRequest, Request, check, matrix\n"
        f"report = check(Request(paths=({release(version).models!r},), pedantic=True, cache=False))\n"
        f"matrix(MatrixRequest({release(version).root!r}, all_classes=True, cache=False))\n"
        "print(len(report.findings) > 0, 'astroid' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )

    assert done.stdout == "True False\n", done.stderr
