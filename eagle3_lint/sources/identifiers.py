"""What a text may be asked before it is parsed: whether it names something.

A text answers for whole identifiers and for nothing else: what depends on punctuation, spaces or line breaks is told from the
syntax tree, since how code is laid out must not change what is found in it. "No" is certain; "yes" may be a comment.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Strings spell names too: from literals in a row, over the end of a line, or by escapes of ASCII characters.
_SPELLED_IN_PIECES = re.compile(
    r"""["'\\](?:(?<=\w["'])(?:[\s\\"'bBrRuU]|\#[^\n]*\n)*["']\w"""
    r"""|(?<=\w\\)\r?\n\w|(?<=\\)(?:x[3-7]|u00[3-7]|U000000[3-7]|N\{|[01]?[4-7][0-7]))"""
)


def mentions(text: str, *names: str, within: bool = False) -> bool:
    """Whether one of ``names`` may stand in ``text``, in code or in a string; with ``within``, as a part of an identifier.

    Names are compared as Python compares identifiers, in the normal form NFKC
    (https://docs.python.org/3/reference/lexical_analysis.html#identifiers). A text with strings in pieces may name anything.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    if any(name in plain and (within or _whole(name).search(plain)) for name in names):
        return True
    return not all(map(_is_plain, names)) or _SPELLED_IN_PIECES.search(text) is not None


def places(text: str, name: str, start: int = 0) -> tuple[int, ...]:
    """The offsets from ``start`` on at which the identifier ``name`` stands in ``text`` as it is."""
    return tuple(match.start() for match in _whole(name).finditer(text, start))


@lru_cache(maxsize=512)
def _whole(name: str) -> re.Pattern[str]:
    # A literal start lets the matcher leap through the text.
    return re.compile(rf"{re.escape(name)}(?!\w)(?<!\w{re.escape(name)})")


@lru_cache(maxsize=512)
def _is_plain(name: str) -> bool:
    """Whether ``name`` is an identifier of ASCII characters, which stands in a text as it is written, or not at all."""
    if not name.isidentifier():
        raise ValueError(f"a text is asked for identifiers only: {name!r}")
    return name.isascii()
