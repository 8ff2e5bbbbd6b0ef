"""The imports of a module, from its text alone: what decides which other files it can depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator

Import = tuple[int, str, tuple[str, ...]]
"""The level of an import, its module, and the names of a ``from`` import."""

_IMPORT = re.compile(
    r"[ \t]*(?:[^\n;#]*:[ \t]*)?"
    r"(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]*))"
)
_IDENTIFIER = re.compile(r"\w+")
_DOTTED = re.compile(r"[\w.]+")


def imports_in(text: str) -> Iterator[Import]:
    """Every import that ``text`` seems to have, in functions too: level, module, and the names of a ``from`` import.

    What looks like one in a string counts as well: who asks wants no import to be left out.
    """
    found: dict[Import, None] = {}
    at = text.find("import")
    while at >= 0:
        start = max(text.rfind("\n", 0, at), text.rfind(";", 0, at)) + 1
        match = _IMPORT.match(text, start)
        if match is not None:
            found.update(dict.fromkeys(_imported(match)))
        at = text.find("import", max(at + 6, match.end() if match is not None else 0))
    yield from found


def _imported(match: re.Match[str]) -> Iterator[Import]:
    target, names, plain = match.groups()
    if target is not None:
        level = len(target) - len(target.lstrip("."))
        yield level, target[level:], tuple(_IDENTIFIER.findall(names))
    else:
        for name in _DOTTED.findall(plain):
            yield 0, name, ()
