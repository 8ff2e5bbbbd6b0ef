"""What the plugin makes of findings, seen through pylint itself; the engine's answers are given by the test."""

from __future__ import annotations

import contextlib
import gc
import io
import multiprocessing
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pylint.extensions
import pytest
from pylint.lint import Run
from pylint.message import Message
from pylint.reporters import CollectingReporter

from eagle3_lint import engine
from eagle3_lint.errors import ReleaseError
from eagle3_lint.findings.codes import Code
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.frontends.host import SEARCH_PATH
from eagle3_lint.rules.catalogue import CODES
from tests.frontends.fake_engine import SOURCE, WRAPPER, FakeEngine

LAYER = replace(WRAPPER, code="EGL205", symbol="capture-without-residual", severity="warning")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr(engine, "open_session", fake.open_session)
    return fake


@pytest.fixture(autouse=True)
def in_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lint(*arguments: str, source: str = SOURCE, only: str = "eagle3") -> list[Message]:
    """Lint ``source`` with the checker alone (or what ``only`` enables)."""
    Path("model.py").write_text(source, encoding="utf-8")
    return run(f"--enable={only}", *arguments, "model.py") if only else run(*arguments, "model.py")


def run(*arguments: str) -> list[Message]:
    reporter = CollectingReporter()
    # -j sends the reporter's stream to the workers, which pytest's own can't follow.
    reporter.out = sys.__stdout__
    defaults = ["--load-plugins=eagle3_lint", "--persistent=n", "--disable=all"]
    Run([*defaults, *arguments], reporter=reporter, exit=False)
    return reporter.messages


def test_a_finding_keeps_its_place_its_text_and_its_scope(fake: FakeEngine) -> None:
    (message,) = lint(only="missing-eagle3-delegation")
    assert (message.msg_id, message.symbol, message.category) == ("E7311", "missing-eagle3-delegation", "error")
    assert (message.line, message.column, message.end_line, message.end_column) == (4, 6, 4, 13)
    assert message.msg == "100% missing: %s"
    assert message.obj == "Wrapper"
    assert message.confidence.name == "HIGH"
    assert Path(message.abspath) == Path("model.py").absolute()


def test_the_scope_is_the_innermost_function(fake: FakeEngine) -> None:
    fake.findings = (replace(WRAPPER, span=Span(6, 16, 6, 26)),)
    (message,) = lint()
    assert (message.line, message.column, message.obj) == (6, 15, "Wrapper.forward")


def test_a_finding_outside_every_scope_belongs_to_the_module(fake: FakeEngine) -> None:
    fake.findings = (replace(WRAPPER, span=Span(1, 1, 1, 13)),)
    (message,) = lint()
    assert (message.line, message.column, message.obj, message.module) == (1, 0, "", "model")


def test_a_less_certain_finding_is_an_inference(fake: FakeEngine) -> None:
    fake.findings = (replace(WRAPPER, confidence="medium"),)
    (message,) = lint()
    assert message.confidence.name == "INFERENCE"
    assert lint("--confidence=HIGH") == []


def test_message_ids_mirror_the_codes() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        run("--list-msgs")
    listed = dict(re.findall(r"^:([\w-]+) \(([EW]73\d\d)\):", out.getvalue(), re.MULTILINE))
    assert listed == {
        "missing-eagle3-delegation": "E7311",
        "incomplete-eagle3-interface": "E7312",
        "broken-eagle3-delegation": "E7313",
        "silent-eagle3-delegation": "W7314",
        "eagle3-signature-mismatch": "E7315",
        "misspelled-eagle3-method": "W7316",
        "duplicate-eagle3-method": "W7317",
        "inert-eagle3-capture": "E7321",
        "dropped-aux-hidden-states": "E7322",
        "uninitialised-capture-state": "E7323",
        "unreachable-capture-layer": "W7324",
        "capture-without-residual": "W7325",
        "partial-pipeline-capture": "W7326",
        "unimported-typing-name": "E7331",
        "unimported-typing-name-deferred": "W7332",
        "unreadable-source": "E7391",
        "unused-suppression": "W7392",
    }


