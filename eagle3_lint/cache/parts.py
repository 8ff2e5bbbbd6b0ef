"""Answers about parts of a project, each kept for as long as nothing changes that it depends on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from eagle3_lint.cache.answers import states_of, still_hold
from eagle3_lint.cache.files import FileAnswers
from eagle3_lint.cache.store import digest

_OUTSIDE = b"outside"


class Parts:
    """Answers about files of a project.

    An answer holds while ``content``, a digest of one file's content, is the same for the files that it is about and for
    all that they import (``reached`` gives both), for ``common``, and for ``outside``: the files and directories
    that aren't among the project's own and that any of the answers depends on.
    """

    def __init__(
        self,
        answers: FileAnswers,
        reached: Callable[[Iterable[str]], Iterable[str]],
        content: Callable[[str], bytes],
        common: bytes,
    ) -> None:
        self._answers = answers
        self._reached = reached
        self._content = content
        self._common = common
        self.outside = self._known_outside()

    def _known_outside(self) -> frozenset[str]:
        states = self._answers.find(_OUTSIDE)
        if states is not None and still_hold(states):
            return frozenset(path for path, _ in states)
        self._answers.forget()
        return frozenset()

    def find(self, question: str, paths: Iterable[str]) -> Any:
        """What was answered to ``question`` about the files ``paths``, or None."""
        return self._answers.find(self._key(question, paths))

    def keep(self, question: str, paths: Iterable[str], answer: Any) -> None:
        """Keep ``answer``, made of tuples, dictionaries, strings and numbers."""
        self._answers.keep(self._key(question, paths), answer)

    def save(self, outside: Iterable[str]) -> None:
        """Write the answers, which depend on the files and directories ``outside`` too."""
        self.outside |= frozenset(outside)
        self._answers.keep(_OUTSIDE, states_of(self.outside))
        self._answers.save()

    def _key(self, question: str, paths: Iterable[str]) -> bytes:
        about = sorted(paths)
        files = (part for path in sorted(self._reached(about)) for part in (os.fsencode(path), self._content(path)))
        return digest(question.encode(), self._common, *map(os.fsencode, about), b"", *files)
