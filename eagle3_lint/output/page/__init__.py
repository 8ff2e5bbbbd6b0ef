"""The matrix as one page of HTML that needs nothing else: no network, no file, no script to be read.

What comes from the sources under lint is text and nothing but text: templates escape it (``autoescape``), control characters
and those that turn the direction of writing are spelled out, and a content security policy
(https://www.w3.org/TR/CSP3/) lets only this package's own script and style run, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from eagle3_lint import __version__
from eagle3_lint.output.escape import printable
from eagle3_lint.output.matrix_reading import (
    MEANINGS,
    STATES,
    TITLES,
    Matrix,
    change_groups,
    counts,
    name_of,
    place,
    protocols,
    short,
    state,
)
from eagle3_lint.output.page.drawing import Drawing, bar, draw
from eagle3_lint.output.page.entries import Entry, entry_of

_SIGNS = {"missing": "✕", "unknown": "?", "unsupported": "\N{EN DASH}"}


def render_page(matrix: Matrix) -> Iterator[str]:
    """The page of ``matrix``, which has to be a detailed one, as pieces of HTML; the package jinja2 has to be there."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=short, place=place, sign=lambda one: _SIGNS.get(one, "✓"))
    style, script = _resource("matrix.css"), _resource("matrix.js")
    shown = protocols(matrix)
    counted = {one: counts(matrix, one) for one in shown}
    template = environment.get_template("matrix.html.j2")
    yield from template.generate(
        version=__version__,
        name=name_of(matrix),
        against=name_of(matrix["against"]) if "against" in matrix else None,
        groups=change_groups(matrix),
        protocols=shown,
        titles=TITLES,
        states=STATES,
        meanings=MEANINGS,
        counts=counted,
        bars={one: bar(found) for one, found in counted.items()},
        present=[one for one in STATES if any(state(entry, p) == one for entry in matrix["classes"] for p in shown)],
        interface=matrix["interface"],
        entries=entries(matrix, shown),
        roles=sorted({entry["role"] for entry in matrix["classes"]}, key=_ROLES.index),
        style=Markup(style),
        script=Markup(script),
        style_digest=_digest(style),
        script_digest=_digest(script),
    )


_ROLES = ("target", "draft", "component", "other")


def entries(matrix: Matrix, shown: tuple[str, ...]) -> list[tuple[Entry, Drawing]]:
    """Every class with its drawing, by role and name, under the protocols ``shown``."""
    ordered = sorted(
        matrix["classes"], key=lambda one: (_ROLES.index(one["role"]), short(one["class"]).lower(), one["class"])
    )
    names: dict[str, int] = {}
    found = []
    for one in ordered:
        name = short(one["class"])
        names[name] = names.get(name, 0) + 1
        anchor = name if names[name] == 1 else f"{name}-{names[name]}"
        found.append((entry_of(one, anchor, shown), draw(one)))
    return found


def _resource(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
