"""One class as the page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from eagle3_lint.output.matrix_reading import short, state

# The calls are shown once for all classes, the verdict beside the name of each.
_CALLS, _VERDICT = "What the runtime calls on a target", "The verdict"
_TYPING, _REST = "Typing names that the file imports", "The rest of the interface"
_DIFF = {"+": "a", "-": "d", "@": "h"}


@dataclass(frozen=True)
class Group:
    """The steps of an investigation under one title; ``sources`` says that their source lines are worth their room."""

    title: str
    steps: Sequence[Mapping[str, Any]]
    sources: bool


@dataclass(frozen=True)
class Entry:
    """A class: ``states`` by protocol, ``words`` what the filter looks in, ``patch`` as lines with their kind."""

    anchor: str
    data: Mapping[str, Any]
    states: Mapping[str, str]
    words: str
    verdict: Sequence[str]
    groups: Sequence[Group]
    patch: Sequence[tuple[str, str]]
    safety: str | None


def entry_of(data: Mapping[str, Any], anchor: str, protocols: Iterable[str]) -> Entry:
    """The class that ``data``, an entry of a detailed matrix, describes."""
    details = data["details"]
    inner = [word for one in data["inner"] for word in (one["attribute"], short(one["class"]))]
    words = [short(data["class"]), data["path"], *(short(one) for one in data["mro"]), *inner]
    return Entry(
        anchor=anchor,
        data=data,
        states={one: state(data, one) for one in protocols},
        words=" ".join(dict.fromkeys(words)).lower(),
        verdict=_verdict(details["steps"]),
        groups=_groups(details["steps"], has_patch=details["patch"] is not None),
        patch=_patch(details["patch"]),
        safety=details["patch_safety"],
    )


def _verdict(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """What is said of EAGLE-3, and of the other protocols as far as there is something to say."""
    told = [str(one["message"]) for one in steps if one["title"] == _VERDICT]
    return told[:1] + [one for one in told[1:] if ": unsupported. Neither " not in one]


def _groups(steps: Iterable[Mapping[str, Any]], *, has_patch: bool) -> list[Group]:
    hidden = {_CALLS, _VERDICT} | (set() if has_patch else {_TYPING})
    told = (one for one in steps if one["title"] not in hidden)
    return [
        Group(title, list(group), title != _REST) for title, group in groupby(told, key=lambda one: str(one["title"]))
    ]


def _patch(text: str | None) -> list[tuple[str, str]]:
    lines = (text or "").split("\n")[:-1]
    return [(_kind(line), line.removesuffix("\r")) for line in lines]


def _kind(line: str) -> str:
    return "h" if line.startswith(("--- a/", "+++ b/", '--- "a/', '+++ "b/')) else _DIFF.get(line[:1], "")
