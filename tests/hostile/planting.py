"""Trees full of traps: files that Python, pylint, flake8, pytest, git or pip would run if anybody let them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.frontends.small_tree import INNER, TYPED, WRAPPER

WORKERS = pytest.param(
    "2",
    marks=pytest.mark.skipif(
        sys.version_info >= (3, 14),
        reason="Python's own workers start from the working directory, with what lies there",
    ),
)
"""Two processes of pylint or flake8."""

# What a program may import, or a host load, from beside the linted files or from inside the linted package.
_BESIDE = (
    "conftest setup sitecustomize usercustomize noxfile tasks hubconf "
    "typing typing_extensions astroid json ast re io os abc enum types tokenize dataclasses functools importlib marshal "
    "platformdirs tomli tomllib configparser pylint flake8 pycodestyle pyflakes mccabe libcst jinja2 markupsafe yaml "
    "torch transformers vllm numpy builtins zipfile subprocess tempfile difflib hashlib warnings contextlib signal"
)
_PACKAGES = ("torch", "transformers", "astroid", "pylint_plugins", "sglang_plugin")
OURS = "eagle3_lint"


@cache
def loaded_by_python_itself() -> frozenset[str]:
    """What ``python -m`` has loaded by the time that it runs a module: no program can keep that from being looked up."""
    with TemporaryDirectory() as folder:
        Path(folder, "probe.py").write_text("import sys; print(*sys.modules)")
        ran = subprocess.run([sys.executable, "-m", "probe"], cwd=folder, capture_output=True, text=True, check=True)
    return frozenset(ran.stdout.split())


def plant_everywhere(root: Path, fired: Path, *, ours: bool = False) -> Path:
    """A checkout below ``root`` whose every file but the models runs a trap; returns the models directory.

    A trap that runs makes a directory in ``fired``. With ``ours``, a package of this program's own name is a trap too: what
    ``python -m eagle3_lint`` starts in a directory that holds one is for Python to say.
    """
    fired.mkdir()
    models = root / "python" / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    inner = _trap(fired, "models.inner_lm") + INNER
    wrapper = _trap(fired, "models.wrapper_vl") + WRAPPER.replace(
        "from torch import nn\n", "from torch import nn\nimport typing\n"
    )
    typed = _trap(fired, "models.typed") + TYPED
    for name, text in (("inner_lm", inner), ("wrapper_vl", wrapper), ("typed", typed)):
        (models / f"{name}.py").write_text(text)
    for directory in (root, root / "python", root / "python" / "sglang", root / "python" / "sglang" / "srt", models):
        for name in sorted(set(_BESIDE.split()) - loaded_by_python_itself()):
            (directory / f"{name}.py").write_text(_trap(fired, f"{directory.name}.{name}"))
        (directory / "hostile.pth").write_text(f"import os; os.mkdir({str(fired / 'pth')!r})\n")
        (directory / ".pylintrc").write_text("[MAIN]\ninit-hook=\n")
    (root / "python" / "sglang" / "__init__.py").write_text(_trap(fired, "sglang.__init__"))
    for package in (*_PACKAGES, *([OURS] if ours else [])):
        (root / package).mkdir()
        (models / package).mkdir()
        for holder in (root / package, models / package):
            (holder / "__init__.py").write_text(_trap(fired, f"{package}.__init__"))
            (holder / "__main__.py").write_text(_trap(fired, f"{package}.__main__"))
    plugin = root / "eagle3_lint-9.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: eagle3-lint\nVersion: 9\n")
    (plugin / "entry_points.txt").write_text("[flake8.extension]\nEGL = sglang_plugin:Plugin\n")
    return models


def fired_in(folder: Path) -> set[str]:
    """The traps that ran since the last time."""
    names = {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        path.rmdir()
    return names


def _trap(fired: Path, name: str) -> str:
    return f"try:\n    __import__('os').mkdir({str(fired / name)!r})\nexcept OSError:\n    pass\n"


def rights_mean_nothing() -> bool:
    """Whether this process may read what nobody may: root, as a rule."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        return os.access(file.name, os.R_OK)
