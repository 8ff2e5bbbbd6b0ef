"""Runs the rules about classes over a project, one family of files after the other.

What is known of a family from an earlier run is not looked for again: it holds as long as its files, what they import,
which classes of the tree are registered or inherited from, and what rules asked about the whole tree stay the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.cache.store import digest
from eagle3_lint.findings.encoding import decode_finding, encode_finding
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError, merged
from eagle3_lint.rules.project_context import ProjectContext

if TYPE_CHECKING:
    from eagle3_lint.cache.parts import Parts
    from eagle3_lint.project.families import Family
    from eagle3_lint.project.project import Project
    from eagle3_lint.rules.base import Rule

Census = dict[str, tuple[int, int, int]]
"""For each model file: how many classes it has, how many of them are registered, how many of these wrappers."""
Asked = tuple[str, str, tuple[Any, ...], Any]
"""What a rule asked about the whole tree: the module and the name of the question, its arguments, and the answer."""


@dataclass
class ClassFindings:
    """What the rules found in a project or a part of it, what its files hold, and which rules failed."""

    findings: list[Finding] = field(default_factory=list)
    census: Census = field(default_factory=dict)
    internal_errors: list[InternalError] = field(default_factory=list)

    def of(self, code: str) -> tuple[Finding, ...]:
        """What the rule ``code`` found, in the order in which it is shown."""
        return merged(one for one in self.findings if one.code == code)

    def add(self, other: ClassFindings) -> None:
        """Take in what ``other`` has."""
        self.findings += other.findings
        self.census |= other.census
        self.internal_errors += other.internal_errors


@dataclass(frozen=True)
class ClassRules:
    """The ``rules`` to run over ``project``; ``new_context`` makes what they see of a family, ``parts`` knows earlier runs."""

    project: Project
    rules: Sequence[Rule]
    new_context: Callable[[Project, Family], ProjectContext]
    parts: Parts | None = None

    def findings(self) -> ClassFindings:
        """Everything that the rules find."""
        found = ClassFindings()
        for family in self.project.families:
            found.add(self._recalled(family) or self._of_family(family))
        return found

    def _recalled(self, family: Family) -> ClassFindings | None:
        """What was found in ``family`` in an earlier run, if that is still true."""
        known = self.parts.find(self._question, family) if self.parts is not None else None
        if known is None:
            return None
        try:
            findings, census, asked = known
            if all(self._answer(*question) == answer for *question, answer in asked):
                return ClassFindings([decode_finding(one) for one in findings], dict(census))
        except (TypeError, ValueError, AttributeError, KeyError):
            return None
        return None

    def _of_family(self, family: Family) -> ClassFindings:
        found = ClassFindings(census=_census(self.project, family))
        asked: list[Asked] = []
        for rule in self.rules:
            context = self.new_context(self.project, family)
            self._run(rule, context, found)
            asked += ((one.__module__, one.__qualname__, arguments, answer) for one, arguments, answer in context.asked)
        if self.parts is not None and not found.internal_errors:
            findings = tuple(map(encode_finding, found.findings))
            self.parts.keep(self._question, family, (findings, found.census, tuple(asked)))
        return found

    def _run(self, rule: Rule, context: ProjectContext, found: ClassFindings) -> None:
        assert rule.check_project is not None
        try:
            found.findings.extend(rule.check_project(context))
        except Exception as error:  # noqa: BLE001 - a rule's own fault must not stop the others
            at = context.current
            place = (at.path, at.line) if at is not None else (context.root, 1)
            found.internal_errors.append(InternalError.of(rule.code, *place, error))

    def _answer(self, module: str, name: str, arguments: tuple[Any, ...]) -> Any:
        """What the whole tree answers now; the rules, which have the questions, are imported by now."""
        return getattr(sys.modules[module], name)(self.project, *arguments)

    @cached_property
    def _question(self) -> str:
        """What is asked of a family: what these rules find, in a tree with these classes."""
        keys = (*sorted(self.project.registered_keys), "", *sorted(self.project.inherited_keys))
        return " ".join((*(rule.code for rule in self.rules), digest(*map(str.encode, keys)).hex()))


def _census(project: Project, paths: Iterable[str]) -> Census:
    """What each of ``paths`` holds."""
    counts: Census = {}
    roles = project.roles
    for info in project.classes_in(frozenset(paths)):
        classes, registered, wrappers = counts.get(info.path, (0, 0, 0))
        is_registered = roles.is_registered(info)
        is_wrapper = is_registered and roles.is_multimodal(info) and not roles.is_draft(info)
        counts[info.path] = (classes + 1, registered + is_registered, wrappers + is_wrapper)
    return counts
