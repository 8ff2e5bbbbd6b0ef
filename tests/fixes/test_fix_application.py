"""How fixes reach files: whole or not at all, inside the root, in the file's own encoding; and what is shown instead."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixing import fixed, request, tree, unfiltered, wrapper

from eagle3_lint.engine import Request, fix, fixing
from eagle3_lint.engine.fixing import write
from eagle3_lint.errors import FixError
from eagle3_lint.findings.model import Edit, Finding, Fix, Span
from eagle3_lint.findings.report import Report
from eagle3_lint.fixes.diff import quoted, unified_diff
from eagle3_lint.fixes.text import OverlappingEditsError, apply_edits
from eagle3_lint.frontends.cli.dispatch import dispatch

LATE = "import os\n\n\ndef f(a=Optional[int]): ...\n"
FIXED = "import os\nfrom typing import Optional\n\n\ndef f(a=Optional[int]): ...\n"
BODY = """\
    def __init__(self, config):
        super().__init__()
        self.language_model = TextForCausalLM(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids):
        return self.logits_processor(self.language_model.model(input_ids))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with nothing in it."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def late(folder: Path, name: str = "late.py", text: str = LATE) -> Path:
    """A file that lacks one import."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def run(*arguments: str) -> int:
    return dispatch(["check", "--no-cache", *arguments])


def test_fix_reports_what_remains(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = late(folder, text=LATE + "def g(b: Self): ...\n")
    assert run("--fix", "--format", "json", "--target-version", "3.10", str(path)) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["summary"]["fixed"] == 1
    assert [one["name"] for one in report["findings"]] == ["Self"]
    assert path.read_text() == FIXED + "def g(b: Self): ...\n"


def test_fix_exits_0_when_nothing_remains(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late(folder)
    assert run("--fix", ".") == 0
    assert "1 finding fixed. Nothing found in 1 file." in capsys.readouterr().out
    assert run("--fix", "--format", "json", ".") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["fixed"] == 0


def test_without_fix_nothing_is_counted_or_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = late(folder)
    assert run("--unsafe-fixes", "--format", "json", ".") == 1
    assert "fixed" not in json.loads(capsys.readouterr().out)["summary"]
    assert path.read_text() == LATE


def test_unsafe_fixes_are_made_only_when_asked(folder: Path) -> None:
    path = tree(folder, wrapper(BODY))
    before = path.read_text()
    assert run("--fix", "--select", "EGL101", str(path)) == 1
    assert path.read_text() == before
    assert run("--diff", "--select", "EGL101", str(path)) == 0
    assert run("--diff", "--unsafe-fixes", "--select", "EGL101", str(path)) == 1
    assert run("--fix", "--unsafe-fixes", "--select", "EGL101", str(path)) == 0
    assert path.read_text() != before


def test_diff_changes_nothing_and_applies(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = late(folder)
    other = late(folder, "other.py", LATE.replace("\n", "\r\n").rstrip())
    assert run("--diff", "--fix", ".") == 1
    shown = capsysbinary.readouterr().out
    assert (path.read_text(), other.read_bytes()) == (LATE, LATE.replace("\n", "\r\n").rstrip().encode())
    assert shown.startswith(
        b"--- a/late.py\n+++ b/late.py\n@@ -1,4 +1,5 @@\n import os\n+from typing import Optional\n"
    )
    assert b"\\ No newline at end of file\n" not in shown or b"other.py" in shown
    subprocess.run(["git", "apply", "-"], input=shown, check=True, cwd=folder)
    assert path.read_text() == FIXED
    assert other.read_bytes() == FIXED.replace("\n", "\r\n").rstrip().encode()
    assert run("--diff", ".") == 0
    assert capsysbinary.readouterr().out == b""


def test_diff_goes_to_output_and_into_exit_codes(folder: Path) -> None:
    late(folder)
    assert run("--diff", "--output", "out.diff", ".") == 1
    assert (folder / "out.diff").read_text().startswith("--- a/late.py\n")
    assert run("--diff", "--exit-zero", ".") == 0
    assert run("--diff", "--write-baseline", "b.json", ".") == 2
    (folder / "late.py").unlink()
    assert run("--diff", ".") == 3


def test_diff_paths_are_relative_to_the_tree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tree(folder, wrapper(BODY))
    assert run("--diff", "--unsafe-fixes", "--select", "EGL101", str(path)) == 1
    assert capsys.readouterr().out.startswith("--- a/sglang/srt/models/wrapper.py\n")


def test_names_in_diffs_cannot_break_out_of_their_line() -> None:
    assert quoted("a/plain name.py") == "a/plain name.py"
    assert quoted('a/\n"\\\x1bé.py') == '"a/\\n\\"\\\\\\033\\303\\251.py"'
    assert unified_diff("x.py", "a\n", "a\n") == ""
    assert unified_diff("x.py", "a", "a\n").endswith("-a\n\\ No newline at end of file\n+a\n")


def test_the_diff_of_another_encoding_is_in_it(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    text = "# -*- coding: latin-1 -*-\nimport os  # é\n\ndef f(a: Optional[int]): ...\n"
    path = folder / "latin.py"
    path.write_bytes(text.encode("latin-1"))
    assert run("--diff", ".") == 1
    subprocess.run(["git", "apply", "-"], input=capsysbinary.readouterr().out, check=True, cwd=folder)
    assert path.read_bytes().decode("latin-1") == text.replace("é\n", "é\nfrom typing import Optional\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (codecs.BOM_UTF8 + LATE.encode(), codecs.BOM_UTF8 + FIXED.encode()),
        (b"# coding: latin-1\n# \xe9\n" + LATE.encode(), b"# coding: latin-1\n# \xe9\n" + FIXED.encode()),
        (LATE.replace("\n", "\r\n").encode(), FIXED.replace("\n", "\r\n").encode()),
        (LATE.rstrip().encode(), FIXED.rstrip().encode()),
        (b"x = '\x0c'\n" + LATE.encode(), b"from typing import Optional\n\nx = '\x0c'\n" + LATE.encode()),
    ],
    ids=["byte order mark", "encoding", "line endings", "no final line ending", "form feed"],
)
def test_bytes_that_no_edit_covers_stay(folder: Path, before: bytes, after: bytes) -> None:
    path = folder / "late.py"
    path.write_bytes(before)
    fixed(path)
    assert path.read_bytes() == after


def test_permissions_stay(folder: Path) -> None:
    path = late(folder)
    path.chmod(0o751)
    fixed(path)
    assert path.read_text() == FIXED
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(folder) == ["late.py"]


def test_a_link_inside_the_root_is_followed_and_stays_one(folder: Path) -> None:
    path = late(folder, "real.txt")
    link = folder / "link.py"
    link.symlink_to(path)
    assert run("--fix", ".") == 0
    assert link.is_symlink()
    assert path.read_text() == FIXED


def test_a_file_and_its_link_are_fixed_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = late(folder)
    (folder / "link.py").symlink_to(path)
    assert run("--fix", "--format", "json", ".") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["fixed"] == 2
    assert path.read_text() == FIXED


def test_a_link_that_leaves_the_root_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = late(folder.parent, "outside.py")
    (folder / "link.py").symlink_to(outside)
    assert run("--fix", ".") == 1
    assert "link.py is not fixed: a link leads out of" in capsys.readouterr().err
    assert outside.read_text() == LATE


def test_a_linked_directory_that_leaves_the_root_is_left_alone(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    outside = late(elsewhere)
    (folder / "inside").symlink_to(elsewhere)
    assert run("--fix", "inside/late.py") == 1
    assert outside.read_text() == LATE
    assert run("--fix", str(outside)) == 0
    assert outside.read_text() == FIXED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late(folder).chmod(0o444)
    assert run("--fix", ".") == 1
    assert "late.py is not fixed: permission denied" in capsys.readouterr().err


def test_only_given_files_are_changed(folder: Path) -> None:
    around = BODY.replace(
        "self.logits_processor(self.language_model.model(input_ids))", "self.language_model(input_ids)"
    )
    path = tree(folder, wrapper(around))
    before = path.read_text()
    found = fix(request(path.with_name("text.py"), "EGL101"), unsafe=True, reported=unfiltered)
    assert [one.elsewhere for one in found.report.findings] == [True]
    assert found.changes == ()
    assert path.read_text() == before


def test_suppressed_and_accepted_findings_are_not_fixed(folder: Path) -> None:
    path = late(folder, text=LATE.replace("...\n", "...  # noqa: EGL301\n"))
    before = path.read_text()
    assert run("--fix", ".") == 0
    assert path.read_text() == before
    late(folder)
    assert run("--write-baseline", "baseline.json", ".") == 0
    assert run("--fix", "--baseline", "baseline.json", ".") == 0
    assert path.read_text() == LATE


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize(("failure", "raised"), [(interrupt, KeyboardInterrupt), (no_space, FixError)])
def test_a_file_is_written_whole_or_not_at_all(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    failure: Callable[..., None],
    raised: type[BaseException],
) -> None:
    path = late(folder)
    found = fix(request(path), unsafe=False, reported=unfiltered)
    monkeypatch.setattr(os, step, failure)
    with pytest.raises(raised):
        write(found.changes)
    assert path.read_text() == LATE
    assert os.listdir(folder) == ["late.py"]


def test_a_file_that_changes_meanwhile_is_left_as_it_is(folder: Path) -> None:
    path = late(folder)
    found = fix(request(path), unsafe=False, reported=unfiltered)
    path.write_text("# mine\n" + LATE)
    with pytest.raises(FixError, match="changed while it was being fixed"):
        write(found.changes)
    assert path.read_text() == "# mine\n" + LATE


def test_a_full_disk_is_exit_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = late(folder)
    monkeypatch.setattr(os, "fsync", no_space)
    assert run("--fix", ".") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert path.read_text() == LATE


def finding(path: Path, *edits: Edit, line: int = 1) -> Finding:
    return Finding(
        "EGL301", "s", "error", str(path), Span(line, 1, line, 2), "m", fix=Fix("safe", edits), scope=str(line)
    )


def answering(monkeypatch: pytest.MonkeyPatch, findings: tuple[Finding, ...]) -> None:
    """Let the engine find ``findings`` in a file as long as it is as it was."""

    def checked(asked: Request) -> tuple[Report, Callable[[str], bytes]]:
        path = (asked.paths or ("",))[0]
        texts = dict(asked.texts)
        data = texts.get(path) or Path(path).read_bytes()
        report = Report(os.path.dirname(path), () if path in texts else findings, linted=(path,), files=1)
        return report, lambda _: data

    monkeypatch.setattr(fixing, "checked", checked)


def test_a_fix_that_breaks_the_syntax_is_refused_and_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = late(folder)
    good = Edit(str(path), Span(1, 1, 1, 1), "import re\n")
    bad = Edit(str(path), Span(4, 1, 4, 1), "def (\n")
    answering(monkeypatch, (finding(path, good), finding(path, bad, line=4)))
    found = fix(request(path), unsafe=False, reported=unfiltered)
    assert found.report.fixed == 1
    assert found.report.notes == (f"{path}:4: the fix of EGL301 would break the syntax and is not made",)
    write(found.changes)
    assert path.read_text() == "import re\n" + LATE


def test_edits_of_one_fix_are_made_together_or_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = late(folder)
    first = Edit(str(path), Span(1, 1, 1, 10), "import re")
    overlapping = Edit(str(path), Span(1, 8, 1, 10), "io")
    apart = Edit(str(path), Span(4, 1, 4, 1), "x = 1\n")
    answering(monkeypatch, (finding(path, first), finding(path, overlapping, apart, line=4)))
    found = fix(request(path), unsafe=False, reported=unfiltered)
    write(found.changes)
    assert path.read_text() == LATE.replace("import os", "import re")


def test_fixes_that_never_settle_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = late(folder)

    def checked(asked: Request) -> tuple[Report, Callable[[str], bytes]]:
        data = dict(asked.texts).get(str(path)) or path.read_bytes()
        edit = Edit(str(path), Span(1, 1, 1, 1), "#\n")
        one = replace(finding(path, edit), scope=str(len(data)))
        return Report(str(folder), (one,), linted=(str(path),), files=1), lambda _: data

    monkeypatch.setattr(fixing, "checked", checked)
    found = fix(request(path), unsafe=False, reported=unfiltered)
    assert found.report.fixed == 0
    assert found.changes == ()
    assert found.report.notes == (f"{path} is not fixed: each fix of it asks for another",)


def test_overlapping_edits_of_one_text_are_an_error() -> None:
    edits = [Edit("f", Span(1, 1, 1, 4), "a"), Edit("f", Span(1, 2, 1, 3), "b")]
    with pytest.raises(OverlappingEditsError):
        apply_edits("abcdef", edits)


def standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input_is_fixed_to_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = late(folder, text="on disk = \n")
    standard_input(monkeypatch, LATE.replace("\n", "\r\n").encode())
    assert run("--fix", "--stdin-filename", "late.py", "-") == 0
    captured = capsysbinary.readouterr()
    assert captured.out == FIXED.replace("\n", "\r\n").encode()
    assert b"1 finding fixed" in captured.err
    assert path.read_text() == "on disk = \n"


def test_standard_input_without_fixes_comes_out_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    broken = b"def (\r\n\xff"
    standard_input(monkeypatch, broken)
    assert run("--fix", "--stdin-filename", "late.py", "-") == 1
    captured = capsysbinary.readouterr()
    assert captured.out == broken
    assert b"EGL901" in captured.err


def test_the_diff_of_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    standard_input(monkeypatch, LATE.encode())
    assert run("--diff", "--stdin-filename", "late.py", "-") == 1
    assert capsysbinary.readouterr().out.startswith(b"--- a/late.py\n+++ b/late.py\n")


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs another user")
def test_the_owner_stays(folder: Path) -> None:
    path = late(folder)
    os.chown(path, 1234, 1235)
    fixed(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid) == (1234, 1235)
