"""``eagle3-lint check``: from arguments to the engine's report, to its output, to the exit code."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from eagle3_lint import __version__
from eagle3_lint.errors import UsageError
from eagle3_lint.frontends.cli.arguments import Options, check_parser, working_directory
from eagle3_lint.frontends.cli.engine import Engine, real_engine
from eagle3_lint.frontends.cli.fixes import check_fix_options, keep_fixes, show_diff, wants_fixes
from eagle3_lint.frontends.cli.streams import (
    Progress,
    complain,
    say,
    use_color,
    write_error_output,
    write_output,
)
from eagle3_lint.output import renderer
from eagle3_lint.output.context import RenderContext
from eagle3_lint.rules.registry import select
from eagle3_lint.sources.reading import MAX_SOURCE_BYTES
from eagle3_lint.sources.upwards import checkout_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eagle3_lint.engine import Comparison, Fixed, Request
    from eagle3_lint.findings.report import Report

NO_FILES = 3
_FOR_PEOPLE = ("text", "concise")
_WITH_FIXES = ("json", "sarif")
_STANDARD_INPUT = "-"


def run_check(argv: list[str], engine: Engine | None = None) -> int:
    """Lints what ``argv`` says; returns the exit code.

    Raises Eagle3LintError for wrong usage, wrong configuration and what the engine can't have.
    """
    # argparse loses, between options, what follows the two dashes
    end = argv.index("--") if "--" in argv else len(argv)
    given = check_parser().parse_intermixed_args(argv[:end])
    given.paths += argv[end + 1 :]
    options = Options(given)
    _check_codes(options)
    _check_output(options)
    check_fix_options(options)
    started = time.monotonic()
    progress = Progress() if Progress.is_wanted() and not options.get("quiet", False) else None
    request = _request(given.paths, options, progress)
    fixed: Fixed | None = None
    chosen = engine or real_engine()
    try:
        comparison = _comparison(chosen, request, options)
        request = comparison.request if comparison is not None else request
        if wants_fixes(options):
            fixed = _fix(chosen, request, options, comparison)
        else:
            found = chosen.check(request)
    finally:
        if progress:
            progress.clear()
    if fixed is not None:
        if options.get("diff", False):
            return _show_diff(fixed, options, time.monotonic() - started)
        found = fixed.report
        request = replace(request, buffer=keep_fixes(fixed, request.buffer))
    report = _compared(found, options, comparison)
    _tell(report, options, time.monotonic() - started)
    rendered = _rendered(report, options, request)
    if fixed is not None and request.buffer is not None and not options.optional("output"):
        write_error_output(rendered)
    else:
        write_output(rendered, options.optional("output"))
    _write_baseline(found, options)
    return _exit_code(report, options)


def _comparison(engine: Engine, request: Request, options: Options) -> Comparison | None:
    revision = options.get("since", None)
    return engine.compared_with(request, revision) if revision is not None else None


def _fix(engine: Engine, request: Request, options: Options, comparison: Comparison | None) -> Fixed:
    return engine.fix(
        request,
        unsafe=options.get("unsafe-fixes", False),
        reported=lambda report: _compared(report, options, comparison),
    )


def _show_diff(fixed: Fixed, options: Options, seconds: float) -> int:
    _tell(fixed.report, options, seconds)
    differs = show_diff(fixed, options)
    if fixed.report.internal_errors or fixed.report.files == 0:
        return _exit_code(fixed.report, options)
    return 1 if differs and not options.get("exit-zero", False) else 0


def _check_codes(options: Options) -> None:
    """Unknown codes of a configuration are its fault, with file, line and key."""
    for name in ("select", "ignore"):
        try:
            select(options.get(name, ()))
        except UsageError as error:
            if options.configuration is not None and options.is_configured(name):
                raise options.configuration.error(name, str(error)) from None
            raise


def _check_output(options: Options) -> None:
    """Says before the work, not after, that its result can't be put anywhere."""
    for name in ("output", "write-baseline"):
        path = options.optional(name)
        if path is None:
            continue
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise UsageError(f"--{name}: no such directory: {folder}")
        if os.path.isdir(path):
            raise UsageError(f"--{name}: is a directory: {path}")


