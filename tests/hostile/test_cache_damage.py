"""One cache folder for everybody: runs side by side, some killed, entries damaged, no rights and no room."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eagle3_lint.cache.store import Store
from tests.frontends.small_tree import INNER, WRAPPER, plant
from tests.hostile.planting import rights_mean_nothing

PROGRAM = [sys.executable, "-m", "eagle3_lint", "check", "--format", "json"]
_AT_A_TIME = 8


@pytest.fixture
def models(tmp_path: Path) -> Path:
    models = plant(tmp_path / "checkout")
    for number in range(10):
        (models / f"inner_{number}.py").write_text(INNER.replace("Inner", f"Inner{number}"))
        (models / f"wrapper_{number}.py").write_text(
            WRAPPER.replace("Wrapper", f"W{number}")
            .replace("inner_lm", f"inner_{number}")
            .replace("Inner", f"Inner{number}")
        )
    return models


def begin(models: Path, cache: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, *(arguments or (str(models),)), "--cache-dir", str(cache)]
    return subprocess.Popen(command, cwd=models, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def findings(process: subprocess.Popen[bytes]) -> object:
    out, error = process.communicate(timeout=120)
    assert error == b""
    assert process.returncode == 1
    return json.loads(out)["findings"]


def test_two_hundred_runs_at_once_some_of_them_killed(models: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    moments = random.Random(0)
    whole = findings(begin(models, tmp_path / "other"))
    names = sorted(path.name for path in models.glob("*.py"))
    some = {name: findings(begin(models, tmp_path / "other", name)) for name in names[:4]}
    killed = finished = 0
    running: list[tuple[subprocess.Popen[bytes], object, bool]] = []
    for number in range(200):
        if len(running) >= _AT_A_TIME:
            process, expected, spared = running.pop(0)
            if spared:
                assert findings(process) == expected
                finished += 1
            else:
                time.sleep(moments.random() * 0.05)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += process.returncode == -signal.SIGKILL
        # each run makes something new for the cache, which all of them write
        (models / f"wrapper_{number % 10}.py").touch()
        name = names[number % 4] if number % 3 else ""
        spared = number % 5 != 0
        running.append((begin(models, cache, *([name] if name else [])), some[name] if name else whole, spared))
    for process, expected, _ in running:
        assert findings(process) == expected
    assert killed > 0 and finished > 100
    store = Store(str(cache / "facts"))
    for entry in os.listdir(cache / "facts"):
        if not entry.endswith(".tmp"):
            assert store.read(entry) is not None, "a damaged entry was kept"
    assert findings(begin(models, cache)) == whole


@pytest.mark.parametrize("kind", ["truncated", "flipped", "empty", "longer", "directory", "fifo", "link", "no file"])
def test_damaged_entries(models: Path, tmp_path: Path, kind: str) -> None:
    cache = tmp_path / "cache"
    expected = findings(begin(models, cache))
    for path in sorted((cache / "facts").iterdir()):
        data = path.read_bytes()
        path.unlink()
        if kind == "truncated":
            path.write_bytes(data[: len(data) // 2])
        elif kind == "flipped":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        elif kind == "empty":
            path.write_bytes(b"")
        elif kind == "longer":
            path.write_bytes(data + b"\0")
        elif kind == "directory":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to("/dev/zero")
    assert findings(begin(models, cache)) == expected
    assert findings(begin(models, cache)) == expected


@pytest.mark.parametrize("where", ["a file", "below a file", "a dangling link", "a device"])
def test_a_cache_that_is_no_folder(models: Path, tmp_path: Path, where: str) -> None:
    expected = findings(begin(models, tmp_path / "other"))
    cache = tmp_path / "cache"
    if where == "a dangling link":
        cache.symlink_to(tmp_path / "nowhere" / "deeper")
    elif where == "a device":
        cache = Path("/dev/null")
    else:
        cache.write_text("")
        cache = cache / "x" if where == "below a file" else cache
    assert findings(begin(models, cache)) == expected


@pytest.mark.skipif(rights_mean_nothing(), reason="root may write anywhere")
def test_a_cache_without_rights(models: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    expected = findings(begin(models, cache))
    for mode in (0o500, 0):
        (cache / "facts").chmod(mode)
        assert findings(begin(models, cache)) == expected
        (models / "typed.py").touch()
    (cache / "facts").chmod(0o700)


def test_a_full_disk(models: Path, tmp_path: Path) -> None:
    """Writing fails half-way through an entry."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    cache = tmp_path / "cache"
    expected = findings(begin(models, tmp_path / "other"))
    command = [*PROGRAM, str(models), "--cache-dir", str(cache)]
    for _ in range(2):
        done = subprocess.run(command, cwd=models, capture_output=True, preexec_fn=limit, check=False)
        assert (done.returncode, done.stderr) == (1, b"")
        assert json.loads(done.stdout)["findings"] == expected
    assert not list(cache.rglob("*.tmp"))
    assert findings(begin(models, cache)) == expected
