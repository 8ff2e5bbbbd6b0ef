"""Releases from the package index, with pip played by small programs, and once with pip itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from eagle3_lint.errors import ReleaseError, TreeError, UsageError
from eagle3_lint.sources import releases
from eagle3_lint.sources.releases import IndexUnreachableError, release_tree
from eagle3_lint.sources.tree import SourceTree

Pip = Callable[[str], list[list[str]]]

NO_MATCH = """
ERROR: Could not find a version that satisfies the requirement sglang==0.5.99 (from versions: 0.4.6, 0.5.9, 0.5.10)
ERROR: No matching distribution found for sglang==0.5.99
"""
NO_NETWORK = """
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(...)': /simple/sglang/
ERROR: Could not find a version that satisfies the requirement sglang==0.5.99 (from versions: none)
ERROR: No matching distribution found for sglang==0.5.99
"""
OTHER_PLATFORM = """
  Skipping link: none of the wheel's tags (cp311-cp311-plan9_2_64) are compatible: sglang-0.5.98-cp311-cp311-plan9_2.whl
  Skipping link: none of the wheel's tags (cp313-cp313-plan9_2_64) are compatible: \
files/sglang-0.5.99-cp313-cp313-plan9_1_64.plan9_2_64.whl (requires-python:>=3.11)
ERROR: Could not find a version that satisfies the requirement sglang==0.5.99 (from versions: 0.5.9)
ERROR: No matching distribution found for sglang==0.5.99
"""


def write_wheel(path: Path, names: Sequence[str] = ("sglang/__init__.py", "sglang/srt/models/a.py")) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    """Let pip be a program; the returned list fills with the options of each run that pick a wheel."""

    def install(program: str) -> list[list[str]]:
        runs: list[list[str]] = []

        def command(version: str, target: str, tags: Sequence[str]) -> list[str]:
            runs.append(list(tags))
            return [sys.executable, "-c", "import os, sys, time\n" + program, version, target, *tags]

        monkeypatch.setattr(releases, "_pip_command", command)
        return runs

    return install


def copying(wheel: Path, name: str = "sglang-0.5.99-py3-none-any.whl") -> str:
    return f"import shutil; shutil.copy({str(wheel)!r}, os.path.join(sys.argv[2], {name!r}))"


def saying(text: str) -> str:
    return f"sys.stderr.write({text!r}); sys.exit(1)"


def left_over(cache: Path) -> list[str]:
    return sorted(os.listdir(cache / "releases"))


class TestSpecifications:
    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        (tmp_path / "checkout/python/sglang/srt/models").mkdir(parents=True)
        return tmp_path / "checkout"

    @pytest.mark.parametrize("below", ["", "python", "python/sglang", "python/sglang/srt/models"])
    def test_directories(self, checkout: Path, tmp_path: Path, below: str) -> None:
        tree = release_tree(str(checkout / below), str(tmp_path / "cache"))
        assert tree == SourceTree(str(checkout / "python"))
        assert not (tmp_path / "cache").exists()

    def test_relative_and_home(self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        expected = SourceTree(os.path.join(os.getcwd(), "checkout", "python"))
        assert release_tree("checkout", "cache") == expected
        assert release_tree("~/checkout", "cache").root == str(checkout / "python")

    def test_a_directory_named_like_a_version(
        self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pip: Pip
    ) -> None:
        monkeypatch.chdir(tmp_path)
        checkout.rename(tmp_path / "0.5.9")
        assert release_tree("0.5.9", "cache").root == os.path.join(os.getcwd(), "0.5.9", "python")
        (tmp_path / "0.5.10").mkdir()
        pip(copying(write_wheel(tmp_path / "a.whl")))
        assert release_tree("0.5.10", "cache").root == os.path.join(os.getcwd(), "cache", "releases", "0.5.10")
        with pytest.raises(TreeError, match="has no SGLang sources"):
            release_tree("./0.5.10", "cache")

    @pytest.mark.parametrize("spec", ["./nope", "/nope/nope", "nope/0.5.9", "../0.5.9", "nope.whl", "a/0.5.9.whl"])
    def test_missing_paths(self, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(TreeError, match="does not exist"):
            release_tree(spec, str(tmp_path / "cache"))

    @pytest.mark.parametrize(
        "spec",
        [
            *("", " ", "-r", "--help", "latest", "0.5.9 ", "0.5.9\n", "==0.5.9", "0.5.*", "0.5.9;x", "0.5.9 --pre"),
            *("0.5.9[all]", "0..5", "0.5.9+local", "git+ssh:x", "é", "\u0660.5.9", "1" * 50, "vv1", "0.5.9.", "a\0b"),
        ],
    )
    def test_neither_path_nor_version(self, spec: str, tmp_path: Path, pip: Pip) -> None:
        runs = pip("raise SystemExit(1)")
        with pytest.raises(UsageError, match="neither a directory with SGLang's sources nor a version") as caught:
            release_tree(spec, str(tmp_path / "cache"))
        assert "\n" not in str(caught.value)
        assert runs == []

    @pytest.mark.parametrize("version", ["0.5.9", "0.4.10.post2", "0.5.0rc1", "1", "0.5.10.dev3", "v0.5.9"])
    def test_versions(self, version: str, tmp_path: Path, pip: Pip) -> None:
        pip(copying(write_wheel(tmp_path / "a.whl")))
        tree = release_tree(version, str(tmp_path / "cache"))
        assert tree.root == str(tmp_path / "cache" / "releases" / version.removeprefix("v"))

    def test_wheel_file(self, tmp_path: Path) -> None:
        wheel = write_wheel(tmp_path / "sglang-0.5.9-py3-none-any.whl")
        tree = release_tree(str(wheel), str(tmp_path / "cache"))
        assert os.listdir(tree.models) == ["a.py"]
        assert wheel.exists()
        write_wheel(wheel, ["sglang/srt/models/b.py"])
        assert os.listdir(release_tree(str(wheel), str(tmp_path / "cache")).models) == ["b.py"]
        assert len(left_over(tmp_path / "cache")) == 2


class TestFetching:
    def test_kept_and_not_fetched_again(self, tmp_path: Path, pip: Pip) -> None:
        runs = pip(copying(write_wheel(tmp_path / "a.whl")))
        said: list[str] = []
        first = release_tree("0.5.99", str(tmp_path / "cache"), said.append)
        assert os.path.isfile(os.path.join(first.models, "a.py"))
        assert said[-1] == "unpacking sglang-0.5.99-py3-none-any.whl"
        assert release_tree("0.5.99", str(tmp_path / "cache"), pytest.fail) == first
        assert len(runs) == 1
        assert left_over(tmp_path / "cache") == ["0.5.99"]

    def test_progress_ticks(self, tmp_path: Path, pip: Pip) -> None:
        wheel = write_wheel(tmp_path / "a.whl")
        load = "open(os.path.join(os.environ['TMPDIR'], 'part'), 'wb').write(b'x' * 2_500_000); time.sleep(1)\n"
        pip(load + copying(wheel))
        said: list[str] = []
        release_tree("0.5.99", str(tmp_path / "cache"), said.append)
        ticks = [line for line in said if line.startswith("downloading sglang 0.5.99: ")]
        assert len(ticks) >= 3
        assert ticks[-1].startswith("downloading sglang 0.5.99: 2.5 MB, ")

    def test_another_platforms_wheel_is_asked_for_by_its_tags(self, tmp_path: Path, pip: Pip) -> None:
        wheel = write_wheel(tmp_path / "a.whl")
        runs = pip(f"if len(sys.argv) == 3: {saying(OTHER_PLATFORM)}\n{copying(wheel)}")
        release_tree("0.5.99", str(tmp_path / "cache"))
        platforms = ["--platform", "plan9_1_64", "--platform", "plan9_2_64"]
        tags = ["--implementation", "cp", "--python-version", "3.13", "--abi", "cp313", *platforms]
        assert runs == [[], tags]

    def test_unknown_version(self, tmp_path: Path, pip: Pip) -> None:
        runs = pip(saying(NO_MATCH))
        with pytest.raises(ReleaseError) as caught:
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert str(caught.value).startswith("the package index has no sglang 0.5.99 (near: 0.5.9")
        assert not isinstance(caught.value, IndexUnreachableError)
        assert len(runs) == 1
        assert left_over(tmp_path / "cache") == []

    def test_no_network(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying(NO_NETWORK))
        with pytest.raises(IndexUnreachableError) as caught:
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert str(caught.value) == "sglang 0.5.99 can't be fetched: the package index can't be reached"

    def test_one_of_several_indexes_is_out_of_reach(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying("WARNING: Could not fetch URL x: connection error\n" + NO_MATCH))
        with pytest.raises(IndexUnreachableError, match="and what can be has no such release"):
            release_tree("0.5.99", str(tmp_path / "cache"))

    def test_an_index_without_the_project_is_not_out_of_reach(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying("Could not fetch URL x: 404 Client Error: Not Found - skipping\n" + NO_MATCH))
        with pytest.raises(ReleaseError, match="the package index has no sglang") as caught:
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert not isinstance(caught.value, IndexUnreachableError)

    @pytest.mark.parametrize("stage", ["downloading", "unpacking"])
    def test_interrupt_at_any_stage_leaves_nothing(self, tmp_path: Path, pip: Pip, stage: str) -> None:
        pip("time.sleep(0.5)\n" + copying(write_wheel(tmp_path / "a.whl")))

        def progress(line: str) -> None:
            if line.startswith(stage):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            release_tree("0.5.99", str(tmp_path / "cache"), progress)
        assert left_over(tmp_path / "cache") == []

    def test_connection_lost_on_the_way(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying("Traceback\npip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.\n"))
        with pytest.raises(IndexUnreachableError):
            release_tree("0.5.99", str(tmp_path / "cache"))

    def test_no_pip(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying(f"{sys.executable}: No module named pip\n"))
        with pytest.raises(ReleaseError, match="needs pip"):
            release_tree("0.5.99", str(tmp_path / "cache"))

    def test_only_a_source_distribution(self, tmp_path: Path, pip: Pip) -> None:
        pip(saying("Skipping link: No sources permitted for sglang: files/sglang-0.5.99.tar.gz\n" + NO_MATCH))
        with pytest.raises(ReleaseError, match="has no wheel"):
            release_tree("0.5.99", str(tmp_path / "cache"))

    @pytest.mark.parametrize(
        ("text", "expected"), [("x\nERROR: disk on fire\n", "ERROR: disk on fire"), ("", "it said nothing of why")]
    )
    def test_any_other_failure(self, tmp_path: Path, pip: Pip, text: str, expected: str) -> None:
        pip(saying(text))
        with pytest.raises(ReleaseError) as caught:
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert str(caught.value) == f"sglang 0.5.99 can't be fetched: pip failed: {expected}"

    def test_output_that_is_no_text(self, tmp_path: Path, pip: Pip) -> None:
        pip("sys.stderr.buffer.write(b'ERROR: \\xff\\xfe' + b'x' * 5000); sys.exit(1)")
        with pytest.raises(ReleaseError) as caught:
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert len(str(caught.value)) < 400

    def test_wheel_without_models(self, tmp_path: Path, pip: Pip) -> None:
        pip(copying(write_wheel(tmp_path / "a.whl", ["sglang/__init__.py"])))
        with pytest.raises(ReleaseError, match="holds no sglang/srt/models"):
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert left_over(tmp_path / "cache") == []

    def test_foul_wheel_leaves_nothing(self, tmp_path: Path, pip: Pip) -> None:
        pip(copying(write_wheel(tmp_path / "a.whl", ["sglang/srt/models/a.py", "../evil.py"])))
        with pytest.raises(ReleaseError, match="climbs out"):
            release_tree("0.5.99", str(tmp_path / "cache"))
        assert left_over(tmp_path / "cache") == []
        assert not list(tmp_path.rglob("evil.py"))

    def test_cache_that_can_not_be_written(self, tmp_path: Path, pip: Pip) -> None:
        pip("")
        (tmp_path / "cache").write_bytes(b"a file")
        with pytest.raises(ReleaseError, match=r"cache directory .* can't be used"):
            release_tree("0.5.99", str(tmp_path / "cache"))

    def test_half_removed_release_is_fetched_again(self, tmp_path: Path, pip: Pip) -> None:
        pip(copying(write_wheel(tmp_path / "a.whl")))
        (tmp_path / "cache/releases/0.5.99/sglang/srt").mkdir(parents=True)
        tree = release_tree("0.5.99", str(tmp_path / "cache"))
        assert os.listdir(tree.models) == ["a.py"]
        assert left_over(tmp_path / "cache") == ["0.5.99"]

    def test_what_killed_runs_left_is_removed_after_a_day(self, tmp_path: Path, pip: Pip) -> None:
        pip(copying(write_wheel(tmp_path / "a.whl")))
        for name in (".fetch-old", ".fetch-new"):
            (tmp_path / "cache/releases" / name / "wheels").mkdir(parents=True)
        two_days_ago = time.time() - 2 * 24 * 3600
        os.utime(tmp_path / "cache/releases/.fetch-old", (two_days_ago, two_days_ago))
        release_tree("0.5.99", str(tmp_path / "cache"))
        assert left_over(tmp_path / "cache") == [".fetch-new", "0.5.99"]

    def test_many_at_once(self, tmp_path: Path, pip: Pip) -> None:
        pip("time.sleep(0.2)\n" + copying(write_wheel(tmp_path / "a.whl")))
        found: list[SourceTree] = []
        threads = [
            threading.Thread(target=lambda: found.append(release_tree("0.5.99", str(tmp_path / "cache"))))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [SourceTree(str(tmp_path / "cache/releases/0.5.99"))] * 6
        assert os.listdir(found[0].models) == ["a.py"]
        assert left_over(tmp_path / "cache") == ["0.5.99"]


class TestCommand:
    def test_is_safe_and_keeps_the_users_settings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES"):
            monkeypatch.delenv(name, raising=False)
        command = releases._pip_command("0.5.9", "target", ["--abi", "cp311"])
        assert command[0] == sys.executable
        assert "-E" in command[: command.index("-m")]
        assert command[-5:] == ["--abi", "cp311", "--dest", "target", "sglang==0.5.9"]
        assert {"--no-deps", "--no-input", "--timeout", "--retries"} <= set(command)
        assert command[command.index("--only-binary") + 1] == ":all:"
        monkeypatch.setenv("PIP_RETRIES", "7")
        monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "99")
        assert not {"--timeout", "--retries"} & set(releases._pip_command("0.5.9", "target", []))

    def test_modules_in_the_working_directory_are_not_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trap = "import os, sys; open(os.environ['TRAP'], 'w').write(__name__)"
        (tmp_path / "work").mkdir()
        for name in ("pip.py", "sitecustomize.py", "zipfile.py", "typing.py", "sglang.py"):
            (tmp_path / "work" / name).write_text(trap)
        monkeypatch.chdir(tmp_path / "work")
        monkeypatch.setenv("TRAP", str(tmp_path / "sprung"))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "work"))
        # No index at all: pip starts, looks and fails.
        for name, value in {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(tmp_path),
            "PIP_CONFIG_FILE": os.devnull,
        }.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ReleaseError, match=r"the package index has no sglang 0\.5\.9"):
            release_tree("0.5.9", str(tmp_path / "cache"))
        assert not (tmp_path / "sprung").exists()

    def test_pip_itself_takes_a_wheel_for_another_platform(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "links").mkdir()
        wheel = tmp_path / "links" / "sglang-0.5.99-cp311-cp311-win_arm64.whl"
        metadata = "Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.99\nRequires-Python: >=4\n"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("sglang/srt/models/a.py", "x = 1\n")
            archive.writestr("sglang-0.5.99.dist-info/METADATA", metadata)
            archive.writestr("sglang-0.5.99.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp311-cp311-win_arm64\n")
            archive.writestr("sglang-0.5.99.dist-info/RECORD", "")
        settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "links"), "PIP_CONFIG_FILE": os.devnull}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        assert os.listdir(release_tree("0.5.99", str(tmp_path / "cache")).models) == ["a.py"]

    def test_pip_itself_without_an_index_to_reach(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(IndexUnreachableError):
            release_tree("0.5.9", str(tmp_path / "cache"))


INTERRUPTED = """
import os, sys
from eagle3_lint.sources import releases
child = "import os, time; open(os.environ['PIDS'], 'w').write(str(os.getpid())); time.sleep(600)"
releases._pip_command = lambda version, target, tags: [sys.executable, "-c", child]
try:
    releases.release_tree("0.5.99", sys.argv[1], print)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_interrupt_ends_pip_and_leaves_nothing(tmp_path: Path) -> None:
    root = str(Path(releases.__file__).parents[2])
    pids = tmp_path / "pids"
    environment = {**os.environ, "PYTHONPATH": root, "PIDS": str(pids)}
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "cache")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 30
        while not (pids.exists() and pids.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        child = int(pids.read_text())
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, b"")
    assert time.monotonic() - started < 1
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert left_over(tmp_path / "cache") == []


@pytest.mark.network
def test_a_real_release(release: Callable[[str], SourceTree]) -> None:
    tree = release("0.4.6")
    assert tree.has_runtime
    llama = tree.find_module("sglang.srt.models.llama")
    assert llama is not None
    assert tree.module_name(llama) == "sglang.srt.models.llama"


@pytest.mark.network
def test_a_release_that_does_not_exist(tmp_path: Path) -> None:
    try:
        release_tree("0.4.9999", str(tmp_path / "cache"))
    except IndexUnreachableError as error:
        pytest.skip(str(error))
    except ReleaseError as error:
        assert str(error).startswith("the package index has no sglang 0.4.9999 (near: ")
    else:
        pytest.fail("it exists")
