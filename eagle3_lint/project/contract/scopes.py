"""Modules of the runtime, their classes and functions, and what each name in them is bound to.

Everything is computed on demand and kept with its node: most functions of the runtime are never looked into.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.contract.needles import Needle, attribute_needle
from eagle3_lint.project.contract.outline import Block, outline_of
from eagle3_lint.sources.text import SourceText

UNREADABLE = (UnreadableSourceError, SyntaxError, ValueError, RecursionError, MemoryError)
"""What reading or parsing raises for a file, or a part of one, that is no Python."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_NO_CHILDREN = frozenset({"ctx", "op", "ops"})
_COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    # ``except*`` came with Python 3.11.
    getattr(ast, "TryStar", ast.Try),
    ast.ExceptHandler,
    ast.Match,
    ast.match_case,
)
_BINDING = (
    ast.Assign,
    ast.AnnAssign,
    ast.NamedExpr,
    ast.For,
    ast.AsyncFor,
    ast.comprehension,
    ast.With,
    ast.AsyncWith,
)

EACH = -1
"""A projection step: any element of an iterable, where the others are positions in a tuple."""


@dataclass(frozen=True, eq=False)
class Binding:
    """One assignment to a name: the value of ``expression``, or the part of it that ``projection`` leads to."""

    expression: ast.expr
    statement: ast.AST
    projection: tuple[int, ...] = ()


@dataclass(frozen=True)
class Import:
    """``from module import original``, or ``import module`` where ``original`` is empty."""

    module: str
    original: str = ""


def last_identifier(expression: ast.AST) -> str:
    """The identifier that names ``expression`` best: ``model`` of ``self.runners[0].model``; empty when it has none."""
    while True:
        if isinstance(expression, ast.Name):
            return expression.id
        if isinstance(expression, ast.Attribute):
            return expression.attr
        if isinstance(expression, ast.Subscript):
            expression = expression.value
        elif isinstance(expression, ast.Call):
            expression = expression.func
        else:
            return ""


def walk_local(root: ast.AST, *, into_classes: bool = False) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each node below ``root`` with its parent, without the insides of nested functions (and classes).

    Contexts and operators, which are nodes too, are left out.
    """
    stack = _children(root)
    while stack:
        pair = stack.pop()
        yield pair
        node = pair[0]
        if not isinstance(node, _SCOPES) or (into_classes and isinstance(node, ast.ClassDef)):
            stack.extend(_children(node))


def _children(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    found: list[tuple[ast.AST, ast.AST]] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            if field not in _NO_CHILDREN:
                found.extend([(item, node) for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST) and field not in _NO_CHILDREN:
            found.append((value, node))
    return found


def _target_bindings(
    target: ast.expr, value: ast.expr, statement: ast.AST, projection: tuple[int, ...] = ()
) -> Iterator[tuple[ast.expr, Binding]]:
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target, Binding(value, statement, projection)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if any(isinstance(element, ast.Starred) for element in target.elts):
            return
        for index, element in enumerate(target.elts):
            yield from _target_bindings(element, value, statement, (*projection, index))


def assignments(node: ast.AST) -> Iterator[tuple[ast.expr, Binding]]:
    """The names and attributes that one node binds, each with its value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _target_bindings(target, node.value, node)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _target_bindings(node.target, node.value, node)
    elif isinstance(node, ast.NamedExpr):
        yield from _target_bindings(node.target, node.value, node)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _target_bindings(node.target, node.iter, node, (EACH,))
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                yield from _target_bindings(item.optional_vars, item.context_expr, node)


