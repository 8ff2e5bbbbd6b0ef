"""Decoding is Python's own, and whatever is not a readable text file is refused with a reason."""

from __future__ import annotations

import ast
import itertools
import os
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources import reading
from eagle3_lint.sources.reading import MAX_SOURCE_BYTES, check_regular_file, parse_source, read_bytes, read_source

BOM = b"\xef\xbb\xbf"


def refusal(path: Path | str, data: bytes | None = None) -> UnreadableSourceError:
    with pytest.raises(UnreadableSourceError) as caught:
        read_source(str(path), data)
    return caught.value


def place(error: UnreadableSourceError) -> tuple[int, int]:
    return error.line, error.column


class TestText:
    def test_plain_text_is_kept_byte_for_byte(self, tmp_path: Path) -> None:
        file = tmp_path / "a.py"
        file.write_bytes(b"x = 1\r\n\x0cif x:\r\ty = '\xc3\xa9'\n")
        source = read_source(str(file))
        assert source.text == "x = 1\r\n\x0cif x:\r\ty = 'é'\n"
        assert source.data == file.read_bytes()
        assert source.lines == ("x = 1", "\x0cif x:", "\ty = 'é'", "")
        assert (source.path, source.encoding, source.has_bom) == (str(file), "utf-8", False)

    def test_relative_path_becomes_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a.py").write_bytes(b"")
        monkeypatch.chdir(tmp_path)
        assert read_source("a.py").path == os.path.join(os.getcwd(), "a.py")

    def test_buffer_is_read_in_place_of_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "a.py"
        file.write_bytes(b"on disk")
        assert read_source(str(file), b"in the buffer").text == "in the buffer"
        assert read_source(str(tmp_path / "missing.py"), b"new").text == "new"

    def test_empty_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"")
        assert read_source(str(tmp_path / "a.py")).lines == ("",)

    def test_byte_order_mark_is_no_part_of_the_text(self) -> None:
        source = read_source("a.py", BOM + b"x = 1\n")
        assert source.text == "x = 1\n"
        assert source.has_bom
        assert parse_source(source).body[0].col_offset == 0

    def test_columns_are_characters(self) -> None:
        source = read_source("a.py", "x = 'é𝄞'; y = 1\nz = 'a'; w = 2\n".encode())
        first, second, third, fourth = parse_source(source).body
        assert source.column(1, second.col_offset) == 11
        assert source.column(2, third.col_offset) == 1
        assert source.column(2, fourth.col_offset) == 10
        assert source.column(1, first.col_offset) == 1

    def test_columns_after_tabs_and_form_feeds_in_another_encoding(self) -> None:
        source = read_source("a.py", b"# coding: latin-1\n\x0cif 1:\n\tx = '\xe9\xe9'; y = 1\n")
        branch = parse_source(source).body[0]
        assert isinstance(branch, ast.If)
        assert source.column(2, branch.col_offset) == 2
        assert source.column(3, branch.body[1].col_offset) == 12
        assert source.encoding == "iso-8859-1"


