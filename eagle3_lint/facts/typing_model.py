"""What the analysis of typing names takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from eagle3_lint.findings.model import Span

Cause = Literal["unbound", "type-checking", "later", "deleted", "class-scope", "handler", "declared"]


@dataclass(frozen=True)
class StarImport:
    """A ``from module import *``; ``level`` counts the leading dots, ``line`` counts from 1."""

    module: str
    level: int
    line: int


StarExports: TypeAlias = Callable[[StarImport], "frozenset[str] | None"]
"""The names that a star import binds, or None where they can't be known."""


@dataclass(frozen=True)
class TypingUse:
    """One use of a typing name that no binding provides.

    ``name`` is the bare name (``Optional``, also for ``t.Optional``), ``written`` the expression as written and
    ``span`` its place. ``evaluated`` tells whether Python raises ``NameError`` when the line runs, ``at_import``
    whether that is while the module is imported. ``where`` is the dotted class or function that the place lies in,
    ``role`` what the expression is part of. ``cause`` and ``reason`` say why no binding helps; ``binding_line`` is the
    line of the one that comes nearest, ``binding_module`` the module that it imports from, and ``binding_is_local``
    whether a function keeps it to itself, so that no import at the top of the module helps.
    """

    name: str
    span: Span
    evaluated: bool
    written: str
    where: str
    reason: str
    cause: Cause
    role: str
    at_import: bool
    binding_line: int | None = None
    binding_module: str | None = None
    binding_is_local: bool = False
