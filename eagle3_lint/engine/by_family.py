"""Runs rules over a project family by family: what is known of a family is taken from an earlier run, the rest is shared
between two processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.cache.store import digest
from eagle3_lint.engine.loading import load_models
from eagle3_lint.engine.outcome import Outcome
from eagle3_lint.engine.second_process import WORTH_A_PROCESS, Shared
from eagle3_lint.facts.imports import Import, imports_in
from eagle3_lint.findings.report import InternalError
from eagle3_lint.project.families import Family, Links, families, links
from eagle3_lint.project.imports import Digests, ImportGraph
from eagle3_lint.records import dataclass

if TYPE_CHECKING:
    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.project.project import Project
    from eagle3_lint.rules.base import Rule

# Each costs a look through all classes; with too few, one process waits for the other.
_BATCHES = 12


def check_families(opened: OpenedProject, rules: Sequence[Rule]) -> tuple[Outcome, Project]:
    """Everything that ``rules`` find and note in the project of ``opened``, and the project that was looked at."""
    if opened.memory is None or not opened.is_rememberable:
        return _all_anew(opened, rules)
    return _Remembering(opened, opened.memory, rules).check()


def _all_anew(opened: OpenedProject, rules: Sequence[Rule]) -> tuple[Outcome, Project]:
    project = opened.project_to_check()
    load_models(opened, project.model_files)
    linked = {path: _links(project, path) for path in project.model_files}
    return _check(opened, project, _families(project, linked), rules), project


def _links(project: Project, path: str) -> Links:
    module = project.modules.at(path)
    return links(project, module) if module is not None else Links()


def _families(project: Project, linked: Mapping[str, Links]) -> tuple[Family, ...]:
    return families(project.model_files, {path: one.paths for path, one in linked.items()})


@dataclass(frozen=True)
class _Keys:
    """Under what is kept what is known of each file and family: everything that it depends on among the models."""

    graph: ImportGraph
    digests: Digests

    def of_file(self, path: str) -> bytes:
        return digest(b"links", os.fsencode(path), self.digests.digest((path,)))

    def of_family(self, family: Family, common: bytes) -> bytes:
        return digest(common, self.digests.digest(family), *map(os.fsencode, sorted(family)))


class _Remembering:
    """One check that takes from the memory what is still true, and adds to it what it finds."""

    def __init__(self, opened: OpenedProject, memory: Memory, rules: Sequence[Rule]) -> None:
        self._opened = opened
        self._memory = memory
        self._rules = rules
        self._project = opened.project_to_check()
        graph = ImportGraph(self._project, self._imports_of)
        self._keys = _Keys(graph, Digests(graph.imported, opened.content_digest))

    def check(self) -> tuple[Outcome, Project]:
        """The outcome over all families."""
        linked, new = self._linked()
        registered = frozenset(key for one in linked.values() for key in one.registered)
        inherited = frozenset(key for one in linked.values() for key in one.inherited)
        common = self._common(registered, inherited)
        found = Outcome()
        pending: list[Family] = []
        every = _families(self._project, linked)
        for family in every:
            known = self._memory.family(self._keys.of_family(family, common))
            if known is None:
                pending.append(family)
            else:
                found.add(known)
        if pending and len(pending) < len(every) and self._opened.is_only_for_checks(self._project):
            paths = frozenset(path for family in pending for path in family)
            self._project.limit_to(paths, self._keys.graph.reach(paths), registered, inherited)
        fresh = _check(self._opened, self._project, pending, self._rules)
        found.add(fresh)
        self._keep(pending, fresh, common, {path: linked[path] for path in new})
        return found, self._project

    def _common(self, registered: Iterable[str], inherited: Iterable[str]) -> bytes:
        """A digest of what the findings of every family depend on: the runtime, the rules, and what is registered."""
        words = (*(rule.code for rule in self._rules), "", *sorted(registered), "", *sorted(inherited))
        return digest(self._opened.runtime_state, "\n".join(words).encode())

    def _linked(self) -> tuple[dict[str, Links], tuple[str, ...]]:
        """What each file is linked to, and the files of which that wasn't known."""
        paths = self._project.model_files
        linked = {path: self._memory.links(self._keys.of_file(path)) for path in paths}
        new = tuple(path for path in paths if linked[path] is None)
        load_models(self._opened, new)
        return {path: _links(self._project, path) if known is None else known for path, known in linked.items()}, new

    def _imports_of(self, path: str) -> Iterable[Import]:
        key = self._opened.content_digest(path)
        known = self._memory.imports(key)
        if known is None:
            source = self._opened.readable(path)
            known = tuple(imports_in(source.text)) if source is not None else ()
            self._memory.keep_imports(key, known)
        return known

    def _keep(self, checked: Iterable[Family], fresh: Outcome, common: bytes, linked: Mapping[str, Links]) -> None:
        if self._opened.internal_errors or not self._opened.is_rememberable:
            return
        states = self._opened.outside_states()
        if states is None:
            return
        for path, links_of_file in linked.items():
            self._memory.keep_links(self._keys.of_file(path), links_of_file, states)
        for family in checked:
            self._memory.keep_family(self._keys.of_family(family, common), fresh.about(family), states)


def _check(opened: OpenedProject, project: Project, pending: Sequence[Family], rules: Sequence[Rule]) -> Outcome:
    sizes = {family: sum(_size(opened, path) for path in family) for family in pending}
    if not opened.parallel or sum(sizes.values()) < WORTH_A_PROCESS:
        return _run(opened, project, pending, rules)
    found = Outcome()
    with Shared(_batches(sizes), lambda taken: _plain(opened, project, taken, rules)) as shared:
        for batch in shared.taken():
            found.add(_run(opened, project, batch, rules))
        plain, errors, outside = shared.result()
    found.add(Outcome.decoded(plain))
    opened.internal_errors.extend(InternalError(*error) for error in errors)
    opened.visited_elsewhere.update(outside)
    return found


def _run(opened: OpenedProject, project: Project, chosen: Iterable[Family], rules: Sequence[Rule]) -> Outcome:
    paths = frozenset(path for family in chosen for path in family)
    found = Outcome()
    if paths:
        for rule in rules:
            found.findings[rule.code], found.notes[rule.code] = opened.run(rule, project, paths)
        found.census.update(opened.census(project, paths))
    return found


def _plain(opened: OpenedProject, project: Project, taken: Iterable[Sequence[Family]], rules: Sequence[Rule]) -> Any:
    before = len(opened.internal_errors)
    outcome = Outcome()
    for batch in taken:
        outcome.add(_run(opened, project, batch, rules))
    found = outcome.encoded()
    # Whoever asks adds them to his own; where the second process failed, that is this very list.
    errors = [(one.rule, one.path, one.line, one.text) for one in opened.internal_errors[before:]]
    del opened.internal_errors[before:]
    return found, errors, sorted(opened.outside())


def _batches(sizes: Mapping[Family, int]) -> list[list[Family]]:
    """The families in batches of about the same amount of text, the largest first."""
    most = sum(sizes.values()) / _BATCHES
    batches: list[list[Family]] = []
    filled = most
    for family in sorted(sorted(sizes, key=min), key=sizes.__getitem__, reverse=True):
        if filled + sizes[family] > most:
            batches.append([])
            filled = 0
        batches[-1].append(family)
        filled += sizes[family]
    return batches


def _size(opened: OpenedProject, path: str) -> int:
    module = opened.modules.at(path)
    return len(module.source.data) if module is not None else 0
