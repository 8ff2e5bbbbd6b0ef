"""The files of the package's frame agree with each other and with the code."""

from __future__ import annotations

import configparser
import importlib
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

import eagle3_lint
from eagle3_lint.findings.codes import PYLINT_CHECKER
from eagle3_lint.rules.catalogue import CODES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def setup() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


@pytest.fixture(scope="module")
def tox() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser


def test_entry_points_lead_to_what_they_name() -> None:
    (script,) = entry_points(group="console_scripts", name="eagle3-lint")
    assert callable(script.load())
    (plugin,) = entry_points(group="flake8.extension", name="EGL")
    assert plugin.load().version == eagle3_lint.__version__


def test_the_version_is_read_from_the_package_without_importing_it(setup: configparser.ConfigParser) -> None:
    assert setup["metadata"]["version"] == "attr: eagle3_lint.__version__"
    text = (ROOT / "eagle3_lint" / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{eagle3_lint.__version__}"' in text.splitlines()


def test_the_changelog_knows_the_version() -> None:
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line[:3] == "## "]
    assert headings[0].split()[1] == eagle3_lint.__version__


def test_every_pylint_line_has_an_environment(tox: configparser.ConfigParser) -> None:
    lines = tox["testenv:pylint{33,40,41}"]["deps"].split("\n")
    assert [line.strip() for line in lines if line.strip()] == [
        "pylint33: pylint~=3.3.0",
        "pylint40: pylint~=4.0.0",
        "pylint41: pylint~=4.1.0",
    ]


def test_every_python_has_an_environment(setup: configparser.ConfigParser, tox: configparser.ConfigParser) -> None:
    marker = "Programming Language :: Python :: 3."
    pythons = [line.rpartition(".")[2] for line in setup["metadata"]["classifiers"].splitlines() if marker in line]
    assert pythons == ["10", "11", "12", "13", "14"]
    assert tox["tox"]["env_list"].startswith(f"py{{{','.join('3' + python for python in pythons)}}}")


def test_the_readme_runs_what_ci_runs() -> None:
    assert "\nbash .ci/run\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".ci" / "run").is_file()


def test_hooks_that_know_other_files_run_once() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    assert {"eagle3-lint", "eagle3-lint-pylint"} <= hooks.keys()
    for hook in hooks.values():
        assert hook["require_serial"] is True
        assert hook["types"] == ["python"]
        assert hook["language"] == "python"
        assert hook["entry"].split()[0] in {"eagle3-lint", "pylint"}


def test_the_pylint_hook_enables_exactly_the_rules_that_are_on_by_default() -> None:
    (hook,) = (
        hook
        for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
        if hook["id"] == "eagle3-lint-pylint"
    )
    (enabled,) = (part.partition("=")[2] for part in hook["entry"].split() if part.startswith("--enable="))
    assert enabled.split(",") == [entry.symbol for entry in CODES if entry.is_default]


def test_the_example_pylintrc_is_taken(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("value = 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pylint", f"--rcfile={ROOT / 'examples' / 'pylintrc'}", "model.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "rated at 10.00/10" in done.stdout


def test_the_example_pylintrc_names_every_rule() -> None:
    text = (ROOT / "examples" / "pylintrc").read_text(encoding="utf-8")
    example = configparser.ConfigParser()
    example.read_string(text)
    enabled = "".join(example["MESSAGES CONTROL"]["enable"].split())
    assert enabled.split(",") == [entry.symbol for entry in CODES if entry.is_default]
    assert all(entry.symbol in text for entry in CODES)
    assert PYLINT_CHECKER.upper() in example.sections()


def test_every_module_can_be_imported() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "eagle3_lint").rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py"}
    ]
    assert "eagle3_lint.frontends.host" in names
    for name in names:
        importlib.import_module(name)


def test_every_directory_of_modules_is_a_package_that_is_installed() -> None:
    directories = {path.parent for path in (ROOT / "eagle3_lint").rglob("*.py")}
    assert [str(directory) for directory in directories if not (directory / "__init__.py").is_file()] == []
