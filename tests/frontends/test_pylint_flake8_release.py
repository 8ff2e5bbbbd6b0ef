"""On a real release, whole, the command line, pylint and flake8 say the same; so do workers, any order and any split."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle3_lint.rules.catalogue import CODES
from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

VERSION = "0.5.9"
BIN = os.path.dirname(sys.executable)
SYMBOLS = {entry.code: entry.symbol for entry in CODES if entry.is_default}

Place = tuple[str, int, int, str, str]


@pytest.fixture(scope="module")
def models(release: Callable[[str], SourceTree]) -> Path:
    return Path(release(VERSION).models)


@pytest.fixture(scope="module")
def files(models: Path) -> list[str]:
    return sorted(str(path) for path in models.rglob("*.py"))


@pytest.fixture(scope="module")
def expected(models: Path) -> list[Place]:
    """What the command line says of the whole directory."""
    report = json.loads(run("eagle3-lint", "check", "--format=json", str(models)))
    found = [(Path(f["path"]).name, f["line"], f["column"], f["symbol"], f["message"]) for f in report["findings"]]
    assert len(found) > 20
    return sorted(found)


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [os.path.join(BIN, program), *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stderr == ""
    assert done.returncode in {0, 1, 2}
    return done.stdout


def pylint(*arguments: str) -> list[Place]:
    output = subprocess.run(
        [
            os.path.join(BIN, "pylint"),
            "--load-plugins=eagle3_lint",
            "--disable=all",
            f"--enable={','.join(SYMBOLS.values())}",
            "--persistent=n",
            "--output-format=json2",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert output.stderr == ""
    messages = json.loads(output.stdout)["messages"]
    return sorted(
        (Path(m["absolutePath"]).name, m["line"], m["column"] + 1, m["symbol"], m["message"]) for m in messages
    )


def flake8(*arguments: str) -> list[Place]:
    lines = run(
        "flake8", "--isolated", "--select=EGL", "--format=%(path)s|%(row)d|%(col)d|%(code)s|%(text)s", *arguments
    )
    parts = [line.split("|", 4) for line in lines.splitlines()]
    return sorted((Path(p).name, int(row), int(column), SYMBOLS[code], text) for p, row, column, code, text in parts)


def test_pylint_in_one_process_and_in_workers(models: Path, expected: list[Place]) -> None:
    assert pylint("--recursive=y", str(models)) == expected
    assert pylint("--recursive=y", "-j2", str(models)) == expected


def test_flake8_in_one_process_and_in_workers(models: Path, expected: list[Place]) -> None:
    assert flake8("--jobs=1", str(models)) == expected
    assert flake8("--jobs=2", str(models)) == expected


def test_any_order_and_any_split(files: list[str], expected: list[Place]) -> None:
    shuffled = random.Random(8).sample(files, len(files))
    middle = len(files) // 3
    parts = [shuffled[:middle], shuffled[middle:]]
    assert sorted(place for part in parts for place in flake8("--jobs=1", *part)) == expected
    assert sorted(place for part in parts for place in pylint(*part)) == expected
