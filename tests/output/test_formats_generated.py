"""Whatever a finding says, no format puts out what its grammar forbids."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from official_schemas import sarif_schema
from sample_report import sample_report

from eagle3_lint.findings.baseline import entries_of, parse_baseline, write_baseline
from eagle3_lint.findings.fingerprint import fingerprints_of
from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Inner, Span
from eagle3_lint.findings.report import Report
from eagle3_lint.output import FORMATS, renderer
from eagle3_lint.output.context import RenderContext
from eagle3_lint.rules.catalogue import CODES

TEXT = st.text(st.characters(), max_size=15)
NAMES = st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
PATHS = st.builds("/repo/{}/{}.py".format, NAMES, NAMES) | st.builds("/{}".format, NAMES)
PLACES = st.integers(1, 50)
SPANS = st.builds(
    lambda line, column, lines, columns: Span(line, column, line + lines, column + columns),
    PLACES,
    PLACES,
    st.integers(0, 2),
    st.integers(0, 60),
)
FIXES = st.builds(
    Fix, st.sampled_from(["safe", "unsafe"]), st.lists(st.builds(Edit, PATHS, SPANS, TEXT), max_size=2).map(tuple), TEXT
)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    code = draw(st.sampled_from(CODES))
    return Finding(
        code.code,
        code.symbol,
        code.severity,
        draw(PATHS),
        draw(SPANS),
        draw(TEXT),
        class_name=draw(st.none() | TEXT),
        registered=draw(st.lists(TEXT, max_size=2).map(tuple)),
        inner=draw(st.lists(st.builds(Inner, TEXT, TEXT, st.booleans()), max_size=2).map(tuple)),
        methods=draw(st.lists(TEXT, max_size=2).map(tuple)),
        evidence=draw(st.lists(st.builds(Evidence, PATHS, st.integers(0, 9), TEXT), max_size=2).map(tuple)),
        fix=draw(st.none() | FIXES),
        name=draw(st.none() | TEXT),
        scope=draw(TEXT),
    )


REPORTS = st.lists(findings(), max_size=4).map(
    lambda found: sample_report(*found, root="/repo") if found else sample_report(findings=(), root="/repo")
)
VALIDATOR = Draft7Validator(sarif_schema())
COMMAND = re.compile(r"::(error|warning) [a-zA-Z]+=[^,:\r\n]*(,[a-zA-Z]+=[^,:\r\n]*)*::[^\r\n]*\n")


def rendered(name: str, report: Report, line: str) -> str:
    context = RenderContext("1.0.0", "/repo", lambda *_: line)
    text = "".join(renderer(name)(report, context))
    text.encode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", text)
    return text


@settings(max_examples=150, deadline=None)
@given(REPORTS, st.text(st.characters(), max_size=60))
def test_every_format(report: Report, line: str) -> None:
    texts = {name: rendered(name, report, line) for name in FORMATS}
    assert len(json.loads(texts["json"])["findings"]) == len(report.findings)
    assert len(json.loads(texts["gitlab"])) == len(report.findings)
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(texts["sarif"]))] == []
    commands = texts["github"].splitlines(keepends=True)
    assert len(commands) == texts["concise"].count("\n") == len(report.findings)
    assert all(COMMAND.fullmatch(command) for command in commands)


@settings(max_examples=150, deadline=None)
@given(REPORTS)
def test_fingerprints_tell_findings_apart_and_survive_a_baseline(report: Report) -> None:
    fingerprints = fingerprints_of(report)
    assert len(set(fingerprints.values())) == len(report.findings)
    entries = entries_of(report)
    assert set(parse_baseline("".join(write_baseline(entries)))) == set(entries)
    assert {entry.fingerprint for entry in entries} == set(fingerprints.values())
