"""Runs that are stopped half-way, or that find no room: they end soon and quietly, and leave nothing half-done."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.growth import files, lines, write
from eagle3_lint.frontends.cli.streams import write_output
from eagle3_lint.sources.writing import replace_file
from tests.frontends.small_tree import TYPED, plant

PROGRAM = [sys.executable, "-m", "eagle3_lint"]
# As long as a run may take to end, and then some for a busy machine.
MOST_SECONDS = 1.0 if os.environ.get("CI") is None else 3.0


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree that takes some seconds."""
    long = next(text for name, text in lines(6000) if name == "long.py")
    return write(tmp_path_factory.mktemp("large"), (*files(40), ("long_1.py", long), ("long_2.py", long)))


def start(arguments: list[str], cwd: Path, **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [*PROGRAM, *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **options,
    )


def members(group: int) -> list[str]:
    """The processes of ``group`` that still run; one that is over and waits to be asked after counts for nothing."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = status.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(status.parent.name)
    return found


def wait_for_the_end_of(group: int) -> None:
    until = time.monotonic() + MOST_SECONDS
    while members(group) and time.monotonic() < until:
        time.sleep(0.02)
    assert members(group) == [], "a process is left behind"


def usual_seconds(models: Path, cwd: Path) -> float:
    started = time.monotonic()
    process = start(["check", str(models), "--no-cache"], cwd)
    process.communicate(timeout=120)
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("to_group", "number", "code"),
    [
        (True, signal.SIGINT, 130),
        (False, signal.SIGINT, 130),
        (False, signal.SIGTERM, 143),
        (False, signal.SIGKILL, -9),
    ],
)
def test_stopped_anywhere(models: Path, tmp_path: Path, to_group: bool, number: int, code: int) -> None:
    usual = usual_seconds(models, tmp_path)
    moments = random.Random(number)
    (tmp_path / "report.json").write_text("old")
    for turn in range(4):
        cache = tmp_path / f"cache_{turn}"
        arguments = ["check", str(models), "--cache-dir", str(cache), "--format", "json", "--output", "report.json"]
        process = start(arguments, tmp_path)
        # before this, it is Python that starts, not the program
        time.sleep(0.15 + moments.random() * usual)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number) if to_group else process.send_signal(number)
        sent = time.monotonic()
        out, error = process.communicate(timeout=30)
        assert time.monotonic() - sent < MOST_SECONDS
        # the last one where it came before the program could do anything about it
        assert process.returncode in (code, 0, 1, -number)
        assert (out, error) == (b"", b"")
        wait_for_the_end_of(process.pid)
        report = (tmp_path / "report.json").read_text()
        assert report == "old" or report.rstrip().endswith("}")
        if number != signal.SIGKILL:
            assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
            assert not cache.exists() or not list(cache.rglob("*.tmp"))


def _replace(path: Path, text: str) -> None:
    replace_file(str(path), text.encode())


def _report(path: Path, text: str) -> None:
    write_output([text], str(path))


@pytest.mark.parametrize("write_one", [_replace, _report])
def test_a_signal_right_after_the_rename(
    write_one: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    replaced = os.replace

    def replaced_and_interrupted(*names: str) -> None:
        replaced(*names)
        raise SystemExit(143)

    monkeypatch.setattr(os, "replace", replaced_and_interrupted)
    with pytest.raises(SystemExit):
        write_one(path, "new")
    assert (path.read_text(), os.listdir(tmp_path)) == ("new", ["file"])


def test_fixing_is_stopped_between_files_alone(tmp_path: Path) -> None:
    """Whenever it is stopped, each file is as it was or as it is to be, and no other file is there."""
    source = tmp_path / "source"
    source.mkdir()
    for number in range(60):
        (source / f"typed_{number}.py").write_text(TYPED)
    fixed = f"from typing import List\n\n{TYPED}"
    started = time.monotonic()
    whole = tmp_path / "whole"
    shutil.copytree(source, whole)
    start(["check", ".", "--fix", "--no-cache"], whole).communicate(timeout=60)
    usual = time.monotonic() - started
    assert {path.read_text() for path in whole.iterdir()} == {fixed}
    moments = random.Random(1)
    for turn in range(4):
        copy = tmp_path / f"copy_{turn}"
        shutil.copytree(source, copy)
        process = start(["check", ".", "--fix", "--no-cache"], copy)
        time.sleep(usual * (0.4 + 0.6 * moments.random()))
        process.send_signal(signal.SIGINT if turn % 2 else signal.SIGTERM)
        process.communicate(timeout=30)
        assert sorted(os.listdir(copy)) == sorted(os.listdir(source))
        assert {path.read_text() for path in copy.iterdir()} <= {TYPED, fixed}


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "github", "gitlab", "concise"])
def test_a_closed_pipe_is_quiet(models: Path, tmp_path: Path, format_name: str) -> None:
    process = start(["check", str(models), "--no-cache", "--format", format_name], tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), error) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["check", "matrix"])
def test_a_full_standard_output(tmp_path: Path, command: str) -> None:
    models = plant(tmp_path / "checkout")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, command, str(models), "--no-cache"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"eagle3-lint: error: can't write to standard output: No space left on device\n"
