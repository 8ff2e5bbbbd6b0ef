"""Where a value comes from: names chased through assignments, parameters, attributes, helpers and returns.

Nothing is executed: an expression is replaced by the expressions that it may stand for, until none can be replaced
further. Those that remain are judged by ``eagle3_lint.project.contract.roles``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from eagle3_lint.project.contract.files import RuntimeFiles
from eagle3_lint.project.contract.needles import assignment_needle, call_needle, definition_needle
from eagle3_lint.project.contract.scopes import (
    EACH,
    Binding,
    Function,
    RuntimeClass,
    RuntimeModule,
    last_identifier,
)

_CALL_BUDGET = 1_000
"""Steps spent on one call of the runtime; what needs more can't be told from the source at a reasonable price."""

_TREE_BUDGET = 20_000
"""Steps spent on one tree: releases take some hundreds, and the strangest tree is done in a second or two."""

_CALLERS_PRICE = 10
"""Steps that a search for the callers of a function is worth."""

_NAME_LENGTH_LIMIT = 200

_DEPTH_LIMIT = 12
"""Questions that one question leads to, each inside the other."""

_CALLER_LIMIT = 24
"""Call sites of one helper that are followed; helpers with more are general ones."""

_DRAFT = re.compile(rb"draft|mtp|nextn", re.IGNORECASE)
_BLOCKS = ("body", "orelse", "finalbody", "handlers")
_PASS_THROUGH = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "dict", "iter"})


@dataclass(frozen=True, eq=False)
class Frame:
    """A function as it is entered: by whom it may be called is open unless ``arguments`` are given."""

    function: Function
    arguments: Mapping[str, Place] | None = None


@dataclass(frozen=True, eq=False)
class Place:
    """An expression in the frame that it is evaluated in."""

    expression: ast.expr
    frame: Frame


@dataclass(frozen=True, eq=False)
class Caller:
    """One call of a function, in the function that makes it."""

    call: ast.Call
    function: Function


@dataclass
class Budget:
    """The steps that are left, for one call and for the whole tree."""

    call: int = _CALL_BUDGET
    tree: int = _TREE_BUDGET

    def renew(self) -> None:
        """Begin with another call."""
        self.call = _CALL_BUDGET

    def spend(self, steps: int = 1) -> bool:
        """Whether there was enough left for ``steps``."""
        self.call -= steps
        self.tree -= steps
        return self.call >= 0 and self.tree >= 0


Stop = Callable[[Place], bool]


def _never(place: Place) -> bool:
    return False


