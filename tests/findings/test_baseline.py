"""Baselines: written, read back, compared; and each way they can be damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_report import MODELS, sample_report, typing_finding, wrapper_finding

from eagle3_lint.errors import ConfigurationError
from eagle3_lint.findings.baseline import (
    apply_baseline,
    entries_of,
    parse_baseline,
    read_baseline,
    write_baseline,
)
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.report import BaselineEntry


def text_of(*entries: BaselineEntry) -> str:
    return "".join(write_baseline(entries))


def test_the_file_is_sorted_json_with_a_finding_a_line() -> None:
    text = text_of(*entries_of(sample_report()))
    document = json.loads(text)
    assert document["version"] == 1
    assert [entry["code"] for entry in document["findings"]] == ["EGL302", "EGL101"]
    assert sum("fingerprint" in line for line in text.splitlines()) == 2
    assert text.endswith("}\n")


def test_adding_a_finding_adds_lines_and_changes_at_most_a_comma() -> None:
    few = text_of(*entries_of(sample_report(wrapper_finding()))).splitlines()
    more = text_of(*entries_of(sample_report())).splitlines()
    assert set(few) <= set(more)


def test_an_empty_baseline_is_readable() -> None:
    assert json.loads(text_of()) == {"version": 1, "findings": []}
    assert parse_baseline(text_of()) == ()


WORDS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


@settings(deadline=None)
@given(st.lists(st.builds(BaselineEntry, WORDS, WORDS, WORDS, WORDS), max_size=6))
def test_what_is_written_is_what_is_read(entries: list[BaselineEntry]) -> None:
    assert set(parse_baseline(text_of(*entries))) == set(entries)


def test_kept_gone_and_new() -> None:
    before = sample_report(wrapper_finding(), typing_finding())
    new = typing_finding(name="List")
    after = apply_baseline(sample_report(wrapper_finding(span=Span(90, 7, 90, 14)), new), entries_of(before))
    assert after.findings == (new,)
    assert [(item.finding.code, item.kind) for item in after.suppressions] == [("EGL101", "external")]
    assert [(entry.code, entry.path) for entry in after.unused_baseline] == [("EGL302", "sglang/srt/models/inner.py")]
    assert after.suppressed == 0


def test_the_second_of_equal_findings_is_new() -> None:
    first, second = (typing_finding(span=Span(line, 3, line, 9)) for line in (5, 9))
    after = apply_baseline(sample_report(first, second), entries_of(sample_report(first)))
    assert after.findings == (second,)


@pytest.mark.parametrize(
    ("changes", "unused"),
    [
        ({}, 2),
        ({"active": ("EGL101",)}, 1),
        ({"linted": (f"{MODELS}/inner.py",), "given": (f"{MODELS}/inner.py",)}, 1),
        ({"linted": (), "given": ()}, 0),
        # a folder was given and the files are gone from it
        ({"linted": ()}, 2),
    ],
)
def test_only_what_was_looked_at_can_be_unused(changes: dict[str, object], unused: int) -> None:
    clean = sample_report(findings=(), **changes)
    assert len(apply_baseline(clean, entries_of(sample_report())).unused_baseline) == unused


def entry_text(**changes: object) -> str:
    entry = {"code": "EGL101", "path": "a.py", "class": "A", "fingerprint": "0", **changes}
    return f'{{\n"version": 1,\n"findings": [\n{json.dumps(entry)}\n]}}\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "missing"),
        ("\n\nnot json", 3, "missing"),
        ('{"version": 1,\n"findings": [\n{"code": ]}', 3, "not JSON"),
        (text_of(*entries_of(sample_report()))[:-60], 5, "damaged"),
        ('{\n"findings": []}', 1, "no version"),
        ('{\n"version": true, "findings": []}', 2, "no version"),
        ('{\n"version": 0, "findings": []}', 2, "no version"),
        ('{\n"version": 2,\n"findings": "whatever"}', 2, "version 2"),
        ('{"version": 1}', 1, "no list"),
        (entry_text(code=1), 4, "strings"),
        (entry_text(more="x"), 4, "must have"),
        ('{"version": 1,\n"findings": [\n1]}', 3, "must have"),
        (text_of() + "\nmore", 6, "after its end"),
        ('{"version": 1,\n2: 3}', 2, "name"),
        ('{"version" 1}', 1, "':'"),
        ('{"version": 1, "findings": [' + "[" * 100_000, 1, "not JSON"),
    ],
)
def test_damaged_files_are_refused_with_the_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_baseline(str(path))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("prepare", [lambda path: None, Path.mkdir])
def test_files_that_are_no_files(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    path = tmp_path / "baseline.json"
    prepare(path)
    with pytest.raises(ConfigurationError, match=r"baseline\.json: can't be read"):
        read_baseline(str(path))


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(b'{\n"version": "\xff"}')
    with pytest.raises(ConfigurationError, match=r"baseline\.json:2: .*UTF-8"):
        read_baseline(str(path))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_damage_makes_it_fail_otherwise(data: st.DataObject) -> None:
    text = text_of(*entries_of(sample_report()))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    mutated = text[:start] + data.draw(st.text('{}[]",:1eE-\\u \n', max_size=5)) + text[end:]
    try:
        entries = parse_baseline(mutated)
    except ConfigurationError as error:
        assert str(error).startswith("line ")
    else:
        assert set(parse_baseline(text_of(*entries))) == set(entries)
