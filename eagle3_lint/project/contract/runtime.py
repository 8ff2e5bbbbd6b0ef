"""The files of a runtime: which folders are looked into, and which of their files are worth parsing."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.nodes import walk
from eagle3_lint.sources.files import RUNTIME_FOLDERS
from eagle3_lint.sources.reading import read_bytes
from eagle3_lint.sources.text import SourceText

MODELS_FOLDER = "models"

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_READ_LIMIT = 64
"""Files parsed for one contract, at most: releases need fewer than 20, a strange tree must not cost minutes."""


def last_identifier(expression: ast.AST) -> str:
    """The name that an expression ends with: ``model`` of ``self.runners[0].model``, ``f`` of ``f(x)``."""
    while isinstance(expression, (ast.Call, ast.Subscript, ast.Starred, ast.Await)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


@dataclass(frozen=True, eq=False)
class RuntimeFile:
    """One parsed file; ``folder`` is its first folder below ``srt``, ``parts`` its path below ``srt`` without suffix."""

    source: SourceText
    tree: ast.Module
    folder: str
    parts: tuple[str, ...]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        found: dict[ast.AST, ast.AST] = {}
        for node in walk(self.tree):
            for value in node.__dict__.values():
                if value.__class__ is list:
                    found.update((one, node) for one in value if isinstance(one, ast.AST))
                elif isinstance(value, ast.AST):
                    found[value] = node
        return found

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """Every call of the file, by place."""
        found = [node for node in self.parents if isinstance(node, ast.Call)]
        return tuple(sorted(found, key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0))))

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """The functions of the file, at any depth, by name."""
        found: dict[str, list[Function]] = {}
        for node in self.parents:
            if isinstance(node, FUNCTIONS):
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes of the file by name."""
        return {node.name: node for node in self.parents if isinstance(node, ast.ClassDef)}

    @cached_property
    def _assigned(self) -> dict[str, list[tuple[ast.AST, ast.expr]]]:
        found: dict[str, list[tuple[ast.AST, ast.expr]]] = {}
        for node in self.parents:
            targets: Iterable[ast.expr] = ()
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
                targets = (node.target,)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                targets = node.target.elts if isinstance(node.target, ast.Tuple) else (node.target,)
            value = (
                node.iter
                if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
                else getattr(node, "value", None)
            )
            for target in targets:
                if value is not None and isinstance(target, (ast.Name, ast.Attribute)):
                    found.setdefault(last_identifier(target), []).append((target, value))
        return found

    def assigned(self, target: ast.expr) -> tuple[ast.expr, ...]:
        """What this file assigns to a local name of the same function, or to an attribute of that name, by line."""
        pairs = self._assigned.get(last_identifier(target), ())
        function = self.function_of(target)
        values = (
            value
            for one, value in pairs
            if type(one) is type(target) and (isinstance(one, ast.Attribute) or self.function_of(one) is function)
        )
        return tuple(sorted(values, key=lambda value: value.lineno))

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """What ``node`` stands in, nearest first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around ``node``; None at module level."""
        return next((one for one in self.enclosing(node) if isinstance(one, FUNCTIONS)), None)

    def scope(self, node: ast.AST) -> tuple[str, ...]:
        """The names of the classes and functions around ``node``, innermost first."""
        return tuple(one.name for one in self.enclosing(node) if isinstance(one, (*FUNCTIONS, ast.ClassDef)))


@dataclass
class Runtime:
    """The runtime below ``<root>/sglang/srt``; files are read once and parsed when they are asked for."""

    root: str
    read: Callable[[str], SourceText]
    parse: Callable[[SourceText], ast.Module]
    _data: dict[str, bytes] = field(default_factory=dict)
    _files: dict[str, RuntimeFile | None] = field(default_factory=dict)

    @property
    def srt(self) -> str:
        """The directory of the runtime."""
        return os.path.join(self.root, "sglang", "srt")

    def has_folder(self, name: str) -> bool:
        """Whether ``srt`` has a folder ``name``."""
        return os.path.isdir(os.path.join(self.srt, name))

    def add(self, *names: str) -> None:
        """Make the files of folders or files directly below ``srt`` known."""
        pending = [os.path.join(self.srt, name) for name in names]
        while pending:
            path = pending.pop()
            if os.path.isdir(path):
                pending.extend(entry.path for entry in _entries(path))
            elif path.endswith(".py") and path not in self._data:
                # The bytes on disk choose the files, whatever an editor holds: ``read`` would decode them all.
                try:
                    self._data[path] = read_bytes(path)
                except UnreadableSourceError:
                    continue

    def add_rest(self) -> None:
        """Make every other file below ``srt`` known, model files aside."""
        known = {*RUNTIME_FOLDERS, MODELS_FOLDER}
        self.add(*(entry.name for entry in _entries(self.srt) if entry.name not in known))

    def matching(self, pattern: re.Pattern[bytes], folder: str = "") -> Iterator[RuntimeFile]:
        """The known files (of one folder, if it is given) that ``pattern`` is found in, by path."""
        start = os.path.join(self.srt, folder, "") if folder else ""
        for path in sorted(self._data):
            if path.startswith(start) and pattern.search(self._data[path]) and (file := self._file(path)) is not None:
                yield file

    def callers(self, name: str) -> Iterator[tuple[RuntimeFile, ast.Call]]:
        """The calls of functions called ``name``, with their files."""
        for file in self.matching(re.compile(rf"\b{re.escape(name)}\s*\((?<!def {re.escape(name)}\()".encode())):
            for call in file.calls:
                if last_identifier(call.func) == name:
                    yield file, call

    def _file(self, path: str) -> RuntimeFile | None:
        if path not in self._files:
            self._files[path] = self._load(path) if len(self._files) < _READ_LIMIT else None
        return self._files[path]

    def _load(self, path: str) -> RuntimeFile | None:
        parts = tuple(path[len(self.srt) + 1 : -len(".py")].split(os.sep))
        try:
            source = self.read(path)
            return RuntimeFile(source, self.parse(source), parts[0], parts)
        except (UnreadableSourceError, OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            # A broken file is a finding of its own for whoever lints it; it calls nothing.
            return None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if not entry.is_symlink() or entry.is_file()]
    except OSError:
        return []