@dataclass
class Flow:
    """Answers about values in one runtime; answers about callers are kept."""

    files: RuntimeFiles
    _callers: dict[Function, tuple[Caller, ...]] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    _depth: int = 0

    # -- values ------------------------------------------------------------------------------------------------------

    def origins(self, start: Place, stop: Stop = _never) -> list[Place]:
        """The expressions that ``start`` may stand for, each irreducible or one that ``stop`` holds at."""
        if self._depth >= _DEPTH_LIMIT:
            return [start]
        self._depth += 1
        try:
            return self._chase(start, stop)
        finally:
            self._depth -= 1

    def _chase(self, start: Place, stop: Stop) -> list[Place]:
        found: list[Place] = []
        seen: set[tuple[ast.expr, Frame]] = set()
        pending = [start]
        while pending:
            place = pending.pop()
            key = (place.expression, place.frame)
            if key in seen:
                continue
            seen.add(key)
            replaced = None if stop(place) or not self.budget.spend() else self._replace(place)
            if replaced is None:
                found.append(place)
            else:
                pending.extend(reversed(replaced))
        return found

    def _replace(self, place: Place) -> list[Place] | None:
        expression, frame = place.expression, place.frame
        if isinstance(expression, ast.Name):
            return self._name(expression, frame)
        if isinstance(expression, (ast.NamedExpr, ast.Await, ast.Starred)):
            return [Place(expression.value, frame)]
        if isinstance(expression, ast.IfExp):
            return [Place(expression.body, frame), Place(expression.orelse, frame)]
        if isinstance(expression, ast.BoolOp):
            return [Place(value, frame) for value in expression.values]
        if isinstance(expression, ast.Attribute):
            return self._attribute(expression, frame)
        if isinstance(expression, ast.Subscript):
            return self._elements(Place(expression.value, frame), expression.slice)
        if isinstance(expression, ast.Call):
            return self._call(expression, frame)
        return None

    def _name(self, name: ast.Name, frame: Frame) -> list[Place] | None:
        function = frame.function
        found: list[Place] = []
        bindings = reaching(function, name)
        for binding in bindings:
            found.extend(self._project(Place(binding.expression, frame), binding.projection))
        if name.id in function.parameters and not _overwritten(function, name, bindings):
            found.extend(self._parameter(name.id, frame))
        if found or name.id in function.parameters or bindings:
            return found or None
        if name.id in function.imports:
            return self._imported(function, name.id)
        if function.outer is not None:
            return self._outer_name(name, function.outer)
        if isinstance(function.node, ast.Module):
            return None
        return self._module_name(name.id, function.module)

    def _outer_name(self, name: ast.Name, outer: Function) -> list[Place] | None:
        if name.id in outer.nested:
            return None
        return self._name(name, Frame(outer))

    def _module_name(self, name: str, module: RuntimeModule) -> list[Place] | None:
        bindings = module.body.bindings.get(name)
        if bindings:
            frame = Frame(module.body)
            return [
                part
                for binding in bindings
                for part in self._project(Place(binding.expression, frame), binding.projection)
            ]
        return self._imported(module.body, name) if name in module.body.imports else None

    def _imported(self, function: Function, name: str) -> list[Place] | None:
        found = function.imports[name]
        if not found.original:
            return None
        module = self.files.named(found.module, holding=assignment_needle(found.original))
        return self._module_name(found.original, module) if module is not None else None

    def _parameter(self, name: str, frame: Frame) -> list[Place]:
        function = frame.function
        if frame.arguments is not None:
            given = frame.arguments.get(name)
            default = function.defaults.get(name)
            if given is not None:
                return [given]
            return [] if default is None else [Place(default, Frame(function.module.body))]
        found = [
            argument
            for caller in self.callers(function)
            if (argument := bound_arguments(function, caller.call, Frame(caller.function)).get(name)) is not None
        ]
        if not found and (default := function.defaults.get(name)) is not None:
            found.append(Place(default, Frame(function.module.body)))
        return [part for part in found if not _is_none(part.expression)]

    def _attribute(self, attribute: ast.Attribute, frame: Frame) -> list[Place] | None:
        owner = self.instance_class(attribute.value, frame)
        if owner is None:
            return None
        found: list[Place] = []
        for cls in self.lineage(owner):
            method = cls.methods.get(attribute.attr)
            if method is not None and method.is_property:
                return [Place(value, Frame(method)) for value in method.returns]
            found.extend(
                part
                for binding, function in cls.instance_bindings(attribute.attr)
                for part in self._project(Place(binding.expression, Frame(function)), binding.projection)
            )
            found.extend(
                Place(binding.expression, Frame(cls.module.body))
                for binding in cls.constants.get(attribute.attr, ())
                if not binding.projection
            )
            found = [part for part in found if not _is_none(part.expression)]
            if found:
                # What a class assigns itself is what its own methods see, whatever its bases do.
                return found
        return None

    def _call(self, call: ast.Call, frame: Frame) -> list[Place] | None:
        name = last_identifier(call.func)
        if name == "cast" and len(call.args) == 2:
            return [Place(call.args[1], frame)]
        if name == "getattr" and len(call.args) >= 2:
            return self._getattr(call, frame)
        if isinstance(call.func, ast.Attribute) and name == "get" and call.args:
            found = self._elements(Place(call.func.value, frame), call.args[0])
            return found if found is None else found + [Place(default, frame) for default in call.args[1:2]]
        functions = self.resolve(call.func, frame)
        found = [
            Place(value, Frame(function, bound_arguments(function, call, frame)))
            for function in functions
            if function.name != "__init__"
            for value in function.returns
        ]
        return found or None

    def _getattr(self, call: ast.Call, frame: Frame) -> list[Place] | None:
        name = call.args[1]
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return None
        attribute = ast.copy_location(ast.Attribute(call.args[0], name.value, ast.Load()), call)
        return [Place(attribute, frame)]

    def _elements(self, container: Place, key: ast.expr | None) -> list[Place] | None:
        """What a dictionary, list or tuple holds under ``key`` (any key, where it isn't a constant)."""
        found: list[Place] = []
        wanted = key.value if isinstance(key, ast.Constant) else None
        for place in self.origins(container):
            display = place.expression
            if isinstance(display, ast.Dict):
                for item_key, value in zip(display.keys, display.values, strict=True):
                    known = isinstance(item_key, ast.Constant) and wanted is not None
                    if not known or (isinstance(item_key, ast.Constant) and item_key.value == wanted):
                        found.append(Place(value, place.frame))
            elif isinstance(display, (ast.List, ast.Tuple, ast.Set)):
                elements = display.elts
                if isinstance(wanted, int) and -len(elements) <= wanted < len(elements):
                    elements = [elements[wanted]]
                found.extend(Place(element, place.frame) for element in elements)
        return found or None

    def _project(self, place: Place, projection: tuple[int, ...]) -> list[Place]:
        """The parts of ``place`` that an unpacking or a loop takes; none where they can't be told."""
        places = [place]
        for step in projection:
            places = [part for whole in places for part in self._step(whole, step)]
        return places

    def _step(self, whole: Place, step: int) -> Iterator[Place]:
        if isinstance(whole.expression, ast.Call) and step == EACH:
            yield from self._each_of_call(whole.expression, whole.frame)
            return
        for place in self.origins(whole):
            display = place.expression
            if isinstance(display, ast.Dict) and step == EACH:
                yield from (Place(key, place.frame) for key in display.keys if key is not None)
            elif isinstance(display, (ast.List, ast.Tuple, ast.Set)):
                elements = display.elts if step == EACH else display.elts[step : step + 1]
                yield from (Place(element, place.frame) for element in elements)
            elif isinstance(display, ast.Call) and step == EACH and display is not whole.expression:
                yield from self._each_of_call(display, place.frame)
            elif isinstance(display, (ast.Name, ast.Attribute)) and step == EACH:
                # An element of a collection that can't be looked into: its name still tells what it holds.
                index = ast.copy_location(ast.Constant(0), display)
                yield Place(ast.copy_location(ast.Subscript(display, index, ast.Load()), display), place.frame)

    def _each_of_call(self, call: ast.Call, frame: Frame) -> Iterator[Place]:
        name = last_identifier(call.func)
        if isinstance(call.func, ast.Attribute) and name in {"items", "values", "keys"}:
            for place in self.origins(Place(call.func.value, frame)):
                if not isinstance(place.expression, ast.Dict):
                    continue
                for key, value in zip(place.expression.keys, place.expression.values, strict=True):
                    if key is not None:
                        pair: ast.expr = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                        yield Place({"items": pair, "values": value, "keys": key}[name], place.frame)
        elif name == "enumerate" and call.args:
            for part in self._step(Place(call.args[0], frame), EACH):
                counter = ast.copy_location(ast.Constant(0), part.expression)
                yield Place(ast.copy_location(ast.Tuple([counter, part.expression], ast.Load()), call), part.frame)
        elif name in _PASS_THROUGH and call.args:
            yield from self._step(Place(call.args[0], frame), EACH)

    def strings(self, place: Place) -> frozenset[str]:
        """The strings that an expression may be; empty where none can be told."""
        found: set[str] = set()
        for origin in self.origins(place) if self.budget.spend() else ():
            expression = origin.expression
            if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
                found.add(expression.value)
            elif isinstance(expression, ast.JoinedStr):
                found |= self._formatted(expression, origin.frame)
            elif isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
                left = self.strings(Place(expression.left, origin.frame))
                right = self.strings(Place(expression.right, origin.frame))
                found |= {one + two for one in left for two in right}
        return frozenset(text for text in found if len(text) <= _NAME_LENGTH_LIMIT)

    def _formatted(self, joined: ast.JoinedStr, frame: Frame) -> set[str]:
        found = {""}
        for part in joined.values:
            value = part.value if isinstance(part, ast.FormattedValue) else part
            if isinstance(part, ast.FormattedValue) and (part.format_spec is not None or part.conversion != -1):
                return set()
            endings = self.strings(Place(value, frame))
            found = {text + ending for text in found for ending in endings}
            if not found or len(found) > _CALLER_LIMIT:
                return set()
        return found

    # -- classes and functions ---------------------------------------------------------------------------------------

    def instance_class(self, expression: ast.expr, frame: Frame) -> RuntimeClass | None:
        """The class of ``self`` (also of ``cls``, or of the class's own name), else None."""
        if not isinstance(expression, ast.Name):
            return None
        function: Function | None = frame.function
        while function is not None:
            if function.self_name == expression.id:
                return function.owner
            if expression.id in function.parameters:
                return None
            function = function.outer
        return self._class_named(expression.id, frame.function)

    def _class_named(self, name: str, function: Function) -> RuntimeClass | None:
        module = function.module
        if name in module.classes:
            return module.classes[name]
        if not name.lstrip("_")[:1].isupper():
            return None
        found = function.imported(name)
        if found is None or not found.original:
            return None
        source = self.files.named(found.module, holding=definition_needle("class", found.original))
        return source.classes.get(found.original) if source is not None else None

    def lineage(self, cls: RuntimeClass) -> Iterator[RuntimeClass]:
        """``cls`` and those of its bases that the runtime's own folders define, nearest first."""
        found: list[RuntimeClass] = []
        pending = [cls]
        while pending and len(found) < _CALLER_LIMIT:
            current = pending.pop(0)
            if current in found:
                continue
            found.append(current)
            yield current
            for base in current.node.bases:
                resolved = self._class_named(last_identifier(base), current.module.body)
                if resolved is not None:
                    pending.append(resolved)

    def class_of_name(self, expression: ast.expr, frame: Frame) -> RuntimeClass | None:
        """The class that a plain or dotted name stands for, where the runtime's own folders define it."""
        return self._class_named(last_identifier(expression), frame.function)

    def knows_method(self, expression: ast.expr, method: str, frame: Frame) -> bool:
        """Cheaply, whether a class may define ``method``: the module that it comes from must name it."""
        module = frame.function.module
        name = last_identifier(expression)
        found = frame.function.imported(name)
        return method in module.source.text if found is None else self.files.has(found.module, method)

    def resolve(self, func: ast.expr, frame: Frame) -> list[Function]:
        """The functions that a call of ``func`` may enter: ``__init__`` for a class; none where that isn't known."""
        if isinstance(func, ast.Name):
            return self._resolve_name(func.id, frame.function)
        if not isinstance(func, ast.Attribute):
            return []
        base = func.value
        if isinstance(base, ast.Call) and last_identifier(base.func) == "super":
            owner, skipped = _method_of(frame.function), 1
        else:
            owner, skipped = self.instance_class(base, frame), 0
        for cls in islice(self.lineage(owner), skipped, None) if owner is not None else ():
            if func.attr in cls.methods:
                return [cls.methods[func.attr]]
        return self._resolve_dotted(base, func.attr, frame.function)

    def _resolve_dotted(self, base: ast.expr, name: str, function: Function) -> list[Function]:
        if not isinstance(base, ast.Name):
            return []
        found = function.imported(base.id)
        if found is None:
            return []
        dotted = f"{found.module}.{found.original}" if found.original else found.module
        module = self.files.named(dotted, holding=definition_needle("def", name))
        return [module.top_level[name]] if module is not None and name in module.top_level else []

    def _resolve_name(self, name: str, function: Function) -> list[Function]:
        scope: Function | None = function
        while scope is not None:
            if name in scope.nested:
                return [scope.nested[name]]
            if name in scope.parameters or name in scope.bindings:
                return []
            scope = scope.outer
        module = function.module
        if name in module.top_level:
            return [module.top_level[name]]
        cls = self._class_named(name, function)
        if cls is not None:
            constructors = (base.methods["__init__"] for base in self.lineage(cls) if "__init__" in base.methods)
            return list(islice(constructors, 1))
        found = function.imported(name)
        if found is None or not found.original:
            return []
        source = self.files.named(found.module, holding=definition_needle("def", found.original))
        return [source.top_level[found.original]] if source is not None and found.original in source.top_level else []

    def callers(self, function: Function) -> tuple[Caller, ...]:
        """The calls of ``function`` in the folders that were read; none where there are too many to tell."""
        if function not in self._callers:
            # The empty answer stands while the question is open, so that recursive helpers come to an end.
            self._callers[function] = ()
            if self.budget.spend(_CALLERS_PRICE):
                self._callers[function] = tuple(self._find_callers(function))
        return self._callers[function]

    def may_get_draft(self, function: Function) -> bool:
        """Cheaply, whether some call of ``function`` speaks of the draft."""
        word = _called_as(function)
        if not word:
            return False
        return self.files.any_call_speaks_of(word, _DRAFT)

    def mentioned_by_callers(self, function: Function, texts: tuple[str, ...]) -> bool:
        """Whether every file that may call ``function`` has one of ``texts``."""
        word = _called_as(function)
        return bool(word) and self.files.all_have(call_needle(word), texts)

    def handers(self, receiver: Place) -> list[tuple[Caller, Place]]:
        """The callers that hand over what ``receiver`` is, a parameter, each with what it hands over."""
        name = handed_parameter(receiver)
        function = receiver.frame.function
        found: list[tuple[Caller, Place]] = []
        for caller in self.callers(function) if name else ():
            given = bound_arguments(function, caller.call, Frame(caller.function)).get(name)
            if given is not None:
                found.append((caller, given))
        return found

    def _find_callers(self, function: Function) -> Iterable[Caller]:
        word = _called_as(function)
        if not word:
            return []
        needle = call_needle(word)
        found: list[Caller] = []
        for module in self.files.holding(needle):
            for caller in module.functions_with(needle):
                found.extend(
                    Caller(call, caller)
                    for call in caller.calls
                    if last_identifier(call.func) == word and self._may_enter(call, caller, function)
                )
        return found if len(found) <= _CALLER_LIMIT else []

    def _may_enter(self, call: ast.Call, caller: Function, function: Function) -> bool:
        """Whether ``call``, of something with the name of ``function``, may be a call of it; nothing more is parsed."""
        if isinstance(call.func, ast.Attribute):
            owner = _method_of(caller)
            own = isinstance(call.func.value, ast.Name) and call.func.value.id == caller.self_name
            if own and owner is not None and function.name in owner.methods:
                return owner.methods[function.name] is function
            return True
        if not isinstance(call.func, ast.Name) or (function.is_bound and function.name != "__init__"):
            return False
        name = call.func.id
        found = caller.imported(name)
        if caller.module is function.module:
            return found is None
        return found is not None and (found.module == function.module.dotted or not self.files.has(found.module))