def _request(paths: list[str], options: Options, progress: Progress | None) -> Request:
    from eagle3_lint.engine import Request

    buffer = _buffer(paths, options)
    target = options.optional("target-version")
    major, _, minor = (target or "").partition(".")
    return Request(
        paths=(buffer[0],) if buffer else _existing(paths, options),
        select=options.get("select", ()),
        ignore=options.get("ignore", ()),
        pedantic=options.get("pedantic", False),
        sglang=options.optional("sglang"),
        engine=options.get("engine", "auto"),
        cache=not options.get("no-cache", False),
        cache_dir=options.optional("cache-dir"),
        target_version=(int(major), int(minor)) if target else None,
        buffer=buffer,
        progress=progress,
        with_fixes=options.get("format", "text") in _WITH_FIXES or wants_fixes(options),
    )


def _existing(paths: list[str], options: Options) -> tuple[str, ...] | None:
    # with --since, a path may be one that the revision has and that is gone now: the engine looks
    may_be_gone = options.get("since", None) is not None
    for path in paths:
        if not path or "\0" in path or not (may_be_gone or os.path.lexists(path)):
            raise UsageError(f"no such file or directory: {path!r}")
    return tuple(paths) or None


def _buffer(paths: list[str], options: Options) -> tuple[str, bytes] | None:
    name = options.optional("stdin-filename")
    if _STANDARD_INPUT not in paths:
        if name is not None:
            raise UsageError("--stdin-filename goes with the path -")
        return None
    if name is None or len(paths) != 1:
        raise UsageError("the path - goes with --stdin-filename PATH, and with no other path")
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    # one byte more than is ever linted tells that it is too much
    return name, sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)


def _compared(report: Report, options: Options, comparison: Comparison | None) -> Report:
    if comparison is not None:
        report = comparison.new_in(report)
    path = options.optional("baseline")
    if path is None or options.optional("write-baseline"):
        return report
    from eagle3_lint.findings.baseline import apply_baseline, read_baseline

    return apply_baseline(report, read_baseline(path))


def _rendered(report: Report, options: Options, request: Request) -> Iterator[str]:
    from eagle3_lint.frontends.cli.lines import SourceLines

    format_name = options.get("format", "text")
    context = RenderContext(
        version=__version__,
        base=checkout_around(report.root) or working_directory(),
        read_line=SourceLines(request.buffer),
        color=use_color(options.get("color", "auto"), options.optional("output")),
        quiet=options.get("quiet", False),
    )
    yield from renderer(format_name)(report, context)
    if options.get("statistics", False):
        from eagle3_lint.output.statistics import render

        if format_name in _FOR_PEOPLE:
            yield from render(report)
        else:
            for line in render(report):
                say(line.rstrip("\n"))


def _tell(report: Report, options: Options, seconds: float) -> None:
    """What belongs on standard error: the program's own faults, notes, and what ``--verbose`` adds."""
    for error in report.internal_errors:
        complain(f"internal error: {error}")
    if options.get("quiet", False):
        return
    for note in report.notes:
        say(f"eagle3-lint: {note}")
    if options.get("format", "text") not in _FOR_PEOPLE[:1]:
        for entry in report.unused_baseline:
            say(f"eagle3-lint: {entry.path}: {entry.code} in the baseline no longer matches: {entry.class_name}")
    if options.get("verbose", False):
        source = options.configuration.path if options.configuration else "none"
        say(f"eagle3-lint: configuration: {source}")
        say(f"eagle3-lint: root: {report.root}")
        say(f"eagle3-lint: rules: {', '.join(report.active)}")
        if report.cache_problem:
            say(f"eagle3-lint: this run went without cache: {report.cache_problem}")
        revision = options.optional("since")
        if revision is not None:
            say(f"eagle3-lint: {len(report.unchanged)} findings aren't new since {revision}")
        say(
            f"eagle3-lint: {report.files} files, {report.classes} classes, {report.registered} registered, "
            f"{report.wrappers} wrappers, {seconds:.2f} s"
        )


def _write_baseline(report: Report, options: Options) -> None:
    path = options.optional("write-baseline")
    if path is None:
        return
    from eagle3_lint.findings.baseline import entries_of, write_baseline

    entries = entries_of(report)
    write_output(write_baseline(entries), path)
    if not options.get("quiet", False):
        say(f"eagle3-lint: listed {len(entries)} findings in {path}")


def _exit_code(report: Report, options: Options) -> int:
    if report.internal_errors:
        return 2
    if report.files == 0:
        complain("no Python file matched")
        return NO_FILES
    if options.get("exit-zero", False) or options.optional("write-baseline"):
        return 0
    stale = bool(report.unused_baseline) and options.get("pedantic", False)
    return 1 if report.findings or stale else 0
