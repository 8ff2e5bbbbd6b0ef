"""Whole answers, kept by everything that they depend on.

An answer is kept under what is always looked at (the contents of the models, of the runtime, the options), together with
the other files and directories that it took into account; it is given again only while all of these are the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from eagle3_lint.cache.store import Store, digest
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.files import runtime_files
from eagle3_lint.sources.reading import read_bytes

_ABSENT = b""
_MOST_KEPT = 8
States = tuple[tuple[str, bytes], ...]
"""Files and directories, with the state of each."""


class Answers:
    """Answers under one key; a few of the latest are kept, so that switching between branches finds them again."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = f"answers-{name}"

    def find(self, key: bytes) -> Any:
        """The answer kept under ``key``, or None; it is checked against the files that it depends on."""
        for known, dependencies, answer in self._entries():
            if known == key and still_hold(dependencies):
                return answer
        return None

    def keep(self, key: bytes, dependencies: Iterable[str], answer: Any) -> None:
        """Keep ``answer`` under ``key``, as long as ``dependencies`` stay what they are."""
        entry = (key, states_of(dependencies), answer)
        others = [one for one in self._entries() if one[0] != key]
        self._store.write(self._name, [entry, *others[: _MOST_KEPT - 1]])

    def _entries(self) -> list[tuple[bytes, tuple[tuple[str, bytes], ...], Any]]:
        found = self._store.read(self._name)
        if not isinstance(found, list):
            return []
        return [one for one in found if isinstance(one, tuple) and len(one) == 3]


def states_of(paths: Iterable[str]) -> States:
    """The state of each of ``paths``."""
    return tuple((path, state_of(path)) for path in sorted(set(paths)))


def still_hold(states: States) -> bool:
    """Whether each file and directory is in the state that it was in."""
    return all(state_of(path) == state for path, state in states)


def runtime_state(root: str) -> bytes:
    """The state of the runtime in the tree at ``root``: the names and contents of its files."""
    return digest(*(part for path in runtime_files(root) for part in (os.fsencode(path), state_of(path))))


def state_of(path: str) -> bytes:
    """The state of a file (its content) or directory (the names in it); empty where there is neither."""
    try:
        if os.path.isdir(path):
            return digest(*(name.encode("utf-8", "surrogateescape") for name in sorted(os.listdir(path))))
        return digest(read_bytes(path))
    except (OSError, ValueError, UnreadableSourceError):
        return _ABSENT
