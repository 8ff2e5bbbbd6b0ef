"""The modules of the project: found by dotted name, read once, their statements parsed when asked for."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from functools import cached_property

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.assigned import assigned
from eagle3_lint.facts.extract import Statements, facts_and_statements
from eagle3_lint.facts.module import Alternatives, Binding, ClassFacts, ModuleFacts, Place
from eagle3_lint.findings.model import Span
from eagle3_lint.sources.contents import Contents
from eagle3_lint.sources.identifiers import mentions, places
from eagle3_lint.sources.reading import parse_lines, parse_source
from eagle3_lint.sources.text import SourceText

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One module: its source and its facts, and its statements on demand."""

    def __init__(
        self, name: str, path: str, source: SourceText, facts: ModuleFacts, statements: Statements | None = None
    ) -> None:
        self.name = name
        self.path = path
        self.source = source
        self.facts = facts
        self._statements: dict[tuple[int, int], ast.stmt] = dict(statements or {})
        self._mentions: dict[tuple[bool, tuple[str, ...]], bool] = {}

    @property
    def package(self) -> str:
        """The dotted package that relative imports start from."""
        return _package_of(self.path, self.name)

    def shown(self, line: int) -> str:
        """``path:line`` below the root, as a message shows it."""
        inside = "/__init__" if os.path.basename(self.path) == "__init__.py" else ""
        return f"{self.name.replace('.', '/')}{inside}.py:{line}"

    @cached_property
    def final(self) -> dict[str, Alternatives]:
        """The bindings of each name after the module has run."""
        return dict(self.facts.final)

    @cached_property
    def attribute_bindings(self) -> tuple[tuple[str, Alternatives], ...]:
        """The assignments to attributes of names (``Class.method = …``) at module level."""
        return tuple(pair for pair in self.facts.final if "." in pair[0])

    def mentions(self, *names: str, within: bool = False) -> bool:
        """Whether one of ``names`` may stand in the source; see ``identifiers.mentions``."""
        known = self._mentions.get((within, names))
        if known is None:
            known = self._mentions[within, names] = mentions(self.source.text, *names, within=within)
        return known

    @property
    def tree(self) -> ast.Module:
        """All of it, parsed anew."""
        return parse_source(self.source)

    @cached_property
    def assigned_elsewhere(self) -> frozenset[str]:
        """The attributes that code of the module assigns on other objects than ``self``."""
        found = assigned(self.tree)
        return frozenset(name for name, owner in found if not (isinstance(owner, ast.Name) and owner.id == "self"))

    def binding(self, index: int) -> Binding:
        """The binding with this number."""
        return self.facts.bindings[index]

    def statement(self, place: Place) -> ast.stmt:
        """The statement at ``place``, parsed from its own lines (positions are those of the file)."""
        key = (place.line, place.offset)
        found = self._statements.get(key)
        if found is None:
            found = self._parse(place)
            self._statements[key] = found
        return found

    def function(self, place: Place) -> FunctionNode:
        """The function whose ``def`` stands at ``place``, without its decorators."""
        found = self.statement(place)
        if not isinstance(found, FunctionNode):
            raise UnreadableSourceError("no function where one was expected", place.line)
        return found

    def class_node(self, facts: ClassFacts) -> ast.ClassDef:
        """The class statement of ``facts``."""
        node = self._parse(facts.place, facts.first_line)
        if not isinstance(node, ast.ClassDef):
            raise UnreadableSourceError("no class where one was expected", facts.place.line)
        return node

    def lines_of(self, place: Place) -> str:
        """The source lines of the statement at ``place``."""
        return "\n".join(self.source.lines[place.line - 1 : place.end_line])

    def name_span(self, place: Place, name: str) -> Span:
        """The span of ``name`` in the ``class`` or ``def`` line at ``place``."""
        start = self.source.column(place.line, place.offset) - 1
        at = next(iter(places(self.source.lines[place.line - 1], name, start)), start)
        return Span(place.line, at + 1, place.line, at + 1 + len(name))

    def _parse(self, place: Place, first_line: int | None = None) -> ast.stmt:
        first = first_line or place.line
        body = "\n".join(self.source.lines[first - 1 : place.end_line])
        indented = place.offset > 0 and first > 1
        head = "\n" * (first - 2) + "if 1:\n" if indented else "\n" * (first - 1)
        try:
            found = _statement_at(parse_lines(head + body + "\n"), place)
        except UnreadableSourceError:
            found = None
        if found is None:
            found = _statement_at(parse_source(self.source), place)
        if found is None:
            raise UnreadableSourceError("no statement where one was expected", place.line)
        return found


def _package_of(path: str, name: str) -> str:
    return name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]


def _statement_at(tree: ast.Module, place: Place) -> ast.stmt | None:
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            if (node.lineno, node.col_offset) == (place.line, place.offset):
                return node
            if node.lineno > place.line:
                continue
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            pending.extend(reversed([c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.expr)]))
    return None


