"""The formats of a report: each one's own grammar, and what odd input does to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft7Validator
from official_schemas import sarif_schema
from sample_report import MODELS, ROOT, sample_report, typing_finding, wrapper_finding

from eagle3_lint.findings.codes import documentation_url
from eagle3_lint.findings.fingerprint import fingerprints_of
from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Span
from eagle3_lint.findings.report import BaselineEntry, InternalError, Report, Suppressed
from eagle3_lint.output import FORMATS, renderer
from eagle3_lint.output.context import RenderContext
from eagle3_lint.output.escape import printable, well_formed

LINES = {
    f"{MODELS}/wrapper.py": {12: "class Wrapper(nn.Module):"},
    f"{MODELS}/inner.py": {5: "    def f(x: Optional):"},
}
ODD_NAMES = (
    "with space.py",
    "per%cent.py",
    "colon:s::.py",
    "comma,s.py",
    "line\nend\r.py",
    "\x1b[31mred.py",
    "quote\"s'.py",
    "ünïcödé🦙.py",
    "right\u202eto.py",
    "not-utf8-\udcff.py",
    "#hash?query&.py",
    "back\\slash.py",
)


def read_line(path: str, line: int) -> str | None:
    return LINES.get(path, {}).get(line)


def rendered(name: str, report: Report, **changes: Any) -> str:
    context = RenderContext(**{"version": "1.2.3", "base": "/repo", "read_line": read_line, **changes})
    return "".join(renderer(name)(report, context))


def odd_report() -> Report:
    return sample_report(
        *(
            wrapper_finding(
                path=f"{MODELS}/{name}",
                message=f"a message\nabout {name}",
                evidence=(Evidence(f"{MODELS}/{name}", 3, f"evidence: {name}"),),
                fix=None,
            )
            for name in ODD_NAMES
        )
    )


@pytest.fixture(scope="module")
def sarif_validator() -> Draft7Validator:
    schema = sarif_schema()
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize("name", FORMATS)
def test_odd_names_break_no_format(name: str) -> None:
    text = rendered(name, odd_report())
    text.encode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    if name in ("json", "sarif", "gitlab"):
        assert text.isascii()
        json.loads(text)
    if name in ("github", "concise"):
        assert text.count("\n") == len(ODD_NAMES)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_without_findings(name: str) -> None:
    text = rendered(name, sample_report(findings=()))
    if name in ("json", "sarif", "gitlab"):
        json.loads(text)
    else:
        assert text == ("Nothing found in 2 files.\n" if name == "text" else "")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "concise"])
def test_every_format_links_to_the_documentation(name: str) -> None:
    assert documentation_url("EGL101") in rendered(name, sample_report())


def test_concise() -> None:
    assert rendered("concise", sample_report()) == (
        "sglang/srt/models/inner.py:5:12: EGL302 unimported-typing-name-deferred Optional is not imported\n"
        "sglang/srt/models/wrapper.py:12:7: EGL101 missing-eagle3-delegation "
        "Wrapper does not expose the setter that Inner has\n"
    )


def test_text_shows_the_line_the_span_and_the_evidence() -> None:
    text = rendered("text", sample_report(wrapper_finding()))
    assert text == (
        "sglang/srt/models/wrapper.py:12:7: error EGL101 missing-eagle3-delegation: "
        "Wrapper does not expose the setter that Inner has\n"
        "     |\n"
        "  12 | class Wrapper(nn.Module):\n"
        "     |       ^^^^^^^\n"
        "  sglang/srt/models/wrapper.py:20: self.language_model is built as Inner\n"
        "  sglang/srt/models/inner.py:30: Inner defines the setter\n"
        f"  see {documentation_url('EGL101')}\n"
        "\n"
        "Found 1 error in 2 files.\n"
    )


def test_text_summary() -> None:
    accepted = Suppressed(typing_finding(), "external")
    report = sample_report(suppressed=3, fixed=1, suppressions=(accepted,))
    last = rendered("text", report).splitlines()[-1]
    assert last == "1 finding fixed. Found 1 error and 1 warning in 2 files (3 suppressed, 1 in the baseline)."


def test_quiet_text_is_findings_and_evidence_alone() -> None:
    text = rendered("text", sample_report(), quiet=True)
    assert "^^^" not in text
    assert "Found" not in text
    assert "see http" not in text
    assert "self.language_model is built as Inner" in text


def test_text_names_what_the_baseline_lists_in_vain() -> None:
    entry = BaselineEntry("0", "EGL101", "sglang/srt/models/gone.py", "sglang.srt.models.gone.Gone")
    text = rendered("text", sample_report(findings=(), unused_baseline=(entry,)))
    assert "sglang/srt/models/gone.py: EGL101 in the baseline no longer matches: sglang.srt.models.gone.Gone" in text


def test_colours_only_when_asked_for() -> None:
    assert "\x1b[" not in rendered("text", sample_report())
    coloured = rendered("text", sample_report(), color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == rendered("text", sample_report())


@pytest.mark.parametrize(
    ("line", "span", "shown", "marks"),
    [
        ("class A:", Span(1, 7, 1, 8), "class A:", "      ^"),
        ("\tclass A:", Span(1, 8, 1, 9), "    class A:", "          ^"),
        ("x = '\x1b[0m'; y: A", Span(1, 16, 1, 17), "x = '\\x1b[0m'; y: A", "                  ^"),
        ("模型: A", Span(1, 5, 1, 6), "模型: A", "      ^"),
        ("e\u0301: A", Span(1, 5, 1, 6), "e\u0301: A", "   ^"),
        ("x: (A,", Span(1, 4, 3, 2), "x: (A,", "   ^^^"),
        ("x", Span(1, 2, 1, 2), "x", " ^"),
        ("x", Span(1, 40, 1, 50), "x", " ^"),
        ("", Span(1, 1, 1, 1), "", "^"),
    ],
)
def test_the_span_is_underlined_where_a_terminal_shows_it(line: str, span: Span, shown: str, marks: str) -> None:
    text = rendered("text", sample_report(typing_finding(span=span)), read_line=lambda *_: line)
    rows = text.splitlines()
    assert rows[2] == f"  1 | {shown}"
    assert rows[3] == f"    | {marks}"


def test_a_very_long_line_is_cut_around_the_span() -> None:
    line = "x" * 5000 + "Optional" + "y" * 5000
    text = rendered("text", sample_report(typing_finding(span=Span(1, 5001, 1, 5009))), read_line=lambda *_: line)
    excerpt, marks = text.splitlines()[2:4]
    assert len(excerpt) < 200
    at = marks.index("^")
    assert excerpt[at : marks.rindex("^") + 1] == "Optional"


def test_text_without_the_source() -> None:
    text = rendered("text", sample_report(), read_line=lambda *_: None)
    assert "^" not in text
    assert "Found 1 error and 1 warning" in text


def test_json_has_exactly_the_keys_of_the_interface() -> None:
    document = json.loads(rendered("json", sample_report()))
    assert set(document) == {"version", "tool", "root", "findings", "suppressed", "unused_baseline", "summary"}
    assert document["version"] == 1
    assert document["tool"] == {"name": "eagle3-lint", "version": "1.2.3"}
    assert document["root"] == ROOT
    assert document["summary"] == {
        "files": 2,
        "classes": 3,
        "registered": 1,
        "wrappers": 1,
        "by_code": {"EGL101": 1, "EGL102": 0, "EGL302": 1},
    }
    typing, wrapper = document["findings"]
    assert set(typing) == set(wrapper)
    assert {key: wrapper[key] for key in wrapper if key not in ("message", "fingerprint")} == {
        "code": "EGL101",
        "symbol": "missing-eagle3-delegation",
        "severity": "error",
        "path": "sglang/srt/models/wrapper.py",
        "line": 12,
        "column": 7,
        "end_line": 12,
        "end_column": 14,
        "class": "sglang.srt.models.wrapper.Wrapper",
        "registered": ["sglang.srt.models.wrapper.Wrapper"],
        "inner": [{"attribute": "language_model", "class": "sglang.srt.models.inner.Inner", "supports": True}],
        "methods": ["set_eagle3_layers_to_capture", "get_embed_and_head"],
        "name": None,
        "confidence": "high",
        "elsewhere": False,
        "url": documentation_url("EGL101"),
        "evidence": [
            {
                "path": "sglang/srt/models/wrapper.py",
                "line": 20,
                "message": "self.language_model is built as Inner",
            },
            {"path": "sglang/srt/models/inner.py", "line": 30, "message": "Inner defines the setter"},
        ],
        "fix": {
            "safety": "safe",
            "edits": [
                {
                    "path": "sglang/srt/models/wrapper.py",
                    "line": 40,
                    "column": 1,
                    "end_line": 40,
                    "end_column": 1,
                    "text": "\n    def f(self): ...\n",
                }
            ],
        },
    }
    assert typing["name"] == "Optional"
    assert typing["class"] is None
    assert typing["fix"] is None
    assert typing["registered"] == typing["inner"] == typing["methods"] == typing["evidence"] == []


def test_json_counts_fixes_only_after_fixing() -> None:
    assert "fixed" not in json.loads(rendered("json", sample_report()))["summary"]
    assert json.loads(rendered("json", sample_report(fixed=0)))["summary"]["fixed"] == 0


def test_json_lists_what_the_baseline_lists_in_vain() -> None:
    entry = BaselineEntry("0f", "EGL101", "a.py", "")
    document = json.loads(rendered("json", sample_report(unused_baseline=(entry,))))
    assert document["unused_baseline"] == [{"fingerprint": "0f", "code": "EGL101", "path": "a.py", "class": None}]


COMMAND = re.compile(r"::(error|warning) ((?:[a-zA-Z]+=[^,:\r\n]*)(?:,[a-zA-Z]+=[^,:\r\n]*)*)::([^\r\n]*)\n")


def parse_command(line: str) -> tuple[str, dict[str, str], str]:
    """Reads one command as the runner does: https://github.com/actions/toolkit/blob/main/docs/commands.md."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    unescaped = {name: unescape(value, ":,") for name, value in properties.items()}
    return match[1], unescaped, unescape(match[3], "")


