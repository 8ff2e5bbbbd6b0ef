"""An explanation for a terminal: each step with its place and its source line, then the patch.

Places are links where the terminal supports them (https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eagle3_lint.output.escape import printable, printable_character

_STYLES = {"title": "1", "place": "36", "muted": "2", "good": "1;32", "bad": "1;31", "doubt": "1;33"}
_VERDICTS = {"missing": "bad", "unsupported": "doubt", "unknown": "doubt"}
_DIFF = {"+": "32", "-": "31", "@": "36"}
_WIDEST = 160


@dataclass(frozen=True)
class TerminalStyle:
    """What the output may use: colours, links, and the root that paths are relative to."""

    root: str
    color: bool = False
    links: bool = False


def render_text(document: Mapping[str, Any], style: TerminalStyle) -> Iterator[str]:
    """``document``, an explanation in the form of its JSON, as pieces of text."""
    yield f"{_paint(printable(document['class']), 'title', style)}\n"
    title = ""
    for step in document["steps"]:
        if step["title"] != title:
            title = step["title"]
            yield f"\n{_paint(printable(title), 'title', style)}\n"
        yield from _step(step, style)
    verdict = document["verdict"]
    yield f"\nVerdict: {_paint(printable(verdict), _VERDICTS.get(verdict, 'good'), style)}\n"
    yield from _patch(document, style)


def links_are_shown(environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether the terminal is known to show links; others print them as plain text, a few as rubbish."""
    if not is_terminal or environment.get("TERM") in ("dumb", None) or "NO_COLOR" in environment:
        return False
    if environment.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"):
        return True
    vte = environment.get("VTE_VERSION", "")
    if vte.isdigit() and int(vte) >= 5000:
        return True
    return "WT_SESSION" in environment or "KITTY_WINDOW_ID" in environment or "KONSOLE_VERSION" in environment


def _step(step: Mapping[str, Any], style: TerminalStyle) -> Iterator[str]:
    yield f"  {printable(step['message'])}\n"
    if step["path"] is None:
        return
    place = f"{printable(step['path'])}:{step['line']}"
    yield f"    {_link(_paint(place, 'place', style), step['path'], style)}\n"
    if step["source"] is not None:
        yield f"      {_paint('|', 'muted', style)} {_source(step['source'])}\n"


def _source(line: str) -> str:
    shown = "".join("    " if one == "\t" else printable_character(one) for one in line.strip())
    return shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 1]}…"


def _patch(document: Mapping[str, Any], style: TerminalStyle) -> Iterator[str]:
    if document["patch"] is None:
        return
    safe = document["patch_safety"] == "safe"
    advice = "safe: check --fix applies it" if safe else "unsafe: check --fix --unsafe-fixes applies it; read it first"
    yield f"\n{_paint('The patch', 'title', style)} ({advice})\n"
    for line in document["patch"].split("\n")[:-1]:
        shown = "".join(one if one == "\t" else printable_character(one) for one in line.removesuffix("\r"))
        code = _DIFF.get(line[:1])
        yield f"\x1b[{code}m{shown}\x1b[0m\n" if style.color and code else f"{shown}\n"


def _link(text: str, path: str, style: TerminalStyle) -> str:
    if not style.links:
        return text
    import socket
    from urllib.parse import quote

    full = os.path.join(style.root, path)
    target = f"file://{quote(socket.gethostname())}{quote(os.fsencode(full))}"
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def _paint(text: str, name: str, style: TerminalStyle) -> str:
    return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if style.color else text
