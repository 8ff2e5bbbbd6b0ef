"""What one workspace remembers from run to run: facts of modules, the contract, and the findings of each rule."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle3_lint.cache.answers import Answers, States, states_of, still_hold
from eagle3_lint.cache.files import FileAnswers
from eagle3_lint.cache.store import Store, digest
from eagle3_lint.sources.files import RUNTIME_FOLDERS

if TYPE_CHECKING:
    from eagle3_lint.cache.facts import FactsCache
    from eagle3_lint.engine.outcome import Outcome
    from eagle3_lint.facts.encoding import Plain
    from eagle3_lint.facts.extract import Statements
    from eagle3_lint.facts.imports import Import
    from eagle3_lint.facts.module import ModuleFacts
    from eagle3_lint.findings.model import Finding
    from eagle3_lint.project.contract.model import Contract
    from eagle3_lint.project.families import Links
    from eagle3_lint.sources.text import SourceText


@dataclass(frozen=True)
class Recalled:
    """The findings of each rule over a project, and how many classes, registered ones and wrappers each file has."""

    findings: dict[str, tuple[Finding, ...]]
    census: dict[str, tuple[int, int, int]]


class Memory:
    """The cache of one workspace; ``settings`` are the options that its findings depend on."""

    def __init__(self, store: Store, root: str, version: str, settings: str) -> None:
        self._key = digest(_program(version), os.fsencode(root))
        self._settings = digest(self._key, settings.encode())
        self._store = store
        self._files = FileAnswers(store, f"files-{self._name(self._settings)}")
        self._families = FileAnswers(store, f"families-{self._name(self._settings)}")
        self._compared: dict[int, bool] = {}
        self._contracts = Answers(store, f"contract-{self._name(self._key)}")
        self._findings = Answers(store, f"findings-{self._name(self._settings)}")

    @cached_property
    def _facts(self) -> FactsCache:
        from eagle3_lint.cache.facts import FactsCache

        return FactsCache(self._store, self._name(self._key))

    def facts(self, source: SourceText) -> tuple[ModuleFacts, Statements]:
        """The facts of ``source``, and the statements that were parsed for them.

        Raises UnreadableSourceError where it isn't Python.
        """
        return self._facts.facts(source)

    def knows_facts(self, content: bytes) -> bool:
        """Whether the facts of a file with this digest of its content are remembered."""
        return self._facts.knows(content)

    def keep_facts(self, content: bytes, plain: Plain) -> None:
        """Remember the facts of a file with this digest of its content, as ``encode`` gives them."""
        self._facts.keep(content, plain)

    def save(self) -> None:
        """Write what was learnt of modules and files."""
        if "_facts" in self.__dict__:
            self._facts.save()
        self._files.save()
        self._families.save()

    def file_findings(self, key: bytes) -> tuple[Finding, ...] | None:
        """What the text of one file was found to show, or None where that isn't known."""
        plain = self._files.find(key)
        if plain is None:
            return None
        try:
            findings, dependencies = plain
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

    def keep_contract(self, runtime: bytes, root: str, contract: Contract) -> bool:
        """Remember the contract of the tree at ``root``, whose runtime has the state ``runtime``.

        False where it depends on more than the folders of the runtime: what follows from it can't be remembered either.
        """
        from eagle3_lint.project.contract.encoding import encode

        if not _is_from_runtime(contract, root):
            return False
        self._contracts.keep(runtime, (), encode(contract))
        return True

    def imports(self, content: bytes) -> tuple[Import, ...] | None:
        """The imports that are written in a file with this digest of its content, or None where they aren't known."""
        known = self._families.find(digest(b"imports", content))
        return known if isinstance(known, tuple) else None

    def keep_imports(self, content: bytes, imports: tuple[Import, ...]) -> None:
        """Remember the imports that are written in a file with this digest of its content."""
        self._families.keep(digest(b"imports", content), imports)

    def links(self, key: bytes) -> Links | None:
        """What one file says of others, or None where that isn't known."""
        from eagle3_lint.project.families import Links

        try:
            return Links(*self._still_true(key))
        except TypeError:
            return None

    def keep_links(self, key: bytes, links: Links, states: States) -> None:
        """Remember what one file says of others, as long as ``states`` hold."""
        self._families.keep(key, (tuple(links), states))

    def family(self, key: bytes) -> Outcome | None:
        """What the rules found and noted in one family of files, or None where that isn't known."""
        from eagle3_lint.engine.outcome import Outcome

        try:
            return Outcome.decoded(self._still_true(key))
        except (ValueError, TypeError, AttributeError):
            return None

    def keep_family(self, key: bytes, found: Outcome, states: States) -> None:
        """Remember what the rules found and noted in one family of files, as long as ``states`` hold."""
        self._families.keep(key, (found.encoded(), states))

    def _still_true(self, key: bytes) -> Any:
        """What is kept under ``key``, if the files outside the models that it depends on are what they were."""
        try:
            answer, states = self._families.find(key)
            # All that was kept in one run shares its states, which the pack holds: they are compared once.
            known = self._compared.get(id(states))
            if known is None:
                known = self._compared[id(states)] = still_hold(states)
        except (ValueError, TypeError):
            return None
        return answer if known else None

    def explanation(self, key: bytes, name: str) -> dict[str, Any] | None:
        """What was kept under ``key`` of the class that a user calls ``name``, or None."""
        known = self._explanations(name).find(key)
        return known if isinstance(known, dict) else None

    def keep_explanation(self, key: bytes, name: str, dependencies: Iterable[str], document: dict[str, Any]) -> None:
        """Keep ``document`` under ``key`` and ``name`` as long as ``dependencies`` stay what they are."""
        self._explanations(name).keep(key, dependencies, document)

    def _explanations(self, name: str) -> Answers:
        return Answers(self._store, f"explanation-{self._name(digest(self._settings, os.fsencode(name)))}")

    def recall(self, key: bytes) -> Recalled | None:
        """What was kept of the whole project under ``key``."""
        known = self._findings.find(digest(self._settings, key))
        try:
            findings, census = known
            return Recalled({code: _decoded(found) for code, found in findings.items()}, dict(census))
        except (ValueError, TypeError, AttributeError):
            return None

    def keep(self, key: bytes, dependencies: Iterable[str], known: Recalled) -> None:
        """Keep what is known of the project under ``key`` as long as ``dependencies`` stay what they are."""
        plain = {code: _encoded(found) for code, found in known.findings.items()}
        self._findings.keep(digest(self._settings, key), dependencies, (plain, known.census))

    @staticmethod
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


def _is_from_runtime(contract: Contract, root: str) -> bool:
    folders = tuple(os.path.join(root, "sglang", "srt", folder) + os.sep for folder in RUNTIME_FOLDERS)
    return any(
        site.path.startswith(folders)
        for method in contract.methods
        if method.name.endswith("_layers_to_capture")
        for site in method.call_sites
    )
