"""EGL301 is exactly what Python raises NameError on: programs of our own making are run, and pyflakes is asked too."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from eagle3_lint.facts.typing_names import PUBLIC_NAMES
from eagle3_lint.facts.typing_use import TypingUse, find_undefined_typing_names, uses_of
from eagle3_lint.facts.typing_words import MODULE_ALIASES, Suspicion
from eagle3_lint.sources.text import SourceText
from tests.facts.typing_programs import NAMES, Programs

TARGET = (sys.version_info.major, sys.version_info.minor)
SEEDS = range(120)
Place = tuple[int, str]


def uses(text: str) -> tuple[TypingUse, ...]:
    return find_undefined_typing_names(
        SourceText("p.py", text.encode(), text), lambda: ast.parse(text), TARGET, lambda _: None
    )


def programs(seed: int) -> Iterator[str]:
    """The programs of ``seed`` that Python compiles."""
    text = Programs(seed).program()
    try:
        compile(text, "p.py", "exec", dont_inherit=True)
    except SyntaxError:  # a name both read and declared, say
        return
    yield text


def run(text: str) -> tuple[set[Place], set[int]]:
    """The reads that raise NameError when ``text`` is run, and the lines that run.

    Each read that raises is replaced by a constant, and the program run again, until nothing raises.
    """
    tree = ast.parse(text)
    raised: set[Place] = set()
    while True:
        lines: set[int] = set()
        try:
            _execute(tree, lines)
        except NameError as error:
            place = _place(error)
            assert place not in raised
            raised.add(place)
            tree = ast.fix_missing_locations(_Patch(place).visit(tree))
        else:
            return raised, lines


def _execute(tree: ast.Module, lines: set[int]) -> None:
    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != "<program>":
            return None
        lines.add(frame.f_lineno)
        return trace

    code = compile(tree, "<program>", "exec", dont_inherit=True)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(code, {"__name__": "program"})  # noqa: S102 - a program of our own making
    finally:
        sys.settrace(before)


def _place(error: NameError) -> Place:
    trace = error.__traceback__
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            line = trace.tb_lineno
        trace = trace.tb_next
    name = re.search(r"'(\w+)'", str(error))
    assert name is not None
    return line, name[1]


class _Patch(ast.NodeTransformer):
    def __init__(self, place: Place) -> None:
        self._line, self._name = place

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and (node.lineno, node.id) == (self._line, self._name):
            return ast.copy_location(ast.Constant(0), node)
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        return ast.copy_location(ast.Pass(), node) if node.lineno == self._line else node


@pytest.mark.parametrize("seed", SEEDS)
def test_every_finding_that_runs_raises(seed: int) -> None:
    for text in programs(seed):
        raised, lines = run(text)
        evaluated = {(use.span.line, use.name) for use in uses(text) if use.evaluated}
        assert {place for place in evaluated if place[0] in lines} <= raised


@pytest.mark.parametrize("seed", SEEDS)
def test_every_name_error_is_found(seed: int) -> None:
    """But for names that the module binds after it calls the function, or the function itself after it reads them."""
    for text in programs(seed):
        raised, _ = run(text)
        found = {(use.span.line, use.name) for use in uses(text) if use.evaluated}
        for line, name in raised - found:
            assert _bound_below(text, line, name), (line, name)


def _bound_below(text: str, line: int, name: str) -> bool:
    """Whether the read in ``line`` is in a function, and something below binds ``name``."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = any(node.lineno < line <= (node.end_lineno or 0) for node in functions)
    binds = re.compile(rf"\b{name}\b(?: =|: int = | :=|,)|(?:import|as|for|case|def|class) {name}\b|{name}: {name} =")
    return inside and any(binds.search(below) for below in text.split("\n")[line - 1 :])


@pytest.mark.parametrize("seed", SEEDS)
def test_together_they_are_what_pyflakes_reports(seed: int) -> None:
    """But for what only type checkers bind, and what pyflakes gets wrong: comprehensions in a class, a name that a
    function declares without a value, ``Literal`` under another name.
    """
    checker = pytest.importorskip("pyflakes.checker")
    messages = pytest.importorskip("pyflakes.messages")
    for text in programs(seed):
        reported = {
            (message.lineno, message.message_args[0])
            for message in checker.Checker(ast.parse(text)).messages
            if isinstance(message, messages.UndefinedName) and message.message_args[0] in NAMES
        }
        lines = text.split("\n")
        found = {(use.span.line, use.name): use for use in uses(text)}
        missing = {place for place in reported - set(found) if "Literal_" not in lines[place[0] - 1]}
        assert not missing
        for place in set(found) - reported:
            assert found[place].cause == "type-checking" or " for " in lines[place[0] - 1] or _declared(text, place[1])


def _declared(text: str, name: str) -> bool:
    return bool(re.search(rf"^ +{name}: int$", text, re.MULTILINE))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sieve_loses_nothing(seed: int) -> None:
    for text in programs(seed):
        source = SourceText("p.py", text.encode(), text)
        everything = Suspicion(PUBLIC_NAMES, MODULE_ALIASES)
        assert uses_of(source, ast.parse(text), TARGET, lambda _: None, everything) == uses(text)
