"""``matrix --all`` against Python itself: every class of a release as importing its module gives it.

``tests/oracle/import_release.py`` imports the release with stand-ins for everything outside ``sglang``, once as on a
machine with CUDA and once as on one without. Where the two differ (some releases rebind ``RMSNorm`` at module level
where there is no accelerator), the source alone can't tell, and either answer is Python's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from eagle3_lint.sources.tree import SourceTree

REPOSITORY = Path(__file__).parents[2]
ORACLE = REPOSITORY / "tests" / "oracle" / "import_release.py"
DEVICES = ("cuda", "cpu")
# In the order of IntEnum and StrEnum from Python 3.11 on, not in 3.10: no property of the release.
VERSION_DEPENDENT = {"enum.ReprEnum"}

Classes = dict[str, dict[str, Any]]


def run_json(command: list[str], folder: Path) -> dict[str, Any]:
    """The JSON that a command of this interpreter prints; its error output where it fails."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def python_says(root: Path, device: str, folder: Path) -> dict[str, Any]:
    """The oracle's report on the release at ``root``, complete: each module imported, the real registry of one mind."""
    out = folder / f"{device}.json"
    subprocess.run([sys.executable, str(ORACLE), str(root), str(out), device], check=True, timeout=300)
    report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    assert report["modules"]["failed"] == {}
    assert report["problems"] == []
    assert report["registered"] == report["registry"]
    return report


def by_name(classes: list[dict[str, Any]]) -> Classes:
    """The classes by dotted name, which is theirs alone."""
    names = [item["class"] for item in classes]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)
    return {item["class"]: item for item in classes}


def order(item: dict[str, Any]) -> list[str]:
    """A class's method resolution order, free of what changes with the Python version."""
    return [name for name in item["mro"] if name not in VERSION_DEPENDENT]


def differences(truths: list[Classes], matrix: Classes, unreached: set[str]) -> Iterator[str]:
    """One readable line, or three, for each class on which the matrix and Python don't agree."""
    for name in sorted(truths[0].keys() - matrix.keys()):
        yield f"{name}: not in the matrix"
    for name in sorted(matrix.keys() - truths[0].keys() - unreached):
        yield f"{name}: in the matrix, but importing the module makes no such class"
    for name in sorted(truths[0].keys() & matrix.keys()):
        ours, theirs = matrix[name], [truth[name] for truth in truths]
        for what in ("path", "line"):
            if ours[what] != theirs[0][what]:
                yield f"{name}: {what} is {theirs[0][what]}, the matrix has {ours[what]}"
        if order(ours) not in [order(item) for item in theirs]:
            python, mine = ("\n    ".join(order(item)) for item in (theirs[0], ours))
            yield f"{name}: method resolution order\n  Python:\n    {python}\n  matrix:\n    {mine}"
        for method in theirs[0]["methods"]:
            owners = [item["methods"][method] for item in theirs]
            if ours["methods"].get(method, "(absent)") not in owners:
                yield f"{name}: {method} is of {owners[0]}, the matrix has {ours['methods'].get(method, '(absent)')}"


@pytest.mark.release
@pytest.mark.parametrize("version", ["0.4.10.post2", "0.5.9", "0.5.23"])
def test_matrix_agrees_with_python(version: str, release: Callable[[str], SourceTree], tmp_path: Path) -> None:
    root = Path(release(version).root)
    reports = [python_says(root, device, tmp_path) for device in DEVICES]
    truths = [by_name(report["classes"]) for report in reports]
    assert truths[0].keys() == truths[1].keys()
    printed = run_json(
        ["-m", "eagle3_lint", "matrix", "--all", "--format", "json", "--no-cache", "--sglang", str(root)], tmp_path
    )
    matrix = by_name(printed["classes"])

    found = list(differences(truths, matrix, {item["class"] for item in reports[0]["not_executed"]}))
    registered = {name for name, item in matrix.items() if item["registered"]}
    expected = set(reports[0]["registered"].values())
    found += [f"{name}: the registry has it, the matrix says unregistered" for name in sorted(expected - registered)]
    found += [f"{name}: the matrix says registered, the registry lacks it" for name in sorted(registered - expected)]

    assert not found, f"{len(found)} differences on {version}\n" + "\n".join(found)