@pytest.mark.parametrize("entry", CODES, ids=[entry.code for entry in CODES])
def test_help_names_the_code_what_it_finds_and_the_page(entry: Code, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(f"--help-msg={entry.symbol}")
    text = " ".join(capsys.readouterr().out.split())
    assert f"{entry.code}: {entry.summary}" in text
    assert f"{entry.code}.md" in text


def test_only_what_is_enabled_is_asked_for(fake: FakeEngine) -> None:
    lint(only="missing-eagle3-delegation,unimported-typing-name")
    assert {asked.codes for asked in fake.asked} == {frozenset({"EGL101", "EGL301"})}


def test_no_session_is_opened_when_nothing_is_enabled(fake: FakeEngine) -> None:
    assert lint(only="undefined-variable") == []
    assert fake.opened == []


def test_what_was_learnt_is_kept_once_at_the_end(fake: FakeEngine) -> None:
    Path("other.py").write_text(SOURCE, encoding="utf-8")
    lint("other.py")
    assert len({asked.path for asked in fake.asked}) == 2
    assert fake.saved == 1


def test_pedantic_messages_are_off_until_named(fake: FakeEngine) -> None:
    fake.findings = (WRAPPER, LAYER)
    Path("model.py").write_text(SOURCE, encoding="utf-8")
    reporter = CollectingReporter()
    Run(["--load-plugins=eagle3_lint", "--persistent=n", "model.py"], reporter=reporter, exit=False)
    assert [m.symbol for m in reporter.messages if m.msg_id[1:3] == "73"] == ["missing-eagle3-delegation"]
    assert not fake.opened[-1].pedantic
    assert [m.symbol for m in lint(only="capture-without-residual")] == ["capture-without-residual"]
    assert fake.opened[-1].pedantic


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the test's engine reaches workers by fork")
def test_workers_keep_what_was_enabled_by_name_and_say_it_once(fake: FakeEngine) -> None:
    fake.findings = (LAYER,)
    Path("other.py").write_text(SOURCE, encoding="utf-8")
    messages = lint("-j2", "other.py", only="capture-without-residual")
    assert [(m.module, m.symbol) for m in messages] == [
        ("other", "capture-without-residual"),
        ("model", "capture-without-residual"),
    ]


def test_a_file_may_enable_a_pedantic_message_itself(fake: FakeEngine) -> None:
    fake.findings = (LAYER,)
    source = "# pylint: enable=capture-without-residual\n" + SOURCE
    assert [m.symbol for m in lint(source=source, only="missing-eagle3-delegation")] == ["capture-without-residual"]


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("Module):", "Module):  # pylint: disable=missing-eagle3-delegation"),
        SOURCE.replace("\n\nclass", "\n# pylint: disable-next=missing-eagle3-delegation\nclass"),
        SOURCE.replace("Module):", "Module):\n    # pylint: disable=missing-eagle3-delegation"),
        SOURCE.replace("import torch\n", "# pylint: disable=missing-eagle3-delegation\n"),
        SOURCE.replace("import torch\n", "# pylint: skip-file\n"),
        SOURCE.replace("import torch\n", "# pylint: disable=all\n"),
        SOURCE.replace("import torch\n", "# pylint: disable=E7311\n"),
        SOURCE.replace("import torch\n", "# pylint: disable=eagle3\n"),
    ],
    ids=["line", "next", "class", "module", "skip-file", "all", "id", "checker"],
)
def test_pylints_own_comments_silence_it(fake: FakeEngine, source: str) -> None:
    assert lint(source=source) == []


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("forward(self):", "forward(self):  # pylint: disable=missing-eagle3-delegation"),
        SOURCE + "# pylint: disable-next=missing-eagle3-delegation\n",
        SOURCE.replace("Module):", "Module):  # pylint: disable=incomplete-eagle3-interface"),
    ],
    ids=["other line", "next of another", "other message"],
)
def test_comments_for_something_else_do_not(fake: FakeEngine, source: str) -> None:
    assert [m.symbol for m in lint(source=source)] == ["missing-eagle3-delegation"]


def test_a_used_comment_is_not_called_useless(fake: FakeEngine) -> None:
    source = SOURCE.replace("Module):", "Module):  # pylint: disable=missing-eagle3-delegation")
    fake.silenced = (WRAPPER,)
    enabled = "missing-eagle3-delegation,useless-suppression,suppressed-message"
    assert [m.symbol for m in lint(source=source, only=enabled)] == ["suppressed-message"]
    fake.findings = ()
    assert [m.symbol for m in lint(source=source, only=enabled)] == ["useless-suppression"]


def test_a_comment_that_only_the_engine_reads_silences_too(fake: FakeEngine) -> None:
    fake.silenced = (WRAPPER,)
    assert lint() == []


