"""What the plugin makes of findings, seen through flake8 itself; the engine's answers are given by the test."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import flake8.utils
import pytest
from flake8.main.cli import main

from eagle3_lint import __version__, engine
from eagle3_lint.errors import ReleaseError
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.report import InternalError
from eagle3_lint.frontends.flake8_plugin import Plugin, Settings
from eagle3_lint.frontends.host import SEARCH_PATH
from eagle3_lint.rules.catalogue import CODES
from tests.frontends.fake_engine import SOURCE, WRAPPER, FakeEngine

TYPING = replace(WRAPPER, code="EGL301", span=Span(6, 16, 6, 26), message="Optional is not imported")
LAYER = replace(WRAPPER, code="EGL205", severity="warning", span=Span(5, 5, 5, 12), message="the last layer")
DEFAULT = frozenset(entry.code for entry in CODES if entry.is_default)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine((WRAPPER, TYPING))
    monkeypatch.setattr(engine, "open_session", fake.open_session)
    return fake


@pytest.fixture(autouse=True)
def in_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Plugin, "settings", Settings())


def lint(*arguments: str, source: str = SOURCE) -> list[str]:
    Path("model.py").write_text(source, encoding="utf-8")
    return run("--jobs=1", "model.py", *arguments)


def run(*arguments: str) -> list[str]:
    written = io.BytesIO()
    out = io.TextIOWrapper(written, write_through=True)
    with contextlib.redirect_stdout(out):
        main(list(arguments))
    return written.getvalue().decode().splitlines()


def test_findings_stand_where_they_belong(fake: FakeEngine) -> None:
    assert lint() == [
        "model.py:4:7: EGL101 100% missing: %s",
        "model.py:6:16: EGL301 Optional is not imported",
    ]
    assert fake.asked == [(str(Path("model.py").absolute()), None, DEFAULT, True)]


def test_flake8_knows_the_plugin_by_its_version() -> None:
    with pytest.raises(SystemExit):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            main(["--version"])
    assert f"eagle3-lint: {__version__}" in " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["--select=EGL101"], {"EGL101"}),
        (["--select=EGL3"], {"EGL301", "EGL302"}),
        (["--ignore=EGL3"], DEFAULT - {"EGL301", "EGL302"}),
        (["--extend-ignore=EGL"], frozenset()),
        (["--select=F,W"], frozenset()),
        (["--select=F,W", "--extend-select=EGL9"], {"EGL901"}),
        (["--select=EGL", "--ignore=EGL2"], DEFAULT - {"EGL201", "EGL202", "EGL203", "EGL204"}),
        (["--select=EGL", "--eagle3-pedantic"], {entry.code for entry in CODES}),
        (["--select=EGL205"], frozenset()),
        (["--select=EGL205", "--eagle3-pedantic"], {"EGL205"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_only_what_is_selected_is_asked_for(fake: FakeEngine, arguments: list[str], codes: set[str]) -> None:
    lint(*arguments)
    assert [asked.codes for asked in fake.asked] == ([codes] if codes else [])


def test_no_session_is_opened_when_nothing_is_selected(fake: FakeEngine) -> None:
    lint("--select=F,W")
    assert fake.opened == []


def test_pedantic_is_off_even_when_selected(fake: FakeEngine) -> None:
    fake.findings = (WRAPPER, LAYER)
    assert lint("--select=EGL") == ["model.py:4:7: EGL101 100% missing: %s"]
    assert lint("--select=EGL", "--eagle3-pedantic")[1:] == ["model.py:5:5: EGL205 the last layer"]
    assert [options.pedantic for options in fake.opened] == [False, True]


def test_noqa_on_the_line_silences(fake: FakeEngine) -> None:
    source = SOURCE.replace("Module):", "Module):  # noqa: EGL101").replace("model()", "model()  # noqa")
    assert lint(source=source) == []
    assert lint("--disable-noqa", source=source)[:1] == ["model.py:4:7: EGL101 100% missing: %s"]
    assert [asked.honour_noqa for asked in fake.asked] == [True, False]


def test_noqa_for_another_code_does_not(fake: FakeEngine) -> None:
    assert lint("--select=EGL1", source=SOURCE.replace("Module):", "Module):  # noqa: E501")) == [
        "model.py:4:7: EGL101 100% missing: %s"
    ]


def test_a_file_can_opt_out(fake: FakeEngine) -> None:
    assert lint(source="# flake8: noqa\n" + SOURCE) == []


@pytest.mark.parametrize(
    ("name", "spelling"), [("setup.cfg", "eagle3-{}"), ("tox.ini", "eagle3_{}"), (".flake8", "eagle3-{}")]
)
def test_options_stand_in_configuration_files(fake: FakeEngine, name: str, spelling: str) -> None:
    values = {"engine": "astroid", "sglang": "0.5.9", "cache-dir": "kept", "pedantic": "true"}
    lines = [f"{spelling.format(key if '-' in spelling else key.replace('-', '_'))} = {values[key]}" for key in values]
    Path(name).write_text("\n".join(["[flake8]", *lines]) + "\n", encoding="utf-8")
    lint()
    assert fake.opened == [
        engine.SessionOptions(
            engine="astroid", sglang="0.5.9", cache_dir="kept", pedantic=True, search_path=SEARCH_PATH
        )
    ]


def test_options_stand_on_the_command_line(fake: FakeEngine) -> None:
    lint("--eagle3-engine=astroid", "--eagle3-sglang=tree", "--eagle3-cache-dir=kept")
    assert fake.opened == [
        engine.SessionOptions(engine="astroid", sglang="tree", cache_dir="kept", search_path=SEARCH_PATH)
    ]


def test_an_unobtainable_sglang_is_one_clear_line(fake: FakeEngine) -> None:
    def refuse() -> None:
        raise ReleaseError("there is no release 9.9.9 of SGLang")

    fake.before = refuse
    assert lint() == [
        "There was a critical error during execution of Flake8:",
        "eagle3-lint: there is no release 9.9.9 of SGLang",
    ]


def test_a_failed_rule_is_one_clear_line(fake: FakeEngine) -> None:
    fake.failures = (InternalError("EGL202", "model.py", 3, "KeyError: 'forward'"),)
    assert lint() == [
        "There was a critical error during execution of Flake8:",
        "eagle3-lint: internal error: EGL202 failed at model.py:3: KeyError: 'forward'",
    ]


@pytest.mark.parametrize(
    "data",
    [
        SOURCE.encode(),
        "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"),
        "name = 'é'\n".encode(),
    ],
    ids=["ascii", "latin-1", "utf-8"],
)
def test_the_buffer_is_what_is_linted_from_stdin(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    Path("model.py").write_text("on_disk = 1\n", encoding="utf-8")
    fake.findings = (replace(WRAPPER, span=Span(1, 1, 1, 2)),)
    flake8.utils.stdin_get_value.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run("--stdin-display-name=model.py", "-") == ["model.py:1:1: EGL101 100% missing: %s"]
    assert fake.asked == [(str(Path("model.py").absolute()), data, DEFAULT, True)]


@pytest.fixture
def without_planted() -> Iterator[None]:
    yield
    sys.modules.pop("planted_beside_the_model", None)


@pytest.mark.usefixtures("without_planted")
def test_an_import_of_the_engine_cannot_reach_the_working_directory(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("planted_beside_the_model.py").write_text("open('fired', 'w')\n", encoding="utf-8")
    fired: list[str] = []

    def import_it() -> None:
        with contextlib.suppress(ModuleNotFoundError):
            fired.append(__import__("planted_beside_the_model").__name__)

    fake.before = import_it
    path = list(sys.path)
    lint()
    assert fake.asked
    assert fired == []
    assert not Path("fired").exists()
    assert sys.path == path
