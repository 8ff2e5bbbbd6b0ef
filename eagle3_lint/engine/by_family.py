"""Runs rules over a project family by family: what is known of a family is taken from the last run, the rest is shared
between two processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.second_process import WORTH_A_PROCESS, SecondProcess, halves
from eagle3_lint.findings.encoding import decode_finding, encode_finding
from eagle3_lint.findings.model import Finding
from eagle3_lint.findings.report import InternalError, ordered
from eagle3_lint.project.families import Family, families

if TYPE_CHECKING:
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.rules.base import Rule

# What this process has to do beside: the rules that need the whole project, and the report.
_OWN_SHARE = 0.15

Found = dict[str, list[Finding]]


def check_families(opened: OpenedProject, rules: Sequence[Rule]) -> Found:
    """Everything that ``rules`` find in the project of ``opened``."""
    found: Found = {rule.code: [] for rule in rules}
    if not rules:
        return found
    pending: list[tuple[Family, bytes]] = []
    for family in families(opened.project):
        key = _key(opened, family, rules)
        known = opened.memory.family(key) if opened.memory is not None and key else None
        if known is None:
            pending.append((family, key))
        else:
            _add(found, known)
    fresh = _check(opened, [family for family, _ in pending], rules)
    _add(found, fresh)
    _remember(opened, pending, fresh)
    return {code: list(ordered(findings)) for code, findings in found.items()}


def _check(opened: OpenedProject, pending: Sequence[Family], rules: Sequence[Rule]) -> Found:
    first, second = _halves(opened, pending)
    if not second:
        return _run(opened, first, rules)
    with SecondProcess(lambda: _plain(opened, second, rules)) as other:
        found = _run(opened, first, rules)
        findings, errors = other.result()
    _add(found, {code: [decode_finding(one) for one in plain] for code, plain in findings.items()})
    opened.internal_errors.extend(InternalError(*error) for error in errors)
    return found


def _run(opened: OpenedProject, chosen: Iterable[Family], rules: Sequence[Rule]) -> Found:
    paths = frozenset(path for family in chosen for path in family)
    return {rule.code: opened.run(rule, paths) if paths else [] for rule in rules}


def _plain(opened: OpenedProject, chosen: Iterable[Family], rules: Sequence[Rule]) -> Any:
    opened.internal_errors.clear()
    found = _run(opened, chosen, rules)
    errors = [(one.rule, one.path, one.line, one.text) for one in opened.internal_errors]
    return {code: [encode_finding(one) for one in findings] for code, findings in found.items()}, errors


def _halves(opened: OpenedProject, pending: Sequence[Family]) -> tuple[list[Family], list[Family]]:
    """Two halves of about the same amount of text; the second is empty where one process does as well."""
    sizes = {family: sum(_size(opened, path) for path in family) for family in pending}
    size = sum(sizes.values())
    if not opened.parallel or size < WORTH_A_PROCESS:
        return list(pending), []
    return halves(sorted(pending, key=min), sizes.__getitem__, size * _OWN_SHARE, 0)


def _size(opened: OpenedProject, path: str) -> int:
    module = opened.modules.at(path)
    return len(module.source.data) if module is not None else 0


def _key(opened: OpenedProject, family: Family, rules: Sequence[Rule]) -> bytes:
    if opened.memory is None or not opened.is_rememberable:
        return b""
    return opened.family_key(family, sorted(rule.code for rule in rules))


def _remember(opened: OpenedProject, pending: Iterable[tuple[Family, bytes]], fresh: Found) -> None:
    if opened.memory is None or not opened.is_rememberable or opened.internal_errors:
        return
    for family, key in pending:
        mine = {code: [one for one in findings if one.path in family] for code, findings in fresh.items()}
        if key:
            opened.memory.keep_family(key, mine)


def _add(found: Found, more: Found) -> None:
    for code, findings in more.items():
        found[code].extend(findings)
