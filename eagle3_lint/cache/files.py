"""Answers about single files, kept by the content of each; one pack for each source tree."""

from __future__ import annotations

from typing import Any

from eagle3_lint.cache.store import Store

# Answers of files that this run didn't look at are kept too, up to this many: split file lists share one pack.
_MOST_UNUSED = 10_000


class FileAnswers:
    """Answers by key, read at the first question and written when ``save`` is called."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._pack: dict[bytes, Any] | None = None
        self._used: dict[bytes, Any] = {}
        self._changed = False

    def find(self, key: bytes) -> Any:
        """The answer kept under ``key``, or None."""
        found = self._known().get(key)
        if found is not None:
            self._used[key] = found
        return found

    def keep(self, key: bytes, answer: Any) -> None:
        """Keep ``answer`` under ``key``."""
        self._used[key] = answer
        self._changed = True

    def forget(self) -> None:
        """Drop every answer."""
        self._pack, self._used = {}, {}

    def save(self) -> None:
        """Write the pack where this run added to it."""
        if not self._changed:
            return
        unused = [(key, answer) for key, answer in self._known().items() if key not in self._used]
        self._store.write(self._name, {**dict(unused[-_MOST_UNUSED:]), **self._used})
        self._changed = False

    def _known(self) -> dict[bytes, Any]:
        if self._pack is None:
            found = self._store.read(self._name)
            self._pack = found if isinstance(found, dict) else {}
        return self._pack
