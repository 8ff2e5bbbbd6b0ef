"""Whatever a text is, the parser ends with a tree or with one reason, soon and in bounded memory."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources import reading
from eagle3_lint.sources.reading import parse_source, read_source

LARGE = 100_000

# Each takes a size and gives a program; the second item says what must become of it at LARGE.
SHAPES: dict[str, tuple[Callable[[int], str], str]] = {
    "brackets": (lambda n: "(" * n + ")" * n, "refused"),
    "brackets never closed": (lambda n: "[" * n, "refused"),
    "calls": (lambda n: "f(" * n + ")" * n, "refused"),
    "dictionaries never closed": (lambda n: "{1:" * n, "refused"),
    "unary operators": (lambda n: "x = " + "-" * n + "1", "refused"),
    "not": (lambda n: "x = " + "not " * n + "1", "refused"),
    "powers": (lambda n: "x = " + "**".join(["1"] * n), "refused"),
    "additions": (lambda n: "x = " + "+".join(["1"] * n), "either"),
    "attributes": (lambda n: "x = a" + ".b" * n, "either"),
    "calls of calls": (lambda n: "x = a" + "()" * n, "either"),
    "or": (lambda n: "x = " + " or ".join(["1"] * n), "parsed"),
    "comparisons": (lambda n: "x = " + " < ".join(["1"] * n), "parsed"),
    "elif": (lambda n: "if a: pass\n" + "elif b: pass\n" * n, "refused"),
    "else if": (lambda n: "x = " + "1 if a else " * n + "1", "refused"),
    "indentation": (lambda n: "".join(" " * i + "if a:\n" for i in range(n // 50)), "refused"),
    "targets": (lambda n: "a = " * n + "1", "parsed"),
    "lambdas": (lambda n: "x = " + "lambda: " * n + "1", "refused"),
    "nested f-strings": (lambda n: "x = " + 'f"{' * n + "1" + '}"' * n, "refused"),
    "format specifications": (lambda n: 'x = f"' + "{1:" * n + "}" * n + '"', "refused"),
    "decorators": (lambda n: "@a\n" * n + "def f(): pass", "parsed"),
    "statements on a line": (lambda n: "a;" * n, "parsed"),
    "comprehension clauses": (lambda n: "x = [a " + "for a in b " * n + "]", "parsed"),
    "patterns": (lambda n: "match a:\n case " + "[" * n + "]" * n + ": pass", "refused"),
    "imported dots": (lambda n: "import a" + ".b" * n, "refused"),
    "continued imported dots": (lambda n: "from a" + ".\\\nb" * n + " import c", "refused"),
    "fields of one f-string": (lambda n: 'x = f"' + "{a:{b}}" * n + '"', "refused"),
    "fields of a long f-string": (lambda n: 'x = rf"""' + "{a}'\\n\n" * n + '"""', "refused"),
    "digits": (lambda n: "x = " + "1" * n, "either"),
    "continuations": (lambda n: "\\\n" * n + "a", "parsed"),
    "wrong statements": (lambda n: "a\n" * n + "a b\n", "refused"),
}

# The address space is bounded so that a shape that eats memory fails here and not the machine.
CHILD = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.reading import parse_source, read_source
data = sys.stdin.buffer.read()
started = time.process_time()
try:
    tree = parse_source(read_source("a.py", data))
    del tree
    print("parsed", end=" ")
except UnreadableSourceError as error:
    print("refused", end=" ")
