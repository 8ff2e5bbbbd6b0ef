"""From given paths to Python files, without following what leads out or around."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from eagle3_lint.sources.discovery import discover


def make(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")


def found(root: Path, *paths: str | Path) -> list[str]:
    return [os.path.relpath(file, root) for file in discover([str(path) for path in paths]).files]


def failed(root: Path, paths: Sequence[str | Path]) -> dict[str, str]:
    unreadable = discover([str(path) for path in paths]).unreadable
    return {os.path.relpath(path, root): error.reason for path, error in unreadable}


def test_directories_are_searched_for_python_files(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/c.py", "a/d.pyi", "a/e.txt", "a/b/f.py", "a/py", "a/.py")
    assert found(tmp_path, tmp_path) == ["a/b/f.py", "a/c.py", "b.py"]
    assert failed(tmp_path, [tmp_path]) == {}


def test_files_are_absolute_sorted_and_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/b.py", "a/c.py")
    monkeypatch.chdir(tmp_path)
    files = discover(["a/c.py", "./a", str(tmp_path / "a" / ".." / "a" / "b.py"), "a/"]).files
    assert files == (os.path.join(os.getcwd(), "a/b.py"), os.path.join(os.getcwd(), "a/c.py"))


def test_a_given_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "script", ".hidden.py", "__pycache__/x.py")
    names = ["script", ".hidden.py", "__pycache__/x.py"]
    assert found(tmp_path, *(tmp_path / name for name in names)) == sorted(names)


def test_nothing_given_or_nothing_there(tmp_path: Path) -> None:
    assert discover([]).files == ()
    assert (discover([str(tmp_path)]).files, discover([str(tmp_path)]).unreadable) == ((), ())


def test_passed_over_below_a_directory(tmp_path: Path) -> None:
    make(tmp_path, ".git/a.py", ".venv/a.py", "__pycache__/a.py", "node_modules/a.py", ".a.py", "env/lib/a.py", "b.py")
    make(tmp_path, "env/pyvenv.cfg")
    assert found(tmp_path, tmp_path) == ["b.py"]
    assert found(tmp_path, tmp_path / "env") == ["env/lib/a.py"]
    assert found(tmp_path, tmp_path / ".git") == [".git/a.py"]


def test_missing_paths_are_findings(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    assert failed(tmp_path, [tmp_path / "nope", tmp_path / "a.py", tmp_path / "nope.py"]) == {
        "nope": "no such file",
        "nope.py": "no such file",
    }
    assert found(tmp_path, tmp_path / "nope", tmp_path / "a.py") == ["a.py"]
    assert [error.reason for _, error in discover([""]).unreadable] == ["an empty path"]
    assert [error.reason for _, error in discover(["a\0b"]).unreadable] == ["its path holds a NUL character"]


def test_what_is_named_like_a_source_and_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "dir.py/inner.py", "good.py")
    (tmp_path / "dangling.py").symlink_to("gone")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "linked.py").symlink_to("dir.py")
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / ".#lock.py").symlink_to("user@host.1")
    os.mkfifo(tmp_path / "fifo.py")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert failed(tmp_path, [tmp_path]) == {
            "dangling.py": "a dangling link to 'gone'",
            "dir.py": "a directory, not a file",
            "fifo.py": "a FIFO, not a file",
            "linked.py": "a directory, not a file",
            "loop.py": "a link that leads back to itself",
            "socket.py": "a socket, not a file",
        }
        assert found(tmp_path, tmp_path) == ["dir.py/inner.py", "good.py"]
        assert failed(tmp_path, [tmp_path / "fifo.py", "/dev/null"]) == {
            "fifo.py": "a FIFO, not a file",
            os.path.relpath("/dev/null", tmp_path): "a device, not a file",
        }


def test_links_to_directories_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "outside/a.py", "root/sub/b.py")
    (tmp_path / "root" / "out").symlink_to("../outside")
    (tmp_path / "root" / "up").symlink_to("..")
    (tmp_path / "root" / "sub" / "loop").symlink_to(".")
    assert found(tmp_path, tmp_path / "root") == ["root/sub/b.py"]


def test_links_to_files_are_taken_under_their_own_name(tmp_path: Path) -> None:
    make(tmp_path, "outside.py", "root/a.py")
    (tmp_path / "root" / "b.py").symlink_to("a.py")
    (tmp_path / "root" / "c.py").symlink_to("../outside.py")
    assert found(tmp_path, tmp_path / "root") == ["root/a.py", "root/b.py", "root/c.py"]


def test_a_given_link_to_a_directory_is_searched(tmp_path: Path) -> None:
    make(tmp_path, "real/a.py")
    (tmp_path / "link").symlink_to("real")
    assert found(tmp_path, tmp_path / "link") == ["link/a.py"]


@pytest.mark.parametrize("name", ["a\nb.py", "a\x1b[31m.py", "a'b\".py", "100%.py", "a::b.py", " .py", "-x.py", "é.py"])
def test_strange_names(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    assert found(tmp_path, tmp_path) == [name]


@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff\xfe.py")
    make(tmp_path, name, os.fsdecode(b"\xe9/b.py"))
    assert sorted(found(tmp_path, tmp_path)) == sorted([name, os.fsdecode(b"\xe9/b.py")])


@pytest.fixture
def deepen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, int], None]]:
    """Make directories of one name in each other, with ``deep.py`` in the last; removed step by step afterwards."""
    made: list[str] = []

    def make_deep(name: str, levels: int) -> None:
        monkeypatch.chdir(tmp_path)
        for _ in range(levels):
            os.mkdir(name)
            made.append(name)
            os.chdir(name)
        make(Path("."), "deep.py")
        os.chdir(tmp_path)

    yield make_deep
    # Neither a path that is too long nor shutil.rmtree, which runs out of stack on some Pythons, would do.
    for name in made:
        os.chdir(name)
    os.remove("deep.py")
    for name in reversed(made):
        os.chdir("..")
        os.rmdir(name)


def test_paths_that_are_too_long(tmp_path: Path, deepen: Callable[[str, int], None]) -> None:
    deepen("d" * 200, 30)
    make(tmp_path, "a.py")
    assert found(tmp_path, tmp_path) == ["a.py"]
    assert set(failed(tmp_path, [tmp_path]).values()) == {"its path is too long"}


def test_more_levels_than_python_has_stack(tmp_path: Path, deepen: Callable[[str, int], None]) -> None:
    deepen("d", 1200)
    assert len(found(tmp_path, tmp_path)) == 1


def test_a_directory_without_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.py", "closed/b.py")
    (tmp_path / "closed").chmod(0)
    if os.geteuid() == 0:
        real = os.scandir

        def scandir(path: str) -> object:
            if path.endswith("closed"):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path, tmp_path) == ["a.py"]
    assert failed(tmp_path, [tmp_path]) == {"closed": "permission denied"}
    assert failed(tmp_path, [tmp_path / "closed"]) == {"closed": "permission denied"}
    (tmp_path / "closed").chmod(0o700)