def imports_of(node: ast.AST, package: str) -> Iterator[tuple[str, Import]]:
    """The names that an import statement binds; ``package`` is the dotted package of the module that it stands in."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (
                alias.asname or alias.name.partition(".")[0],
                Import(alias.name if alias.asname else alias.name.partition(".")[0]),
            )
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
        module = ".".join(part for part in (base, node.module or "") if part)
        for alias in node.names:
            yield alias.asname or alias.name, Import(module, alias.name)


@dataclass(frozen=True, eq=False)
class RuntimeClass:
    """A class of the runtime, at module level or nested."""

    node: ast.ClassDef
    module: RuntimeModule
    outer: Function | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def methods(self) -> dict[str, Function]:
        """The methods by name, the getter of a property before its setter."""
        around = self.outer.inner.functions if self.outer is not None else self.module.functions
        found: dict[str, Function] = {}
        for function in around:
            if function.owner is self and function.decorators.isdisjoint({"setter", "deleter"}):
                found[function.name] = function
        return found

    @cached_property
    def constants(self) -> dict[str, list[Binding]]:
        """What the class body itself assigns to each name."""
        found: dict[str, list[Binding]] = {}
        for statement in self.node.body:
            for target, binding in assignments(statement):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(binding)
        return found

    def instance_bindings(self, attribute: str) -> list[tuple[Binding, Function]]:
        """What the methods of this class assign to ``self.<attribute>``."""
        return [
            (binding, method)
            for method in self.module.functions_with(attribute_needle(attribute))
            if method.owner is self
            for binding in method.attribute_bindings.get(attribute, ())
        ]


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method; or, with a module as ``node``, the code at module level and in class bodies.

    ``stub`` is the node, or one without parameters and body where ``block`` has the text of the whole.
    """

    stub: FunctionNode | ast.Module
    module: RuntimeModule
    owner: RuntimeClass | None = None
    outer: Function | None = None
    block: Block | None = None

    @property
    def name(self) -> str:
        return "" if isinstance(self.stub, ast.Module) else self.stub.name

    def imported(self, name: str) -> Import | None:
        """What ``name`` is imported as here, else at module level."""
        return self.imports.get(name) or self.module.body.imports.get(name)

    @property
    def first_line(self) -> int:
        return 0 if isinstance(self.stub, ast.Module) else self.stub.lineno

    @property
    def last_line(self) -> int:
        if self.block is not None:
            return self.block.last
        return 0 if isinstance(self.stub, ast.Module) else self.stub.end_lineno or 0

    @cached_property
    def node(self) -> FunctionNode | ast.Module:
        """The function as it is parsed; its stub where it can't be."""
        return self.stub if self.block is None else self.module.parsed(self.block) or self.stub

    @cached_property
    def qualified_name(self) -> str:
        outer = self.owner.name if self.owner else (self.outer.qualified_name if self.outer else "")
        return ".".join(part for part in (outer, self.name) if part) or "<module>"

    @cached_property
    def decorators(self) -> frozenset[str]:
        if isinstance(self.stub, ast.Module):
            return frozenset()
        return frozenset(last_identifier(decorator) for decorator in self.stub.decorator_list)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Positional parameters in order, then keyword-only ones."""
        if isinstance(self.node, ast.Module):
            return ()
        arguments = self.node.args
        return tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))

    @property
    def positional_count(self) -> int:
        if isinstance(self.node, ast.Module):
            return 0
        return len(self.node.args.posonlyargs) + len(self.node.args.args)

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        if isinstance(self.node, ast.Module):
            return {}
        arguments = self.node.args
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        found = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                found[argument.arg] = default
        return found

    @property
    def is_bound(self) -> bool:
        """Whether calls through an instance fill the first parameter."""
        return self.owner is not None and "staticmethod" not in self.decorators

    @property
    def self_name(self) -> str:
        """The name of the instance (or class) parameter of a method, else empty."""
        return self.parameters[0] if self.is_bound and self.parameters else ""

    @property
    def is_property(self) -> bool:
        return not self.decorators.isdisjoint({"property", "cached_property"})

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node of this function, nested functions left out."""
        return dict(walk_local(self.node, into_classes=isinstance(self.node, ast.Module)))

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(
            sorted(
                (node for node in self.parents if isinstance(node, ast.Call)),
                key=lambda call: (call.lineno, call.col_offset, -(call.end_lineno or 0), -(call.end_col_offset or 0)),
            )
        )

    def _own_nodes(self) -> Iterable[ast.AST]:
        """The nodes that bind names here: class bodies at module level have names of their own."""
        return (node for node, _ in walk_local(self.node)) if isinstance(self.node, ast.Module) else self.parents

    @cached_property
    def _assignments(self) -> tuple[tuple[ast.expr, Binding], ...]:
        found = [pair for node in self._own_nodes() if isinstance(node, _BINDING) for pair in assignments(node)]
        return tuple(sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset)))

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """What this function assigns to each of its local names."""
        found: dict[str, list[Binding]] = {}
        for target, binding in self._assignments:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(binding)
        return found

    @cached_property
    def attribute_bindings(self) -> dict[str, list[Binding]]:
        """What this method assigns to attributes of its instance."""
        found: dict[str, list[Binding]] = {}
        for target, binding in self._assignments:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == self.self_name
            ):
                found.setdefault(target.attr, []).append(binding)
        return found

    @cached_property
    def imports(self) -> dict[str, Import]:
        package = self.module.package
        statements = (node for node in self._own_nodes() if isinstance(node, (ast.Import, ast.ImportFrom)))
        return {name: found for node in statements for name, found in imports_of(node, package)}

    @cached_property
    def returns(self) -> tuple[ast.expr, ...]:
        return tuple(node.value for node in self.parents if isinstance(node, ast.Return) and node.value is not None)

    @cached_property
    def inner(self) -> Members:
        """What is defined inside of this function, at any depth."""
        return members_of(self.node, self.module, self)

    @cached_property
    def nested(self) -> dict[str, Function]:
        """The functions that are local names of this one."""
        return {
            function.name: function
            for function in self.inner.functions
            if function.outer is self and function.owner is None
        }


