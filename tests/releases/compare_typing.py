"""EGL301 and EGL302 beside the undefined-name rules of pyflakes and ruff, over whole source trees.

``python -m tests.releases.compare_typing FOLDER...`` compares every Python file below each folder, prints each
difference and a line of counts for each folder, and exits 1 if there is a difference. pyflakes and ruff must be
installed; comments that suppress findings are ignored. A name that only type checkers see, which is ours alone to
report, is counted apart.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyflakes import checker, messages

from eagle3_lint.facts.typing_names import PUBLIC_NAMES
from eagle3_lint.facts.typing_use import (
    TypingUse,
    find_undefined_typing_names,
    uses_of,
)
from eagle3_lint.facts.typing_words import MODULE_ALIASES, Suspicion, suspicion
from eagle3_lint.sources.text import SourceText

NAMES = PUBLIC_NAMES | MODULE_ALIASES
EVERYTHING = Suspicion(PUBLIC_NAMES, MODULE_ALIASES)
TARGET = (3, 12)

Place = tuple[int, str]


@dataclass
class Comparison:
    """What one folder gave."""

    folder: Path
    differences: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    parsing: float = 0.0
    finding: float = 0.0

    def summary(self) -> str:
        """One line."""
        share = self.finding / self.parsing if self.parsing else 0.0
        counts = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        return f"{self.folder}: {counts}; {share:.0%} of the time that parsing takes"


def compare(folder: Path, target: tuple[int, int] = TARGET) -> Comparison:
    """Compare every Python file below ``folder`` that Python parses."""
    ruff = ruff_reports(folder, target)
    result = Comparison(folder)
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8-sig")
            before = time.perf_counter()
            tree = _parsed(text)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        result.parsing += time.perf_counter() - before
        _compare_file(result, path, text, tree, ruff.get(str(path), set()), target)
    return result


def _compare_file(
    result: Comparison, path: Path, text: str, tree: ast.Module, ruff: set[Place], target: tuple[int, int]
) -> None:
    source = SourceText(str(path), text.encode(), text)
    before = time.perf_counter()
    suspect = bool(suspicion(text))
    found = find_undefined_typing_names(source, lambda: tree, target, lambda _: None) if suspect else ()
    result.finding += time.perf_counter() - before
    result.counts.update(files=1, suspect=suspect)
    result.counts.update("EGL301" if use.evaluated else "EGL302" for use in found)
    if found != uses_of(source, tree, target, lambda _: None, EVERYTHING):
        result.differences.append(f"{path}: the sieve loses something")
    try:
        flakes = pyflakes_reports(tree)
    except RecursionError:
        result.counts["too deep for pyflakes"] += 1
        return
    ours = dict(_places(found))
    for line, name in sorted(set(ours) | flakes | ruff):
        who = [tool for tool, places in (("we", ours), ("pyflakes", flakes), ("ruff", ruff)) if (line, name) in places]
        if who == ["we"] and ours[line, name].cause == "type-checking":
            result.counts["type checkers only"] += 1
        elif len(who) == 3:
            result.counts["agreed"] += 1
        else:
            result.differences.append(f"{path}:{line}: {name} is reported by {' and '.join(who)} only")


def _places(found: Sequence[TypingUse]) -> Iterator[tuple[Place, TypingUse]]:
    for use in found:
        yield (use.span.line, use.written.partition(".")[0]), use


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def pyflakes_reports(tree: ast.Module) -> set[Place]:
    """The typing names that pyflakes calls undefined."""
    found = (one for one in checker.Checker(tree).messages if isinstance(one, messages.UndefinedName))
    return {(one.lineno, one.message_args[0]) for one in found if one.message_args[0] in NAMES}


def ruff_reports(folder: Path, target: tuple[int, int]) -> dict[str, set[Place]]:
    """The typing names that ruff calls undefined, file by file."""
    version = f"py{target[0]}{target[1]}"
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--select=F821", "--output-format=json", "--exit-zero"]
    options += ["--no-respect-gitignore", "--config=exclude=[]", f"--target-version={version}"]
    command = [sys.executable, "-m", "ruff", "check", *options, str(folder)]
    output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    found: dict[str, set[Place]] = defaultdict(set)
    for one in json.loads(output):
        name = one["message"].partition("`")[2].rpartition("`")[0]
        if one["code"] == "F821" and name in NAMES:
            found[one["filename"]].add((one["location"]["row"], name))
    return found


def main(folders: Sequence[str]) -> int:
    """The command; 1 if there is a difference."""
    different = 0
    for folder in folders:
        result = compare(Path(folder).resolve())
        for difference in result.differences:
            print(difference)
        print(result.summary(), flush=True)
        different |= bool(result.differences)
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
