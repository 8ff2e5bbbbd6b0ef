"""The drawing of a class's chain of evidence: where each box and each arrow lies. The template writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eagle3_lint.output.matrix_reading import CAPABLE, place

# The width of a box stands in the style sheet too.
_WIDTH = 264
_INDENT = 26
_GUTTER = 13
_DOWN = 24
_LINE = 15
_LEFT = 18
_MARGIN = 4
# What one character of the drawing's text takes at most, on average.
_CHARACTER = 6.7
_SMALL_CHARACTER = 5.9


@dataclass(frozen=True)
class Text:
    """One line of text; ``squeezed`` is the length that it is fitted into, 0 where it fits as it is."""

    x: int
    y: int
    text: str
    kind: str
    squeezed: int = 0


@dataclass(frozen=True)
class Box:
    """A class, or a call of the runtime."""

    x: int
    y: int
    height: int
    kind: str
    lines: tuple[Text, ...]


@dataclass(frozen=True)
class Arrow:
    """A line with a head, and what is written on it."""

    path: str
    kind: str
    label: Text | None = None


@dataclass(frozen=True)
class Drawing:
    """Boxes and arrows of one picture; ``summary`` says the same in words."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[Text, ...]
    summary: str


def bar(counts: Mapping[str, int]) -> list[tuple[str, float, float]]:
    """The segments of a bar of width 100: state, start and width."""
    total = sum(counts.values()) or 1
    segments: list[tuple[str, float, float]] = []
    start = 0.0
    for state, count in counts.items():
        width = 100 * count / total
        segments.append((state, round(start, 2), round(width, 2)))
        start += width
    return segments


def draw(entry: Mapping[str, Any]) -> Drawing:
    """The drawing of ``entry``, a class of a detailed matrix."""
    picture = entry["details"]["picture"]
    return _Sheet(picture, is_draft=entry["role"] == "draft").drawing()


class _Sheet:
    """Places one picture's boxes in one column: hierarchies downwards, what a class holds below it, set in by a step."""

    def __init__(self, picture: Mapping[str, Any], *, is_draft: bool) -> None:
        self._picture = picture
        self._state: str = picture["state"]
        self._is_draft = is_draft
        self._boxes: list[Box] = []
        self._arrows: list[Arrow] = []
        self._notes: list[Text] = []
        self._heads: list[Box] = []
        self._bottom = _MARGIN

    def drawing(self) -> Drawing:
        """Everything, placed."""
        self._call()
        for lane in self._picture["lanes"]:
            self._lane(lane)
        more = self._picture["more"]
        if more:
            self._bottom += _LINE + 6
            self._notes.append(Text(self._heads[-1].x, self._bottom, f"and {more} more that it may hold", "p"))
        width = max(box.x for box in self._boxes) + _WIDTH + _MARGIN
        found = (tuple(self._boxes), tuple(self._arrows), tuple(self._notes))
        return Drawing(width, self._bottom + _MARGIN, *found, summary(self._picture))

    def _call(self) -> None:
        """The runtime's call, above the class."""
        call = self._picture["call"]
        if call is None or self._is_draft:
            return
        more = f" and {call['more']} more" if call["more"] else ""
        lines = [(call["text"], "n"), (f"{call['place'].rpartition('/')[2]}{more}", "p")]
        box = self._box(_LEFT, self._bottom, "call", lines)
        kind = "ok" if self._state in CAPABLE else "bad" if self._state == "missing" else "no"
        x, self._bottom = box.x + 28, self._bottom + _DOWN + 8
        label = Text(x + 10, self._bottom - 12, _answer(self._state, bool(call["guarded"])), kind)
        self._arrows.append(Arrow(f"M{x} {box.y + box.height}V{self._bottom - 2}", kind, label))

    def _lane(self, lane: Mapping[str, Any]) -> None:
        holder = None if lane["source"] is None else self._heads[lane["source"]]
        x = _LEFT if holder is None else holder.x + _INDENT
        y = self._bottom if holder is None else self._bottom + _DOWN + 8
        before: Box | None = None
        for index, node in enumerate(lane["nodes"]):
            kind = "has" if node["setter"] else ""
            if holder is None and index == 0:
                kind = f"{kind} me".strip()
            lines = [(node["name"], "n"), (place(node["place"]), "p")]
            if node["setter"]:
                lines.append((f"{self._picture['setter']} :{node['setter'].rpartition(':')[2]}", "s"))
            box = self._box(x, y, kind, lines)
            if before is not None:
                self._arrows.append(Arrow(f"M{x + 28} {before.y + before.height}V{box.y - 2}", "up"))
            elif holder is not None:
                self._held(holder, box, lane["attribute"])
            if before is None:
                self._heads.append(box)
            before = box
            y = self._bottom + _DOWN

    def _held(self, holder: Box, held: Box, attribute: str) -> None:
        kind = {"missing": "bad", "delegated": "ok", "forwarded": "ok"}.get(self._state, "no")
        first, last, turn = holder.y + 18, held.y + 18, holder.x - _GUTTER
        label = f"self.{attribute}" if attribute else ""
        way = f"M{holder.x} {first}H{turn}V{last}H{held.x - 2}"
        self._arrows.append(Arrow(way, kind, Text(held.x, held.y - 7, label, "p", _squeezed(label, "p"))))

    def _box(self, x: int, y: int, kind: str, lines: Sequence[tuple[str, str]]) -> Box:
        texts = tuple(
            Text(x + 10, y + 18 + _LINE * number, text, style, _squeezed(text, style))
            for number, (text, style) in enumerate(lines)
        )
        box = Box(x, y, 12 + _LINE * len(lines), kind, texts)
        self._boxes.append(box)
        self._bottom = y + box.height
        return box


def summary(picture: Mapping[str, Any]) -> str:
    """The picture in words, for those who don't see it."""
    lanes = picture["lanes"]
    parts = [_hierarchy(lanes[0]["nodes"])]
    for lane in lanes[1:]:
        holder = lanes[lane["source"]]["nodes"][0]["name"]
        parts.append(f"{holder} holds in self.{lane['attribute']}: {_hierarchy(lane['nodes'])}")
    return "; ".join(parts)


def _hierarchy(nodes: Sequence[Mapping[str, Any]]) -> str:
    words = ", which inherits from ".join(node["name"] for node in nodes)
    return f"{words}, which defines the setter" if nodes[-1]["setter"] else words


def _answer(state: str, guarded: bool) -> str:
    if state in CAPABLE:
        return f"found: {state}"
    if state == "unknown":
        return "nobody can tell from the source"
    return "not there: refused with an error" if guarded else "not there: AttributeError"


def _squeezed(text: str, style: str) -> int:
    room = _WIDTH - 20
    return room if len(text) * (_CHARACTER if style == "n" else _SMALL_CHARACTER) > room else 0
