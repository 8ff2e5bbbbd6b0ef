"""Facts of modules, kept by the content of their files."""

from __future__ import annotations

from eagle3_lint.cache.files import FileAnswers
from eagle3_lint.cache.store import Store, digest
from eagle3_lint.facts.encoding import decode, encode
from eagle3_lint.facts.extract import Statements, facts_and_statements
from eagle3_lint.facts.module import ModuleFacts
from eagle3_lint.sources.text import SourceText


class FactsCache:
    """Gives the facts of a source: remembered where the content is known, else extracted."""

    def __init__(self, store: Store, name: str) -> None:
        self._answers = FileAnswers(store, f"facts-{name}")

    def facts(self, source: SourceText) -> tuple[ModuleFacts, Statements]:
        """The facts of ``source``, and the statements that were parsed for them.

        Raises UnreadableSourceError where it isn't Python.
        """
        key = digest(source.data)
        plain = self._answers.find(key)
        if plain is not None:
            try:
                return decode(plain), {}
            except (ValueError, TypeError):
                plain = None
        facts, statements = facts_and_statements(source)
        self._answers.keep(key, encode(facts))
        return facts, statements

    def save(self) -> None:
        """Write what this run added."""
        self._answers.save()
