"""pylint as its users start it: a process of its own, the real engine, a small tree of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.small_tree import DELEGATING, WRAPPER, plant, plant_traps, take_fired
from tests.hostile.planting import WORKERS

MISSING = ("wrapper_vl.py", "missing-eagle3-delegation", 6, 6, 6, 37)
UNIMPORTED = ("typed.py", "unimported-typing-name", 1, 18, 1, 22)
OURS = "eagle3"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    plant(tmp_path / "checkout")
    return tmp_path / "checkout"


def models_of(tree: Path) -> Path:
    return tree / "python" / "sglang" / "srt" / "models"


def pylint(*arguments: str | Path, cwd: Path, stdin: str | None = None, enable: str = OURS) -> list[dict[str, Any]]:
    done = subprocess.run(
        [
            os.path.join(os.path.dirname(sys.executable), "pylint"),
            "--load-plugins=eagle3_lint",
            "--disable=all",
            f"--enable={enable}",
            "--persistent=n",
            "--output-format=json2",
            *map(str, arguments),
        ],
        cwd=cwd,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), "PYTHONPATH": ""},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == ""
    messages: list[dict[str, Any]] = json.loads(done.stdout)["messages"]
    return messages


def places(messages: list[dict[str, Any]]) -> list[tuple[str, str, int, int, int, int]]:
    return [
        (Path(m["absolutePath"]).name, m["symbol"], m["line"], m["column"], m["endLine"], m["endColumn"])
        for m in messages
    ]


def test_a_whole_directory(tree: Path) -> None:
    messages = pylint("--recursive=y", models_of(tree), cwd=tree)
    assert sorted(places(messages)) == [UNIMPORTED, MISSING]
    (wrapper,) = (m for m in messages if m["symbol"] == "missing-eagle3-delegation")
    assert (wrapper["messageId"], wrapper["type"], wrapper["confidence"]) == ("E7311", "error", "HIGH")
    assert wrapper["obj"] == "WrapperForConditionalGeneration"
    assert "InnerForCausalLM" in wrapper["message"]


@pytest.mark.parametrize("start", ["checkout", "models", "elsewhere"])
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_one_file_from_any_directory(tree: Path, start: str, relative: bool) -> None:
    elsewhere = tree.parent / "elsewhere"
    elsewhere.mkdir()
    cwd = {"checkout": tree, "models": models_of(tree), "elsewhere": elsewhere}[start]
    file = models_of(tree) / "wrapper_vl.py"
    assert places(pylint(os.path.relpath(file, cwd) if relative else file, cwd=cwd)) == [MISSING]


def test_an_unpacked_wheel(tree: Path) -> None:
    unpacked = tree / "python"
    assert places(pylint("sglang/srt/models/wrapper_vl.py", cwd=unpacked)) == [MISSING]


def test_an_external_package_against_a_configured_sglang(tree: Path) -> None:
    external = tree.parent / "external"
    external.mkdir()
    (external / "my_models.py").write_text(WRAPPER.replace("Wrapper", "External"), encoding="utf-8")
    messages = pylint(f"--eagle3-sglang={tree}", "my_models.py", cwd=external)
    assert [m["symbol"] for m in messages] == ["missing-eagle3-delegation"]
    assert messages[0]["obj"] == "ExternalForConditionalGeneration"


def test_workers_and_one_process_say_the_same(tree: Path) -> None:
    for number in range(6):
        (models_of(tree) / f"copy_{number}.py").write_text(WRAPPER.replace("Wrapper", f"W{number}"), encoding="utf-8")
    serial = pylint("--recursive=y", models_of(tree), cwd=tree)
    parallel = pylint("-j2", "--recursive=y", models_of(tree), cwd=tree)
    assert len(serial) == 8
    assert sorted(serial, key=json.dumps) == sorted(parallel, key=json.dumps)


def test_the_buffer_counts_and_not_its_file(tree: Path) -> None:
    wrapper = models_of(tree) / "wrapper_vl.py"
    assert pylint("--from-stdin", wrapper, cwd=tree, stdin=DELEGATING) == []
    wrapper.write_text(DELEGATING, encoding="utf-8")
    assert places(pylint("--from-stdin", wrapper, cwd=tree, stdin="\n" + WRAPPER)) == [
        ("wrapper_vl.py", "missing-eagle3-delegation", 7, 6, 7, 37)
    ]


@pytest.mark.parametrize("engine", ["auto", "astroid"])
def test_both_engines(tree: Path, engine: str) -> None:
    assert sorted(places(pylint(f"--eagle3-engine={engine}", "--recursive=y", models_of(tree), cwd=tree))) == [
        UNIMPORTED,
        MISSING,
    ]


def test_comments_of_every_kind(tree: Path) -> None:
    wrapper = models_of(tree) / "wrapper_vl.py"
    for comment in (
        "# pylint: disable=missing-eagle3-delegation",
        "# noqa: EGL101",
        "# eagle3-lint: ignore[EGL101] its inner model is never drafted for",
    ):
        wrapper.write_text(WRAPPER.replace("(nn.Module):", f"(nn.Module):  {comment}"), encoding="utf-8")
        assert pylint(wrapper, cwd=tree) == [], comment
    wrapper.write_text(WRAPPER.replace("(nn.Module):", "(nn.Module):  # noqa: E501"), encoding="utf-8")
    assert places(pylint(wrapper, cwd=tree)) == [MISSING]


def test_a_file_that_pylint_cannot_parse_is_pylints_to_report(tree: Path) -> None:
    broken = models_of(tree) / "broken.py"
    broken.write_text("class (:\n", encoding="utf-8")
    messages = pylint(broken, models_of(tree) / "wrapper_vl.py", cwd=tree, enable=f"{OURS},syntax-error")
    assert [m["symbol"] for m in messages] == ["syntax-error", "missing-eagle3-delegation"]


@pytest.mark.parametrize("jobs", ["1", WORKERS])
def test_nothing_beside_the_linted_file_is_run(tree: Path, jobs: str) -> None:
    fired = tree / "fired"
    plant_traps(models_of(tree), fired)
    files = [models_of(tree) / "wrapper_vl.py", models_of(tree) / "typed.py"]
    pylint(f"-j{jobs}", *files, cwd=tree, enable="undefined-variable")
    by_pylint_itself = take_fired(fired)
    assert sorted(places(pylint(f"-j{jobs}", *files, cwd=tree))) == [UNIMPORTED, MISSING]
    assert take_fired(fired) <= by_pylint_itself
