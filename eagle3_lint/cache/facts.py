"""Facts of modules, kept by the content of their files."""

from __future__ import annotations

from eagle3_lint.cache.files import FileAnswers
from eagle3_lint.cache.store import Store, digest
from eagle3_lint.facts.encoding import Plain, decode, encode
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

    def knows(self, content: bytes) -> bool:
        """Whether the facts of a file with this digest of its content are remembered."""
        return self._answers.find(content) is not None

    def keep(self, content: bytes, plain: Plain) -> None:
        """Remember the facts of a file with this digest of its content, as ``encode`` gives them."""
        self._answers.keep(content, plain)

    def save(self) -> None:
        """Write what this run added."""
        self._answers.save()
