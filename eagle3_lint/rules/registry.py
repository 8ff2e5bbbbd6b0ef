"""Which rules there are and which of them run; a rule's module is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING

from eagle3_lint.errors import UsageError
from eagle3_lint.findings.codes import PREFIX, Code
from eagle3_lint.rules.catalogue import CODES, known

if TYPE_CHECKING:
    from types import ModuleType

    from eagle3_lint.rules.base import Rule


def all_codes() -> tuple[str, ...]:
    """The codes of all rules, sorted, without importing any of them."""
    return tuple(code.code for code in CODES)


def symbol_of(code: str) -> str:
    """The symbol of the rule ``code``; KeyError for a code that doesn't exist."""
    return _entry(code).symbol


def is_pedantic(code: str) -> bool:
    """Whether only ``--pedantic``, or its own code in ``--select``, turns the rule on; KeyError for an unknown code."""
    return not _entry(code).is_default


def shows_pedantic(select: Collection[str], pedantic: bool) -> bool:
    """Whether pedantic findings are asked for: by ``pedantic``, or by the whole code or the symbol of a pedantic rule."""
    return pedantic or any(_entry(code).pedantic and length == len(code) for code, length in _meant(select).items())


def find(name: str) -> str:
    """The code that a user means by a code (in any case) or a symbol; UsageError, with near misses, for any other."""
    codes = all_codes()
    if name.upper() in codes:
        return name.upper()
    symbols = {symbol_of(code): code for code in codes}
    if name.lower() in symbols:
        return symbols[name.lower()]
    raise UsageError(f"unknown rule {name!r}{_near(name, (*codes, *symbols))}")


def load(code: str) -> Rule:
    """The rule ``code``; KeyError for a code that doesn't exist."""
    rule: Rule = _module(code).RULE
    return rule


def documentation(code: str) -> str:
    """The documentation of the rule ``code`` in Markdown; KeyError for a code that doesn't exist."""
    return (_module(code).__doc__ or load(code).summary).strip()


def select(select: Collection[str] = (), ignore: Collection[str] = (), pedantic: bool = False) -> tuple[str, ...]:
    """The codes that run, sorted.

    ``select`` and ``ignore`` hold codes, prefixes of codes and symbols; without ``select`` every rule is meant. Where
    both speak of a rule the longer prefix wins, and ``ignore`` where they are equally long, as in flake8. A pedantic
    rule runs under ``pedantic``, or when ``select`` has its whole code or its symbol.

    Raises UsageError for a code, prefix or symbol that no rule has.
    """
    chosen = _meant(select)
    dropped = _meant(ignore)
    codes = []
    for code in all_codes():
        wanted = chosen.get(code, 0) if select else 1
        named = wanted == len(code)
        if wanted > dropped.get(code, 0) and (named or pedantic or not is_pedantic(code)):
            codes.append(code)
    return tuple(codes)


def _meant(names: Iterable[str]) -> dict[str, int]:
    """For each rule that ``names`` speak of: how long the longest matching name is, as a prefix of its code."""
    lengths: dict[str, int] = {}
    for name in names:
        matches = [code for code in all_codes() if _is_prefix(name, code) or symbol_of(code) == name]
        if not matches:
            raise UsageError(f"unknown code {name!r}{_near(name, all_codes())}")
        for code in matches:
            length = len(name) if _is_prefix(name, code) else len(code)
            lengths[code] = max(length, lengths.get(code, 0))
    return lengths


def _is_prefix(name: str, code: str) -> bool:
    """``E`` alone is no prefix of ours: it is what other tools call their errors."""
    return name.startswith(PREFIX) and code.startswith(name)


def _near(name: str, names: Collection[str]) -> str:
    import difflib

    if name != name.upper() and any(_is_prefix(name.upper(), code) for code in all_codes()):
        return f" (did you mean {name.upper()}?)"
    shown = difflib.get_close_matches(name, names, n=3)
    return f" (did you mean {', '.join(shown)}?)" if shown else ""


def _entry(code: str) -> Code:
    found = known(code)
    if found is None:
        raise KeyError(code)
    return found


@cache
def _module(code: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"eagle3_lint.rules.{code.lower()}_{symbol_of(code).replace('-', '_')}")