class TestEncodingsAgainstPython:
    """The same bytes go to ``ast.parse``: both accept or both refuse, and the trees with their positions are equal."""

    STARTS = (b"", BOM, BOM + BOM, b"\xff\xfe")
    FIRST_LINES = (
        b"",
        b"\n",
        b"\r",
        b"# x\r\n",
        b"#!x\r",
        b" \t\x0c\n",
        b"x=1\n",
        b'"""\n',
        b"\\\n",
        b"\x0b\n",
        b"\n\n",
    )
    COOKIES = (
        *(b"", b"# coding: utf-8\n", b"#coding=utf8\n", b"# -*- coding: latin-1 -*-\n", b"# coding: ascii\r\n"),
        *(b"# vim: set fileencoding=UTF_8 :\n", b"# coding: utf-8-sig\r", b"# coding: nope\n", b"# coding: rot13\n"),
        *(b"  # coding: latin-1\n", b"x # coding: latin-1\n", b"# coding:\n", b"# coding:\t latin_1\n"),
        *(b"# coding : latin-1\n", b"# coding: utf-16\n", b"# coding: utf-7\n", b"# coding: utf-8-foo\n"),
        *(b"# coding: iso-latin-1-unix\n", b"# coding: gbk\n", b"# coding: unicode_escape\n", b"# coding: hex\n"),
        *(b"# coding: coding: latin-1\n", b"# coding:latin-1", b"# coding: __init__\n", b"# coding: utf-8.\n"),
        *(b"# coding: Latin-1\n", b"# coding=utf-8:x\n", b"\x0b# coding: latin-1\n", b"# codingx coding: \n"),
    )
    BODIES = (b"", b'x = "\xe9"\n', b'x = "\xc3\xa9"\n', b'y = "\\u00e9"\r\n')

    def test_all_combinations(self) -> None:
        different = []
        for parts in itertools.product(self.STARTS, self.FIRST_LINES, self.COOKIES, self.BODIES):
            data = b"".join(parts)
            expected = self.python(data)
            try:
                found = ast.dump(parse_source(read_source("a.py", data)), include_attributes=True)
            except UnreadableSourceError as error:
                # ast.parse passes over bytes that are no text in comments; Python's own file reader does not.
                if error.reason.startswith("byte 0x") and b"coding:latin-1x" in data:
                    continue
                found = None
            if found != expected:
                different.append((data, expected, found))
        assert different == []

    @staticmethod
    def python(data: bytes) -> str | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.dump(ast.parse(data), include_attributes=True)
            except (SyntaxError, ValueError):
                return None


class TestUndecodable:
    @pytest.mark.parametrize(
        ("data", "reason", "expected"),
        [
            (b"x = 1\r\ny = '\xe9'\n", "byte 0xe9 is not UTF-8, and no encoding is declared", (2, 6)),
            ("é = 1; y = '".encode() + b"\xff'", "byte 0xff is not UTF-8, and no encoding is declared", (1, 13)),
            (b"# \xff\n", "byte 0xff is not UTF-8, and no encoding is declared", (1, 3)),
            (b"# coding: ascii\nx = '\xe9'\n", "byte 0xe9 is not valid in its declared encoding 'ascii'", (2, 6)),
            (b"# coding: utf-8\n\n  '\xe9'", "byte 0xe9 is not valid in its declared encoding 'utf-8'", (3, 4)),
            (b"# coding: gbk\n'\x81", "byte 0x81 is not valid in its declared encoding 'gbk'", (2, 2)),
            (b"# coding: nope\n", "it declares the unknown encoding 'nope'", (1, 1)),
            (b"# coding: rot13\n", "it declares the encoding 'rot13', which is not one of text", (1, 1)),
            (b"# coding: punycode\n", "it declares the encoding 'punycode', which no source may have", (1, 1)),
            (
                BOM + b"# coding: latin-1\n",
                "it declares the encoding 'latin-1', but starts with a UTF-8 byte order mark",
                (1, 1),
            ),
            (b"x = 1\n\xc3\xa9\0", "it holds a NUL byte", (2, 2)),
            ("x = 1".encode("utf-16"), "it is UTF-16, which Python does not read", (1, 1)),
        ],
    )
    def test_reason_and_place(self, data: bytes, reason: str, expected: tuple[int, int]) -> None:
        error = refusal("a.py", data)
        assert error.reason == reason
        assert place(error) == expected

    def test_codecs_that_take_quadratic_time_are_not_run(self) -> None:
        error = refusal("a.py", b"# coding: Puny_Code\n" + b"a" * 5_000_000 + b"-" + b"a" * 5_000_000)
        assert "unknown encoding" in error.reason or "no source may have" in error.reason
        assert "no source may have" in refusal("a.py", b"# coding: PUNYCODE\n").reason


