"""What a rule reports: a finding, its evidence and its fix.

Lines and columns count from 1; columns are characters; ends are exclusive in columns.
Paths are absolute inside the program; front ends make them relative to the report's root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Safety = Literal["safe", "unsafe"]
Confidence = Literal["high", "medium"]


@dataclass(frozen=True)
class Span:
    """A stretch of source text."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Evidence:
    """One link of the chain that a finding stands on."""

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class Edit:
    """Replace the text in ``span`` of ``path`` by ``text``."""

    path: str
    span: Span
    text: str


@dataclass(frozen=True)
class Fix:
    """Edits that cure a finding; ``remains`` says what they leave to do."""

    safety: Safety
    edits: tuple[Edit, ...]
    remains: str = ""


@dataclass(frozen=True)
class Inner:
    """A candidate class of an inner language model that a wrapper holds."""

    attribute: str
    class_name: str
    supports: bool
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Finding:
    """One thing to mend, at one place.

    ``class_name`` is the dotted class to change, ``registered`` every registered class that the
    finding hits, ``name`` the bare typing name of EGL301 and EGL302, ``scope`` the dotted class or
    function that the place lies in, which keeps fingerprints stable when lines move. ``caused_by`` are the files whose
    change can make or unmake the finding, beside its own. ``pedantic`` marks what is shown only where pedantry is asked for.
    """

    code: str
    symbol: str
    severity: Severity
    path: str
    span: Span
    message: str
    class_name: str | None = None
    registered: tuple[str, ...] = ()
    inner: tuple[Inner, ...] = ()
    methods: tuple[str, ...] = ()
    confidence: Confidence = "high"
    elsewhere: bool = False
    evidence: tuple[Evidence, ...] = ()
    fix: Fix | None = None
    name: str | None = None
    scope: str = ""
    caused_by: tuple[str, ...] = ()
    pedantic: bool = False
