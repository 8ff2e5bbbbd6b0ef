"""The program as a process: what it imports, how it ends, and what it leaves behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import eagle3_lint
from eagle3_lint import __version__
from eagle3_lint.__main__ import guard_import_path

PACKAGE_PARENT = str(Path(__file__).parents[2])
MODULE = [sys.executable, "-m", "eagle3_lint"]


def run(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*MODULE, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60, check=False, **options
    )


def modules_loaded_before_ours(tmp_path: Path) -> set[str]:
    """What ``python -m`` itself has loaded from the path by the time that it runs a module."""
    (tmp_path / "probe.py").write_text("import sys; print(*sys.modules)")
    ran = subprocess.run([sys.executable, "-m", "probe"], cwd=tmp_path, capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def plant_traps(folder: Path, spared: set[str]) -> int:
    """Puts a module that tells on its import under every name that the program, or what it uses, may import."""
    names = {name for name in sys.stdlib_module_names if not name.startswith("_")} | {"__future__"}
    names |= {"astroid", "pylint", "platformdirs", "tomli", "typing_extensions", "torch", "libcst", "yaml"}
    names |= {"conftest", "setup", "sitecustomize", "usercustomize"}
    trap = f"open({str(folder / 'fired')!r}, 'a').write(__name__ + '\\n')\n"
    planted = names - spared - {"eagle3_lint", "sitecustomize", "usercustomize"}
    for name in planted:
        (folder / f"{name}.py").write_text(trap)
    return len(planted)


@pytest.mark.parametrize(
    ("arguments", "path_variable"),
    [
        (["--version"], None),
        (["--version"], os.pathsep),
        (["check", "linted.py", "--no-cache"], None),
        (["check", "linted.py", "--no-cache"], "."),
        (["check", "linted.py", "--no-cache", "--engine", "astroid", "--format", "sarif"], None),
        (["check", "linted.py", "--no-cache", "--engine", "astroid", "--format", "sarif"], "{cwd}"),
        (["matrix", ".", "--no-cache", "--engine", "astroid"], None),
        (["explain", "A", "--cache-dir", "kept"], None),
        (["explain", "A", "--no-cache", "--engine", "astroid"], "."),
        (["matrix", ".", "--no-cache", "--format", "html"], None),
        (["rule", "EGL101"], ""),
    ],
)
def test_nothing_that_lies_in_the_working_directory_is_imported(
    tmp_path: Path, arguments: list[str], path_variable: str | None
) -> None:
    probing = tmp_path / "probing"
    probing.mkdir()
    spared = modules_loaded_before_ours(probing)
    folder = tmp_path / "hostile"
    folder.mkdir()
    assert plant_traps(folder, spared) > 100
    (folder / "linted.py").write_text("class A: ...\n")
    (folder / "sglang" / "srt" / "models").mkdir(parents=True)
    (folder / "sglang" / "srt" / "models" / "m.py").write_text("class A: ...\nEntryClass = A\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path_variable is not None:
        environment["PYTHONPATH"] = path_variable.replace("{cwd}", str(folder))
    ran = run(*arguments, cwd=folder, env=environment)
    fired = (folder / "fired").read_text() if (folder / "fired").exists() else ""
    # with PYTHONPATH, Python's own start may load a planted module before any of ours runs
    ours = set(fired.split()) - started_by_python(folder, environment)
    assert ours == set()
    if not fired:
        assert ran.stderr == ""
        assert ran.returncode == 0


def started_by_python(folder: Path, environment: dict[str, str]) -> set[str]:
    (folder / "fired").write_text("")
    subprocess.run([sys.executable, "-c", "pass"], cwd=folder, env=environment, capture_output=True, check=False)
    return set((folder / "fired").read_text().split())


def test_the_package_can_be_run_from_its_own_folder_alone() -> None:
    """In a checkout without an installation the package itself is found only through the working directory."""
    program = "import runpy, sys; sys.argv = ['x', '--version']; runpy.run_module('eagle3_lint', run_name='__main__')"
    for command in (["-S", "-m", "eagle3_lint", "--version"], ["-S", "-c", program]):
        ran = subprocess.run(
            [sys.executable, *command], cwd=PACKAGE_PARENT, capture_output=True, text=True, check=False
        )
        assert (ran.stdout, ran.stderr, ran.returncode) == (f"eagle3-lint {__version__}\n", "", 0)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["{cwd}", "/usr/lib/python"], ["/usr/lib/python"]),
        (["", ".", "/usr/lib/python", "{cwd}", "{cwd}/."], ["/usr/lib/python"]),
        (["/usr/bin", "/usr/lib/python"], ["/usr/bin", "/usr/lib/python"]),
        (["{cwd}/inside", "/usr/lib/python"], ["{cwd}/inside", "/usr/lib/python"]),
        (["{link}", "/usr/lib/python"], ["/usr/lib/python"]),
    ],
)
def test_the_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: list[str], expected: list[str]) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")

    def filled(entries: list[str]) -> list[str]:
        return [entry.format(cwd=tmp_path / "here", link=tmp_path / "link") for entry in entries]

    monkeypatch.setattr(sys, "path", filled(path))
    guard_import_path()
    assert sys.path == filled(expected)


def test_the_guard_in_a_folder_of_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "site-packages"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [str(here), "/usr/lib/python", str(here)])
    guard_import_path()
    assert sys.path == ["/usr/lib/python", str(here)]


def test_the_guard_where_the_working_directory_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: (_ for _ in ()).throw(FileNotFoundError()))
    monkeypatch.setattr(sys, "path", ["", "/usr/lib/python"])
    guard_import_path()
    assert sys.path == ["/usr/lib/python"]


def test_the_version_costs_little() -> None:
    # without ``site``, which may have loaded much by itself
    program = (
        f"import sys; sys.path.append({str(Path(eagle3_lint.__file__).parents[1])!r}); sys.argv = ['x', '--version']; "
        "from eagle3_lint.__main__ import run; run(); print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    assert first == f"eagle3-lint {__version__}"
    unwanted = {"argparse", "ast", "configparser", "dataclasses", "json", "tokenize", "tomllib"}
    assert not unwanted & set(second.split())
    assert "eagle3_lint.engine" not in second


def test_importing_the_package_loads_nothing() -> None:
    program = "import sys; before = set(sys.modules); import eagle3_lint; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "eagle3_lint\n"


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    process = subprocess.Popen([*MODULE, "rule"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(30), error) == (0, b"")


def test_a_closed_standard_output_is_quiet(tmp_path: Path) -> None:
    ran = subprocess.run(
        f'"{sys.executable}" -m eagle3_lint rule >&-', shell=True, cwd=tmp_path, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_findings_decide_the_exit_code_even_if_nobody_reads_them(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("class (:\n")
    command = [*MODULE, "check", "broken.py", "--no-cache"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(30), error) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_standard_output(tmp_path: Path) -> None:
    for arguments in (["rule"], ["--version"]):
        with open("/dev/full", "w") as full:
            ran = subprocess.run(
                [*MODULE, *arguments], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert ran.returncode == 2
        assert ran.stderr == "eagle3-lint: error: can't write to standard output: No space left on device\n"


def limit_files(size: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("option", ["--output", "--write-baseline"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, option: str) -> None:
    (tmp_path / "broken.py").write_text("class (:\n")
    (tmp_path / "report").write_text("old")
    ran = run("check", "broken.py", "--no-cache", option, "report", cwd=tmp_path, preexec_fn=limit_files(10))
    assert ran.returncode == 2
    assert ran.stderr.startswith("eagle3-lint: error: can't write report: ")
    assert ran.stderr.count("\n") == 1
    assert (tmp_path / "report").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["broken.py", "report"]


def wait_until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """Returns once the process has slept for a while, as it does when it reads standard input."""
    asleep = 0
    deadline = time.monotonic() + 30
    while asleep < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
        assert process.poll() is None
        status = Path(f"/proc/{process.pid}/stat")
        state = status.read_text().rpartition(")")[2].split()[0] if status.exists() else "S"
        asleep = asleep + 1 if state == "S" else 0


def test_an_interrupt_ends_it_at_once_and_quietly(tmp_path: Path) -> None:
    command = [*MODULE, "check", "-", "--stdin-filename", "m.py", "--output", "report"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until_it_waits(process)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=10)
    assert (process.returncode, out, error) == (130, b"", b"")
    assert time.monotonic() - started < 1.0
    assert os.listdir(tmp_path) == []


def test_output_that_the_terminal_cannot_encode(tmp_path: Path) -> None:
    (tmp_path / "modèle.py").write_text("class (:\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = run("check", "modèle.py", "--no-cache", cwd=tmp_path, env=environment)
    assert ran.returncode == 1
    assert "mod\\xe8le.py:1:7: error EGL901" in ran.stdout
    assert ran.stderr == ""


def test_the_console_script_is_the_same_program(tmp_path: Path) -> None:
    script = Path(sys.executable).parent / "eagle3-lint"
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    ran = subprocess.run([script, "rule", "EGL101"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == run("rule", "EGL101", cwd=tmp_path).stdout


def test_a_removed_working_directory(tmp_path: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -m eagle3_lint check /x'
    ran = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "eagle3-lint: error: no working directory: No such file or directory\n")


def test_a_closed_standard_input(tmp_path: Path) -> None:
    script = f'exec "{sys.executable}" -m eagle3_lint check - --stdin-filename m.py <&-'
    ran = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "eagle3-lint: error: standard input is closed\n")
