"""Paths that a linter is not made for: each is linted, or told of in one finding, in every format."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from eagle3_lint.engine.checking import Request, check
from eagle3_lint.engine.fixing import fix, write
from eagle3_lint.engine.support_matrix import MatrixRequest, matrix
from eagle3_lint.errors import Eagle3LintError, FixError
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.output import FORMATS
from tests.frontends.small_tree import INNER, TYPED, WRAPPER, plant
from tests.fuzz.judging import judge_report
from tests.hostile.planting import rights_mean_nothing

NAMES = [
    "new\nline.py",
    "carriage\rreturn.py",
    "escape\x1b[31mred.py",
    "bell\x07.py",
    "tab\t.py",
    "quote'\".py",
    "percent%0A%sd.py",
    "colons::error file=x::y.py",
    "comma,equals=.py",
    "back\\slash.py",
    "<script>.py",
    "not-utf-8-\udcff\udc80.py",
    "bidi\u202eyp.py",
    "separator\u2028.py",
    "wide\U0001f600.py",
    "-dash.py",
    "--output=x.py",
    " space .py",
    "$(touch x).py",
    "*.py",
    "@file.py",
    "~.py",
    "a" * 250 + ".py",
]
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return plant(tmp_path / "checkout")


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = dispatch(list(arguments))
    out, error = capfd.readouterr()
    return code, out, error


@pytest.mark.parametrize("name", FORMATS)
def test_names_in_every_format(
    models: Path, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(models)
    for odd in NAMES:
        Path(models / odd).write_text(TYPED)
    code, out, error = run(capfd, "check", ".", "--no-cache", "--format", name)
    assert (code, error) == (1, "")
    assert not CONTROL.search(out)
    count = len(NAMES) + 2
    if name == "json":
        by_code = json.loads(out)["summary"]["by_code"]
        assert {code: number for code, number in by_code.items() if number} == {"EGL101": 1, "EGL301": count - 1}
        paths = [one["path"] for one in json.loads(out)["findings"]]
        assert len(set(paths)) == count
    elif name == "sarif":
        assert len(json.loads(out)["runs"][0]["results"]) == count
    elif name == "gitlab":
        assert len({one["fingerprint"] for one in json.loads(out)}) == count
    elif name in ("github", "concise"):
        assert out.count("\n") == count


@pytest.mark.parametrize("odd", NAMES)
def test_one_odd_name_given_and_fixed(
    tmp_path: Path, odd: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / odd).write_text(TYPED)
    given = odd if not odd.startswith("-") else f"./{odd}"
    code, out, _ = run(capfd, "check", given, "--no-cache", "--diff")
    assert code == 1
    assert not CONTROL.search(out)
    assert (tmp_path / odd).read_text() == TYPED
    code, out, error = run(capfd, "check", "--no-cache", "--fix", "--", odd)
    assert (code, error) == (0, "")
    assert (tmp_path / odd).read_text() == f"from typing import List\n\n{TYPED}"
    assert os.listdir(tmp_path) == [odd]


def test_baselines_know_odd_names(models: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for odd in NAMES:
        (models / odd).write_text(TYPED)
    accepted = str(tmp_path / "accepted.json")
    assert run(capfd, "check", str(models), "--no-cache", "--write-baseline", accepted, "-q")[0] == 0
    code, _, error = run(capfd, "check", str(models), "--no-cache", "--baseline", accepted, "--pedantic")
    assert (code, error) == (0, "")


def odd_files(folder: Path) -> dict[str, str]:
    """Things named ``*.py`` that are no readable files, with what their finding says."""
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / "fifo.py")
    (folder / "device.py").symlink_to("/dev/zero")
    (folder / "null.py").symlink_to("/dev/null")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "one.py").symlink_to("other.py")
    (folder / "other.py").symlink_to("one.py")
    (folder / "dangling.py").symlink_to("nowhere")
    (folder / "directory.py").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(folder)
    try:
        listener.bind("socket.py")
    finally:
        os.chdir(here)
        listener.close()
    back = "leads back"
    return {
        "fifo": "a FIFO",
        "device": "a device",
        "null": "a device",
        "loop": back,
        "one": back,
        "other": back,
        "dangling": "a dangling link",
        "directory": "a directory",
        "socket": "a socket",
    }


def test_what_is_no_file(models: Path) -> None:
    expected = odd_files(models)
    (models / "round").symlink_to(models)
    (models / "up").symlink_to(models.parents[3])
    report = check(Request(paths=(str(models),), cache=False))
    judge_report(report)
    said = {Path(one.path).stem: one.message for one in report.findings if one.code == "EGL901"}
    assert said.keys() == expected.keys()
    assert all(expected[name] in text for name, text in said.items())
    assert sorted(one.code for one in report.findings if one.code != "EGL901") == ["EGL101", "EGL301"]


def test_what_is_no_file_in_the_runtime_and_beside(models: Path, tmp_path: Path) -> None:
    """The runtime is read for the contract and its state for the cache; files beside a loose file are its package."""
    for folder in ("model_executor", "speculative", "layers"):
        odd_files(models.parent / folder)
        (models.parent / folder / "round").symlink_to(models.parent)
    request = Request(paths=(str(models),), cache_dir=str(tmp_path / "cache"))
    first = check(request)
    assert sorted(one.code for one in first.findings) == ["EGL101", "EGL301"]
    assert check(request).findings == first.findings
    assert matrix(MatrixRequest(str(models), cache_dir=str(tmp_path / "cache")))["classes"]
    loose = tmp_path / "loose"
    odd_files(loose)
    (loose / "typed.py").write_text(TYPED)
    report = check(Request(paths=(str(loose / "typed.py"),), cache_dir=str(tmp_path / "cache")))
    assert [one.code for one in report.findings] == ["EGL301"]


@pytest.mark.parametrize("engine", ["auto", "astroid"])
def test_imports_of_what_is_no_file(models: Path, engine: str) -> None:
    names = odd_files(models)
    imports = "".join(
        f"from sglang.srt.models.{name} import *\nfrom .{name} import Inner as I{name}\n" for name in names
    )
    (models / "wrapper_vl.py").write_text(imports + WRAPPER.replace("nn.Module", "Ififo, Iloop, nn.Module"))
    report = check(Request(paths=(str(models / "wrapper_vl.py"),), cache=False, engine=engine))
    judge_report(report)


def test_a_buffer_in_the_place_of_what_is_no_file(models: Path) -> None:
    odd_files(models)
    for name in ("fifo.py", "device.py", "loop.py", "dangling.py"):
        path = str(models / name)
        report = check(Request(paths=(path,), buffer=(path, TYPED.encode()), cache=False))
        assert [one.code for one in report.findings] == ["EGL301"]


def test_a_very_deep_tree(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(120):
            os.mkdir("deep" * 12)
            os.chdir("deep" * 12)
        Path("x.py").write_text(TYPED)
    finally:
        os.chdir(here)
    report = check(Request(paths=(str(tmp_path),), cache=False))
    judge_report(report)
    assert [one.code for one in report.findings] == ["EGL901"]


def test_a_package_as_deep_as_paths_go(models: Path) -> None:
    folder = models
    while len(str(folder)) < 3800:
        folder = folder / ("p" * 40)
    folder.mkdir(parents=True)
    (folder / "x.py").write_text(TYPED)
    report = check(Request(paths=(str(models),), cache=False))
    judge_report(report)
    assert [one.code for one in report.findings].count("EGL301") == 2


@pytest.mark.skipif(rights_mean_nothing(), reason="nothing is unreadable for root")
def test_a_root_without_rights(models: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (models / "typed.py").chmod(0)
    assert [one.code for one in check(Request(paths=(str(models),), cache=False)).findings] == ["EGL901", "EGL101"]
    models.chmod(0)
    try:
        code, out, error = run(capfd, "check", str(models), "--no-cache", "--format", "json")
        assert (code, error) == (1, "")
        assert [one["code"] for one in json.loads(out)["findings"]] == ["EGL901"]
        for command in ("matrix", "check"):
            assert run(capfd, command, str(models / "typed.py"), "--no-cache")[0] in (1, 2)
    finally:
        models.chmod(0o755)


def test_files_that_come_and_go_and_change(models: Path, tmp_path: Path) -> None:
    """Runs over a tree that another program keeps changing: each ends with a report."""
    over = threading.Event()

    def disturb() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            for number in range(8):
                path = models / f"extra_{number}.py"
                choice = (turn + number) % 5
                try:
                    if choice == 0:
                        path.unlink(missing_ok=True)
                    elif choice == 1:
                        path.write_text(WRAPPER.replace("Wrapper", f"W{number}"))
                    elif choice == 2:
                        path.write_text(INNER[: 40 * number])
                    elif choice == 3:
                        path.unlink(missing_ok=True)
                        path.mkdir()
                        path.rmdir()
                    else:
                        path.unlink(missing_ok=True)
                        path.symlink_to("wrapper_vl.py")
                except OSError:
                    continue

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            report = check(Request(paths=(str(models),), cache_dir=str(tmp_path / "cache"), pedantic=True))
            judge_report(report)
            assert {"EGL101", "EGL301"} <= {one.code for one in report.findings}
    finally:
        over.set()
        disturber.join()
    for path in models.glob("extra_*"):
        path.unlink()
    expected = check(Request(paths=(str(models),), cache=False)).findings
    assert check(Request(paths=(str(models),), cache_dir=str(tmp_path / "cache"))).findings == expected


def fixes(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Make the fixes of ``paths``; the notes."""
    fixed = fix(Request(paths=paths, cache=False), unsafe=True, reported=lambda report: report)
    write(fixed.changes)
    return fixed.report.notes