class TestNotAFile:
    def test_missing(self, tmp_path: Path) -> None:
        assert refusal(tmp_path / "a.py").reason == "no such file"
        assert refusal(tmp_path / "a.py" / "b.py").reason == "no such file"

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"")
        assert refusal(tmp_path / "a.py" / "b.py").reason == "no such file"

    def test_dangling_link(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").symlink_to("gone.py")
        assert refusal(tmp_path / "a.py").reason == "a dangling link to 'gone.py'"

    def test_link_to_itself(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").symlink_to("a.py")
        assert refusal(tmp_path / "a.py").reason == "a link that leads back to itself"

    def test_directory(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").mkdir()
        assert refusal(tmp_path / "a.py").reason == "a directory, not a file"

    def test_fifo_is_never_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo(tmp_path / "a.py")
        monkeypatch.setattr(os, "open", lambda *_: pytest.fail("opened"))
        assert refusal(tmp_path / "a.py").reason == "a FIFO, not a file"

    def test_fifo_that_replaces_the_file_does_not_block(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo(tmp_path / "a.py")
        (tmp_path / "b.py").write_bytes(b"")
        regular = os.stat(tmp_path / "b.py")
        monkeypatch.setattr(os, "stat", lambda _: regular)
        assert refusal(tmp_path / "a.py").reason == "a FIFO, not a file"

    def test_device(self) -> None:
        assert refusal("/dev/zero").reason == "a device, not a file"

    def test_socket(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("a.py")
            assert refusal("a.py").reason == "a socket, not a file"

    def test_permission_denied(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "a.py"
        file.write_bytes(b"")
        file.chmod(0)
        if os.geteuid() == 0:

            def denied(*_: object) -> int:
                raise PermissionError(13, "Permission denied")

            monkeypatch.setattr(os, "open", denied)
        assert refusal(file).reason == "permission denied"

    def test_name_with_nul(self) -> None:
        assert refusal("a\0.py").reason == "its path holds a NUL character"

    def test_name_too_long(self, tmp_path: Path) -> None:
        assert refusal(tmp_path / ("a" * 5000)).reason == "its path is too long"

    def test_undecodable_name_is_read(self, tmp_path: Path) -> None:
        name = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff\n.py")
        Path(name).write_bytes(b"x = 1")
        assert read_source(name).text == "x = 1"

    def test_too_large(self, tmp_path: Path) -> None:
        file = tmp_path / "a.py"
        with file.open("wb") as stream:
            stream.truncate(MAX_SOURCE_BYTES + 1)
        assert refusal(file).reason == "it is larger than 16 MiB"
        assert refusal(file, b" " * (MAX_SOURCE_BYTES + 1)).reason == "it is larger than 16 MiB"
        assert read_source("a.py", b" " * MAX_SOURCE_BYTES).text

    def test_file_that_grows_while_it_is_read_stays_within_the_limit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "a.py"
        file.write_bytes(b"x")
        monkeypatch.setattr(os, "read", lambda *_: b" " * 1_000_000)
        assert refusal(file).reason == "it is larger than 16 MiB"

    def test_bytes_alone(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"\0\xff")
        assert read_bytes(str(tmp_path / "a.py")) == b"\0\xff"
        with pytest.raises(UnreadableSourceError, match="a directory"):
            read_bytes(str(tmp_path))

    def test_status_alone(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"\0")
        assert check_regular_file(str(tmp_path / "a.py")) is None
        missing = check_regular_file(str(tmp_path / "b.py"))
        assert missing is not None and missing.reason == "no such file"


def test_reading_and_decoding_import_neither_ast_nor_tokenize(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# coding: utf-8\nx = 'é'\n", encoding="utf-8")
    program = (
        "import sys; from eagle3_lint.sources.reading import read_source; from eagle3_lint.sources.discovery import discover\n"
        f"read_source(discover([{str(tmp_path)!r}]).files[0])\n"
        "print(sorted({'ast', 'tokenize', 'inspect', 'subprocess', 'zipfile'} & set(sys.modules)))"
    )
    root = str(Path(reading.__file__).parents[2])
    # -S: site imports what the machine's own .pth files ask for. dataclasses itself imports inspect, hence ast.
    program = "import dataclasses, sys; before = set(sys.modules)\n" + program.replace(
        "set(sys.modules)", "(set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
