"""Printed answers: given again only while everything that they depend on is what it was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle3_lint.cache.printed import keep, recall

KEY = ("explain", "X", 1, None, ("a", "b"))
LATER = 10**10


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A cache that has an answer which depends on a file, a directory, and a file that isn't there."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("1")
    paths = [str(tmp_path / name) for name in ("folder", "folder/file", "absent")]
    keep(str(tmp_path / "cache"), KEY, paths, "text\n", time.time_ns() + LATER)
    return tmp_path


def test_unchanged(kept: Path) -> None:
    assert recall(str(kept / "cache"), KEY) == "text\n"
    assert recall(str(kept / "cache"), (*KEY, "c")) is None
    assert recall(str(kept / "elsewhere"), KEY) is None


def same_size_same_time(folder: Path) -> None:
    file = folder / "folder" / "file"
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    time.sleep(0.05)
    file.write_text("2")
    os.utime(file, ns=times)


def put_another_in_place(folder: Path) -> None:
    (folder / "other").write_text("1")
    (folder / "other").replace(folder / "folder" / "file")


@pytest.mark.parametrize(
    "change",
    [
        same_size_same_time,
        put_another_in_place,
        lambda folder: (folder / "folder" / "file").write_text("12"),
        lambda folder: (folder / "folder" / "file").unlink(),
        lambda folder: (folder / "folder" / "another").write_text(""),
        lambda folder: (folder / "absent").write_text(""),
        lambda folder: (folder / "absent").mkdir(),
    ],
)
def test_changed(kept: Path, change: Callable[[Path], object]) -> None:
    change(kept)
    assert recall(str(kept / "cache"), KEY) is None


def test_what_changed_just_now_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    keep(str(tmp_path / "cache"), KEY, [str(file)], "text", time.time_ns())
    assert recall(str(tmp_path / "cache"), KEY) is None


@pytest.mark.parametrize("damage", [lambda data: data[:40], lambda data: data[:-1] + b"?", lambda data: b""])
def test_damaged(kept: Path, damage: Callable[[bytes], bytes]) -> None:
    (file,) = (kept / "cache").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert recall(str(kept / "cache"), KEY) is None


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    keep(str(tmp_path / "cache"), KEY, [], "text", time.time_ns())
    assert recall(str(tmp_path / "cache"), KEY) is None