@dataclass(frozen=True, eq=False)
class Members:
    """Functions and classes, by line."""

    functions: tuple[Function, ...]
    classes: tuple[RuntimeClass, ...]

    def function_at(self, line: int) -> Function | None:
        """The innermost of the functions that ``line`` lies in."""
        for index in range(bisect_right(self._starts, line) - 1, -1, -1):
            if line <= self.functions[index].last_line:
                return self.functions[index]
        return None

    @cached_property
    def _starts(self) -> list[int]:
        return [function.first_line for function in self.functions]


def members_of(root: ast.AST, module: RuntimeModule, outer: Function | None) -> Members:
    """Every function and class below ``root``, which is the body of ``module`` or the function ``outer``."""
    functions: list[Function] = []
    classes: list[RuntimeClass] = []
    pending: list[tuple[ast.AST, RuntimeClass | None, Function | None]] = [
        (child, None, outer) for child in _compound(root)
    ]
    while pending:
        node, owner, around = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            block = module.blocks.get(node.lineno) if outer is None else None
            around, owner = Function(node, module, owner, around, block), None
            functions.append(around)
        elif isinstance(node, ast.ClassDef):
            owner = RuntimeClass(node, module, around)
            classes.append(owner)
        pending.extend((child, owner, around) for child in _compound(node))
    functions.sort(key=lambda function: function.first_line)
    classes.sort(key=lambda found: found.node.lineno)
    return Members(tuple(functions), tuple(classes))


def _compound(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, _COMPOUND):
                yield child


@dataclass(frozen=True, eq=False)
class RuntimeModule:
    """One file of the runtime; ``folder`` is its first folder below ``srt``, ``dotted`` its import name.

    Functions are parsed one by one as they are asked for, with ``parse``; :func:`runtime_module` makes a module.
    """

    source: SourceText
    tree: ast.Module
    folder: str
    dotted: str
    parse: Callable[[SourceText], ast.Module]
    blocks: Mapping[int, Block]

    def parsed(self, block: Block) -> FunctionNode | None:
        """The node of one function; None where its lines were not the whole of it."""
        try:
            tree = self.parse(replace(self.source, text=block.alone))
        except UNREADABLE:
            return None
        for node in walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        return None

    @property
    def package(self) -> str:
        if self.source.path.endswith("__init__.py"):
            return self.dotted
        return self.dotted.rpartition(".")[0]

    @cached_property
    def _members(self) -> Members:
        return members_of(self.tree, self, None)

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions of the module, by line; those in functions that were not parsed yet are left out."""
        return self._members.functions

    @cached_property
    def classes(self) -> dict[str, RuntimeClass]:
        return {found.name: found for found in self._members.classes}

    @cached_property
    def body(self) -> Function:
        """The code outside of every function."""
        return Function(self.tree, self)

    @cached_property
    def top_level(self) -> dict[str, Function]:
        return {
            function.name: function for function in self.functions if function.owner is None and function.outer is None
        }

    def function_at(self, line: int) -> Function:
        """The innermost function that ``line`` lies in; the module's body outside of all."""
        function = self._members.function_at(line)
        if function is None:
            return self.body
        return function if function.block is None else function.inner.function_at(line) or function

    def functions_with(self, needle: Needle) -> tuple[Function, ...]:
        """The functions (or the module's body) with a line that ``needle`` is found in, in order."""
        return tuple(dict.fromkeys(self.function_at(number) for number in needle.lines_in(self.source.data)))


def runtime_module(
    source: SourceText, folder: str, dotted: str, parse: Callable[[SourceText], ast.Module]
) -> RuntimeModule:
    """The module of one file: by its outline where that can be told, else parsed as a whole.

    Raises what ``parse`` raises for a file that can't be parsed; ``parse`` is given parts of the file too.
    """
    outline = outline_of(source.text)
    if outline is not None:
        try:
            tree = parse(replace(source, text=outline.text))
        except UNREADABLE:
            tree = None
        if tree is not None:
            return RuntimeModule(source, tree, folder, dotted, parse, {block.first: block for block in outline.blocks})
    return RuntimeModule(source, parse(source), folder, dotted, parse, {})
