"""The scopes of pylint's pragmas, compared with what pylint itself decides on generated modules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from pylint import __version__ as pylint_version
from pylint.checkers import BaseChecker
from pylint.lint import PyLinter
from pylint.reporters import CollectingReporter

from eagle3_lint.findings.model import Span
from eagle3_lint.findings.suppression import suppressions
from eagle3_lint.rules.catalogue import CODES
from eagle3_lint.sources.text import SourceText

SYMBOL = "missing-eagle3-delegation"
CODE = "EGL101"
CODE_LIKE = (
    "x = 1",
    "call(a, b)",
    "call(\n{i}    a,{c}\n{i}    b,\n{i}){c}",
    'text = """a\n{i}b"""{c}',
    "y = 1 + \\\n{i}    2",
)


class Recorder(BaseChecker):
    """Asks pylint, in the visit of each module, on which lines the message is disabled."""

    name = "eagle3"
    msgs: ClassVar = {"E7311": ("%s", SYMBOL, "Stands for the rule.")}

    def __init__(self, linter: PyLinter) -> None:
        super().__init__(linter)
        self.disabled: dict[str, set[int]] = {}

    def visit_module(self, node: object) -> None:
        path = str(node.file)  # type: ignore[attr-defined]
        count = Path(path).read_text().count("\n") + 1
        self.disabled[path] = {line for line in range(1, count + 1) if not self.linter.is_message_enabled(SYMBOL, line)}


def disabled_by_pylint(paths: list[Path]) -> dict[str, set[int]]:
    linter = PyLinter()
    linter.set_reporter(CollectingReporter())
    recorder = Recorder(linter)
    linter.register_checker(recorder)
    linter.check([str(path) for path in paths])
    return recorder.disabled


def disabled_by_us(path: Path) -> set[int]:
    text = path.read_text()
    found = suppressions(SourceText(str(path), text.encode(), text), CODES)
    # a column past any name, for pylint knows no lines above a definition
    return {
        line
        for line in range(1, text.count("\n") + 2)
        if found.covers(CODE, SYMBOL, Span(line, 500, line, 501)) is not None
    }


class Generator:
    """A random module with pragmas in random places."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pragmas = 0

    def comment(self) -> str:
        if self.pragmas >= 4 or self.random.random() > 0.12:
            return ""
        self.pragmas += 1
        action = self.random.choice(("disable", "disable", "disable", "enable", "disable-next"))
        return f"  # pylint: {action}={self.random.choice((SYMBOL, 'E7311', 'all-the-rest'))}"

    def own_line(self, indent: str) -> Iterator[str]:
        comment = self.comment()
        if comment:
            yield indent + comment.strip()

    def body(self, indent: str, depth: int) -> Iterator[str]:
        if depth < 3 and self.random.random() < 0.2:
            yield f'{indent}"""Docstring."""{self.comment()}'
        for _ in range(self.random.randint(1, 3)):
            yield from self.own_line(indent)
            yield from self.statement(indent, depth)
        yield from self.own_line(indent)

    def statement(self, indent: str, depth: int) -> Iterator[str]:
        kinds = ("simple", "class", "def", "if", "for", "try", "with", "match", "while")
        kind = self.random.choice(kinds) if depth < 4 else "simple"
        yield from getattr(self, f"make_{kind}")(indent, depth)

    def make_simple(self, indent: str, depth: int) -> Iterator[str]:
        code = self.random.choice(CODE_LIKE)
        yield indent + code.replace("{i}", indent).replace("{c}", self.comment()) + self.comment()

    def block(self, head: str, indent: str, depth: int) -> Iterator[str]:
        yield f"{indent}{head}{self.comment()}"
        yield from self.body(indent + "    ", depth + 1)

    def otherwise(self, indent: str, depth: int) -> Iterator[str]:
        # pylint 4.1 crashes on a pragma in an ``else`` that starts with ``with``
        yield f"{indent}else:{self.comment()}"
        yield from self.random.choice((self.make_simple, self.make_if))(indent + "    ", depth + 1)
        yield from self.body(indent + "    ", depth + 1)

    def decorators(self, indent: str) -> Iterator[str]:
        if self.random.random() < 0.3:
            yield f"{indent}@one{self.comment()}"
        if self.random.random() < 0.2:
            yield f"{indent}@two({self.comment()}\n{indent}    1){self.comment()}"

    def make_class(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.decorators(indent)
        head = self.random.choice(("class A:", "class A(B):", f"class A({self.comment()}\n{indent}    B,\n{indent}):"))
        yield from self.block(head, indent, depth)

    def make_def(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.decorators(indent)
        heads = (
            "def f():",
            "def f(self, a=1):",
            f"def f({self.comment()}\n{indent}    self,{self.comment()}\n{indent}    a: int,\n{indent}) -> int:",
            "async def f(*args: int, **more: str) -> str:",
        )
        yield from self.block(self.random.choice(heads), indent, depth)

    def make_if(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.block("if a:", indent, depth)
        if self.random.random() < 0.4:
            yield from self.block("elif b:", indent, depth)
        if self.random.random() < 0.5:
            yield from self.otherwise(indent, depth)

    def make_for(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.block("for a in b:", indent, depth)
        if self.random.random() < 0.3:
            yield from self.otherwise(indent, depth)

    def make_while(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.block("while a:", indent, depth)

    def make_try(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.block("try:", indent, depth)
        yield from self.block(self.random.choice(("except E:", "except E as e:")), indent, depth)
        if self.random.random() < 0.4:
            yield from self.otherwise(indent, depth)
        if self.random.random() < 0.4:
            yield from self.block("finally:", indent, depth)

    def make_with(self, indent: str, depth: int) -> Iterator[str]:
        yield from self.block("with a as b:", indent, depth)

    def make_match(self, indent: str, depth: int) -> Iterator[str]:
        yield f"{indent}match a:{self.comment()}"
        yield from self.block("case 1:", indent + "    ", depth + 1)
        yield from self.block("case [x, *y] if x:", indent + "    ", depth + 1)

    def module(self) -> str:
        return "\n".join([*self.body("", 0), *self.body("", 0)]) + "\n"


@pytest.mark.skipif(pylint_version < "4.1", reason="earlier releases search nodes on one line, too")
def test_scopes_are_those_of_pylint(tmp_path: Path) -> None:
    paths = []
    for seed in range(300):
        text = Generator(seed).module()
        compile(text, "generated", "exec")
        path = tmp_path / f"generated_{seed}.py"
        path.write_text(text)
        paths.append(path)
    expected = disabled_by_pylint(paths)
    assert len(expected) == len(paths)
    assert sum(map(bool, expected.values())) > 100
    differing = [path.name for path in paths if disabled_by_us(path) != expected[str(path)]]
    assert differing == []
