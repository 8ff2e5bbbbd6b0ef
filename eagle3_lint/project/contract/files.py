"""The files of the runtime: which folders are looked into, and which of their files are worth parsing."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.project.contract.needles import Needle
from eagle3_lint.project.contract.scopes import UNREADABLE, RuntimeModule, runtime_module
from eagle3_lint.sources.files import RUNTIME_FOLDERS
from eagle3_lint.sources.reading import read_bytes
from eagle3_lint.sources.text import SourceText

MODELS_FOLDER = "models"

_READ_LIMIT = 64
"""Files parsed for one contract, at most: releases need fewer than 20, a strange tree must not cost minutes."""


@dataclass
class RuntimeFiles:
    """The runtime below ``<root>/sglang/srt``; files are read once and parsed when they are asked for."""

    root: str
    read: Callable[[str], SourceText]
    parse: Callable[[SourceText], ast.Module]
    _data: dict[str, bytes] = field(default_factory=dict)
    _modules: dict[str, RuntimeModule | None] = field(default_factory=dict)

    @property
    def srt(self) -> str:
        return os.path.join(self.root, "sglang", "srt")

    def has_folder(self, name: str) -> bool:
        return os.path.isdir(os.path.join(self.srt, name))

    def add_folder(self, name: str) -> None:
        """Make the files below one folder of ``srt`` known."""
        self._add(os.path.join(self.srt, name))

    def add_rest(self) -> None:
        """Make every other file below ``srt`` known, model files aside."""
        known = {*RUNTIME_FOLDERS, MODELS_FOLDER}
        for entry in _entries(self.srt):
            if entry.name in known:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._add(entry.path)
            else:
                self._add_file(entry)

    def _add(self, folder: str) -> None:
        pending = [folder]
        while pending:
            for entry in _entries(pending.pop()):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    self._add_file(entry)

    def _add_file(self, entry: os.DirEntry[str]) -> None:
        # The bytes on disk choose the files, whatever an editor holds: asking ``read`` would decode them all.
        if not entry.name.endswith(".py"):
            return
        try:
            self._data[entry.path] = read_bytes(entry.path)
        except UnreadableSourceError:
            return

    def holding(self, needle: Needle, folder: str = "") -> Iterator[RuntimeModule]:
        """The known modules (of one folder of ``srt``, if it is given) that ``needle`` is found in, by path."""
        for path in sorted(self._data):
            if folder and self._folder(path) != folder:
                continue
            if needle.found_in(self._data[path]) and (module := self.module(path)) is not None:
                yield module

    def all_have(self, needle: Needle, texts: tuple[str, ...]) -> bool:
        """Whether every known file that ``needle`` is found in has one of ``texts``; nothing is parsed for it."""
        wanted = [text.encode() for text in texts]
        return all(not needle.found_in(data) or any(text in data for text in wanted) for data in self._data.values())

    def any_call_speaks_of(self, word: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether the arguments of some call of ``word`` match ``pattern``; nothing is parsed for it."""
        arguments = re.compile(rb"\s*\(((?:[^()]|\([^()]*\))*)")
        wanted = word.encode()
        for data in self._data.values():
            position = data.find(wanted)
            while position >= 0:
                end = position + len(wanted)
                match = arguments.match(data, end)
                if match is not None and not data.endswith(b"def ", 0, position) and pattern.search(match.group(1)):
                    return True
                position = data.find(wanted, end)
        return False

    def module(self, path: str) -> RuntimeModule | None:
        """The parsed module of a known file; None where it can't be read, or too many were parsed already."""
        if path not in self._modules:
            self._modules[path] = self._load(path) if len(self._modules) < _READ_LIMIT else None
        return self._modules[path]

    def named(self, dotted: str, *, holding: Needle) -> RuntimeModule | None:
        """The known module whose import name is ``dotted``, unless it can't have what is looked for: ``holding``."""
        path = self._path_of(dotted)
        return self.module(path) if path is not None and holding.found_in(self._data[path]) else None

    def has(self, dotted: str, text: str = "") -> bool:
        """Whether ``dotted`` is known and contains ``text``; nothing is parsed for it."""
        path = self._path_of(dotted)
        return path is not None and text.encode() in self._data[path]

    def _path_of(self, dotted: str) -> str | None:
        if not dotted.startswith("sglang.srt."):
            return None
        base = os.path.join(self.root, *dotted.split("."))
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if path in self._data:
                return path
        return None

    def _folder(self, path: str) -> str:
        return path[len(self.srt) + 1 :].partition(os.sep)[0]

    def _load(self, path: str) -> RuntimeModule | None:
        dotted = f"sglang.srt.{path[len(self.srt) + 1 : -len('.py')].replace(os.sep, '.')}"
        try:
            return runtime_module(self.read(path), self._folder(path), dotted.removesuffix(".__init__"), self.parse)
        except (OSError, *UNREADABLE):
            # A broken file is a finding of its own for whoever lints it; it calls nothing.
            return None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