class Modules:
    """All modules below some source roots, by dotted name and by path.

    ``roots`` are directories that hold top-level packages, searched in order; ``contents`` reads files. A file that
    can't be read or parsed has no module here; EGL901 tells why where it is linted.
    """

    def __init__(
        self,
        roots: tuple[str, ...],
        contents: Contents | None = None,
        facts: Callable[[SourceText], tuple[ModuleFacts, Statements]] = facts_and_statements,
    ) -> None:
        self.roots = roots
        self._contents = contents or Contents()
        self._facts = facts
        self._by_path: dict[str, Module | UnreadableSourceError] = {}
        self._names: dict[str, str | None] = {}
        self._listings: dict[str, frozenset[str]] = {}
        self._searched: set[str] = set()

    def load(self, path: str) -> Module:
        """The module of the file ``path``; raises UnreadableSourceError where it can't be read or parsed."""
        found = self._by_path.get(path)
        if found is None:
            found = self._by_path[path] = self._load(path)
        if isinstance(found, UnreadableSourceError):
            raise found
        return found

    def at(self, path: str) -> Module | None:
        """The module of the file ``path``, or None where it can't be read or parsed."""
        try:
            return self.load(path)
        except UnreadableSourceError:
            return None

    def source(self, path: str) -> SourceText:
        """The text of the file ``path``; raises UnreadableSourceError where it can't be read."""
        return self._contents.source(path)

    @property
    def consulted(self) -> frozenset[str]:
        """Every file and directory that was looked at so far."""
        return frozenset((*self._by_path, *self._listings, *self._searched))

    def mentioning(self, word: str, package: str) -> Iterator[str]:
        """Every Python file of the top-level ``package``, in any root, in which ``word`` may stand; all files count as
        consulted."""
        pending = [os.path.join(root, package) for root in reversed(self.roots)]
        while pending:
            directory = pending.pop()
            for name in sorted(self._entries(directory)):
                path = os.path.join(directory, name)
                if name.endswith(".py"):
                    self._searched.add(path)
                    if self.mentions(path, word):
                        yield path
                elif "." not in name and name != "__pycache__" and os.path.isdir(path):
                    pending.append(path)

    def mentions(self, path: str, name: str) -> bool:
        """Whether the file ``path`` can be read and ``name`` may stand in it."""
        try:
            data = self._contents.data(path)
            return mentions(data.decode("ascii") if data.isascii() else self.source(path).text, name)
        except UnreadableSourceError:
            return False

    def named(self, dotted: str) -> Module | None:
        """The module ``dotted``, or None: outside the project, a package without file, or unreadable."""
        path = self.find(dotted)
        return self.at(path) if path is not None and path.endswith(".py") else None

    def find(self, dotted: str) -> str | None:
        """The file of ``dotted``, or the directory of a package without ``__init__.py``, or None outside the project."""
        if dotted not in self._names:
            self._names[dotted] = self._find(dotted)
        return self._names[dotted]

    def name_of(self, path: str) -> str:
        """The dotted name that ``path`` has below the first root that holds it, else its bare stem."""
        for root in self.roots:
            if path.startswith(root + os.sep):
                parts = path[len(root) + 1 :].removesuffix(".py").split(os.sep)
                return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        return os.path.basename(path).removesuffix(".py")

    def imported_from(self, path: str, level: int, target: str) -> str:
        """The dotted module that an import of ``target`` in the file ``path`` names, with ``level`` dots before it."""
        if level == 0:
            return target
        package = _package_of(path, self.name_of(path))
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        return ".".join(part for part in (package, target) if part)

    def _load(self, path: str) -> Module | UnreadableSourceError:
        try:
            source = self._contents.source(path)
            return Module(self.name_of(path), path, source, *self._facts(source))
        except UnreadableSourceError as error:
            return error

    def _find(self, dotted: str) -> str | None:
        parts = dotted.split(".")
        for root in self.roots:
            directory = os.path.join(root, *parts[:-1])
            entries = self._entries(directory)
            if parts[-1] in entries:
                inner = os.path.join(directory, parts[-1])
                if "__init__.py" in self._entries(inner):
                    return os.path.join(inner, "__init__.py")
            if f"{parts[-1]}.py" in entries:
                return os.path.join(directory, f"{parts[-1]}.py")
            if parts[-1] in entries and os.path.isdir(os.path.join(directory, parts[-1])):
                return os.path.join(directory, parts[-1])
        return None

    def _entries(self, directory: str) -> frozenset[str]:
        found = self._listings.get(directory)
        if found is None:
            try:
                found = frozenset(os.listdir(directory))
            except (OSError, ValueError):
                found = frozenset()
            self._listings[directory] = found
        return found
