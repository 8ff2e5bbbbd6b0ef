"""Keeps what files and their names contain from acting on a terminal or breaking a format."""

from __future__ import annotations

from typing import Any


def printable(text: str) -> str:
    r"""``text`` with every control, format and unpaired surrogate character written as an escape.

    Terminals act on control characters, and readers are misled by those that turn the direction of text
    (https://trojansource.codes). Bytes of a file's name that aren't UTF-8 show as ``\xff``.

    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(map(printable_character, text))


def printable_character(character: str) -> str:
    """``character``, or its escape where it can't be shown."""
    if character.isprintable() or _is_space(character):
        return character
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def well_formed(text: str) -> str:
    """``text`` with unpaired surrogates, which no Unicode encoding allows, written as escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(
            printable_character(character) if "\ud800" <= character <= "\udfff" else character for character in text
        )
    return text


def well_formed_value(value: Any) -> Any:
    """``value``, made of dictionaries, lists and strings, with every string in it well-formed."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed_value(key): well_formed_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [well_formed_value(item) for item in value]
    return value


def _is_space(character: str) -> bool:
    from unicodedata import category

    return category(character) == "Zs"
