"""The support matrix, from the form that its JSON has, in the formats of ``matrix``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eagle3_lint.output.escape import printable, well_formed

Matrix = Mapping[str, Any]


def render(matrix: Matrix, format_name: str) -> Iterator[str]:
    """The matrix in one of ``MATRIX_FORMATS``, as pieces of text; KeyError for another format."""
    return _RENDERERS[format_name](matrix)


def _json(matrix: Matrix) -> Iterator[str]:
    yield json.dumps(_well_formed(matrix), indent=2)
    yield "\n"


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {key: _well_formed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_well_formed(item) for item in value]
    return value


def _text(matrix: Matrix) -> Iterator[str]:
    yield "The runtime calls on a target:\n"
    for method in matrix["interface"]:
        yield f"  {_interface(method)}\n"
    classes = matrix["classes"]
    yield "\nClasses:\n"
    width = max((len(_short(entry["class"])) for entry in classes), default=0)
    for entry in classes:
        yield f"  {entry['capture']:<11}  {_short(entry['class']):<{width}}  {_details(entry)}\n"
    counts = Counter(entry["capture"] for entry in classes)
    shown = ", ".join(f"{count} {capture}" for capture, count in sorted(counts.items()))
    yield f"\n{len(classes)} classes: {shown or 'none'}\n"


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
    return printable(dotted.rpartition(".")[2])


_RENDERERS: dict[str, Callable[[Matrix], Iterator[str]]] = {"text": _text, "json": _json}
