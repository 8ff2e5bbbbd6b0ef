"""Facts of modules, kept by the content of their files; one pack for each source tree."""

from __future__ import annotations

from eagle3_lint.cache.store import Store, digest
from eagle3_lint.facts.encoding import Plain, decode, encode
from eagle3_lint.facts.extract import facts_of
from eagle3_lint.facts.module import ModuleFacts
from eagle3_lint.sources.text import SourceText

# Entries of files that this run didn't look at are kept too, up to this many: split file lists share one pack.
_MOST_UNUSED = 2000


class FactsCache:
    """Gives the facts of a source: from the pack where the content is known, else extracted and remembered."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = f"facts-{name}"
        self._pack: dict[bytes, Plain] | None = None
        self._used: dict[bytes, Plain] = {}
        self._changed = False

    def facts(self, source: SourceText) -> ModuleFacts:
        """The facts of ``source``; raises UnreadableSourceError where it isn't Python."""
        key = digest(source.data)
        plain = self._known().get(key)
        if plain is not None:
            try:
                facts = decode(plain)
            except (ValueError, TypeError):
                plain = None
            else:
                self._used[key] = plain
                return facts
        facts = facts_of(source)
        self._used[key] = encode(facts)
        self._changed = True
        return facts

    def save(self) -> None:
        """Write the pack where this run added to it."""
        if not self._changed:
            return
        unused = [(key, plain) for key, plain in self._known().items() if key not in self._used]
        self._store.write(self._name, {**dict(unused[-_MOST_UNUSED:]), **self._used})
        self._changed = False

    def _known(self) -> dict[bytes, Plain]:
        if self._pack is None:
            found = self._store.read(self._name)
            self._pack = found if isinstance(found, dict) else {}
        return self._pack

