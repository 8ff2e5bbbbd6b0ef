"""The accepted findings of a project: a sorted file, one finding a line, that diffs and merges well.

The file is JSON. It names the version of its form; a newer one is refused rather than half understood.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from eagle3_lint.errors import ConfigurationError
from eagle3_lint.findings.fingerprint import fingerprints_of, relative_path
from eagle3_lint.findings.report import BaselineEntry, Report, Suppressed

VERSION = 1
_KEYS = ("code", "path", "class", "fingerprint")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def entries_of(report: Report) -> tuple[BaselineEntry, ...]:
    """The findings of ``report`` as entries, those that an earlier revision has too, sorted by path, code and class."""
    fingerprints = fingerprints_of(report)
    entries = (
        BaselineEntry(
            fingerprint=fingerprints[finding],
            code=finding.code,
            path=_shown(relative_path(finding.path, report.root)),
            class_name=finding.class_name or finding.scope,
        )
        for finding in (*report.findings, *report.unchanged)
    )
    return tuple(sorted(set(entries), key=_order))


def write_baseline(entries: Sequence[BaselineEntry]) -> Iterator[str]:
    """The text of a baseline file with ``entries``."""
    yield f'{{\n  "version": {VERSION},\n  "findings": ['
    separator = "\n"
    for entry in sorted(set(entries), key=_order):
        values = (entry.code, entry.path, entry.class_name, entry.fingerprint)
        yield f"{separator}    {json.dumps(dict(zip(_KEYS, values, strict=True)))}"
        separator = ",\n"
    yield "\n  ]\n}\n" if entries else "]\n}\n"


def read_baseline(path: str) -> tuple[BaselineEntry, ...]:
    """The entries of the baseline file ``path``.

    Raises ConfigurationError, with the file and the line, for a file that can't be read, is damaged, or was written
    by a newer version.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ConfigurationError(f"{path}: can't be read: {error.strerror or error}") from None
    try:
        return parse_baseline(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{path}:{line}: damaged baseline: not UTF-8") from None
    except _FaultError as fault:
        raise ConfigurationError(f"{path}:{fault.line}: {fault.reason}") from None


def parse_baseline(text: str) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline's text; its errors are those of ``read_baseline`` without the path."""
    members: dict[str, tuple[Any, int]] = {}
    for name, (value, at) in _Scanner(text).members():
        if name == "version":
            # a newer form may look different from here on
            _check_version(text, value, at)
        members[name] = value, at
    if "version" not in members:
        raise _fault(text, 0, "damaged baseline: no version")
    findings, at = members.get("findings", (None, 0))
    if not isinstance(findings, list):
        raise _fault(text, at, "damaged baseline: no list of findings")
    return tuple(_entry(text, item, place) for item, place in findings)


def apply_baseline(report: Report, entries: Sequence[BaselineEntry]) -> Report:
    """``report`` without the findings that ``entries`` list (they become external suppressions), and with the entries
    that no longer match.

    Only entries of linted files, of files that are gone from a given directory, and of rules that ran can be told to
    match nothing.
    """
    fingerprints = fingerprints_of(report)
    known = {entry.fingerprint for entry in entries}
    kept = tuple(finding for finding in report.findings if fingerprints[finding] not in known)
    accepted = tuple(Suppressed(finding, "external") for finding in report.findings if fingerprints[finding] in known)
    present = {fingerprints[finding] for finding in (*report.findings, *report.unchanged)}
    linted = {_shown(relative_path(path, report.root)) for path in report.linted}
    unused = tuple(
        entry
        for entry in entries
        if entry.fingerprint not in present
        and (not report.active or entry.code in report.active)
        and (entry.path in linted or _is_gone(entry.path, report))
    )
    return replace(
        report,
        findings=kept,
        suppressions=report.suppressions + accepted,
        unused_baseline=unused,
    )


def _is_gone(path: str, report: Report) -> bool:
    absolute = os.path.join(report.root, path)
    below = any(absolute.startswith(os.path.join(given, "")) for given in report.given)
    return below and not os.path.lexists(absolute)


def _shown(path: str) -> str:
    """The path without unpaired surrogates, which a file in UTF-8 can't hold."""
    return path.encode("utf-8", "backslashreplace").decode()


def _order(entry: BaselineEntry) -> tuple[str, str, str, str]:
    return entry.path, entry.code, entry.class_name, entry.fingerprint


class _FaultError(ConfigurationError):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def _fault(text: str, at: int, reason: str) -> _FaultError:
    return _FaultError(text.count("\n", 0, at) + 1, reason)


def _check_version(text: str, version: Any, at: int) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _fault(text, at, "damaged baseline: no version")
    if version > VERSION:
        raise _fault(text, at, f"baseline of version {version}, but this program knows {VERSION}: update eagle3-lint")


def _entry(text: str, item: Any, at: int) -> BaselineEntry:
    if not isinstance(item, dict) or sorted(item) != sorted(_KEYS):
        raise _fault(text, at, f"damaged baseline: a finding must have {', '.join(_KEYS)}")
    if not all(isinstance(value, str) for value in item.values()):
        raise _fault(text, at, "damaged baseline: the values of a finding must be strings")
    return BaselineEntry(item["fingerprint"], item["code"], item["path"], item["class"])


class _Scanner:
    """Reads the outer object and its list of findings piece by piece, to know where each begins."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def members(self) -> Iterator[tuple[str, tuple[Any, int]]]:
        """The members of the outer object with their values and places; a list's items have places of their own."""
        self._expect("{")
        while not self._accept("}"):
            at = self._skip()
            name = self._value()
            if not isinstance(name, str):
                raise _fault(self._text, at, "damaged baseline: a name is missing")
            self._expect(":")
            at = self._skip()
            yield name, ((list(self._items()) if name == "findings" else self._value()), at)
            if not self._accept(","):
                self._expect("}")
                break
        at = self._skip()
        if at != len(self._text):
            raise _fault(self._text, at, "damaged baseline: text after its end")

    def _items(self) -> Iterator[tuple[Any, int]]:
        self._expect("[")
        while not self._accept("]"):
            at = self._skip()
            yield self._value(), at
            if not self._accept(","):
                self._expect("]")
                return

    def _value(self) -> Any:
        try:
            value, self._at = _DECODER.raw_decode(self._text, self._skip())
        except (json.JSONDecodeError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else self._at
            raise _fault(self._text, at, "damaged baseline: not JSON") from None
        return value

    def _accept(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._skip())
        self._at += len(sign) if found else 0
        return found

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise _fault(self._text, self._at, f"damaged baseline: {sign!r} is missing")

    def _skip(self) -> int:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at