def test_options_reach_the_engine(fake: FakeEngine) -> None:
    lint("--eagle3-engine=astroid", "--eagle3-sglang=0.5.9", "--eagle3-cache-dir=kept")
    (options,) = set(fake.opened)
    assert (options.engine, options.sglang, options.cache_dir) == ("astroid", "0.5.9", "kept")


def test_defaults_reach_the_engine(fake: FakeEngine) -> None:
    lint(only="missing-eagle3-delegation")
    assert set(fake.opened) == {engine.SessionOptions(search_path=SEARCH_PATH)}


def test_options_stand_in_a_pylintrc(fake: FakeEngine) -> None:
    Path("pylintrc").write_text("[EAGLE3]\neagle3-engine=astroid\neagle3-sglang=tree\n", encoding="utf-8")
    lint("--rcfile=pylintrc")
    assert {(options.engine, options.sglang) for options in fake.opened} == {("astroid", "tree")}


def test_another_py_version_than_the_running_one_is_the_target(fake: FakeEngine) -> None:
    lint("--py-version=3.14" if sys.version_info[:2] != (3, 14) else "--py-version=3.13")
    lint(f"--py-version={sys.version_info[0]}.{sys.version_info[1]}")
    other = (3, 14) if sys.version_info[:2] != (3, 14) else (3, 13)
    assert [options.target_version for options in fake.opened] == [other, None]


def test_an_unknown_engine_is_a_usage_error(fake: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        lint("--eagle3-engine=guess")
    assert stop.value.code == 2
    assert "eagle3-engine" in capsys.readouterr().err


def test_an_unobtainable_sglang_is_one_clear_line(fake: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise ReleaseError("there is no release 9.9.9 of SGLang")

    fake.before = refuse
    with pytest.raises(SystemExit) as stop:
        lint()
    assert stop.value.code == 32
    assert capsys.readouterr().err == "eagle3-lint: there is no release 9.9.9 of SGLang\n"


def test_a_failed_rule_is_fatal_after_the_findings(fake: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    fake.failures = (InternalError("EGL202", "model.py", 3, "KeyError: 'forward'"),)
    messages = lint("--enable=astroid-error")
    assert [m.symbol for m in messages] == ["missing-eagle3-delegation", "astroid-error"]
    assert "internal error: EGL202 failed at model.py:3: KeyError: 'forward'" in capsys.readouterr().err


def test_a_file_on_disk_is_left_to_the_engine_to_read(fake: FakeEngine) -> None:
    lint()
    assert {(asked.path, asked.data) for asked in fake.asked} == {(str(Path("model.py").absolute()), None)}


def test_the_buffer_is_what_is_linted_from_stdin(fake: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.py").write_text("on_disk = 1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
    assert [m.line for m in run("--enable=eagle3", "--from-stdin", "model.py")] == [4]
    assert {(asked.path, asked.data) for asked in fake.asked} == {(str(Path("model.py").absolute()), SOURCE.encode())}


@pytest.fixture
def without_planted() -> Iterator[None]:
    yield
    sys.modules.pop("planted_beside_the_model", None)


@pytest.mark.usefixtures("without_planted")
def test_an_import_of_the_engine_cannot_reach_the_linted_tree(fake: FakeEngine) -> None:
    Path("planted_beside_the_model.py").write_text("open('fired', 'w')\n", encoding="utf-8")
    reached: list[bool] = []

    def import_it() -> None:
        try:
            __import__("planted_beside_the_model")
        except ModuleNotFoundError:
            reached.append(False)
        else:
            reached.append(True)

    fake.before = import_it
    path = list(sys.path)
    lint()
    assert set(reached) == {False}
    assert not Path("fired").exists()
    assert sys.path == path


def test_the_collector_rests_only_while_the_engine_works(fake: FakeEngine) -> None:
    resting: list[bool] = []
    fake.before = lambda: resting.append(not gc.isenabled())
    lint()
    assert set(resting) == {True}
    assert gc.isenabled()


def test_the_block_of_message_ids_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    extensions = [path.stem for path in Path(pylint.extensions.__file__).parent.glob("[a-z]*.py")]
    with pytest.raises(SystemExit):
        Run([f"--load-plugins={','.join('pylint.extensions.' + name for name in extensions)}", "--list-msgs"])
    listed = capsys.readouterr().out
    assert "(E1101)" in listed
    assert "(R6103)" in listed, "extensions are listed too"
    assert not any(f"({category}73" in listed for category in "CEFIRW")
