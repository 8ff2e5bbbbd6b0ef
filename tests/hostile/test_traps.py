"""Nothing that lies in or beside the linted tree is ever run: traps everywhere, and every way to start the program.

What a host itself loads from the working directory (pylint and flake8 started with ``python -m``) is measured by
running the host without the plugin's messages, and counts for nothing here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.planting import WORKERS, fired_in, plant_everywhere

SCRIPTS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The checkout with traps, its models, and where traps leave their marks."""
    folder = tmp_path_factory.mktemp("traps")
    models = plant_everywhere(folder / "checkout", folder / "fired")
    return folder / "checkout", models, folder / "fired"


@pytest.fixture(scope="module")
def place_with_ours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The same, with a package that has this program's name."""
    folder = tmp_path_factory.mktemp("traps")
    models = plant_everywhere(folder / "checkout", folder / "fired", ours=True)
    return folder / "checkout", models, folder / "fired"


def run(command: list[str], cwd: Path, *, allowed: tuple[int, ...] = (0, 1)) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"XDG_CACHE_HOME": str(cwd.parent / "cache"), "EAGLE3_LINT_CACHE_DIR": str(cwd.parent / "cache")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in allowed, done.stderr
    assert done.stderr == ""
    return done.stdout


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *identity, *arguments], cwd=folder, env=environment, capture_output=True, check=True)


def module_or_script(kind: str) -> list[str]:
    if kind == "module":
        return [sys.executable, "-m", "eagle3_lint"]
    script = SCRIPTS / "eagle3-lint"
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    return [str(script)]


COMMANDS = {
    "check": ["check", "."],
    "check astroid": ["check", ".", "--engine", "astroid", "--pedantic", "--format", "sarif"],
    "check buffer": ["check", "wrapper_vl.py", "--no-cache", "--format", "github"],
    "diff": ["check", ".", "--diff", "--unsafe-fixes"],
    "matrix": ["matrix", "--all"],
    "matrix page": ["matrix", "--format", "html"],
    "explain": ["explain", "WrapperForConditionalGeneration"],
    "rule": ["rule", "EGL101"],
    "baseline": ["check", ".", "--write-baseline", "/dev/stdout", "--quiet"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ["module", "script"])
def test_the_command_line(request: pytest.FixtureRequest, kind: str, name: str) -> None:
    checkout, models, fired = request.getfixturevalue("place" if kind == "module" else "place_with_ours")
    out = run([*module_or_script(kind), *COMMANDS[name]], models)
    assert out
    assert fired_in(fired) == set()
    if name.startswith("check"):
        assert run([*module_or_script(kind), *COMMANDS[name][:1], str(models), *COMMANDS[name][2:]], checkout)
        assert fired_in(fired) == set()


def test_fixing_runs_nothing_either(tmp_path: Path) -> None:
    models = plant_everywhere(tmp_path / "checkout", tmp_path / "fired")
    out = run(
        [sys.executable, "-m", "eagle3_lint", "check", ".", "--fix", "--unsafe-fixes", "--format", "json"], models
    )
    assert json.loads(out)["summary"]["fixed"] >= 1
    assert fired_in(tmp_path / "fired") == set()


def test_since_runs_no_hook_and_no_filter(tmp_path: Path) -> None:
    models = plant_everywhere(tmp_path / "checkout", tmp_path / "fired")
    checkout = tmp_path / "checkout"
    git(checkout, "init", "--quiet")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "first")
    (models / "wrapper_vl.py").write_text((models / "wrapper_vl.py").read_text() + "\n\nlast = 1\n")
    mark = f"mkdir {tmp_path / 'fired' / 'git'}; cat"
    (checkout / ".gitattributes").write_text("*.py filter=trap diff=trap\n")
    for key in ("filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "diff.trap.command", "core.fsmonitor"):
        git(checkout, "config", key, mark)
    (checkout / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        path = checkout / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\n{mark}\n")
        path.chmod(0o755)
    fired_in(tmp_path / "fired")
    run([sys.executable, "-m", "eagle3_lint", "check", ".", "--since", "HEAD", "--no-cache"], models)
    assert fired_in(tmp_path / "fired") == set()


@pytest.mark.parametrize("engine", ["auto", "astroid"])
@pytest.mark.parametrize("jobs", ["1", WORKERS])
def test_pylint(place_with_ours: tuple[Path, Path, Path], jobs: str, engine: str) -> None:
    _, models, fired = place_with_ours
    files = [str(models / "wrapper_vl.py"), str(models / "typed.py")]
    host = [
        str(SCRIPTS / "pylint"),
        f"-j{jobs}",
        "--persistent=n",
        "--disable=all",
        "--output-format=json2",
        "--rcfile=",
    ]
    run([*host, "--load-plugins=eagle3_lint", "--enable=undefined-variable", *files], models, allowed=tuple(range(32)))
    by_the_host = fired_in(fired)
    command = [*host, "--load-plugins=eagle3_lint", f"--eagle3-engine={engine}", "--enable=eagle3", *files]
    messages = json.loads(run(command, models, allowed=tuple(range(32))))["messages"]
    assert {message["symbol"] for message in messages} == {"missing-eagle3-delegation", "unimported-typing-name"}
    assert fired_in(fired) <= by_the_host


@pytest.mark.parametrize("engine", ["auto", "astroid"])
@pytest.mark.parametrize("jobs", ["1", WORKERS])
def test_flake8(place_with_ours: tuple[Path, Path, Path], jobs: str, engine: str) -> None:
    _, models, fired = place_with_ours
    files = [str(models / "wrapper_vl.py"), str(models / "typed.py")]
    host = [str(SCRIPTS / "flake8"), f"--jobs={jobs}", "--isolated"]
    run([*host, "--select=F7", *files], models)
    by_the_host = fired_in(fired)
    out = run([*host, "--select=EGL", f"--eagle3-engine={engine}", *files], models)
    assert {line.split()[1] for line in out.splitlines()} == {"EGL101", "EGL301"}
    assert fired_in(fired) <= by_the_host


def test_configuration_beside_the_code_names_no_code_to_run(tmp_path: Path) -> None:
    """A configuration file of the linted project can't make the program read a plugin, a command or another engine."""
    models = plant_everywhere(tmp_path / "checkout", tmp_path / "fired")
    for key, value in (("plugins", '["sglang_plugin"]'), ("engine", '"sglang_plugin"'), ("init-hook", '"1"')):
        (tmp_path / "checkout" / "pyproject.toml").write_text(f"[tool.eagle3-lint]\n{key} = {value}\n")
        done = subprocess.run(
            [sys.executable, "-m", "eagle3_lint", "check", "."], cwd=models, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert "pyproject.toml:2: " in done.stderr and key in done.stderr
    assert fired_in(tmp_path / "fired") == set()
