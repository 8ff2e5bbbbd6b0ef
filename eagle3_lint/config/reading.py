"""From the bytes of a configuration file to checked settings."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from eagle3_lint.config import Setting, Value
from eagle3_lint.config.options import OPTIONS, Option
from eagle3_lint.errors import ConfigurationError

_TOML_TABLE = "tool.eagle3-lint"
_INI_SECTION = "eagle3-lint"
_INI_HEADER = re.compile(rb"^\[eagle3-lint\]", re.MULTILINE)
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]")
_TOML_PLACE = re.compile(r"\(at line (\d+)")
_SEPARATOR = re.compile(r"[=:]")
_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))


def read_toml(path: str, data: bytes) -> dict[str, Setting] | None:
    """The settings of ``[tool.eagle3-lint]`` in a TOML file, or None where it has no such table."""
    text = _decode(path, data)
    document = _parse_toml(path, text)
    tool = document.get("tool")
    table = tool.get("eagle3-lint") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}:{_line(text, _TOML_TABLE, '')}: {_TOML_TABLE} must be a table")
    return {key: _setting(path, text, _TOML_TABLE, key, value) for key, value in table.items()}


def read_ini(path: str, data: bytes) -> dict[str, Setting] | None:
    """The settings of ``[eagle3-lint]`` in an INI file, or None where it has no such section."""
    if not _INI_HEADER.search(data):
        return None
    import configparser

    text = _decode(path, data)
    parser = configparser.RawConfigParser(default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = _ini_error_line(error)
        raise ConfigurationError(f"{path}:{line}: {str(error).splitlines()[0]}") from None
    if not parser.has_section(_INI_SECTION):
        # what looks like its header is that of another section, or part of a value
        return None
    return {
        key: _setting(path, text, _INI_SECTION, key, _from_ini(key, value)) for key, value in parser.items(_INI_SECTION)
    }


def _decode(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{path}:{line}: is not UTF-8") from None


def _parse_toml(path: str, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        reason = str(error).partition(" (at ")[0] or "nested too deeply"
        raise ConfigurationError(f"{path}:{line}: {reason}") from None


def _ini_error_line(error: Exception) -> int:
    lines = getattr(error, "errors", None)
    return int(getattr(error, "lineno", None) or (lines[0][0] if lines else 1))


def _from_ini(key: str, text: str) -> Any:
    """The text of an INI value as TOML would hold it; text that doesn't fit its option stays, to be refused."""
    option = OPTIONS.get(key)
    if option is None:
        return text
    if option.kind == "list":
        return [part for part in re.split(r"[\s,]+", text) if part]
    lowered = text.strip().lower()
    if option.kind == "flag" and lowered in _TRUE | _FALSE:
        return lowered in _TRUE
    return text.strip()


def _setting(path: str, text: str, table: str, key: str, value: Any) -> Setting:
    line = _line(text, table, key)
    option = OPTIONS.get(key)
    if option is None:
        raise ConfigurationError(f"{path}:{line}: unknown key {key!r}{_near(key)}")
    problem = _problem(option, value)
    if problem:
        raise ConfigurationError(f"{path}:{line}: {key}: {problem}")
    return Setting(_resolved(option, value, os.path.dirname(path)), line)


def _problem(option: Option, value: Any) -> str | None:
    if option.kind == "flag":
        return None if isinstance(value, bool) else f"must be true or false, not {value!r}"
    if option.kind == "list":
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if is_list else f"must be a list of strings, not {value!r}"
    if not isinstance(value, str):
        return f"must be a string, not {value!r}"
    if option.choices and value not in option.choices:
        return f"must be one of {', '.join(option.choices)}, not {value!r}"
    return None if value and "\0" not in value else "must not be empty"


def _resolved(option: Option, value: Any, folder: str) -> Value:
    if option.kind == "list":
        return tuple(value)
    if option.kind == "path" or (option.kind == "tree" and os.path.isdir(os.path.join(folder, value))):
        return os.path.normpath(os.path.join(folder, value))
    plain: Value = value
    return plain


def _near(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key.replace("_", "-"), OPTIONS, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _line(text: str, table: str, key: str) -> int:
    """The line of ``key`` in ``table``; where the key can't be seen, that of the table, else 1."""
    current, fallback = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            current = _bare(header[1])
            name = current
        else:
            name = _bare(f"{current}.{_SEPARATOR.split(line, maxsplit=1)[0]}").lstrip(".")
        if key and not header and name == f"{table}.{key}":
            return number
        if name == table:
            fallback = number
    return fallback


def _bare(name: str) -> str:
    return re.sub(r"[\"'\s]", "", name)
