"""Measures this program beside its neighbours on a real release, and writes docs/performance.md.

Run ``python -m benchmarks.run`` in an environment with the ``test`` extra, installed as users install it: the finder of an
editable install takes some milliseconds of each start that nobody else waits for. Everything is measured in one run on one
machine: whole processes, in turn, so that a drift of the machine's speed meets all of them alike. Figures are medians of
the ratios of neighbouring runs; a single time says nothing on another machine.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eagle3_lint.sources.cachedir import CACHE_DIR_VARIABLE, cache_dir
from eagle3_lint.sources.releases import release_tree
from eagle3_lint.sources.tree import SourceTree

RELEASE = "0.5.23"
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BIN = Path(sys.executable).parent
PARSE = (
    "import ast, os, sys\n"
    "for folder, _, names in os.walk(sys.argv[1]):\n"
    "    for name in names:\n"
    "        if name.endswith('.py'):\n"
    "            with open(os.path.join(folder, name), 'rb') as file:\n"
    "                ast.parse(file.read())\n"
)
STANDARD_IMPORTS = "import ast, argparse, json, re, pathlib"
ONE_FILE = "kimi_k25.py"
OUR_MESSAGES = "eagle3"
MOST_LONG_ROUNDS = 3
ON_EACH_SIDE = 2
# What takes no longer than this is measured in more rounds: its ratios vary most.
SHORT_SECONDS = 2.0
ROUNDS_IF_SHORT = 3


@dataclass(frozen=True)
class Usage:
    """What one process took: seconds on the clock and on the processors, and its largest memory in MB."""

    wall: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Comparison:
    """One row: ``ours`` against ``theirs``, with what the ratio may be at most and what is aimed at.

    Where ``long`` are ``theirs`` or ``both``, a few rounds must do; around each run of theirs alone go several of ours, since a
    machine slows down while it works.
    """

    title: str
    ours: Sequence[str]
    theirs: Sequence[str]
    most: float
    aim: float
    before: Callable[[], None] | None = None
    long: Literal["", "theirs", "both"] = ""


@dataclass(frozen=True)
class Row:
    """A measured comparison: the median ratio of neighbouring runs, its smallest and largest, and our memory."""

    comparison: Comparison
    ratio: float
    low: float
    high: float
    ours: Usage
    theirs: Usage


def run(command: Sequence[str]) -> Usage:
    """Run ``command`` to its end, whatever it prints or returns."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


def compare(comparison: Comparison, rounds: int) -> Row:
    """Run both commands in turn, after a warm-up of each unless it would take minutes."""
    if comparison.long == "theirs":
        pairs = _around(comparison, min(rounds, MOST_LONG_ROUNDS))
    else:
        pairs = _in_turn(comparison, rounds)
    ratios = sorted(ours.wall / theirs.wall for ours, theirs in pairs)
    return Row(
        comparison,
        statistics.median(ratios),
        ratios[0],
        ratios[-1],
        _median([ours for ours, _ in pairs]),
        _median([theirs for _, theirs in pairs]),
    )


def _in_turn(comparison: Comparison, rounds: int) -> list[tuple[Usage, Usage]]:
    """Both commands in turn, so many ``rounds``, or more of short ones."""
    if comparison.long == "both":
        return [_pair(comparison) for _ in range(min(rounds, MOST_LONG_ROUNDS))]
    is_short = max(usage.wall for usage in _pair(comparison)) < SHORT_SECONDS
    return [_pair(comparison) for _ in range(rounds * ROUNDS_IF_SHORT if is_short else rounds)]


def _pair(comparison: Comparison) -> tuple[Usage, Usage]:
    if comparison.before is not None:
        comparison.before()
    return run(comparison.ours), run(comparison.theirs)


