"""What a rule about classes sees: the project, and how to name what it found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from eagle3_lint.findings.model import Evidence, Finding, Fix, Inner, Span
from eagle3_lint.rules.catalogue import known

if TYPE_CHECKING:
    from eagle3_lint.project.classes import ClassInfo
    from eagle3_lint.project.project import Project
    from eagle3_lint.project.roles import Candidate

T = TypeVar("T")


class ProjectContext:
    """One project under check.

    ``current`` is the class that the running rule looks at, for the report of a failure. ``paths`` are the files whose
    classes are asked about (whole families of files). ``with_fixes`` says that findings are to carry their fixes.
    ``asked`` are the questions about the whole tree that the running rule asked, with their arguments and answers.
    """

    def __init__(
        self,
        project: Project,
        root: str,
        paths: frozenset[str],
        with_fixes: bool = True,
    ) -> None:
        self.project = project
        self.with_fixes = with_fixes
        self.paths = paths
        self.root = root
        self.current: ClassInfo | None = None
        self.asked: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = []

    def ask(self, question: Callable[..., T], *arguments: Any) -> T:
        """What ``question``, a function of a module, says of the whole tree: it is given the project and ``arguments``.

        Arguments and answer are made of tuples, strings and numbers. What is found on a class may depend on its relatives,
        on what their files import, and on such answers.
        """
        answer = question(self.project, *arguments)
        self.asked.append((question, arguments, answer))
        return answer

    def subjects(self, classes: tuple[ClassInfo, ...]) -> Iterator[ClassInfo]:
        """Those of ``classes`` that are asked about, one after the other, each remembered while it is looked at.

        Nothing is said of a class that Python refuses to make.
        """
        for info in classes:
            if info.path in self.paths and not info.order.is_refused:
                self.current = info
                yield info
        self.current = None

    def classes(self) -> Iterator[ClassInfo]:
        """Every class that is asked about."""
        return self.subjects(self.project.classes_in(self.paths))

    def registered(self) -> Iterator[ClassInfo]:
        """Every registered class that is asked about."""
        return self.subjects(self.project.registered_in(self.paths))

    def targets(self) -> Iterator[ClassInfo]:
        """Every registered class that is no draft."""
        for info in self.registered():
            if not self.project.roles.is_draft(info):
                yield info

    def shown(self, path: str, line: int) -> str:
        """``path:line`` as a message shows it."""
        inside = path.startswith(self.root + os.sep)
        relative = path[len(self.root) + 1 :] if inside else os.path.basename(path)
        return f"{relative.replace(os.sep, '/')}:{line}"

    def inner(self, candidates: tuple[Candidate, ...], method: str) -> tuple[Inner, ...]:
        """The candidates as a finding lists them."""
        supports = self.project.roles.supports
        return tuple(
            Inner(one.attribute, one.info.dotted, supports(one, method), one.built_at.path, one.built_at.line)
            for one in candidates
        )

    def finding(
        self,
        code: str,
        info: ClassInfo,
        span: Span,
        message: str,
        *,
        registered: tuple[ClassInfo, ...] = (),
        inner: tuple[Inner, ...] = (),
        methods: tuple[str, ...] = (),
        evidence: tuple[Evidence, ...] = (),
        certain: bool = True,
        fix: Callable[[], Fix | None] | None = None,
        caused_by: tuple[str, ...] = (),
        scope: str = "",
        pedantic: bool | None = None,
    ) -> Finding:
        """A finding of ``code`` on ``info``, in the class's own file.

        ``fix`` is asked for its edits only where somebody wants to see them; ``pedantic`` is what the rule is unless given.
        """
        entry = known(code)
        assert entry is not None
        return Finding(
            code,
            entry.symbol,
            entry.severity,
            info.path,
            span,
            message,
            class_name=info.dotted,
            registered=tuple(sorted(one.dotted for one in registered)),
            inner=inner,
            methods=methods,
            confidence="high" if certain else "medium",
            evidence=tuple(dict.fromkeys(evidence)),
            fix=fix() if fix is not None and self.with_fixes else None,
            scope=scope or info.dotted,
            caused_by=tuple(dict.fromkeys(caused_by)),
            pedantic=entry.pedantic if pedantic is None else pedantic,
        )


def listed(names: tuple[str, ...], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
