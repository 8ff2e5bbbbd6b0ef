"""What is to be done with families of files: find what each file is linked to, and run the rules. Two processes share it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.outcome import Outcome
from eagle3_lint.findings.encoding import decode_errors, encode_errors
from eagle3_lint.project.families import Family, Links, links
from eagle3_lint.project.tree_links import TreeLinks
from eagle3_lint.rules.base import Note

if TYPE_CHECKING:
    from eagle3_lint.engine.loading import Loading
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.project.project import Project
    from eagle3_lint.rules.base import Rule

# Batches cost something beside their files, but with large ones at the end one process waits for the other: each is to hold
# one part in so many of what is left of a process's families, as long as that is not too little.
_PARTS = 8
_LEAST_BATCH = 50_000


class Linking:
    """What each of ``paths`` is linked to, once ``loading`` is done in this process; a partner is told what was loaded."""

    def __init__(
        self, opened: OpenedProject, project: Project, loading: Loading, paths: Sequence[str], rules: Sequence[Rule]
    ) -> None:
        self._opened = opened
        self._project = project
        self._loading = loading
        self._paths = paths
        self._rules = rules
        self.linked: dict[str, Links] = {}

    @property
    def count(self) -> int:
        """The files."""
        return len(self._paths)

    @cached_property
    def mine(self) -> int:
        """Those that weren't loaded by the partner."""
        return len(self._paths) - len(self._loading.elsewhere.intersection(self._paths))

    @cached_property
    def _in_order(self) -> list[str]:
        return sorted(self._paths, key=self._loading.elsewhere.__contains__)

    def argument(self) -> Any:
        """Which files there are, and what was loaded here."""
        return self._in_order, self._loading.own()

    def here(self, number: int) -> None:
        """Find what one file is linked to."""
        path = self._in_order[number]
        self.linked[path] = self._of(path)

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        """The same in the partner, which first takes what was loaded elsewhere."""
        paths, loaded = argument
        self._loading.install(loaded)
        found = {paths[number]: tuple(self._of(paths[number])) for number in numbers}
        return found, *_news(self._opened)

    def take(self, answer: Any) -> None:
        """Take what the partner found, and which other files it has read for it."""
        found, *news = answer
        self.linked.update((path, Links(*plain)) for path, plain in found.items())
        _take_news(self._opened, *news)

    def _of(self, path: str) -> Links:
        module = self._project.modules.at(path)
        if module is None:
            return Links()
        found = links(self._project, module)
        return found._replace(surveyed=tuple(self._opened.survey(self._rules, self._project, module)))


class Checking:
    """What ``rules`` find and note in families, of which ``choose`` tells."""

    def __init__(self, opened: OpenedProject, project: Project, loading: Loading, rules: Sequence[Rule]) -> None:
        self._opened = opened
        self._project = project
        self._loading = loading
        self._rules = rules
        self._batches: list[frozenset[str]] = []
        self.mine = 0
        self._tree: TreeLinks | None = None
        self._surveyed: dict[str, tuple[Note, ...]] = {}
        self.found = Outcome()
        self.size = 0

    def choose(self, chosen: Iterable[Family], tree: TreeLinks) -> None:
        """Say which families, and what is known of the tree that they are in."""
        elsewhere = self._loading.elsewhere
        mine: dict[Family, int] = {}
        others: dict[Family, int] = {}
        for family in chosen:
            size = self._size(family)
            is_mine = self._size(family & elsewhere) * 2 <= size
            (mine if is_mine else others)[family] = size
        self.size = sum(mine.values()) + sum(others.values())
        first = list(_batches(mine))
        self._batches = [*first, *_batches(others)]
        self.mine = len(first)
        self._be_told(tree)

    @property
    def count(self) -> int:
        """Families, in batches."""
        return len(self._batches)

    def argument(self) -> Any:
        """Which batches there are, and what is known of the tree."""
        assert self._tree is not None
        return [sorted(batch) for batch in self._batches], self._tree.encoded()

    def here(self, number: int) -> None:
        """Run the rules over one batch."""
        paths = self._batches[number]
        for rule in self._rules:
            findings, notes = self._opened.run(rule, self._project, paths, self._surveyed.get(rule.code, ()))
            self.found.findings.setdefault(rule.code, []).extend(findings)
            self.found.notes.setdefault(rule.code, []).extend(notes)
        self.found.census.update(self._opened.census(self._project, paths))

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        """The same in the partner."""
        batches, tree = argument
        self._batches = [frozenset(batch) for batch in batches]
        if self._tree is None:
            self._be_told(TreeLinks.decoded(tree))
        for number in numbers:
            self.here(number)
        return self.found.encoded(), *_news(self._opened)

    def take(self, answer: Any) -> None:
        """Take what the partner found."""
        plain, *news = answer
        self.found.add(Outcome.decoded(plain))
        _take_news(self._opened, *news)

    def _be_told(self, tree: TreeLinks) -> None:
        self._tree = tree
        self._project.be_told(tree)
        for code, path, content in tree.surveyed:
            self._surveyed[code] = (*self._surveyed.get(code, ()), Note(path, content))

    def _size(self, paths: Iterable[str]) -> int:
        return sum(map(self._opened.size_of, paths))


def _news(opened: OpenedProject) -> tuple[Any, ...]:
    """What a partner has to tell beside its answer: failures of rules, and other files that were read."""
    errors = encode_errors(opened.internal_errors)
    opened.internal_errors.clear()
    return errors, sorted(opened.outside())


def _take_news(opened: OpenedProject, errors: Iterable[Any], outside: Iterable[str]) -> None:
    opened.internal_errors.extend(decode_errors(errors))
    opened.visited_elsewhere.update(outside)


def _batches(sizes: Mapping[Family, int]) -> Iterable[frozenset[str]]:
    """The files of the families in batches, the largest first."""
    batch: set[str] = set()
    filled, left = 0, sum(sizes.values())
    for family in sorted(sorted(sizes, key=min), key=sizes.__getitem__, reverse=True):
        if batch and filled + sizes[family] > max(left // _PARTS, _LEAST_BATCH):
            yield frozenset(batch)
            left -= filled
            batch, filled = set(), 0
        batch |= family
        filled += sizes[family]
    if batch:
        yield frozenset(batch)
