"""What must hold of every answer, whatever was asked about."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from random import Random

from jsonschema import Draft7Validator

from eagle3_lint.engine.checking import Request, check
from eagle3_lint.engine.explaining import ExplainRequest, explain
from eagle3_lint.engine.fixing import fix, write
from eagle3_lint.engine.support_matrix import MatrixRequest, matrix
from eagle3_lint.errors import Eagle3LintError, UnreadableSourceError, UsageError
from eagle3_lint.findings.baseline import apply_baseline, entries_of, parse_baseline, write_baseline
from eagle3_lint.findings.report import Report
from eagle3_lint.frontends.cli.lines import SourceLines
from eagle3_lint.output import FORMATS, renderer
from eagle3_lint.output.context import RenderContext
from eagle3_lint.sources.reading import parse_source, read_source
from tests.official_schemas import sarif_schema

MOST_SECONDS = 20.0
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")
_COMMAND = re.compile(r"::(error|warning) [a-zA-Z]+=[^,:\r\n]*(,[a-zA-Z]+=[^,:\r\n]*)*::[^\r\n]*\n")


class Hang(BaseException):
    """The time of one input is over; no ``except Exception`` may swallow it."""


class Fault(AssertionError):
    """The program did what it must not do."""


@contextmanager
def time_limit(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Raise ``Hang`` inside the block once it has worked for ``seconds``, or waited for five times as long."""

    def stop(*_: object) -> None:
        raise Hang(f"not done after {seconds} s")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, seconds * 5))
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def require(condition: object, text: str) -> None:
    """Raise ``Fault`` unless ``condition`` holds."""
    if not condition:
        raise Fault(text)


def judge_tree(root: str, cache: str, random: Random, *, engines: tuple[str, ...] = ("auto",)) -> None:
    """Ask everything about the tree at ``root``; raises Fault, or whatever the program raises."""
    engine = random.choice(engines)
    request = Request(paths=(root,), pedantic=True, engine=engine, cache=False)
    report = check(request)
    judge_report(report)
    if random.random() < 0.5:
        cached = Request(paths=(root,), pedantic=True, engine=engine, cache_dir=cache)
        for word in ("filling the cache", "from the cache"):
            require(check(cached).findings == report.findings, f"other findings when {word}")
    if random.random() < 0.5:
        _judge_matrix(root, random, engine)
    if random.random() < 0.5:
        _judge_fixes(request, report)


def judge_report(report: Report) -> None:
    """No internal error, places that exist, and every format as its grammar has it."""
    require(not report.internal_errors, f"internal error: {report.internal_errors[:1]}")
    for one in report.findings:
        span = one.span
        require(1 <= span.line <= span.end_line and span.column >= 1, f"a span that is none: {one}")
        require(
            (span.line, span.column) <= (span.end_line, span.end_column), f"a span that ends before it starts: {one}"
        )
    _judge_formats(report)
    _judge_baseline(report)


def _judge_formats(report: Report) -> None:
    context = RenderContext("1.0.0", os.getcwd(), SourceLines(None))
    texts = {name: "".join(renderer(name)(report, context)) for name in FORMATS}
    for name, text in texts.items():
        text.encode()
        found = _CONTROL.search(text)
        require(found is None, f"{name} has a control character: {found}")
    count = len(report.findings)
    require(len(json.loads(texts["json"])["findings"]) == count, "json lost findings")
    require(len(json.loads(texts["gitlab"])) == count, "gitlab lost findings")
    problem = next(_sarif().iter_errors(json.loads(texts["sarif"])), None)
    require(problem is None, f"SARIF: {problem.message if problem else ''}")
    commands = texts["github"].splitlines(keepends=True)
    require(len(commands) == texts["concise"].count("\n") == count, "a finding is not one line")
    require(all(_COMMAND.fullmatch(command) for command in commands), "github: no command")


@lru_cache(maxsize=1)
def _sarif() -> Draft7Validator:
    return Draft7Validator(sarif_schema())


def _judge_baseline(report: Report) -> None:
    entries = entries_of(report)
    require(parse_baseline("".join(write_baseline(entries))) == entries, "the baseline is read as another one")
    rest = apply_baseline(report, entries)
    require(not rest.findings and not rest.unused_baseline, "a baseline doesn't cover what it was written from")


def _judge_matrix(root: str, random: Random, engine: str) -> None:
    tree = matrix(MatrixRequest(root, all_classes=True, cache=False, engine=engine))
    json.dumps(tree)
    names = [one["class"] for one in tree["classes"]]
    for name in random.sample(names, min(2, len(names))):
        try:
            answer = explain(ExplainRequest(name, root, engine, cache=False))
        except UsageError:
            require(names.count(name) > 1, f"explain doesn't know {name}")
            continue
        json.dumps(answer.document)
        require(not answer.problems, f"explain {name}: {answer.problems[:1]}")


def _judge_fixes(request: Request, before: Report) -> None:
    fixed = fix(request, unsafe=True, reported=lambda report: report)
    require(not fixed.report.internal_errors, f"internal error while fixing: {fixed.report.internal_errors[:1]}")
    require(not any("stopped fixing" in note for note in fixed.report.notes), "fixing never ends")
    for change in fixed.changes:
        require(
            _is_python(change.path, change.after) or not _is_python(change.path, change.before), "a fix broke a file"
        )
    write(fixed.changes)
    after = check(request)
    require(
        [_bare(one) for one in after.findings] == [_bare(one) for one in fixed.report.findings],
        "the files as written have other findings than the report of fixing",
    )
    require(bool(fixed.changes) == bool(fixed.report.fixed), "changes without a finding fixed, or the other way round")
    require(before.files == after.files, "fixing changed which files there are")


def _bare(finding: object) -> str:
    return repr(finding)


def _is_python(path: str, data: bytes) -> bool:
    try:
        parse_source(read_source(path, data))
    except UnreadableSourceError:
        return False
    return True


def expect_one_line(error: Eagle3LintError) -> None:
    """Errors for users are one line of printable text."""
    require(str(error).strip() and "\n" not in str(error), f"not one clear line: {error}")