def unescape(text: str, more: str) -> str:
    for character in "\r\n" + more:
        text = text.replace(f"%{ord(character):02X}", character)
    return text.replace("%25", "%")


def test_github_commands() -> None:
    lines = rendered("github", sample_report()).splitlines(keepends=True)
    kind, properties, message = parse_command(lines[1])
    assert kind == "error"
    assert properties == {
        "file": "python/sglang/srt/models/wrapper.py",
        "line": "12",
        "endLine": "12",
        "col": "7",
        "endColumn": "14",
        "title": "EGL101 missing-eagle3-delegation",
    }
    assert message.splitlines() == [
        "Wrapper does not expose the setter that Inner has",
        "python/sglang/srt/models/wrapper.py:20: self.language_model is built as Inner",
        "python/sglang/srt/models/inner.py:30: Inner defines the setter",
        documentation_url("EGL101"),
    ]
    assert parse_command(lines[0])[0] == "warning"


def test_github_names_files_as_they_are_but_for_what_no_escape_carries() -> None:
    lines = rendered("github", odd_report()).splitlines(keepends=True)
    files = [parse_command(line)[1]["file"].rpartition("/")[2] for line in lines]
    expected = {
        name.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\udcff", "\\xff") for name in ODD_NAMES
    }
    assert set(files) == expected


