"""What a rule is, and the documentation that it carries.

A rule is one module of this package, named ``eglNNN_symbol_with_underscores.py``; its code and symbol are its
file's name, its documentation is its module docstring, and its module holds one ``RULE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from eagle3_lint.findings.model import Finding, Severity

if TYPE_CHECKING:
    from eagle3_lint.project.modules import Module
    from eagle3_lint.rules.context import ModuleContext
    from eagle3_lint.rules.project_context import ProjectContext


class Note(NamedTuple):
    """What was found out about the file ``path``, or a class in it: strings, numbers and tuples."""

    path: str
    content: tuple[Any, ...]


@dataclass(frozen=True)
class Rule:
    """One rule: identity, default, and its check.

    ``scope`` says what the check looks at: one module's text alone (``module``; cheap, needs no other file
    but star imports) or the classes of the project (``project``). What ``check_project`` finds and notes on a class may
    depend only on the classes that this one inherits from, forwards to or is inherited by, and on what their files import
    (see ``eagle3_lint.project.families``): it is remembered until one of these changes. ``conclude`` is given all of
    it, from every family, and says what the findings are in the light of the rest of the tree.

    ``pedantic`` is what each finding is unless it says otherwise; where some do, ``in_part`` has the rule run by default.

    ``survey`` says of each model file by itself, before any class is checked, what all checks are to know of it: they find
    it in the context's ``surveyed``. When any of it changes everything is checked again, so it is for what is rare.
    """

    code: str
    symbol: str
    severity: Severity
    summary: str
    scope: Literal["module", "project"]
    check_module: Callable[[ModuleContext], Iterable[Finding]] | None = None
    check_project: Callable[[ProjectContext], Iterable[Finding]] | None = None
    pedantic: bool = False
    in_part: bool = False
    conclude: Callable[[ProjectContext, Sequence[Finding], Sequence[Note]], Iterable[Finding]] | None = None
    survey: Callable[[ProjectContext, Module], Iterable[tuple[Any, ...]]] | None = None