def _around(comparison: Comparison, rounds: int) -> list[tuple[Usage, Usage]]:
    """The neighbour's ``rounds``, each with as many runs of ours before it as after it; the very first is a warm-up."""
    run(comparison.ours)
    pairs: list[tuple[Usage, Usage]] = []
    for _ in range(rounds):
        before = [run(comparison.ours) for _ in range(ON_EACH_SIDE)]
        once = run(comparison.theirs)
        after = [run(comparison.ours) for _ in range(ON_EACH_SIDE)]
        pairs += [(ours, once) for ours in (*before, *after)]
    return pairs


def _median(usages: Sequence[Usage]) -> Usage:
    return Usage(
        statistics.median(one.wall for one in usages),
        statistics.median(one.cpu for one in usages),
        statistics.median(one.memory for one in usages),
    )


def program(*arguments: str) -> list[str]:
    """This program, as its users start it."""
    return [str(BIN / "eagle3-lint"), *arguments]


def tool(name: str, *arguments: str) -> list[str]:
    """A neighbour from the same environment."""
    return [str(BIN / name), *arguments]


def comparisons(tree: SourceTree, touched: Path) -> list[Comparison]:
    """Every row of the table."""
    models = tree.models
    one_file = os.path.join(models, ONE_FILE)
    cold = program("check", models, "--no-cache", "--format", "concise")
    cached = program("check", models, "--format", "concise")
    ruff = tool("ruff", "check", "--isolated", "--no-cache", "--select", "F821", models)
    flake8 = tool("flake8", "--isolated", "-j1", "--select=F821", models)
    changed_models = str(touched.parent)
    changed = program("check", changed_models, "--format", "concise")
    pylint = ["-j1", "--rcfile=/dev/null", "--disable=all"]
    undefined = tool("pylint", *pylint, "--enable=undefined-variable")
    plugin = tool("pylint", *pylint, "--load-plugins=eagle3_lint", f"--enable={OUR_MESSAGES}")
    cheap = tool("pylint", *pylint, "--enable=trailing-newlines", models)
    both = tool("pylint", *pylint, "--load-plugins=eagle3_lint", f"--enable=trailing-newlines,{OUR_MESSAGES}", models)
    parse = [sys.executable, "-c", PARSE, models]
    return [
        Comparison("cold, no cache / parsing every file once with `ast`", cold, parse, 1.0, 0.5),
        Comparison("the same with `--pedantic`, every rule on", [*cold, "--pedantic"], parse, 1.0, 0.5),
        Comparison("cached, nothing changed / ruff F821", cached, ruff, 2.0, 1.0),
        Comparison("cached, one file changed / ruff F821", changed, ruff, 3.0, 1.5, lambda: _touch(touched)),
        Comparison("cold / flake8 with F821 alone", cold, flake8, 1 / 12, 1 / 25),
        Comparison(
            "cold / pylint with undefined-variable alone", cold, [*undefined, models], 1 / 30, 1 / 60, long="theirs"
        ),
        Comparison(
            "start-up (`--version`) / Python with five standard modules",
            program("--version"),
            [sys.executable, "-c", STANDARD_IMPORTS],
            1.8,
            1.3,
        ),
        Comparison(
            "pylint on one file, our messages alone / undefined-variable alone",
            [*plugin, one_file],
            [*undefined, one_file],
            1.3,
            1.1,
        ),
        Comparison("pylint on all files with ours / with one cheap message", both, cheap, 1.15, 1.05, long="both"),
    ]


