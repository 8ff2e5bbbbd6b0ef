"""Only sources come out of a wheel, and a wheel with anything foul is refused as a whole."""

from __future__ import annotations

import os
import random
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from eagle3_lint.errors import ReleaseError
from eagle3_lint.sources import unpacking
from eagle3_lint.sources.unpacking import unpack_sources

GOOD = {
    "sglang/__init__.py": b"",
    "sglang/srt/models/a.py": b"x = 1\n" * 1000,
    "sglang/srt/models/deep/b.py": b"y = 2\r\n",
    "sglang/srt/kernel.so": b"\x7fELF",
    "sglang/data.json": b"{}",
    "other/c.py": b"",
    "sglangx/d.py": b"",
    "sglang-0.5.9.dist-info/METADATA": b"Name: sglang\n",
}


def write(path: Path, entries: dict[str, bytes], extra: list[tuple[zipfile.ZipInfo, bytes]] | None = None) -> str:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, data in entries.items():
            archive.writestr(name, data)
        for entry, data in extra or []:
            archive.writestr(entry, data)
    return str(path)


def files(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def refusal(tmp_path: Path, wheel: str) -> str:
    before = files(tmp_path)
    with pytest.raises(ReleaseError) as caught:
        unpack_sources(wheel, str(tmp_path / "out"))
    outside = {name: data for name, data in files(tmp_path).items() if not name.startswith("out/")}
    assert outside == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_only_sources_of_the_package(tmp_path: Path) -> None:
    wheel = write(tmp_path / "a.whl", GOOD)
    assert unpack_sources(wheel, str(tmp_path / "out")) == 3
    expected = {name: GOOD[name] for name in GOOD if name.startswith("sglang/") and name.endswith(".py")}
    assert files(tmp_path / "out") == expected


def test_directories_have_their_own_entries(tmp_path: Path) -> None:
    wheel = write(tmp_path / "a.whl", {"sglang/": b"", "sglang/dir.py/": b"", "sglang/a.py": b"x"})
    assert unpack_sources(wheel, str(tmp_path / "out")) == 1
    assert files(tmp_path / "out") == {"sglang/a.py": b"x"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.py", "climbs out"),
        ("sglang/../../evil.py", "climbs out"),
        ("sglang/..", "climbs out"),
        ("/evil.py", "absolute"),
        ("/sglang/a.py", "absolute"),
        ("//host/evil.py", "absolute"),
        ("C:/evil.py", "malformed"),
        ("sglang/a.py:stream", "malformed"),
        ("sglang\\..\\evil.py", "malformed"),
        ("sglang//evil.py", "malformed"),
        ("sglang/./evil.py", "malformed"),
        ("sglang/e\nvil.py", "malformed"),
        ("sglang/e\x1bvil.py", "malformed"),
        ("sglang/e\u202evil.py", "malformed"),
        ("other/../evil.txt", "climbs out"),
        ("sglang/" + "d/" * 2000 + "evil.py", "too long"),
        ("sglang/" + "d" * 256 + ".py", "too long"),
    ],
)
def test_names(tmp_path: Path, name: str, reason: str) -> None:
    wheel = write(tmp_path / "a.whl", GOOD, [(zipfile.ZipInfo(name), b"evil = 1")])
    message = refusal(tmp_path, wheel)
    assert reason in message
    assert message.startswith("the wheel a.whl is refused: ")


def test_name_that_ends_early(tmp_path: Path) -> None:
    wheel = Path(write(tmp_path / "a.whl", {"sglang/evil.py#x": b""}))
    wheel.write_bytes(wheel.read_bytes().replace(b"evil.py#x", b"evil.py\0x"))
    assert "malformed" in refusal(tmp_path, str(wheel))


@pytest.mark.parametrize(
    ("mode", "reason"),
    [(stat.S_IFLNK | 0o777, "link"), (stat.S_IFIFO | 0o644, "special"), (stat.S_IFCHR | 0o644, "special")],
)
@pytest.mark.parametrize("name", ["sglang/link.py", "other/link"])
def test_links_and_special_files(tmp_path: Path, mode: int, reason: str, name: str) -> None:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    assert reason in refusal(tmp_path, write(tmp_path / "a.whl", GOOD, [(entry, b"/etc/passwd")]))


