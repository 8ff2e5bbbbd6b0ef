"""What a rule is, and the documentation that it carries.

A rule is one module of this package, named ``eglNNN_symbol_with_underscores.py``; its code and symbol are its
file's name, its documentation is its module docstring, and its module holds one ``RULE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eagle3_lint.findings.model import Finding, Severity

if TYPE_CHECKING:
    from eagle3_lint.rules.context import ModuleContext
    from eagle3_lint.rules.project_context import ProjectContext


@dataclass(frozen=True)
class Rule:
    """One rule: identity, default, and its check.

    ``scope`` says what the check looks at: one module's text alone (``module``; cheap, needs no other file
    but star imports) or the classes of the project (``project``). What ``check_project`` finds on a class may depend only
    on the classes that this one inherits from, forwards to or is inherited by, on what their files import, and on what
    it asks its context about the whole tree.

    ``pedantic`` is what each finding is unless it says otherwise; where some do, ``in_part`` has the rule run by default.
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
