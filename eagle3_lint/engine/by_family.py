"""Runs rules over a project family by family: what is known of a family is taken from an earlier run, the rest is shared
between two processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.cache.store import digest
from eagle3_lint.engine.jobs import Checking, Linking
from eagle3_lint.engine.loading import Loading
from eagle3_lint.engine.outcome import Outcome
from eagle3_lint.engine.partner import Partner
from eagle3_lint.engine.second_process import WORTH_A_PROCESS
from eagle3_lint.facts.imports import Import, imports_in
from eagle3_lint.project.families import Family, Links, families
from eagle3_lint.project.imports import Digests, ImportGraph
from eagle3_lint.project.tree_links import TreeLinks

if TYPE_CHECKING:
    from typing_extensions import Self

    from eagle3_lint.engine.memory import Memory
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.project.project import Project
    from eagle3_lint.rules.base import Rule


def check_families(opened: OpenedProject, rules: Sequence[Rule]) -> tuple[Outcome, Project]:
    """Everything that ``rules`` find and note in the project of ``opened``, and the project that was looked at."""
    project = opened.project_to_check()
    if opened.memory is None or not opened.is_rememberable:
        return _all_anew(opened, project, rules), project
    return _Remembering(opened, project, opened.memory, rules).check(), project


def _all_anew(opened: OpenedProject, project: Project, rules: Sequence[Rule]) -> Outcome:
    with _Work(opened, project, rules, project.model_files) as work:
        linked = work.linked()
        return work.outcome(_families(project, linked), _tree_links(linked))


class _Work:
    """The three jobs of a check, the first two over ``paths``; a partner joins in as soon as that pays."""

    def __init__(self, opened: OpenedProject, project: Project, rules: Sequence[Rule], paths: Sequence[str]) -> None:
        self._opened = opened
        self._loading = Loading(opened, paths)
        self._linking = Linking(opened, project, self._loading, paths, rules)
        self._checking = Checking(opened, project, self._loading, rules)
        self._partner = Partner(self._loading, self._linking, self._checking)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._partner.stop(self._opened.ended)

    def linked(self) -> dict[str, Links]:
        """What each of the paths is linked to."""
        self._loading.share_with(self._partner, self._linking)
        self._partner.share(self._linking)
        return self._linking.linked

    def outcome(self, chosen: Iterable[Family], tree: TreeLinks) -> Outcome:
        """What the rules find and note in the ``chosen`` families of the ``tree``."""
        self._checking.choose(chosen, tree)
        if self._opened.parallel and self._checking.size >= WORTH_A_PROCESS:
            self._partner.start()
        self._partner.share(self._checking)
        return self._checking.found


def _families(project: Project, linked: Mapping[str, Links]) -> tuple[Family, ...]:
    return families(project.model_files, {path: one.paths for path, one in linked.items()})


def _tree_links(linked: Mapping[str, Links]) -> TreeLinks:
    return TreeLinks(
        frozenset(key for one in linked.values() for key in one.registered),
        frozenset(key for one in linked.values() for key in one.inherited),
        tuple((code, path, found) for path, one in sorted(linked.items()) for code, found in one.surveyed),
    )


def _state_of(tree: TreeLinks) -> bytes:
    """A digest of what the findings of every family depend on in the rest of the tree."""
    return digest(repr(tree.encoded()).encode())


@dataclass(frozen=True)
class _Keys:
    """Under what is kept what is known of each file and family: everything that it depends on among the models, and what
    all have in ``common``, the runtime and the rules."""

    digests: Digests
    common: bytes

    def of_file(self, path: str) -> bytes:
        return digest(b"links", self.common, os.fsencode(path), self.digests.digest((path,)))

    def of_family(self, family: Family, tree: bytes) -> bytes:
        return digest(self.common, tree, self.digests.digest(family), *map(os.fsencode, sorted(family)))


class _Remembering:
    """One check that takes from the memory what is still true, and adds to it what it finds."""

    def __init__(self, opened: OpenedProject, project: Project, memory: Memory, rules: Sequence[Rule]) -> None:
        self._opened = opened
        self._project = project
        self._memory = memory
        self._rules = rules
        graph = ImportGraph(self._project, self._imports_of)
        common = digest(opened.runtime_state, *(rule.code.encode() for rule in rules))
        self._keys = _Keys(Digests(graph.imported, opened.content_digest), common)

    def check(self) -> Outcome:
        """The outcome over all families."""
        known = {path: self._memory.links(self._keys.of_file(path)) for path in self._project.model_files}
        with _Work(
            self._opened, self._project, self._rules, [path for path, one in known.items() if one is None]
        ) as work:
            new = work.linked()
            linked = {path: new[path] if one is None else one for path, one in known.items()}
            tree = _tree_links(linked)
            state = _state_of(tree)
            every = _families(self._project, linked)
            found, pending = self._recalled(every, state)
            fresh = work.outcome(pending, tree)
        self._keep(pending, fresh, state, new)
        found.add(fresh)
        return found

    def _recalled(self, every: Iterable[Family], state: bytes) -> tuple[Outcome, list[Family]]:
        """What is known of families, and those of which nothing is."""
        found = Outcome()
        pending: list[Family] = []
        for family in every:
            known = self._memory.family(self._keys.of_family(family, state))
            if known is None:
                pending.append(family)
            else:
                found.add(known)
        return found, pending

    def _imports_of(self, path: str) -> Iterable[Import]:
        key = self._opened.content_digest(path)
        known = self._memory.imports(key)
        if known is None:
            source = self._opened.readable(path)
            known = tuple(imports_in(source.text)) if source is not None else ()
            self._memory.keep_imports(key, known)
        return known

    def _keep(self, checked: Iterable[Family], fresh: Outcome, state: bytes, linked: Mapping[str, Links]) -> None:
        if self._opened.internal_errors or not self._opened.is_rememberable:
            return
        states = self._opened.outside_states()
        if states is None:
            return
        for path, links_of_file in linked.items():
            self._memory.keep_links(self._keys.of_file(path), links_of_file, states)
        for family in checked:
            self._memory.keep_family(self._keys.of_family(family, state), fresh.about(family), states)