def test_one_name_twice(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("sglang/__init__.py")
    assert "one name" in refusal(tmp_path, write(tmp_path / "a.whl", GOOD, [(entry, b"evil")]))


@pytest.mark.parametrize("names", [("sglang/a.py", "sglang/a.py/b.py"), ("sglang/a.py/b.py", "sglang/a.py")])
def test_file_and_directory_of_one_name(tmp_path: Path, names: tuple[str, str]) -> None:
    assert "one place" in refusal(tmp_path, write(tmp_path / "a.whl", dict.fromkeys(names, b"x")))


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_ENTRIES", 8)
    assert unpack_sources(write(tmp_path / "a.whl", GOOD), str(tmp_path / "good")) == 3
    assert "more than 8 entries" in refusal(tmp_path, write(tmp_path / "b.whl", {**GOOD, "one/more": b""}))


def test_entries_are_counted_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = write(tmp_path / "a.whl", GOOD)
    for size in range(1, 40):
        monkeypatch.setattr(unpacking, "_CHUNK", size)
        assert unpacking._count_entries(wheel) == len(GOOD)


def test_bomb_in_one_file(tmp_path: Path) -> None:
    wheel = write(tmp_path / "a.whl", {**GOOD, "sglang/bomb.py": b" " * (unpacking.MAX_FILE_BYTES + 1)})
    assert os.path.getsize(wheel) < 100_000
    assert "too many bytes ('sglang/bomb.py')" in refusal(tmp_path, wheel)


def test_bomb_in_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_TOTAL_BYTES", 10_000_000)
    wheel = write(tmp_path / "a.whl", {f"sglang/{i}.py": b" " * 1_000_000 for i in range(11)})
    assert "too many bytes" in refusal(tmp_path, wheel)


def test_header_that_lies_about_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_FILE_BYTES", 1_000_000)
    size = 5_000_000
    wheel = Path(write(tmp_path / "a.whl", {"sglang/bomb.py": b" " * size}))
    wheel.write_bytes(wheel.read_bytes().replace(size.to_bytes(4, "little"), (5).to_bytes(4, "little")))
    refusal(tmp_path, str(wheel))
    assert all(len(data) <= 1_000_000 for name, data in files(tmp_path).items() if name.startswith("out/"))


def test_too_large_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_WHEEL_BYTES", 100)
    assert "larger than" in refusal(tmp_path, write(tmp_path / "a.whl", GOOD))


def test_unusual_compression_and_encryption(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("sglang/a.py", b"x")
    assert "unusual compression" in refusal(tmp_path, str(tmp_path / "a.whl"))
    wheel = Path(write(tmp_path / "b.whl", {"sglang/a.py": b"x"}))
    data = bytearray(wheel.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    wheel.write_bytes(data)
    assert "encrypted" in refusal(tmp_path, str(wheel))


@pytest.mark.parametrize("data", [b"", b"PK", b"no archive at all", b"PK\x05\x06" + b"\0" * 18])
def test_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.whl").write_bytes(data)
    if data.startswith(b"PK\x05\x06"):
        assert unpack_sources(str(tmp_path / "a.whl"), str(tmp_path / "out")) == 0
    else:
        assert "damaged" in refusal(tmp_path, str(tmp_path / "a.whl"))


def test_damaged_at_random(tmp_path: Path) -> None:
    """Whatever bytes are wrong: refused with one line, or unpacked below the target."""
    good = Path(write(tmp_path / "good.whl", GOOD)).read_bytes()
    chance = random.Random(7)
    for number in range(300):
        data = bytearray(good)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        wheel = tmp_path / "bad.whl"
        wheel.write_bytes(data[: chance.randint(len(data) // 2, len(data))] if number % 4 == 0 else data)
        target = tmp_path / f"out{number}"
        try:
            unpack_sources(str(wheel), str(target))
        except ReleaseError as error:
            assert "\n" not in str(error)
    assert {entry.name for entry in tmp_path.iterdir() if not entry.name.startswith("out")} == {"good.whl", "bad.whl"}