def _touch(path: Path) -> None:
    """Change the content of ``path`` in a way that changes no finding."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"# {time.monotonic_ns()}\n")


def growth(tree: SourceTree, folder: Path, rounds: int) -> list[tuple[int, Usage]]:
    """A cold run over one, two, four and eight copies of the models and their runtime."""
    srt = Path(tree.package) / "srt"
    copies: list[str] = []
    results = []
    for count in (1, 2, 4, 8):
        while len(copies) < count:
            target = folder / f"copy{len(copies)}" / "sglang" / "srt"
            for part in ("models", "model_executor", "speculative", "layers"):
                shutil.copytree(srt / part, target / part)
            copies.append(str(target / "models"))
        usages = [run(program("check", *copies, "--no-cache", "--format", "concise")) for _ in range(rounds)]
        results.append((count, _median(usages)))
    return results


def page(rows: Sequence[Row], grown: Sequence[tuple[int, Usage]], rounds: int) -> str:
    """The page as Markdown."""
    written = (
        f"Written by `python -m benchmarks.run` on {datetime.date.today().isoformat()}: SGLang {RELEASE}'s models "
        f"directory, {rounds} rounds of each pair of commands in turn ({rounds * ROUNDS_IF_SHORT} where both take less than "
        f"{SHORT_SECONDS:.0f} seconds; {MOST_LONG_ROUNDS} where one takes half a minute; if that is the neighbour alone, with "
        f"{ON_EACH_SIDE} runs of ours on each side of it), whole processes on the clock. "
        f"Python {platform.python_version()}, {_cores()} cores, {_memory_gb()} GB of memory; "
        f"{', '.join(_versions())}."
    )
    lines = [
        "# Performance",
        "",
        written,
        "",
        "| | median | lowest | highest | at most | aim | ours, s | theirs, s | ours, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        one = row.comparison
        lines.append(
            f"| {one.title} | {row.ratio:.3f} | {row.low:.3f} | {row.high:.3f} | {one.most:.3f} | {one.aim:.3f} "
            f"| {row.ours.wall:.2f} | {row.theirs.wall:.2f} | {row.ours.memory:.0f} |"
        )
    first = grown[0][1].wall
    lines += ["", "## Growth", "", "| copies | seconds | against one | MB |", "| --- | --- | --- | --- |"]
    lines += [f"| {count} | {used.wall:.2f} | {used.wall / first:.2f} | {used.memory:.0f} |" for count, used in grown]
    lines += ["", "A row above its limit is a fault of this program; the limits are those of the project's issues."]
    lines += ["Generated trees of many shapes, in growing sizes: [Hard to break](hardness.md#growth).", ""]
    return "\n".join(lines)


def _cores() -> int:
    return os.cpu_count() or 1


def _memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _versions() -> list[str]:
    found = []
    for name in ("ruff", "flake8", "pylint", "astroid"):
        command = [sys.executable, "-c", f"import importlib.metadata as m; print(m.version({name!r}))"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found.append(f"{name} {done.stdout.strip() or 'not installed'}")
    return found


def main() -> int:
    """Measure and write the page; exit 1 where a row is above its limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="measure rows with this text in their title, and write no page")
    parser.add_argument("--quick", action="store_true", help="leave out the pairs that take minutes")
    options = parser.parse_args()
    tree = release_tree(RELEASE, cache_dir(None))
    with tempfile.TemporaryDirectory() as temporary:
        os.environ[CACHE_DIR_VARIABLE] = str(Path(temporary) / "cache")
        # Installers compile what they install; a checkout is compiled when it first runs, unless this forbids it.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        copy = Path(temporary) / "changed" / "sglang"
        shutil.copytree(tree.package, copy, ignore=lambda folder, names: [n for n in names if n.endswith(".json")])
        touched = copy / "srt" / "models" / ONE_FILE
        chosen = [
            one for one in comparisons(tree, touched) if options.only in one.title and not (options.quick and one.long)
        ]
        rows = []
        for one in chosen:
            row = compare(one, options.rounds)
            rows.append(row)
            print(f"{row.ratio:7.3f}  (at most {one.most:.3f})  {one.title}", flush=True)
        if not options.only:
            grown = growth(tree, Path(temporary) / "growth", max(1, options.rounds // 2))
            PAGE.write_text(page(rows, grown, options.rounds), encoding="utf-8")
    return int(any(row.ratio > row.comparison.most for row in rows))


if __name__ == "__main__":
    sys.exit(main())
