"""What belongs together with the given paths: the trees of models and the packages that they lie in, and the checkouts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from eagle3_lint.engine.session import Session
from eagle3_lint.sources.discovery import discover
from eagle3_lint.sources.files import siblings
from eagle3_lint.sources.git import Repository, repository_around
from eagle3_lint.sources.snapshots import Wanted
from eagle3_lint.sources.tree import SourceTree
from eagle3_lint.sources.upwards import checkout_around

_PACKAGE = "sglang"


@dataclass(frozen=True)
class Checkout:
    """The working tree of a repository; ``top`` is its directory as the user's paths spell it."""

    repository: Repository
    top: str

    def inside(self, path: str) -> str | None:
        """``path`` relative to the top, with ``/``; empty for the top itself, None for what lies outside."""
        absolute = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if os.path.realpath(path) == self.repository.top:
            return ""
        below = self.repository.top.rstrip(os.sep) + os.sep
        return absolute[len(below) :].replace(os.sep, "/") if absolute.startswith(below) else None

    def path(self, inside: str) -> str:
        """The absolute path of ``inside``."""
        return os.path.join(self.top, *inside.split("/")) if inside else self.top


class Scope:
    """The given absolute paths and what is linted with them."""

    def __init__(self, session: Session, given: tuple[str, ...]) -> None:
        self._session = session
        self.given = given

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Every Python file that is linted, given or not."""
        found = discover([path for path in (*self.given, *self.whole) if os.path.lexists(path)])
        return tuple(path for path in found.files if path.endswith(".py"))

    @cached_property
    def whole(self) -> tuple[str, ...]:
        """What is linted beside the given paths: the models of their trees, the packages of files outside any."""
        models = (tree.models for tree in self._trees if os.path.isdir(tree.models))
        beside = (one for path in self.loose for one in siblings(path) if os.path.lexists(one))
        return tuple(dict.fromkeys((*models, *beside)))

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """A path in each directory that lies outside any tree."""
        return tuple(path for path in self._places if self._session.tree_around(path) is None)

    @cached_property
    def configured_tree(self) -> SourceTree | None:
        """The tree that files outside any tree build on, where there are such files."""
        return self._session.configured_tree() if self.loose else None

    @cached_property
    def checkouts(self) -> tuple[Checkout, ...]:
        """The working trees that all of this lies in; raises GitError for what lies in none."""
        homes = dict.fromkeys(_home(anchor) for anchor in self._anchors())
        found: dict[str, Checkout] = {}
        for home in homes:
            repository = repository_around(home)
            found.setdefault(repository.top, Checkout(repository, _spelled(home, repository.top)))
        return tuple(found.values())

    def wanted(self, checkout: Checkout, is_package: Callable[[str], bool]) -> Wanted:
        """Which files of ``checkout`` these paths need; ``is_package`` tells of a folder of the revision."""
        trees = [*self._trees, *([self.configured_tree] if self.configured_tree is not None else [])]
        packages = _insides(checkout, (tree.package for tree in trees))
        given = frozenset(_insides(checkout, self.given))
        folders, flat = {*packages, *given}, set()
        for folder in _insides(checkout, (os.path.dirname(path) for path in self.loose)):
            top = _package_top(folder, is_package)
            present = _package_top(folder, lambda one: os.path.isfile(os.path.join(checkout.path(one), "__init__.py")))
            folders.update(one for one in (top, present) if one is not None)
            flat.add(folder)
        return Wanted(frozenset(folders), frozenset(flat), given)

    @cached_property
    def _trees(self) -> tuple[SourceTree, ...]:
        found = (self._session.tree_around(path) for path in self._places)
        return tuple(dict.fromkeys(tree for tree in found if tree is not None))

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """One path in each directory of a given file; a given path that is gone or has no files stands for itself."""
        present = [path for path in self.given if os.path.lexists(path)]
        discovered = discover(present)
        files = [*discovered.files, *(path for path, _ in discovered.unreadable)]
        empty = [
            os.path.join(path, "__init__.py") if os.path.isdir(path) else path
            for path in self.given
            if not any(one == path or one.startswith(os.path.join(path, "")) for one in files)
        ]
        by_directory = {os.path.dirname(path): path for path in (*empty, *files)}
        return tuple(by_directory.values())

    def _anchors(self) -> Iterator[str]:
        yield from (tree.root for tree in self._trees)
        yield from (os.path.dirname(path) for path in self.loose)


def _insides(checkout: Checkout, paths: Iterator[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(inside for path in paths if (inside := checkout.inside(path)) is not None)


def _package_top(folder: str, is_package: Callable[[str], bool]) -> str | None:
    """The outermost package around ``folder``; None where it is no package."""
    top = None
    while is_package(folder):
        top = folder
        if not folder:
            break
        folder = folder.rpartition("/")[0]
    return top


def _home(directory: str) -> str:
    """The nearest directory upwards that looks like the top of a working tree; else one that exists, for git to judge."""
    existing = directory
    while not os.path.isdir(existing):
        existing = os.path.dirname(existing)
    return checkout_around(existing) or existing


def _spelled(home: str, top: str) -> str:
    """The top of the working tree around ``home``, links kept as the user has them."""
    below = os.path.relpath(os.path.realpath(home), top)
    if below == os.curdir:
        return home
    return home.removesuffix(os.sep + below) if home.endswith(os.sep + below) else top
