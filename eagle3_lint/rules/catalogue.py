"""The table of the rules: code, symbol, severity, summary and default of each, read off the rules' own files.

No rule is imported for it: the call that makes a file's ``RULE`` is parsed alone, and what it says in constants is what
the table says. Hosts list the rules when they start, which importing every rule would make them pay for.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from eagle3_lint.findings.codes import Code

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_RULE = "\nRULE = Rule("
# https://docs.python.org/3/library/ast.html#ast.PyCF_ONLY_AST, without the module, which takes longer than all of this
_ONLY_AST = 0x400


def _codes() -> tuple[Code, ...]:
    names = sorted(name for name in os.listdir(_FOLDER) if name.startswith("egl") and name.endswith(".py"))
    return tuple(_code(os.path.join(_FOLDER, name)) for name in names)


def _code(path: str) -> Code:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tree: Any = compile(text[text.rindex(_RULE) :], path, "exec", _ONLY_AST)
    given: dict[str, Any] = {word.arg: getattr(word.value, "value", None) for word in tree.body[0].value.keywords}
    return Code(
        given["code"],
        given["symbol"],
        given["severity"],
        given["summary"],
        given.get("pedantic") is True,
        given["scope"] == "project",
        given.get("in_part") is True,
    )


CODES = _codes()
_BY_CODE = {code.code: code for code in CODES}


@cache
def about_classes(codes: frozenset[str]) -> frozenset[str]:
    """Those of ``codes`` whose rules look at the classes of a whole project."""
    return frozenset(code for code in codes if (entry := known(code)) is not None and entry.about_classes)


def known(code: str) -> Code | None:
    """What the table says of ``code``; None for a code that doesn't exist."""
    return _BY_CODE.get(code)
