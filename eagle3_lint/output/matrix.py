"""The support matrix, from the form that its JSON has, in the formats of ``matrix``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from eagle3_lint.errors import UsageError
from eagle3_lint.output.document_json import render_json
from eagle3_lint.output.escape import printable
from eagle3_lint.output.matrix_reading import TITLES, Matrix, change_groups, name_of, protocols, short, state


def render(matrix: Matrix, format_name: str) -> Iterator[str]:
    """The matrix in one of ``MATRIX_FORMATS``, as pieces of text.

    Raises KeyError for another format, UsageError where the format needs a package that isn't installed.
    """
    return _RENDERERS[format_name](matrix)


def check_page_requirements() -> None:
    """Raises UsageError, with the command that helps, where ``html`` lacks a package; asked before the work is done."""
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        raise UsageError("--format html needs jinja2: python -m pip install 'eagle3-lint[html]'")


def _markdown(matrix: Matrix) -> Iterator[str]:
    from eagle3_lint.output.matrix_markdown import render_markdown

    return render_markdown(matrix)


def _html(matrix: Matrix) -> Iterator[str]:
    from eagle3_lint.output.page import render_page

    return render_page(matrix)


def _text(matrix: Matrix) -> Iterator[str]:
    yield "The runtime calls on a target:\n"
    for method in matrix["interface"]:
        yield f"  {_interface(method)}\n"
    classes = matrix["classes"]
    shown = protocols(matrix)
    yield "\nClasses:\n"
    width = max((len(_short(entry["class"])) for entry in classes), default=0)
    if len(shown) > 1:
        yield f"  {_columns([TITLES[one] for one in shown]).rstrip()}\n"
    for entry in classes:
        states = _columns([state(entry, one) for one in shown])
        yield f"  {states}  {_short(entry['class']):<{width}}  {_details(entry)}\n"
    yield "\n"
    for one in shown:
        counts = Counter(state(entry, one) for entry in classes)
        total = ", ".join(f"{count} {capture}" for capture, count in sorted(counts.items()))
        label = f"{TITLES[one]}, " if len(shown) > 1 else ""
        yield f"{label}{len(classes)} classes: {total or 'none'}\n"
    yield from _changes(matrix)


def _columns(words: list[str]) -> str:
    return "  ".join(f"{word:<11}" for word in words)


def _changes(matrix: Matrix) -> Iterator[str]:
    if "against" not in matrix:
        return
    groups = change_groups(matrix)
    yield f"\nAgainst {printable(name_of(matrix['against']))}:{'' if groups else ' no target changed'}\n"
    for group in groups:
        yield f"  {group.title}:\n"
        for row in group.rows:
            yield f"    {printable(row.name)}: {'; '.join(_way(TITLES[one], *row.states[one]) for one in row.states)}\n"


def _way(title: str, before: str | None, after: str | None) -> str:
    return f"{title} {' -> '.join(part for part in (before, after) if part)}"


def _interface(method: Matrix) -> str:
    guard = "guarded" if method["guarded"] else "unguarded"
    calls = ", ".join(method["called_with"])
    sites = ", ".join(f"{printable(site['path'])}:{site['line']}" for site in method["call_sites"])
    return f"{method['method']}  {guard}  {printable(calls)}  {sites or '(built-in default)'}"


def _details(entry: Matrix) -> str:
    parts = [entry["role"], f"{printable(entry['path'])}:{entry['line']}"]
    if entry["multimodal"]:
        parts.insert(1, "multimodal")
    for inner in entry["inner"]:
        verb = "which supports it" if inner["supports"] else "which doesn't support it"
        parts.append(f"{printable(inner['attribute'])} = {printable(_short(inner['class']))}, {verb}")
    if entry.get("note"):
        parts.append(printable(entry["note"]))
    return "  ".join(parts)


def _short(dotted: str) -> str:
    return printable(short(dotted))


_RENDERERS: dict[str, Callable[[Matrix], Iterator[str]]] = {
    "text": _text,
    "json": render_json,
    "markdown": _markdown,
    "html": _html,
}
