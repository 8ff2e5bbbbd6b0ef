"""A new rule is a new file: put one into a copy of the package, and everything knows it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE = '''"""A class is called Forbidden.

## What it does

Finds it.
"""

from __future__ import annotations

from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext


def check(context: ProjectContext):
    """One finding for each."""
    for info in context.targets():
        if info.name == "Forbidden":
            yield context.finding("EGL108", info, info.span(), "Forbidden: take another name.")


RULE = Rule(
    code="EGL108",
    symbol="forbidden-name",
    severity="warning",
    summary="A class is called "
    "Forbidden.",
    scope="project",
    check_project=check,
)
'''
MODEL = "from torch import nn\n\n\nclass Forbidden(nn.Module):\n    pass\n\n\nEntryClass = Forbidden\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a copy of the package that has one rule more, and a model that it finds."""
    shutil.copytree(ROOT / "eagle3_lint", tmp_path / "eagle3_lint", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "eagle3_lint" / "rules" / "egl108_forbidden_name.py").write_text(RULE)
    models = tmp_path / "tree" / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (models / "model.py").write_text(MODEL)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, *arguments),
        cwd=folder / "tree",
        env={"PYTHONPATH": str(folder), "EAGLE3_LINT_CACHE_DIR": str(folder / "cache"), "PATH": ""},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command_line_knows_it(folder: Path) -> None:
    found = run(folder, "-m", "eagle3_lint", "check", "--format", "concise")
    assert found.stderr == ""
    assert "sglang/srt/models/model.py:4:7: EGL108 forbidden-name Forbidden: take another name." in found.stdout
    listed = run(folder, "-m", "eagle3_lint", "rule").stdout
    assert "EGL108  forbidden-name" in listed
    assert "A class is called Forbidden." in listed
    assert run(folder, "-m", "eagle3_lint", "check", "--ignore", "forbidden-name").returncode == 0
    sarif = run(folder, "-m", "eagle3_lint", "check", "--format", "sarif").stdout
    assert '"id": "EGL108"' in sarif


def test_comments_know_it(folder: Path) -> None:
    model = folder / "tree" / "sglang" / "srt" / "models" / "model.py"
    for comment in ("noqa: EGL108", "pylint: disable=forbidden-name", "pylint: disable=W7318", "noqa: EGL1"):
        model.write_text(MODEL.replace("Module):", f"Module):  # {comment}"))
        assert run(folder, "-m", "eagle3_lint", "check").returncode == 0, comment


def test_pylint_knows_it(folder: Path) -> None:
    options = ("--load-plugins=eagle3_lint", "--disable=all", "--enable=forbidden-name", "--score=no", "--rcfile=")
    found = run(folder, "-m", "pylint", *options, "sglang/srt/models/model.py")
    assert "W7318: Forbidden: take another name. (forbidden-name)" in found.stdout


def test_flake8_knows_it(folder: Path) -> None:
    found = run(folder, "-m", "flake8", "--isolated", "--select=EGL", "sglang/srt/models/model.py")
    assert "EGL108 Forbidden: take another name." in found.stdout


@pytest.mark.parametrize(
    "program",
    [
        "from eagle3_lint.frontends.cli.dispatch import dispatch; dispatch(['--version'])",
        (
            "from eagle3_lint.frontends import flake8_plugin as plugin; from argparse import Namespace as Options; "
            "plugin.Plugin.parse_options(None, Options(eagle3_engine='auto', eagle3_sglang=None, eagle3_cache_dir=None, "
            "eagle3_pedantic=False, stdin_display_name='stdin', disable_noqa=False), ['a.py'])"
        ),
    ],
)
def test_what_needs_no_rules_reads_none(program: str) -> None:
    watched = (
        "import sys\nopened = []\n"
        "sys.addaudithook(lambda name, given: opened.append(given[0]) if name == 'open' else None)\n"
        f"{program}\n"
        "print([path for path in opened if 'egl101' in str(path)], 'eagle3_lint.rules.catalogue' in sys.modules)"
    )
    ran = subprocess.run((sys.executable, "-c", watched), check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.splitlines()[-1] == "[] False"
