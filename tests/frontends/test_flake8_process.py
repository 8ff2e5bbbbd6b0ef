"""flake8 as its users start it: a process of its own, the real engine, a small tree of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frontends.small_tree import DELEGATING, WRAPPER, plant, plant_traps, take_fired
from tests.hostile.planting import WORKERS

MISSING = "wrapper_vl.py:6:7: EGL101"
UNIMPORTED = "typed.py:1:19: EGL301"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return plant(tmp_path / "checkout")


def flake8(*arguments: str | Path, cwd: Path, stdin: bytes | None = None, python_path: Path | None = None) -> list[str]:
    """The findings of this plugin as ``file:line:column: code``, in flake8's order."""
    done = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "flake8"), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), "PYTHONPATH": str(python_path or "")},
        input=stdin,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == b""
    lines = [line.split(" ") for line in done.stdout.decode().splitlines()]
    return [f"{os.path.basename(place)} {code}" for place, code, *_ in lines if code.startswith("EGL")]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_whole_directory(models: Path, jobs: str) -> None:
    for number in range(4):
        (models / f"wrapper_{number}.py").write_text(WRAPPER.replace("Wrapper", f"W{number}"), encoding="utf-8")
    expected = [f"wrapper_{number}.py:6:7: EGL101" for number in range(4)]
    assert flake8(f"--jobs={jobs}", ".", cwd=models) == [UNIMPORTED, *expected, MISSING]


def test_selection(models: Path) -> None:
    assert flake8("--select=EGL3", ".", cwd=models) == [UNIMPORTED]
    assert flake8("--select=F", "--extend-select=EGL1", ".", cwd=models) == [MISSING]
    assert flake8("--select=F", ".", cwd=models) == []


def test_one_file_from_elsewhere(models: Path, tmp_path: Path) -> None:
    assert flake8(models / "wrapper_vl.py", cwd=tmp_path) == [MISSING]


def test_comments_of_every_kind(models: Path) -> None:
    for comment in (
        "# noqa: EGL101",
        "# noqa",
        "# pylint: disable=missing-eagle3-delegation",
        "# eagle3-lint: ignore[EGL101] its inner model is never drafted for",
    ):
        text = WRAPPER.replace("(nn.Module):", f"(nn.Module):  {comment}")
        (models / "wrapper_vl.py").write_text(text, encoding="utf-8")
        assert flake8("wrapper_vl.py", cwd=models) == [], comment
    (models / "wrapper_vl.py").write_text(WRAPPER.replace("(nn.Module):", "(nn.Module):  # noqa: E501"), "utf-8")
    assert flake8("wrapper_vl.py", cwd=models) == [MISSING]
    (models / "wrapper_vl.py").write_text(WRAPPER.replace("(nn.Module):", "(nn.Module):  # noqa: EGL101"), "utf-8")
    assert flake8("--disable-noqa", "wrapper_vl.py", cwd=models) == [MISSING]


def test_the_buffer_counts_and_not_its_file(models: Path) -> None:
    name = "--stdin-display-name=wrapper_vl.py"
    assert flake8(name, "-", cwd=models, stdin=DELEGATING.encode()) == []
    (models / "wrapper_vl.py").write_text(DELEGATING, encoding="utf-8")
    assert flake8(name, "-", cwd=models, stdin=b"\n" + WRAPPER.encode()) == ["wrapper_vl.py:7:7: EGL101"]


def test_the_engine_of_the_configuration_file(models: Path) -> None:
    (models / "setup.cfg").write_text("[flake8]\neagle3-engine = astroid\nselect = EGL\n", encoding="utf-8")
    assert flake8(".", cwd=models) == [UNIMPORTED, MISSING]


def test_an_external_package_against_a_configured_sglang(models: Path, tmp_path: Path) -> None:
    external = tmp_path / "external"
    external.mkdir()
    (external / "my_models.py").write_text(WRAPPER.replace("Wrapper", "External"), encoding="utf-8")
    sglang = models.parents[3]
    assert flake8(f"--eagle3-sglang={sglang}", ".", cwd=external) == ["my_models.py:6:7: EGL101"]


def test_a_file_that_flake8_cannot_parse_is_flake8s_to_report(models: Path) -> None:
    (models / "broken.py").write_text("class (:\n", encoding="utf-8")
    assert flake8(".", cwd=models) == [UNIMPORTED, MISSING]


@pytest.mark.parametrize("jobs", ["1", WORKERS])
def test_nothing_in_the_working_directory_is_run(models: Path, jobs: str, tmp_path: Path) -> None:
    fired = tmp_path / "fired"
    plant_traps(models, fired)
    files = ["wrapper_vl.py", "typed.py"]
    flake8(f"--jobs={jobs}", "--select=F", *files, cwd=models)
    by_flake8_itself = take_fired(fired)
    assert sorted(flake8(f"--jobs={jobs}", *files, cwd=models)) == [UNIMPORTED, MISSING]
    assert take_fired(fired) <= by_flake8_itself
