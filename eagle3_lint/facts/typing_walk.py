"""A walk through a module in the order in which Python binds and reads names.

Only the names under suspicion are followed, and only the statements whose lines mention one are entered. Expressions
are walked with a stack of their own, so that a long chain of operators can't exhaust Python's; statements nest no
deeper than Python's tokenizer allows (a hundred levels), ``elif`` chains aside, which are walked in a loop.

Branches are walked one after the other: a name bound in one counts as bound after it. Bodies of functions, and
annotations that Python postpones, are walked last, when everything around them is bound.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from eagle3_lint.facts.nodes import dotted_name, first_line, walk
from eagle3_lint.facts.typing_model import StarExports, StarImport
from eagle3_lint.facts.typing_names import PUBLIC_NAMES, TYPING_EXTENSIONS_NAMES, typing_names
from eagle3_lint.facts.typing_places import FilePlace, Place, place_in_format_string, place_in_string
from eagle3_lint.facts.typing_scopes import Binding, Reader, Scope
from eagle3_lint.sources.text import SourceText

_TYPING_MODULES = frozenset({"typing", "typing_extensions"})
_SUBSCRIBED_MODULES = _TYPING_MODULES | {"collections", "collections.abc"}
_BUILTIN_GENERICS = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_COMPREHENSIONS = ("ListComp", "SetComp", "DictComp", "GeneratorExp")


class Env(NamedTuple):
    """What holds at one point of the walk; ``own`` is a name that the statement binds before it is read here."""

    scope: Scope
    place: Place
    where: str = ""
    role: str = "expression"
    evaluated: bool = True
    at_import: bool = True
    in_file: bool = True
    strings_are_annotations: bool = False
    postponed: bool = False
    guarded: bool = False
    conditional: bool = False
    own: str | None = None

    @property
    def reader(self) -> Reader:
        """Who reads the names here."""
        return "runtime" if self.evaluated else "postponed annotation" if self.postponed else "checker"


class Unprovided(NamedTuple):
    """A read of ``bound`` that nothing provides; ``name`` is the typing name that it is about.

    ``hidden`` is what provides it to type checkers only, with the scope that binds it.
    """

    name: str
    bound: str
    node: ast.expr
    env: Env
    hidden: tuple[Binding, Scope] | None


_Step: TypeAlias = "tuple[ast.AST, Env]"
_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


class Walk:
    """One walk; ``run`` returns the reads that nothing provides.

    ``lines`` are the numbers, ascending, of the lines that can matter, ``declarations`` those of the lines that may
    hold a ``global`` or ``nonlocal`` statement.
    """

    def __init__(
        self,
        source: SourceText,
        names: frozenset[str],
        modules: frozenset[str],
        lines: Sequence[int],
        declarations: Sequence[int],
        target: tuple[int, int],
        star_exports: StarExports,
    ) -> None:
        self._place = FilePlace(source)
        self._names = names
        self._modules = modules
        self._followed = names | modules
        self._lines = lines
        self._line_set = frozenset(lines)
        self._declarations = declarations
        self._target = target
        self._star_exports = star_exports
        self._postponed = target >= (3, 14)
        self._members: dict[str, str] = {}
        self._typing_aliases: set[str] = set()
        self._checking_names = {"TYPE_CHECKING"}
        self._mentions = re.compile(rf"\b(?:{'|'.join(sorted(self._followed))})\b")
        self._deferred: deque[Callable[[], None]] = deque()
        self._unprovided: list[Unprovided] = []
        self._statements: dict[str, Callable[[Any, Env], None]] = {
            "FunctionDef": self._function,
            "AsyncFunctionDef": self._function,
            "ClassDef": self._class,
            "If": self._if,
            "For": self._for,
            "AsyncFor": self._for,
            "While": self._while,
            "With": self._with,
            "AsyncWith": self._with,
            "Try": self._try,
            "TryStar": self._try,
            "Match": self._match,
            "Assign": self._assign,
            "AugAssign": self._augmented_assign,
            "AnnAssign": self._annotated_assign,
            "TypeAlias": self._type_alias,
            "Import": self._import,
            "ImportFrom": self._import_from,
            "Global": self._global,
            "Nonlocal": self._nonlocal,
        }
        self._expressions: dict[str, Callable[[Any, Env], Iterable[_Step]]] = {
            "Name": self._name,
            "Attribute": self._attribute,
            "Constant": self._constant,
            "Subscript": self._subscript,
            "Call": self._call,
            "IfExp": self._conditional_expression,
            "BoolOp": self._boolean_expression,
            "NamedExpr": self._named_expression,
            "Lambda": self._lambda,
            "JoinedStr": self._format_string,
            "TemplateStr": self._format_string,
            "MatchAs": self._capture,
            "MatchStar": self._capture,
            "MatchMapping": self._capture,
            **{kind: self._comprehension for kind in _COMPREHENSIONS},
        }

    def run(self, tree: ast.Module) -> list[Unprovided]:
        """Walk ``tree``; the result is in the order of the walk."""
        self._postponed = self._postponed or _postpones_annotations(tree)
        self._block(tree.body, Env(Scope("module", "", None), self._place))
        while self._deferred:
            self._deferred.popleft()()
        return self._unprovided

    # Statements

    def _block(self, statements: Iterable[ast.stmt], env: Env) -> None:
        for statement in statements:
            if not self._touched(first_line(statement), statement.end_lineno):
                continue
            handler = self._statements.get(type(statement).__name__)
            if handler is not None:
                handler(statement, env)
            else:
                self._visit(_children(statement), env)

    def _touched(self, first: int, last: int | None) -> bool:
        """Whether a line from ``first`` to ``last`` can matter."""
        return first in self._line_set or (first != last and _any_between(self._lines, first, last))

    def _touches(self, node: ast.expr) -> bool:
        """Whether a line of ``node`` can matter."""
        return self._touched(node.lineno, node.end_lineno)

    def _function(self, node: _Function, env: Env) -> None:
        self._provide_declared(node, env)
        outer = env._replace(where=f"{env.where}.{node.name}" if env.where else node.name)
        if node.decorator_list:
            self._visit(node.decorator_list, env._replace(role="decorator"))
        defaults = _defaults(node.args)
        if defaults:
            self._visit(defaults, outer._replace(role="default value"))
        inner = self._with_type_parameters(node, outer)
        for argument in _arguments(node.args):
            if argument.annotation is not None and self._touches(argument.annotation):
                self._annotation(argument.annotation, inner, f"annotation of parameter `{argument.arg}`")
        if node.returns is not None and self._touches(node.returns):
            self._annotation(node.returns, inner, "return annotation")
        if self._touched(first_line(node.body[0]), node.end_lineno):
            self._defer(lambda: self._body(node, node.body, inner))
        self._bind(node.name, node.lineno, env)

    def _provide_declared(self, node: _Function, env: Env) -> None:
        """Count names that the function declares global or nonlocal as bound: it may run at any time from here on."""
        if not _any_between(self._declarations, node.lineno, node.end_lineno):
            return
        for inner in walk(node):
            if isinstance(inner, ast.Global):
                scope: Scope | None = env.scope.module
            elif isinstance(inner, ast.Nonlocal):
                scope = env.scope.enclosing_function
            else:
                continue
            for name in self._followed.intersection(inner.names) if scope else ():
                scope.provide(name, Binding(inner.lineno, True))  # type: ignore[union-attr]

    def _body(self, node: _Function | ast.Lambda, body: Sequence[ast.AST], env: Env) -> None:
        """Walk the body of a function that was defined in ``env``."""
        scope = Scope("function", env.where, env.scope)
        inside = env._replace(scope=scope, at_import=False, guarded=False)
        for argument in _arguments(node.args):
            self._bind(argument.arg, argument.lineno, inside)
        if isinstance(node, ast.Lambda):
            self._visit(body, inside)
        else:
            self._block(node.body, inside._replace(role="expression"))

    def _class(self, node: ast.ClassDef, env: Env) -> None:
        where = f"{env.where}.{node.name}" if env.where else node.name
        self._visit(node.decorator_list, env._replace(role="decorator"))
        outer = self._with_type_parameters(node, env._replace(where=where))
        self._visit([*node.bases, *node.keywords], outer._replace(role="base class"))
        self._block(node.body, outer._replace(scope=Scope("class", node.name, outer.scope)))
        self._bind(node.name, node.lineno, env)

    def _with_type_parameters(self, node: ast.AST, env: Env) -> Env:
        """The inside of the scope that the type parameters of ``node`` open; ``env`` itself without any."""
        parameters: list[Any] = getattr(node, "type_params", [])
        if not parameters:
            return env
        inner = env._replace(scope=Scope("type parameters", env.where, env.scope))
        for parameter in parameters:
            self._bind(parameter.name, parameter.lineno, inner)
            for part in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
                if part is not None:
                    self._postponed_annotation(part, inner._replace(role=f"type parameter `{parameter.name}`"))
        return inner

    def _if(self, node: ast.If, env: Env) -> None:
        branch = env._replace(conditional=True)
        while True:
            self._visit([node.test], branch)
            body, otherwise = self._branches(node.test, branch)
            self._block(node.body, body)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                self._block(node.orelse, otherwise)
                return
            node, branch = node.orelse[0], otherwise

    def _branches(self, test: ast.expr, env: Env) -> tuple[Env, Env]:
        """The two sides of a condition; the one that only type checkers see is never evaluated."""
        truth = self._truth(test)
        checked = env._replace(evaluated=False)
        body = env._replace(at_import=False) if _is_main_guard(test) else env
        return (checked if truth is False else body), (checked if truth is True else env)

    def _truth(self, test: ast.expr) -> bool | None:
        """What ``test`` is at run time, where ``TYPE_CHECKING`` decides it."""
        negated = False
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, negated = test.operand, not negated
        truth: bool | None = None
        if self._is_type_checking(test):
            truth = False
        elif isinstance(test, ast.BoolOp):
            wanted = isinstance(test.op, ast.Or)
            truths = {self._plain_truth(value) for value in test.values}
            truth = wanted if wanted in truths else (not wanted) if truths == {not wanted} else None
        return truth if truth is None else truth is not negated

    def _plain_truth(self, value: ast.expr) -> bool | None:
        """The truth of one operand: ``TYPE_CHECKING`` or ``not TYPE_CHECKING``."""
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            return True if self._is_type_checking(value.operand) else None
        return False if self._is_type_checking(value) else None

    def _is_type_checking(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._checking_names
        return isinstance(node, ast.Attribute) and node.attr == "TYPE_CHECKING"

    def _for(self, node: ast.For | ast.AsyncFor, env: Env) -> None:
        self._visit([node.iter, node.target], env)
        self._block(node.body, env)
        self._block(node.orelse, env)

    def _while(self, node: ast.While, env: Env) -> None:
        branch = env._replace(conditional=True)
        self._visit([node.test], branch)
        self._block(node.body, branch)
        self._block(node.orelse, branch)

    def _with(self, node: ast.With | ast.AsyncWith, env: Env) -> None:
        self._visit(node.items, env)
        self._block(node.body, env)

    def _try(self, node: ast.Try, env: Env) -> None:
        catches = any(_catches_name_error(handler.type) for handler in node.handlers)
        self._block(node.body, env._replace(guarded=env.guarded or catches))
        for handler in node.handlers:
            self._handler(handler, env)
        self._block(node.orelse, env)
        self._block(node.finalbody, env)

    def _handler(self, node: ast.ExceptHandler, env: Env) -> None:
        """Walk a handler; its name is gone after it, what the name meant before may still be there."""
        if node.type is not None:
            self._visit([node.type], env)
        if node.name is None or node.name not in self._followed or node.name in env.scope.redirected:
            self._block(node.body, env)
            return
        before = env.scope.names.pop(node.name, None)
        self._bind(node.name, node.lineno, env)
        self._block(node.body, env)
        env.scope.names.pop(node.name, None)
        env.scope.handled[node.name] = node.lineno
        if before is not None:
            env.scope.names[node.name] = before

    def _match(self, node: ast.Match, env: Env) -> None:
        self._visit([node.subject], env)
        branch = env._replace(conditional=True)
        for case in node.cases:
            self._visit([case.pattern, *([case.guard] if case.guard else [])], branch)
            self._block(case.body, branch)

    def _assign(self, node: ast.Assign, env: Env) -> None:
        self._visit([node.value, *node.targets], env)

    def _augmented_assign(self, node: ast.AugAssign, env: Env) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id, node.target, env)
        self._visit([node.value, node.target], env)

    def _annotated_assign(self, node: ast.AnnAssign, env: Env) -> None:
        """Walk ``target: annotation = value``.

        In a function the annotation is never evaluated. Elsewhere it is, after the target is bound, so that a name
        annotated with itself is no error at run time.
        Source: https://docs.python.org/3/reference/simple_stmts.html#annotated-assignment-statements
        """
        name = node.target.id if isinstance(node.target, ast.Name) else None
        if self._touches(node.annotation):
            target = dotted_name(node.target)
            evaluated = env.evaluated and env.scope.kind != "function"
            own = name if node.simple and node.value is not None else None
            role = f"annotation of `{target}`" if target else "annotation"
            self._annotation(node.annotation, env._replace(evaluated=evaluated, own=own), role)
        if node.value is not None:
            alias = self._typing_member(node.annotation) == "TypeAlias"
            self._visit([node.value], env._replace(strings_are_annotations=alias))
            self._visit([node.target], env)
        elif name in self._followed and name not in env.scope.redirected:
            env.scope.provide(name, Binding(node.lineno, False, declared_only=True))
        elif name is None:
            self._visit([node.target], env)

    def _type_alias(self, node: Any, env: Env) -> None:
        inner = self._with_type_parameters(node, env._replace(role=f"value of type alias `{node.name.id}`"))
        self._postponed_annotation(node.value, inner)
        self._visit([node.name], env)

    def _import(self, node: ast.Import, env: Env) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if alias.name in _SUBSCRIBED_MODULES:
                self._typing_aliases.add(alias.asname or alias.name)
            self._bind(name, node.lineno, env, alias.name)

    def _import_from(self, node: ast.ImportFrom, env: Env) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self._star(StarImport(node.module or "", node.level, node.lineno), env)
                continue
            name = alias.asname or alias.name
            if module in _SUBSCRIBED_MODULES:
                self._members[name] = alias.name
                if alias.name == "TYPE_CHECKING":
                    self._checking_names.add(name)
            elif module == "collections" and alias.name == "abc":
                self._typing_aliases.add(name)
            self._bind(name, node.lineno, env, module)

    def _star(self, star: StarImport, env: Env) -> None:
        exported = self._exports(star)
        if exported is not None:
            for name in self._followed & exported:
                self._bind(name, star.line, env, "." * star.level + star.module)
        elif env.evaluated:
            env.scope.star_at_runtime = True
        else:
            env.scope.star_for_checkers = True

    def _exports(self, star: StarImport) -> frozenset[str] | None:
        if star.level == 0 and star.module == "typing":
            return typing_names(self._target)
        if star.level == 0 and star.module == "typing_extensions":
            return TYPING_EXTENSIONS_NAMES
        return self._star_exports(star)

    def _global(self, node: ast.Global, env: Env) -> None:
        module = env.scope.module
        for name in self._followed.intersection(node.names):
            module.provide(name, Binding(node.lineno, True))
            if env.scope is not module:
                env.scope.redirected[name] = module

    def _nonlocal(self, node: ast.Nonlocal, env: Env) -> None:
        parent = env.scope.parent
        outer = parent.enclosing_function if parent else None
        for name in self._followed.intersection(node.names) if outer else ():
            outer.provide(name, Binding(node.lineno, True))  # type: ignore[union-attr]
            env.scope.redirected[name] = outer  # type: ignore[assignment]

    # Annotations

    def _annotation(self, node: ast.expr, env: Env, role: str) -> None:
        if self._postponed:
            self._postponed_annotation(node, env._replace(role=role))
        else:
            self._visit([node], env._replace(role=role, strings_are_annotations=True))

    def _postponed_annotation(self, node: ast.expr, env: Env) -> None:
        """Walk an annotation that Python evaluates later, if ever."""
        later = env._replace(strings_are_annotations=True, evaluated=False, postponed=True, guarded=False)
        self._defer(lambda: self._visit([node], later))

    def _constant(self, node: ast.Constant, env: Env) -> Iterable[_Step]:
        value = node.value
        if env.strings_are_annotations and isinstance(value, str) and self._mentions.search(value):
            self._defer(lambda: self._string(node, value, env))
        return ()

    def _string(self, node: ast.Constant, value: str, env: Env) -> None:
        """Walk the annotation in a string."""
        expression = _parsed_annotation(value)
        if expression is None:
            return
        later = env._replace(evaluated=False, postponed=True, guarded=False)
        self._visit([expression], later._replace(place=place_in_string(node, value, env.place), in_file=False))

    def _typing_member(self, node: ast.expr) -> str | None:
        """The name in ``typing``, or in a module of generic classes, that ``node`` stands for."""
        if isinstance(node, ast.Name):
            return self._members.get(node.id)
        if isinstance(node, ast.Attribute) and dotted_name(node.value) in self._typing_aliases:
            return node.attr
        return None

    # Expressions

    def _visit(self, nodes: Iterable[ast.AST], env: Env) -> None:
        stack: list[_Step] = [(node, env) for node in nodes]
        stack.reverse()
        while stack:
            node, env = stack.pop()
            first = getattr(node, "lineno", None)
            if first is not None and env.in_file and not self._touched(first, getattr(node, "end_lineno", None)):
                continue
            handler = self._expressions.get(type(node).__name__)
            steps = handler(node, env) if handler is not None else [(child, env) for child in _children(node)]
            if steps:
                stack.extend(reversed(list(steps)))

    def _name(self, node: ast.Name, env: Env) -> Iterable[_Step]:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id, node, env)
        elif isinstance(node.ctx, ast.Store):
            self._bind(node.id, node.lineno, env)
        elif node.id in self._followed:
            self._delete(node, env)
        return ()

    def _delete(self, node: ast.Name, env: Env) -> None:
        """Unbind a name, unless a condition decides whether that happens."""
        scope = env.scope
        bound = scope.has(node.id) if env.conditional else scope.unbind(node.id, node.lineno)
        if not bound and node.id in self._names and not env.guarded:
            self._unprovided.append(Unprovided(node.id, node.id, node, env, None))

    def _attribute(self, node: ast.Attribute, env: Env) -> Iterable[_Step]:
        value = node.value
        if not isinstance(value, ast.Name) or value.id not in self._modules:
            return [(value, env)]
        if node.attr in PUBLIC_NAMES:
            self._check(node.attr, value.id, node, env)
        return ()

    def _read(self, name: str, node: ast.expr, env: Env) -> None:
        if name in self._names:
            self._check(name, name, node, env)

    def _check(self, name: str, bound: str, node: ast.expr, env: Env) -> None:
        if env.guarded:
            return
        if bound == env.own:
            env = env._replace(evaluated=False)
        found = env.scope.lookup(bound, env.reader)
        if not found.provided:
            self._unprovided.append(Unprovided(name, bound, node, env, found.hidden))

    def _bind(self, name: str, line: int, env: Env, module: str | None = None) -> None:
        if name in self._followed:
            env.scope.bind(name, Binding(line, env.evaluated, module))

    def _subscript(self, node: ast.Subscript, env: Env) -> Iterable[_Step]:
        name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", None)
        member = self._typing_member(node.value)
        if "Literal" in (name, member):
            return [(node.value, env), (node.slice, env._replace(strings_are_annotations=False))]
        if "Annotated" in (name, member):
            if not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) < 2:
                return [(node.value, env), (node.slice, env)]
            plain = env._replace(strings_are_annotations=False)
            first, *metadata = node.slice.elts
            return [(node.value, env), (first, env), *((datum, plain) for datum in metadata)]
        if member or name in _BUILTIN_GENERICS:
            env = env._replace(strings_are_annotations=True)
        return [(node.value, env), (node.slice, env)]

    def _call(self, node: ast.Call, env: Env) -> Iterable[_Step]:
        plain = env._replace(strings_are_annotations=False)
        annotated = env._replace(strings_are_annotations=True)
        types = {id(part) for part in _type_arguments(self._typing_member(node.func), node)}
        steps: list[_Step] = [(node.func, plain)]
        for part in (*node.args, *node.keywords):
            steps.extend(_marked(part, types, plain, annotated))
        return steps

    def _conditional_expression(self, node: ast.IfExp, env: Env) -> Iterable[_Step]:
        body, otherwise = self._branches(node.test, env)
        return [(node.test, env), (node.body, body), (node.orelse, otherwise)]

    def _boolean_expression(self, node: ast.BoolOp, env: Env) -> Iterable[_Step]:
        stops_at = isinstance(node.op, ast.Or)
        for value in node.values:
            yield value, env
            if self._truth(value) is stops_at:
                env = env._replace(evaluated=False)

    def _named_expression(self, node: ast.NamedExpr, env: Env) -> Iterable[_Step]:
        return [(node.value, env), (node.target, env._replace(scope=env.scope.walrus_target))]

    def _lambda(self, node: ast.Lambda, env: Env) -> Iterable[_Step]:
        self._defer(lambda: self._body(node, [node.body], env))
        return [(default, env) for default in _defaults(node.args)]

    def _format_string(self, node: ast.expr, env: Env) -> Iterable[_Step]:
        place = place_in_format_string(node, env.place)
        inside = env._replace(place=place, in_file=env.in_file and place is env.place, strings_are_annotations=False)
        return [(child, inside) for child in _children(node)]

    def _capture(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, env: Env) -> Iterable[_Step]:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name is not None:
            self._bind(name, node.lineno, env)
        return [(child, env) for child in _children(node)]

    def _comprehension(self, node: Any, env: Env) -> Iterable[_Step]:
        inner = env._replace(scope=Scope("comprehension", "", env.scope))
        outer = env
        for generator in node.generators:
            yield generator.iter, outer
            outer = inner
            yield generator.target, inner
            yield from ((test, inner) for test in generator.ifs)
        yield from ((child, inner) for child in _children(node) if not isinstance(child, ast.comprehension))

    def _defer(self, work: Callable[[], None]) -> None:
        self._deferred.append(work)


def _any_between(lines: Sequence[int], first: int, last: int | None) -> bool:
    """Whether one of the ``lines``, ascending, lies from ``first`` to ``last``."""
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= (last or first)


def _postpones_annotations(tree: ast.Module) -> bool:
    """Whether the module begins with ``from __future__ import annotations``."""
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and not statement.level:
            if any(alias.name == "annotations" for alias in statement.names):
                return True
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return False
    return False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of ``node`` that are syntax nodes themselves, contexts and operators aside."""
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))
        elif isinstance(value, ast.AST) and value._fields:
            yield value


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters of a function."""
    starred = (argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None)
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    """The default values of a function's parameters."""
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def _catches_name_error(caught: ast.expr | None) -> bool:
    """Whether a handler for ``caught`` names ``NameError``."""
    caughts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(item, ast.Name) and item.id == "NameError" for item in caughts)