def test_fixes_stay_inside(models: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(TYPED)
    (models / "link.py").symlink_to(outside / "secret.py")
    (models / "chain.py").symlink_to("link.py")
    (models / "folder").symlink_to(outside)
    notes = fixes((str(models),))
    assert any(".py is not fixed: a link leads out" in note for note in notes)
    assert (outside / "secret.py").read_text() == TYPED
    assert (models / "link.py").is_symlink() and (models / "chain.py").is_symlink()
    assert (models / "typed.py").read_text() != TYPED
    fixes((str(models / "link.py"), str(models / "folder" / "secret.py")))
    assert (models / "link.py").is_symlink()


def test_a_link_inside_is_fixed_at_its_end(models: Path) -> None:
    (models / "link.py").symlink_to("typed.py")
    fixes((str(models),))
    assert (models / "link.py").is_symlink()
    assert (models / "typed.py").read_text() == f"from typing import List\n\n{TYPED}"


@pytest.mark.parametrize("how", ["changed", "gone", "link", "folder link", "fifo"])
def test_a_file_that_changes_before_it_is_written(models: Path, tmp_path: Path, how: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = models / "typed.py"
    fixed = fix(Request(paths=(str(target),), cache=False), unsafe=True, reported=lambda report: report)
    assert len(fixed.changes) == 1
    (outside / "typed.py").write_text(TYPED)
    if how == "changed":
        target.write_text(TYPED + "\n")
    else:
        target.unlink()
    if how == "link":
        target.symlink_to(outside / "typed.py")
    elif how == "fifo":
        os.mkfifo(target)
    elif how == "folder link":
        models.rename(models.parent / "old")
        models.symlink_to(outside)
    with pytest.raises(FixError) as caught:
        write(fixed.changes)
    assert "\n" not in str(caught.value)
    assert (outside / "typed.py").read_text() == TYPED
    assert sorted(os.listdir(outside)) == ["typed.py"]
    assert how != "changed" or target.read_text() == TYPED + "\n"


def test_a_failed_write_leaves_every_file_whole(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        (models / f"typed_{number}.py").write_text(TYPED)
    fixed = fix(Request(paths=(str(models),), cache=False), unsafe=False, reported=lambda report: report)
    replace, calls = os.replace, []

    def fail_third(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_third)
    with pytest.raises(FixError, match="No space left"):
        write(fixed.changes)
    for change in fixed.changes:
        assert Path(change.path).read_bytes() in (change.after, change.before)
    assert not [name for name in os.listdir(models) if name.endswith(".tmp")]


@pytest.mark.parametrize("path", ["", "\0", "x\0y.py", "nowhere", "nowhere/x.py", "/dev/null/x.py", "x" * 5000])
def test_paths_that_are_none(
    tmp_path: Path, path: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (
        ["check", path],
        ["matrix", path],
        ["check", "--sglang", path, "."],
        ["check", "--baseline", path, "."],
    ):
        code, _, error = run(capfd, *command, "--no-cache")
        assert code in (2, 3), command
        assert error.count("\n") == 1, command
    try:
        check(Request(paths=(path,), cache=False))
    except Eagle3LintError as error:
        assert "\n" not in str(error)
