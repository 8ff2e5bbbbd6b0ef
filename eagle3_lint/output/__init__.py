"""The formats of a report. Each is a module with ``render(report, context)``, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

# spares --version the import of typing
TYPE_CHECKING = False
if TYPE_CHECKING:
    from eagle3_lint.findings.report import Report
    from eagle3_lint.output.context import RenderContext

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")
MATRIX_FORMATS = ("text", "markdown", "json", "html")
EXPLAIN_FORMATS = ("text", "json")

_MODULES = {"json": "json_format"}


def renderer(name: str) -> Callable[[Report, RenderContext], Iterator[str]]:
    """The function that writes a report in the format ``name``, one of ``FORMATS``, as pieces of text."""
    from importlib import import_module

    module = import_module(f"eagle3_lint.output.{_MODULES.get(name, name)}")
    render: Callable[[Report, RenderContext], Iterator[str]] = module.render
    return render