def _is_main_guard(test: ast.expr) -> bool:
    """Whether ``test`` is ``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _parsed_annotation(text: str) -> ast.expr | None:
    """The expression that the annotation ``text`` is; None if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None


def _type_arguments(function: str | None, node: ast.Call) -> Iterator[ast.AST]:
    """The parts of a call of ``typing``'s ``function`` in which a string is an annotation.

    Source: https://typing.python.org/en/latest/spec/annotations.html#string-annotations
    """
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    named: tuple[str, ...] = ()
    if function == "cast":
        yield from node.args[:1]
        named = ("typ",)
    elif function in ("NewType", "TypeAliasType"):
        yield from node.args[1:2]
        named = ("tp", "value")
    elif function == "assert_type":
        yield from node.args[1:2]
        named = ("typ",)
    elif function in ("TypeVar", "ParamSpec", "TypeVarTuple"):
        yield from node.args[1:]
        named = ("bound", "default")
    elif function == "TypedDict":
        yield from _dictionary_values(node.args[1:2])
        named = tuple(keywords)
    elif function == "NamedTuple":
        yield from _field_types(node.args[1:2])
        named = tuple(keywords)
    yield from (keywords[name] for name in named if name in keywords)


def _dictionary_values(arguments: Iterable[ast.expr]) -> Iterator[ast.AST]:
    for argument in arguments:
        if isinstance(argument, ast.Dict):
            yield from argument.values


def _field_types(arguments: Iterable[ast.expr]) -> Iterator[ast.AST]:
    for argument in arguments:
        for field in argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else ():
            if isinstance(field, (ast.List, ast.Tuple)):
                yield from field.elts[1:]


def _marked(part: ast.AST, types: set[int], plain: Env, annotated: Env) -> Iterator[_Step]:
    """``part`` of a call as steps, those of its parts that are ``types`` marked as annotations."""
    if id(part) in types:
        yield part, annotated
    elif types and isinstance(part, (ast.keyword, ast.Dict, ast.List, ast.Tuple)):
        for child in _children(part):
            yield from _marked(child, types, plain, annotated)
    else:
        yield part, plain
