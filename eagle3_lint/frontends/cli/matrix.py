"""``eagle3-lint matrix``: the support matrix of a models directory."""

from __future__ import annotations

from eagle3_lint.frontends.cli.arguments import Options, matrix_parser
from eagle3_lint.frontends.cli.engine import Engine, real_engine
from eagle3_lint.frontends.cli.streams import Progress, write_output
from eagle3_lint.output.matrix import check_page_requirements, render


def run_matrix(argv: list[str], engine: Engine | None = None) -> int:
    """Describes what ``argv`` says; returns the exit code.

    Raises Eagle3LintError for wrong usage, wrong configuration, and where no tree is found.
    """
    given = matrix_parser().parse_args(argv)
    options = Options(given)
    format_name = given.format or "text"
    if format_name == "html":
        check_page_requirements()
    from eagle3_lint.engine import MatrixRequest

    progress = Progress() if Progress.is_wanted() else None
    request = MatrixRequest(
        path=given.path,
        sglang=options.optional("sglang"),
        all_classes=bool(given.all),
        against=given.against,
        named=format_name in ("markdown", "html"),
        detailed=format_name == "html",
        engine=options.get("engine", "auto"),
        cache=not options.get("no-cache", False),
        cache_dir=options.optional("cache-dir"),
        progress=progress,
    )
    try:
        found = (engine or real_engine()).matrix(request)
    finally:
        if progress:
            progress.clear()
    write_output(render(found, format_name), given.output)
    return 0
