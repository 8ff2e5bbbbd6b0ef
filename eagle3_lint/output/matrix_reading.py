"""What every format of the matrix for people asks of its JSON: protocols, states, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Matrix = Mapping[str, Any]

TITLES = {"eagle3": "EAGLE-3", "dflash": "DFlash", "dspark": "DSpark"}
STATES = ("missing", "own", "inherited", "delegated", "forwarded", "instance", "unknown", "unsupported")
MEANINGS = {
    "missing": "what it holds can capture, the class does not expose it",
    "own": "implements capture itself",
    "inherited": "inherits it from a base class",
    "delegated": "delegates it to its inner model",
    "forwarded": "forwards it by __getattr__",
    "instance": "gets it in its constructor",
    "unknown": "the source does not tell",
    "unsupported": "nothing in it can capture",
}
CAPABLE = frozenset({"own", "inherited", "delegated", "forwarded", "instance"})


class ChangeRow(NamedTuple):
    """All that changed for one class: by protocol, the state before and after, None where there was no such class."""

    name: str
    states: Mapping[str, tuple[str | None, str | None]]


class ChangeGroup(NamedTuple):
    """Changes of one kind, as people are to see them: a heading, whether it is bad news, and the classes."""

    title: str
    bad: bool
    rows: Sequence[ChangeRow]


def protocols(matrix: Matrix) -> tuple[str, ...]:
    """The protocols that the matrix has a state for, EAGLE-3 first."""
    setters = {setter for entry in matrix["classes"] for setter in entry.get("protocols", ())}
    setters.update(method["method"] for method in matrix["interface"])
    return tuple(one for one in TITLES if one == "eagle3" or f"set_{one}_layers_to_capture" in setters)


def state(entry: Matrix, protocol: str) -> str:
    """How the class stands to the setter of ``protocol``."""
    if protocol == "eagle3":
        return str(entry["capture"])
    return str(entry.get("protocols", {}).get(f"set_{protocol}_layers_to_capture", "unsupported"))


def counts(matrix: Matrix, protocol: str) -> dict[str, int]:
    """How many classes are in each state; drafts are nobody's target and don't count."""
    found = Counter(state(one, protocol) for one in matrix["classes"] if one["role"] != "draft")
    return {one: found[one] for one in STATES if found[one]}


def short(dotted: str) -> str:
    """The last part of a dotted name."""
    return dotted.rpartition(".")[2]


def place(path: str) -> str:
    """A path as a page shows it: what all of SGLang's own have in front is left out."""
    return path.removeprefix("sglang/srt/")


def name_of(matrix: Matrix) -> str:
    """What the tree of a matrix, or what it is compared with, is called."""
    version = matrix.get("sglang")
    return f"SGLang {version}" if version else "a source tree of SGLang"


def change_groups(matrix: Matrix) -> tuple[ChangeGroup, ...]:
    """The targets that changed, bad news first; drafts inherit what they never use, so they are left out."""
    by_class: dict[str, list[Matrix]] = {}
    for one in matrix["against"]["changes"] if "against" in matrix else ():
        if one["role"] != "draft":
            by_class.setdefault(one["class"], []).append(one)
    grouped: dict[tuple[str, bool], list[ChangeRow]] = {heading: [] for heading in _HEADINGS}
    for dotted, changes in sorted(by_class.items(), key=lambda item: short(item[0])):
        states = {one["protocol"]: (one["before"], one["after"]) for one in changes}
        grouped[_heading(changes)].append(ChangeRow(short(dotted), states))
    return tuple(ChangeGroup(title, bad, rows) for (title, bad), rows in grouped.items() if rows)


def _heading(changes: Sequence[Matrix]) -> tuple[str, bool]:
    kinds = {one["kind"] for one in changes}
    ends = {one["after"] for one in changes}
    if "lost" in kinds:
        return _LOST
    if "missing" in ends:
        return _MISSING
    if "gained" in kinds:
        return _GAINED
    if "changed" in kinds:
        return _CHANGED
    if "removed" in kinds:
        return _REMOVED
    return _NEW_ABLE if ends & CAPABLE else _NEW


_LOST = ("Regressions: the class lost the interface", True)
_MISSING = ("Newly missing: what the class holds can capture, the class does not expose it", True)
_GAINED = ("Gained the interface", False)
_CHANGED = ("Changed otherwise", False)
_NEW_ABLE = ("New classes with the interface", False)
_NEW = ("New classes without", False)
_REMOVED = ("Removed classes", False)
_HEADINGS = (_LOST, _MISSING, _GAINED, _CHANGED, _NEW_ABLE, _NEW, _REMOVED)