def test_github_leaves_columns_out_of_a_span_over_lines() -> None:
    _, properties, _ = parse_command(rendered("github", sample_report(typing_finding(span=Span(5, 12, 7, 3)))))
    assert (properties["line"], properties["endLine"]) == ("5", "7")
    assert "col" not in properties
    assert "endColumn" not in properties


def test_gitlab_issues() -> None:
    report = sample_report()
    issues = json.loads(rendered("gitlab", report))
    assert [issue["check_name"] for issue in issues] == ["EGL302", "EGL101"]
    assert [issue["severity"] for issue in issues] == ["minor", "major"]
    assert issues[1]["location"] == {"path": "python/sglang/srt/models/wrapper.py", "lines": {"begin": 12, "end": 12}}
    assert [issue["fingerprint"] for issue in issues] == [fingerprints_of(report)[found] for found in report.findings]
    assert "python/sglang/srt/models/inner.py:30" in issues[1]["content"]["body"]
    assert all(isinstance(issue["description"], str) and issue["description"] for issue in issues)


def sarif_reports() -> dict[str, Report]:
    many = [typing_finding(span=Span(line, 12, line, 20)) for line in range(1, 1001)]
    odd_fix = Fix("unsafe", (Edit(f"{MODELS}/a b.py", Span(1, 1, 2, 1), "\ud800x"),), "write the rest")
    return {
        "sample": sample_report(),
        "empty": sample_report(findings=()),
        "odd": odd_report(),
        "many": sample_report(*many),
        "fix": sample_report(wrapper_finding(fix=odd_fix)),
        "outside": sample_report(wrapper_finding(path="/elsewhere/w.py")),
        "every rule": sample_report(active=()),
        "silenced": sample_report(
            findings=(),
            suppressed=1,
            suppressions=(
                Suppressed(wrapper_finding(), "inSource", "served without a draft"),
                Suppressed(typing_finding(), "external"),
            ),
        ),
        "broken": sample_report(
            notes=("a note",),
            internal_errors=(
                InternalError("EGL101", f"{MODELS}/wrapper.py", 0, "KeyError: 1"),
                InternalError("facts", f"{MODELS}/wrapper.py", 3, "KeyError: 2"),
            ),
        ),
    }


