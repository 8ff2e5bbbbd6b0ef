"""The matrix in Markdown, for a pull request or a wiki (https://github.github.com/gfm/)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from eagle3_lint.output.escape import printable
from eagle3_lint.output.matrix_reading import (
    MEANINGS,
    STATES,
    TITLES,
    Matrix,
    change_groups,
    counts,
    name_of,
    protocols,
    short,
    state,
)

_SIGNS = {"missing": "❌", "unknown": "❔", "unsupported": "\N{HEAVY MINUS SIGN}"}
_BACKSLASHED = re.compile(r"[\\`*_{}\[\]()#+!|~]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"})


def render_markdown(matrix: Matrix) -> Iterator[str]:
    """``matrix`` as pieces of Markdown: counts, what changed, then every class."""
    yield f"# EAGLE-3 support matrix of {_plain(name_of(matrix))}\n\n"
    shown = protocols(matrix)
    yield from _counts(matrix, shown)
    yield from _changes(matrix)
    targets = [one for one in matrix["classes"] if one["role"] != "draft"]
    drafts = [one for one in matrix["classes"] if one["role"] == "draft"]
    yield "\n## Classes\n\n"
    yield from _classes(targets, shown)
    if drafts:
        yield "\n<details>\n<summary>Drafts, which nothing is captured from</summary>\n\n"
        yield from _classes(drafts, shown)
        yield "\n</details>\n"
    yield from _interface(matrix)


def _counts(matrix: Matrix, shown: Sequence[str]) -> Iterator[str]:
    by_protocol = {one: counts(matrix, one) for one in shown}
    states = [one for one in STATES if any(one in found for found in by_protocol.values())]
    rows = ([_state(one), MEANINGS[one], *(str(by_protocol[p].get(one, 0)) for p in shown)] for one in states)
    yield from _table(["State", "Meaning", *(TITLES[one] for one in shown)], rows, numbers=len(shown))


def _changes(matrix: Matrix) -> Iterator[str]:
    if "against" not in matrix:
        return
    groups = change_groups(matrix)
    yield f"\n## Against {_plain(name_of(matrix['against']))}\n\n"
    if not groups:
        yield "No target changed.\n"
    shown = [one for one in TITLES if any(one in row.states for group in groups for row in group.rows)]
    for group in groups:
        yield f"### {'⚠️ ' if group.bad else ''}{group.title}\n\n"
        rows = ([_plain(row.name), *(_way(*row.states.get(one, (None, None))) for one in shown)] for row in group.rows)
        yield from _table(["Class", *(TITLES[one] for one in shown)], rows)
        yield "\n"


def _way(before: str | None, after: str | None) -> str:
    return " → ".join(_state(one) for one in (before, after) if one is not None)


def _classes(classes: Iterable[Matrix], shown: Sequence[str]) -> Iterator[str]:
    rows = (
        [
            f"{_plain(short(one['class']))}{' (multimodal)' if one['multimodal'] else ''}",
            *(_state(state(one, protocol)) for protocol in shown),
            "<br>".join(_inner(inner) for inner in one["inner"]) or _plain(one.get("note", "")),
            f"{_plain(one['path'])}:{one['line']}",
        ]
        for one in classes
    )
    yield from _table(["Class", *(TITLES[one] for one in shown), "Holds", "Defined at"], rows)


def _inner(inner: Matrix) -> str:
    able = ", can capture" if inner["supports"] else ""
    return f"{_plain(inner['attribute'])}: {_plain(short(inner['class']))}{able}"


def _interface(matrix: Matrix) -> Iterator[str]:
    yield "\n## What the runtime calls on a target\n\n"
    rows = (
        [
            _plain(one["method"]),
            "asks first" if one["guarded"] else "doesn't ask",
            _plain(", ".join(one["called_with"])),
            "<br>".join(f"{_plain(site['path'])}:{site['line']}" for site in one["call_sites"]) or "built-in default",
        ]
        for one in matrix["interface"]
    )
    yield from _table(["Method", "Before calling", "Called with", "Where"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n"
    marks = ["---"] * (len(head) - numbers) + ["--:"] * numbers
    yield f"| {' | '.join(marks)} |\n"
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


def _state(found: str) -> str:
    return f"{_SIGNS.get(found, '✅')} {found}"


def _plain(text: str) -> str:
    """``text`` as Markdown that shows it as it is: no markup, no HTML, no mention of anybody."""
    return _BACKSLASHED.sub(r"\\\g<0>", printable(text)).translate(_ENTITIES)