def _called_as(function: Function) -> str:
    """The name that calls of a function use; empty for those that Python or everyone calls."""
    if function.name == "__init__" and function.owner is not None:
        return function.owner.name
    return "" if function.name.startswith("__") or function.name == "forward" else function.name


def handed_parameter(receiver: Place) -> str:
    """The parameter that a value is, or hangs on; empty where it is no parameter, or the instance of a method."""
    expression = receiver.expression
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    function = receiver.frame.function
    if not isinstance(expression, ast.Name) or expression.id == function.self_name:
        return ""
    return expression.id if expression.id in function.parameters else ""


def bound_arguments(function: Function, call: ast.Call, frame: Frame) -> dict[str, Place]:
    """The arguments of ``call`` by the parameters of ``function`` that they are given to, as far as that is plain."""
    names = function.parameters[: function.positional_count]
    if function.is_bound:
        names = names[1:]
    found: dict[str, Place] = {}
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[name] = Place(argument, frame)
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg in function.parameters:
            found[keyword.arg] = Place(keyword.value, frame)
    return found


def reaching(function: Function, name: ast.Name) -> list[Binding]:
    """The bindings of a local name that may reach this use of it."""
    bindings = function.bindings.get(name.id, [])
    if len(bindings) < 2 or name not in function.parents:
        return bindings
    ancestors = set(_ancestors(function, name))
    before = [binding for binding in bindings if _line(binding.statement) < name.lineno]
    # The last one that is certainly executed before the use hides all earlier ones.
    certain = [index for index, binding in enumerate(before) if _dominates(function, binding.statement, ancestors)]
    return before[certain[-1] :] if certain else bindings


def _overwritten(function: Function, name: ast.Name, bindings: list[Binding]) -> bool:
    ancestors = set(_ancestors(function, name))
    return any(
        _line(binding.statement) < name.lineno and _dominates(function, binding.statement, ancestors)
        for binding in bindings
    )


def _dominates(function: Function, statement: ast.AST, ancestors: set[ast.AST]) -> bool:
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    parent = function.parents.get(statement)
    if parent is None or parent not in ancestors:
        return False
    for block in _BLOCKS:
        statements = getattr(parent, block, None)
        if isinstance(statements, list) and statement in statements:
            return any(other in ancestors for other in statements)
    return False


def _ancestors(function: Function, node: ast.AST) -> Iterator[ast.AST]:
    current: ast.AST | None = node
    while current is not None:
        yield current
        current = function.parents.get(current)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None


def _method_of(function: Function | None) -> RuntimeClass | None:
    while function is not None:
        if function.owner is not None:
            return function.owner
        function = function.outer
    return None