@pytest.mark.parametrize("name", sarif_reports())
def test_sarif_follows_the_official_schema(name: str, sarif_validator: Draft7Validator) -> None:
    report = sarif_reports()[name]
    log = json.loads(rendered("sarif", report))
    assert [f"{error.json_path}: {error.message}" for error in sarif_validator.iter_errors(log)] == []
    check_sarif_beyond_the_schema(log, report)


def test_the_schema_is_no_rubber_stamp(sarif_validator: Draft7Validator) -> None:
    log = json.loads(rendered("sarif", sample_report()))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(sarif_validator.iter_errors(log))


def check_sarif_beyond_the_schema(log: dict[str, Any], report: Report) -> None:
    """What the specification says in words: references point at something, and URIs are URIs."""
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["help"]["text"] and rule["helpUri"] == documentation_url(rule["id"])
    assert len(run["results"]) == len(report.findings) + len(report.suppressions)
    for result in run["results"]:
        if "ruleIndex" in result:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert isinstance(result["suppressions"], list)
        assert result["partialFingerprints"]
    for location in artifact_locations(run):
        uri = location["uri"]
        assert re.fullmatch(r"(?:[A-Za-z0-9._~/:-]|%[0-9A-F]{2})+", uri)
        if "uriBaseId" in location:
            base = run["originalUriBaseIds"][location["uriBaseId"]]["uri"]
            assert base == "file:///repo/"
            assert not uri.startswith("/") and ":" not in uri and ".." not in uri.split("/")
        else:
            assert uri.startswith("file:///")
    for region in all_of(run, "region") + all_of(run, "deletedRegion"):
        assert region["startLine"] >= 1
        assert region.get("endLine", region["startLine"]) >= region["startLine"]


def artifact_locations(node: object) -> list[dict[str, Any]]:
    return all_of(node, "artifactLocation")


def all_of(node: object, key: str) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        own = [node[key]] if key in node else []
        return own + [found for value in node.values() for found in all_of(value, key)]
    if isinstance(node, list):
        return [found for value in node for found in all_of(value, key)]
    return []


