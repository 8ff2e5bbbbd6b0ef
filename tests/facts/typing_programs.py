"""Small programs, made at random, that bind and read a few typing names in every way there is.

Each line reads at most one of the names, and everything in a program runs when it is executed, in the order in which
it is written: functions are called at the end of the block that defines them, every branch is taken but for those under
``TYPE_CHECKING``. So the lines that raise ``NameError`` are exactly those that read a name which is not bound by then.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

NAMES = ("Optional", "List", "Set")
HEADER = """\
from typing import TYPE_CHECKING, Dict as Dict_, Literal as Literal_, cast as cast_

class Holder_: pass
class Manager_:
    def __enter__(self): return int
    def __exit__(self, *error): return False
def decorate_(argument): return lambda function: function
def base_(argument): return object
"""
_READS = (
    "{v} = {n}",
    "{v}: {n} = 1",
    "{v}: {n}",
    "{v}: '{n}' = 1",
    "Holder_.a: {n} = 1",
    "Holder_.a: '{n}' = 1",
    "{v} = [{n} for i in range(1)]",
    "{v} = [i for i in [{n}]]",
    "{v} = [i for i in [0] if {n}]",
    "{v} = [j for i in [0] for j in [{n}]]",
    "{v} = [[{n} for j in [0]] for i in [0]]",
    "{v} = {{i: {n} for i in [0]}}",
    "{v} = list({n} for i in [0])",
    "{v} = (lambda a={n}: a)()",
    "{v} = (1 and {n})",
    "{v} = f'{{{n}}}'",
    "{v} = ({n} if 1 else 0)",
    "{v} = ({n} if TYPE_CHECKING else 0)",
    "{v} = (TYPE_CHECKING and {n})",
    "{v} = cast_('{n}', 1)",
    "{v} = Dict_['{n}', int]",
    "{v}: Dict_['{n}', int] = 1",
    "{v}: Literal_['{n}'] = 1",
)
_BINDINGS = (
    "{n} = int",
    "{n}: int = 3",
    "{n}: int",
    "{n}: {n} = int",
    "{n} = {n}",
    "from typing import {n}",
    "import typing as {n}",
    "def {n}(): pass",
    "def {n}(a: {n}): pass",
    "class {n}: pass",
    "for {n} in [int]: pass",
    "with Manager_() as {n}: pass",
    "{v} = ({n} := int)",
    "{v} = [{n} for {n} in [int]]",
    "({n}, {v}) = (int, int)",
    "match int:\n    case {n}: pass",
    "try:\n    import missing_{n} as {n}\nexcept ImportError:\n    {n} = int",
)
_BLOCKS = ("if 1:", "if TYPE_CHECKING:", "if not TYPE_CHECKING:", "for _i in [0]:", "with Manager_():", "else", "try")


class Programs:
    """The programs of one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def program(self) -> str:
        """A program, without the header that it needs."""
        future = "from __future__ import annotations\n" if self._random.random() < 0.25 else ""
        return future + HEADER + "\n".join(self._block("module", 0)) + "\n"

    def _fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _name(self) -> str:
        return self._random.choice(NAMES)

    def _line(self, templates: Iterable[str]) -> list[str]:
        template = self._random.choice(list(templates))
        return template.format(n=self._name(), v=self._fresh()).split("\n")

    def _few(self) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 2)):
            lines += self._line(_READS if self._random.random() < 0.5 else _BINDINGS)
        return lines

    def _block(self, kind: str, depth: int) -> list[str]:
        lines: list[str] = []
        calls: list[str] = []
        for _ in range(self._random.randint(1, 5 if depth < 2 else 3)):
            chance = self._random.random()
            if chance < 0.4:
                lines += self._line(_READS)
            elif chance < 0.58:
                lines += self._line(_BINDINGS if depth else [*_BINDINGS, "del {n}"])
            elif depth < 3 and chance < 0.74:
                name = self._fresh()
                lines += self._function(name, kind, depth)
                calls.append(f"{name}({'0' if kind == 'class' else ''})")
            elif depth < 3 and chance < 0.84:
                base = f"(base_({self._name()}))" if self._random.random() < 0.2 else ""
                lines += [f"class {self._fresh()}{base}:", *_indented(self._block("class", depth + 1))]
            else:
                lines += self._compound()
        return lines + calls

    def _function(self, name: str, kind: str, depth: int) -> list[str]:
        read = self._name()
        own = ["self"] if kind == "class" else []
        parameters, result = self._random.choice(
            [([f"a: {read} = 1"], ""), (["a=1"], f" -> '{read}'"), ([f"a={read}"], ""), (["*", "k=1"], f" -> {read}")]
        )
        decorator = [f"@decorate_({self._name()})"] if self._random.random() < 0.15 else []
        signature = f"def {name}({', '.join(own + parameters)}){result}:"
        return [*decorator, signature, *_indented(self._block("function", depth + 1))]

    def _compound(self) -> list[str]:
        opening = self._random.choice(_BLOCKS)
        if opening == "else":
            return ["if TYPE_CHECKING:", *_indented(self._few()), "else:", *_indented(self._few())]
        if opening == "try":
            return ["try:", *_indented(self._few()), "except KeyError:", "    pass", "else:", *_indented(self._few())]
        return [opening, *_indented(self._few())]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