assert time.process_time() - started < 5, time.process_time() - started
"""


@pytest.mark.parametrize("name", SHAPES)
def test_extreme_programs_end_well(name: str) -> None:
    shape, expected = SHAPES[name]
    root = str(Path(reading.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(
        command, input=shape(LARGE).encode(), env=environment, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert expected in ("either", done.stdout.decode().strip())


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_programs_are_parsed_when_small(name: str) -> None:
    if name in ("wrong statements", "brackets never closed", "dictionaries never closed", "indentation"):
        pytest.skip("wrong at any size")
    if name == "nested f-strings" and sys.version_info < (3, 12):
        pytest.skip("nested quotes are newer")
    parse_source(read_source("a.py", SHAPES[name][0](2).encode()))


def test_ten_megabytes_of_brackets() -> None:
    for text in ("(" * 10_000_000, "(" * 5_000_000 + ")" * 5_000_000, "[]" * 5_000_000):
        with pytest.raises(UnreadableSourceError):
            parse_source(read_source("a.py", text.encode()))


def test_more_tokens_than_the_budget() -> None:
    with pytest.raises(UnreadableSourceError, match="more than 2,000,000 tokens"):
        parse_source(read_source("a.py", b"a;" * 1_000_001))


def test_a_hundred_thousand_lines_are_within_the_budget() -> None:
    function = "def method(self, layer_ids=None):\n    return self.model.set_layers(layer_ids + 1, key='x')\n"
    assert len(parse_source(read_source("a.py", (function * 50_000).encode())).body) == 50_000


def test_thousands_of_f_strings_are_within_the_budget() -> None:
    line = "raise ValueError(f'{self.name!r} has {len(self.layers):>4} layers')\n"
    assert len(parse_source(read_source("a.py", (line * 8_000).encode())).body) == 8_000


def test_line_of_an_import_that_is_refused() -> None:
    text = "x = 1\r\rimport b\r\nx; from a" + ".b" * 20_000 + " import c\n"
    with pytest.raises(UnreadableSourceError, match="more than 100 dots") as caught:
        parse_source(read_source("a.py", text.encode()))
    assert caught.value.line == 4


def test_many_short_imports_are_within_the_budget() -> None:
    text = "import a.b.c.d.e, f.g\n" * 20_000
    assert len(parse_source(read_source("a.py", text.encode())).body) == 20_000


@pytest.mark.parametrize(
    ("text", "reason", "place"),
    [
        ("x = 1\ny = = 2\n", "syntax error: invalid syntax", (2, 5)),
        ("é = 'é' é\n", "syntax error: invalid syntax", (1, 9)),
        ("x = (\n", "syntax error: '(' was never closed", (1, 5)),
        ("if x:\r\n\ty\r\n        z\r\n", "inconsistent use of tabs", (3, 0)),
        ("x = '\n", "unterminated string literal", (1, 5)),
        ("def f():\n", "expected an indented block", (1, 0)),
    ],
)
def test_syntax_errors_have_reason_and_place(text: str, reason: str, place: tuple[int, int]) -> None:
    source = read_source("a.py", text.encode())
    with pytest.raises(UnreadableSourceError) as caught:
        parse_source(source)
    error = caught.value
    assert reason in error.reason
    assert error.line == place[0]
    if place[1]:
        assert error.column == place[1]
    assert 1 <= error.line <= len(source.lines)
    assert 1 <= error.column <= len(source.lines[error.line - 1]) + 1


def test_lone_surrogate_from_an_escaping_codec() -> None:
    with pytest.raises(UnreadableSourceError):
        parse_source(read_source("a.py", b"# coding: unicode_escape\nx = '\\ud800'\n"))


def test_warnings_are_neither_shown_nor_raised_nor_left_off() -> None:
    source = read_source("a.py", b"x = '\\d'\ny = 1if 1else 2\nassert (1, 2)\n")
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("error")
        filters = list(warnings.filters)
        parse_source(source)
        assert warnings.filters == filters
    assert shown == []


def test_positions_are_those_of_the_text() -> None:
    source = read_source("a.py", b"\x0c\rclass \xc3\xa9:\r\n\tdef f(self): pass\n")
    (tree,) = parse_source(source).body
    assert isinstance(tree, ast.ClassDef)
    assert (tree.name, tree.lineno, tree.body[0].lineno) == ("é", 2, 3)
    assert source.lines[tree.body[0].lineno - 1][tree.body[0].col_offset :].startswith("def f")
