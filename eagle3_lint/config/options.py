"""The options that a configuration file may set: the long options of ``check``."""

from __future__ import annotations

from typing import Literal, NamedTuple

from eagle3_lint.output import FORMATS

Kind = Literal["flag", "text", "path", "tree", "list", "choice"]

ENGINES = ("auto", "astroid")
COLORS = ("auto", "always", "never")
TARGET_VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


class Option(NamedTuple):
    """One option: how its value is written, and which values a choice has.

    A ``path`` is relative to the configuration's folder; a ``tree`` is too, unless no such directory is there and it
    is a version.
    """

    kind: Kind
    choices: tuple[str, ...] = ()


OPTIONS: dict[str, Option] = {
    "format": Option("choice", FORMATS),
    "output": Option("path"),
    "select": Option("list"),
    "ignore": Option("list"),
    "pedantic": Option("flag"),
    "sglang": Option("tree"),
    "engine": Option("choice", ENGINES),
    "baseline": Option("path"),
    "write-baseline": Option("path"),
    "since": Option("text"),
    "fix": Option("flag"),
    "unsafe-fixes": Option("flag"),
    "diff": Option("flag"),
    "no-cache": Option("flag"),
    "cache-dir": Option("path"),
    "exit-zero": Option("flag"),
    "target-version": Option("choice", TARGET_VERSIONS),
    "color": Option("choice", COLORS),
    "statistics": Option("flag"),
    "quiet": Option("flag"),
    "verbose": Option("flag"),
}
