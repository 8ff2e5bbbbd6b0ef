"""What one workspace remembers from run to run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.cache.answers import Answers, states_of, still_hold
from eagle3_lint.cache.files import FileAnswers
from eagle3_lint.cache.store import Store, digest

if TYPE_CHECKING:
    from eagle3_lint.cache.facts import FactsCache
    from eagle3_lint.cache.parts import Parts
    from eagle3_lint.engine.class_rules import Census
    from eagle3_lint.facts.extract import Statements
    from eagle3_lint.facts.imports import Import
    from eagle3_lint.facts.module import ModuleFacts
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.project.contract.model import Contract
    from eagle3_lint.sources.text import SourceText

Recalled = tuple[dict[str, tuple["Finding", ...]], "Census"]
"""The findings of each rule over a project, and what its files hold."""


class Memory:
    """The cache of one workspace; ``settings`` are the options that its findings depend on."""

    def __init__(self, store: Store, root: str, version: str, settings: str) -> None:
        self._key = digest(_program(version), os.fsencode(root))
        self._settings = digest(self._key, settings.encode())
        self._store = store
        self._files = FileAnswers(store, f"files-{_name(self._settings)}")
        self._imports = FileAnswers(store, f"imports-{_name(self._key)}")
        self._contracts = Answers(store, f"contract-{_name(self._key)}")
        self._findings = Answers(store, f"findings-{_name(self._settings)}")

    @cached_property
    def _facts(self) -> FactsCache:
        from eagle3_lint.cache.facts import FactsCache

        return FactsCache(self._store, _name(self._key))

    def facts(self, source: SourceText) -> tuple[ModuleFacts, Statements]:
        """The facts of ``source``, and the statements that were parsed for them.

        Raises UnreadableSourceError where it isn't Python.
        """
        return self._facts.facts(source)

    def imports(self, content: bytes, source: SourceText) -> tuple[Import, ...]:
        """The imports that are written in ``source``, whose content has the digest ``content``."""
        from eagle3_lint.facts.imports import imports_in

        known = self._imports.find(content)
        if not isinstance(known, tuple):
            known = tuple(imports_in(source.text))
            self._imports.keep(content, known)
        return known

    def parts(
        self, reached: Callable[[Iterable[str]], Iterable[str]], content: Callable[[str], bytes], common: bytes
    ) -> Parts:
        """What is known of the files and the families of a project; see there."""
        from eagle3_lint.cache.parts import Parts

        return Parts(FileAnswers(self._store, f"parts-{_name(self._settings)}"), reached, content, common)

    def save(self) -> None:
        """Write what was learnt of single files."""
        if "_facts" in self.__dict__:
            self._facts.save()
        self._files.save()
        self._imports.save()

    def file_findings(self, key: bytes) -> tuple[Finding, ...] | None:
        """What the text of one file was found to show, or None where that isn't known."""
        try:
            findings, dependencies = self._files.find(key)
            return _decoded(findings) if still_hold(dependencies) else None
        except (ValueError, TypeError):
            return None

    def keep_file_findings(self, key: bytes, found: tuple[Finding, ...], dependencies: Iterable[str]) -> None:
        """Remember what the text of one file shows, as long as ``dependencies`` stay what they are."""
        self._files.keep(key, (_encoded(found), states_of(dependencies)))

    def contract(self, runtime: bytes) -> Contract | None:
        """The contract that was read from the runtime when its state was ``runtime``, or None."""
        from eagle3_lint.project.contract.encoding import decode

        known = self._contracts.find(runtime)
        try:
            return None if known is None else decode(known)
        except (ValueError, TypeError):
            return None

    def keep_contract(self, runtime: bytes, contract: Contract) -> None:
        """Remember the contract of the runtime that has the state ``runtime``."""
        from eagle3_lint.project.contract.encoding import encode

        self._contracts.keep(runtime, (), encode(contract))

    def explanation(self, key: bytes, name: str) -> dict[str, Any] | None:
        """What was kept under ``key`` of the class that a user calls ``name``, or None."""
        known = self._explanations(name).find(key)
        return known if isinstance(known, dict) else None

    def keep_explanation(self, key: bytes, name: str, dependencies: Iterable[str], document: dict[str, Any]) -> None:
        """Keep ``document`` under ``key`` and ``name`` as long as ``dependencies`` stay what they are."""
        self._explanations(name).keep(key, dependencies, document)

    def _explanations(self, name: str) -> Answers:
        return Answers(self._store, f"explanation-{_name(digest(self._settings, os.fsencode(name)))}")

    def recall(self, key: bytes) -> Recalled | None:
        """What was kept of the whole project under ``key``."""
        try:
            findings, census = self._findings.find(digest(self._settings, key))
            return {code: _decoded(found) for code, found in findings.items()}, dict(census)
        except (ValueError, TypeError, AttributeError):
            return None

    def keep(
        self, key: bytes, dependencies: Iterable[str], findings: dict[str, tuple[Finding, ...]], census: Census
    ) -> None:
        """Keep what is known of the project under ``key`` as long as ``dependencies`` stay what they are."""
        plain = {code: _encoded(found) for code, found in findings.items()}
        self._findings.keep(digest(self._settings, key), dependencies, (plain, census))


def _name(key: bytes) -> str:
    return key.hex()[:32]


def _encoded(findings: Iterable[Finding]) -> tuple[Any, ...]:
    from eagle3_lint.findings.encoding import encode_finding

    return tuple(encode_finding(one) for one in findings)


def _decoded(plain: Iterable[Any]) -> tuple[Finding, ...]:
    from eagle3_lint.findings.encoding import decode_finding

    return tuple(decode_finding(one) for one in plain)


def _program(version: str) -> bytes:
    """What tells one program from another: version, Python, and the state of its own files, which developers change."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = [version, str(sys.version_info[:3]), str(sys.implementation.cache_tag)]
    for directory, folders, names in os.walk(package):
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                status = os.stat(os.path.join(directory, name))
                parts.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(parts).encode()