def test_sarif_names_files_byte_by_byte() -> None:
    (run,) = json.loads(rendered("sarif", odd_report()))["runs"]
    names = {
        unquote_to_bytes(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]).rpartition(b"/")[2]
        for result in run["results"]
    }
    assert names == {name.encode("utf-8", "surrogateescape") for name in ODD_NAMES}


def test_sarif_tells_the_chain_of_evidence_and_ends_at_the_finding() -> None:
    (run,) = json.loads(rendered("sarif", sample_report(wrapper_finding())))["runs"]
    (flow,) = run["results"][0]["codeFlows"]
    steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
    assert [step["message"]["text"] for step in steps] == [
        "self.language_model is built as Inner",
        "Inner defines the setter",
        "Wrapper does not expose the setter that Inner has",
    ]
    assert steps[-1]["physicalLocation"] == run["results"][0]["locations"][0]["physicalLocation"]


def test_sarif_lists_what_is_silenced() -> None:
    (run,) = json.loads(rendered("sarif", sarif_reports()["silenced"]))["runs"]
    assert [result["suppressions"] for result in run["results"]] == [
        [{"kind": "inSource", "justification": "served without a draft"}],
        [{"kind": "external"}],
    ]


def test_sarif_fixes() -> None:
    (run,) = json.loads(rendered("sarif", sample_report(wrapper_finding())))["runs"]
    (fix,) = run["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "python/sglang/srt/models/wrapper.py"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 40, "startColumn": 1, "endLine": 40, "endColumn": 1},
            "insertedContent": {"text": "\n    def f(self): ...\n"},
        }
    ]


def test_sarif_tells_of_faults_of_the_program() -> None:
    (run,) = json.loads(rendered("sarif", sarif_reports()["broken"]))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [one["level"] for one in invocation["toolExecutionNotifications"]] == ["error", "error", "note"]


def test_paths_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sep", "\\")
    report = sample_report(
        wrapper_finding(path=r"C:\work\repo\sglang\srt\models\w x.py", evidence=(), fix=None), root=r"C:\work\repo"
    )
    base = r"C:\work"
    (run,) = json.loads(rendered("sarif", report, base=base))["runs"]
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///C:/work/"
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "repo/sglang/srt/models/w%20x.py", "uriBaseId": "%SRCROOT%"}
    assert json.loads(rendered("json", report))["findings"][0]["path"] == "sglang/srt/models/w x.py"
    assert json.loads(rendered("gitlab", report, base=base))[0]["location"]["path"] == "repo/sglang/srt/models/w x.py"
    share = sample_report(wrapper_finding(path=r"\\host\share\m.py", evidence=(), fix=None), root=r"\\host\share")
    (run,) = json.loads(rendered("sarif", share, base=r"\\host\share"))["runs"]
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file://host/share/"


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        (printable, "plain äöü 模型", "plain äöü 模型"),
        (printable, "a\tb\nc\x00", "a\\tb\\nc\\x00"),
        (printable, "\u202e\u2066\u200b", "\\u202e\\u2066\\u200b"),
        (printable, "\x9b31m", "\\x9b31m"),
        (printable, "\udcff\ud800", "\\xff\\ud800"),
        (printable, "no\u00a0break", "no\u00a0break"),
        (well_formed, "\x1b stays \ud800", "\x1b stays \\ud800"),
    ],
)
def test_escapes(function: Callable[[str], str], text: str, expected: str) -> None:
    assert function(text) == expected


def test_every_format_is_a_module(tmp_path: Path) -> None:
    for name in FORMATS:
        assert callable(renderer(name))


def test_a_finding_elsewhere_is_said_to_be(tmp_path: Path) -> None:
    finding: Finding = wrapper_finding(elsewhere=True)
    assert "this file was not given" in rendered("text", sample_report(finding))
    assert json.loads(rendered("json", sample_report(finding)))["findings"][0]["elsewhere"] is True
