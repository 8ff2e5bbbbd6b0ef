"""``eagle3-lint explain``: the whole investigation of one model class."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from eagle3_lint.engine.explaining import ExplainRequest
from eagle3_lint.frontends.cli.arguments import Options, explain_parser
from eagle3_lint.frontends.cli.engine import real_engine
from eagle3_lint.frontends.cli.streams import Progress, complain, use_color, write_output

if TYPE_CHECKING:
    from eagle3_lint.engine import Explanation
    from eagle3_lint.frontends.cli.engine import Engine


def run_explain(argv: list[str], engine: Engine | None = None) -> int:
    """Investigates what ``argv`` says; returns the exit code.

    Raises Eagle3LintError for wrong usage and configuration, for a class that the tree has not (naming near misses), and
    where no tree is found.
    """
    given = explain_parser().parse_args(argv)
    options = Options(given)
    progress = Progress() if Progress.is_wanted() else None
    request = ExplainRequest(
        given.name,
        sglang=options.optional("sglang"),
        engine=options.get("engine", "auto"),
        cache=not options.get("no-cache", False),
        cache_dir=options.optional("cache-dir"),
        progress=progress,
    )
    try:
        found = (engine or real_engine()).explain(request)
    finally:
        if progress:
            progress.clear()
    for problem in found.problems:
        complain(f"internal error: {problem}")
    write_output(_rendered(found, given.format or "text", options, given.output), given.output)
    return 0


def _rendered(found: Explanation, format_name: str, options: Options, output: str | None) -> Iterable[str]:
    if format_name == "json":
        from eagle3_lint.output.document_json import render_json

        return render_json(found.document)
    from eagle3_lint.output.explain_text import TerminalStyle, links_are_shown, render_text

    color = use_color(options.get("color", "auto"), output)
    is_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    return render_text(found.document, TerminalStyle(found.root, color, links_are_shown(os.environ, is_terminal)))
