"""``check`` inside the process, on an engine of the test's own: options, configuration, output, exit codes."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_report import sample_report, typing_finding, wrapper_finding

from eagle3_lint.engine import MatrixRequest, Request
from eagle3_lint.errors import ReleaseError, UsageError
from eagle3_lint.findings.report import InternalError, Report
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.frontends.cli.streams import use_color, write_output


@dataclass
class FakeEngine:
    """Answers with a given report and remembers what it was asked."""

    report: Report = field(default_factory=sample_report)
    error: BaseException | None = None
    requests: list[Request] = field(default_factory=list)

    def check(self, request: Request) -> Report:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return self.report

    def matrix(self, request: MatrixRequest) -> dict[str, Any]:
        raise AssertionError("nobody asked for a matrix")

    @property
    def request(self) -> Request:
        (request,) = self.requests
        return request


Check = Callable[..., int]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str, engine: FakeEngine | None = None) -> int:
    return dispatch(["check", *arguments], engine or FakeEngine())


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.err.startswith("eagle3-lint: error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    return captured.err


def test_defaults(project: Path) -> None:
    engine = FakeEngine()
    check(engine=engine)
    assert engine.request == Request(paths=None, with_fixes=False)


@pytest.mark.parametrize(
    ("options", "wanted"), [(("--format", "json"), True), (("--format", "sarif"), True), ((), False)]
)
def test_fixes_are_looked_for_where_they_are_shown(project: Path, options: tuple[str, ...], wanted: bool) -> None:
    engine = FakeEngine()
    check(*options, engine=engine)
    assert engine.request is not None
    assert engine.request.with_fixes is wanted


def test_every_option_reaches_the_engine(project: Path) -> None:
    engine = FakeEngine()
    check(
        *("models", "--select", "EGL1,EGL301", "--select", "EGL901", "--ignore", " EGL102 ", "models/m.py"),
        *("--pedantic", "--sglang", "0.5.9", "--engine", "astroid", "--no-cache", "--cache-dir", "kept"),
        *("--target-version", "3.13"),
        engine=engine,
    )
    assert engine.request == Request(
        with_fixes=False,
        paths=("models", "models/m.py"),
        select=("EGL1", "EGL301", "EGL901"),
        ignore=("EGL102",),
        pedantic=True,
        sglang="0.5.9",
        engine="astroid",
        cache=False,
        cache_dir="kept",
        target_version=(3, 13),
    )


def test_standard_input(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x = 1\r\n")))
    engine = FakeEngine()
    check("-", "--stdin-filename", "models/new.py", engine=engine)
    assert engine.request.buffer == ("models/new.py", b"x = 1\r\n")
    assert engine.request.paths == ("models/new.py",)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "xml"], "sarif"),
        (["--engine", "fast"], "astroid"),
        (["--target-version", "3.9"], "3.10"),
        (["--color", "maybe"], "always"),
        (["--nonsense"], "--nonsense"),
        (["--forma", "json"], "--forma"),
        (["--select", "XYZ"], "XYZ"),
        (["--select", "EGL101,EGL999"], "EGL999"),
        (["--ignore", "egl1"], "EGL1"),
        (["--select"], "--select"),
        (["nowhere.py"], "nowhere.py"),
        ([""], "no such file"),
        (["a\0b"], "no such file"),
        (["-"], "--stdin-filename"),
        (["-", "models", "--stdin-filename", "x.py"], "no other path"),
        (["models", "--stdin-filename", "x.py"], "--stdin-filename"),
        (["--output", "nowhere/report"], "nowhere"),
        (["--output", "models"], "directory"),
        (["--write-baseline", "nowhere/b.json"], "nowhere"),
        (["--baseline", "nowhere.json"], "nowhere.json"),
    ],
)
def test_wrong_usage(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert check(*arguments) == 2
    assert words in error_line(capsys)


@pytest.mark.parametrize("error", [UsageError("what\x1b[31m is\nthis"), ReleaseError("no such release")])
def test_errors_of_the_engine(project: Path, capsys: pytest.CaptureFixture[str], error: Exception) -> None:
    assert check(engine=FakeEngine(error=error)) == 2
    assert "\x1b" not in error_line(capsys)


def test_a_fault_of_the_program(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(engine=FakeEngine(error=KeyError("oops"))) == 2
    assert "internal error: KeyError" in error_line(capsys)
    assert check("-v", engine=FakeEngine(error=KeyError("oops"))) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_failed_rule_is_told_and_the_rest_is_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = InternalError("EGL101", "/repo/m.py", 3, "KeyError: 'x'")
    assert check("--exit-zero", engine=FakeEngine(sample_report(internal_errors=(error,)))) == 2
    captured = capsys.readouterr()
    assert "internal error: EGL101 failed at /repo/m.py:3: KeyError: 'x'" in captured.err
    assert "Found 1 error" in captured.out


@pytest.mark.parametrize(
    ("arguments", "changes", "code"),
    [
        ([], {}, 1),
        ([], {"findings": ()}, 0),
        (["--exit-zero"], {}, 0),
        ([], {"findings": (), "files": 0}, 3),
        (["--exit-zero"], {"findings": (), "files": 0}, 3),
    ],
)
def test_exit_codes(project: Path, arguments: list[str], changes: dict[str, Any], code: int) -> None:
    assert check(*arguments, engine=FakeEngine(replace(sample_report(), **changes))) == code


def test_no_file_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("--format", "json", engine=FakeEngine(sample_report(findings=(), files=0)))
    captured = capsys.readouterr()
    assert json.loads(captured.out)["findings"] == []
    assert captured.err == "eagle3-lint: error: no Python file matched\n"


def test_baseline_from_writing_to_comparing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = FakeEngine(sample_report())
    assert check("--write-baseline", "b.json", engine=both) == 0
    assert check("--baseline", "b.json", engine=both) == 0
    capsys.readouterr()
    more = sample_report(wrapper_finding(), typing_finding(name="List"))
    assert check("--baseline", "b.json", "--format", "json", engine=FakeEngine(more)) == 1
    document = json.loads(capsys.readouterr().out)
    assert [finding["name"] for finding in document["findings"]] == ["List"]
    assert [entry["code"] for entry in document["unused_baseline"]] == ["EGL302"]


def test_entries_that_no_longer_match_fail_only_under_pedantic(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check("--write-baseline", "b.json")
    clean = FakeEngine(sample_report(wrapper_finding()))
    assert check("--baseline", "b.json", engine=clean) == 0
    assert "EGL302 in the baseline no longer matches" in capsys.readouterr().out
    assert check("--baseline", "b.json", "--format", "github", engine=clean) == 0
    assert "EGL302 in the baseline no longer matches" in capsys.readouterr().err
    assert check("--baseline", "b.json", "--pedantic", engine=clean) == 1


def test_writing_a_baseline_does_not_need_the_old_one(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.eagle3-lint]\nbaseline = "b.json"\n')
    assert check("--write-baseline", "b.json") == 0
    first = (project / "b.json").read_text()
    assert len(json.loads(first)["findings"]) == 2
    assert check("--write-baseline", "b.json") == 0
    assert (project / "b.json").read_text() == first
    assert check() == 0


def test_output_goes_to_the_file_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--format", "json", "--output", "report.json") == 1
    assert len(json.loads((project / "report.json").read_text())["findings"]) == 2
    assert capsys.readouterr().out == ""
    assert sorted(os.listdir(project)) == ["models", "report.json"]


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = sample_report(typing_finding(), typing_finding(name="List"), wrapper_finding())
    check("--format", "concise", "--statistics", engine=FakeEngine(report))
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:] == ["2 EGL302 unimported-typing-name-deferred", "1 EGL101 missing-eagle3-delegation"]
    check("--format", "json", "--statistics", engine=FakeEngine(report))
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)["findings"]) == 3
    assert captured.err.splitlines() == lines[3:]


def test_notes_and_verbosity(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine(sample_report(notes=("a note",)))
    check(engine=engine)
    assert capsys.readouterr().err == "eagle3-lint: a note\n"
    check("-q", engine=engine)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "Found" not in captured.out
    check("-v", engine=engine)
    err = capsys.readouterr().err
    assert "configuration: none" in err
    assert "rules: EGL101, EGL102, EGL302" in err
    assert "2 files, 3 classes, 1 registered, 1 wrappers" in err


def test_configuration_gives_way_to_the_command_line(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.eagle3-lint]\nselect = ["EGL1"]\npedantic = true\nengine = "astroid"\ntarget-version = "3.11"\n'
        'cache-dir = "kept"\nno-cache = true\n'
    )
    engine = FakeEngine()
    check("--select", "EGL301", "--engine", "auto", engine=engine)
    assert engine.request == Request(
        with_fixes=False,
        select=("EGL301",),
        pedantic=True,
        engine="auto",
        target_version=(3, 11),
        cache=False,
        cache_dir=str(project / "kept"),
    )


def test_configuration_decides_the_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub").mkdir()
    (project / "setup.cfg").write_text("[eagle3-lint]\nformat = json\noutput = report.json\nexit-zero = true\n")
    os.chdir(project / "sub")
    assert check() == 0
    assert json.loads((project / "report.json").read_text())["version"] == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[tool.eagle3-lint]\n\nselect = ["EGL1", "XYZ"]\n', "pyproject.toml:3: select: unknown code 'XYZ'"),
        ('[tool.eagle3-lint]\nignore = ["EGL999"]\n', "pyproject.toml:2: ignore: unknown code 'EGL999'"),
        ("[tool.eagle3-lint]\nwhatever = 1\n", "pyproject.toml:2: unknown key 'whatever'"),
    ],
)
def test_faults_of_the_configuration(project: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    (project / "pyproject.toml").write_text(text)
    assert check() == 2
    assert words in error_line(capsys)


def test_paths_of_code_scanning_start_at_the_checkout(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(project / "python" / "sglang" / "m.py")
    report = sample_report(wrapper_finding(path=path, evidence=(), fix=None), root=str(project / "python"))
    (project / ".git").mkdir()
    (project / "python" / "sglang").mkdir(parents=True)
    check("--format", "github", engine=FakeEngine(report))
    assert "file=python/sglang/m.py," in capsys.readouterr().out
    check("--format", "concise", engine=FakeEngine(report))
    assert capsys.readouterr().out.startswith("sglang/m.py:")


def test_the_source_line_comes_from_the_buffer(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"class Buffered: ...\n")))
    path = str(project / "models" / "m.py")
    finding = replace(typing_finding(path=path), span=replace(typing_finding().span, line=1, end_line=1))
    check("-", "--stdin-filename", "models/m.py", engine=FakeEngine(sample_report(finding, root=str(project))))
    assert "1 | class Buffered: ...\n" in capsys.readouterr().out


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["check", "--help"]) == 0
    assert "--write-baseline FILE" in capsys.readouterr().out
    assert dispatch(["--help"]) == 0
    assert "matrix [PATH]" in capsys.readouterr().out
    assert dispatch([]) == 2


@pytest.mark.parametrize("arguments", [["chek"], ["--fix"], ["m.py"]])
def test_an_unknown_command(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert dispatch(arguments) == 2
    assert "check, explain, matrix, rule" in error_line(capsys)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "path", "environment", "expected"),
    [
        ("auto", None, {}, True),
        ("auto", None, {"NO_COLOR": "1"}, False),
        ("auto", None, {"NO_COLOR": ""}, True),
        ("auto", None, {"TERM": "dumb"}, False),
        ("auto", "report", {}, False),
        ("always", "report", {"NO_COLOR": "1"}, True),
        ("never", None, {}, False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    path: str | None,
    environment: dict[str, str],
    expected: bool,
) -> None:
    monkeypatch.setattr("sys.stdout", Terminal())
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_color(choice, path) is expected


def test_no_colours_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert use_color("auto", None) is False


def interrupted() -> Iterator[str]:
    yield "half of it"
    raise KeyboardInterrupt


def test_an_interrupted_file_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_output(interrupted(), str(path))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(target)
    write_output(["new \udcff\n"], str(link))
    assert link.is_symlink()
    assert target.read_text() == "new \\udcff\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_device_is_written_to_not_replaced() -> None:
    write_output(["gone\n"], os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
