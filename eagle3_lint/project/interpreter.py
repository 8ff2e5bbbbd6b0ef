"""Follows constructors: which classes the attributes of an object may hold after ``__init__``.

An abstract interpreter over the statements of the functions that construction runs. Both arms of a condition are
followed unless the source decides it; a loop's body is followed once; calls are followed into methods of the object,
``super()``, and functions that live with the models or are handed classes. Nothing of the linted code is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.extract import bound_names, checks_typing, place_of
from eagle3_lint.facts.module import Alternatives, Binding, Place
from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.classes import ClassInfo, ExternalValue, Found
from eagle3_lint.project.modules import Module
from eagle3_lint.project.names import absolute_module
from eagle3_lint.project.resolver import Resolver
from eagle3_lint.project.values import (
    ClassValue,
    ConstantValue,
    ExternalInstance,
    FunctionValue,
    InstanceValue,
    MappingValue,
    ModuleValue,
    SelfValue,
    SequenceValue,
    Site,
    SuperValue,
    UnknownValue,
    Value,
    Values,
    union,
)

_MOST_DEPTH = 12
_MOST_STEPS = 60_000
_ANYTHING_REASON = "it depends on a value known only at run time"
_ANYTHING: Values = (UnknownValue(_ANYTHING_REASON),)
_CONTAINERS = frozenset(
    {
        "torch.nn.ModuleList",
        "torch.nn.Sequential",
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "builtins.frozenset",
        "builtins.reversed",
        "builtins.sorted",
    }
)
_MAPPINGS = frozenset({"torch.nn.ModuleDict", "builtins.dict", "collections.OrderedDict"})
# What these are called with tells what they give.
_TELLING = _CONTAINERS | _MAPPINGS | {"functools.partial", "builtins.next", "types.MethodType"}
# The registry builds a target with these; what they hold is known only at run time.
_GIVEN_BY_RUNTIME = frozenset({"config", "quant_config", "prefix"})
# What is called outside the project under these names (None is ``**``) hands back no model.
_NEVER_TELLING = frozenset({None, "quant_config", "prefix"})


@dataclass(frozen=True)
class Attribute:
    """What an attribute of a constructed object may hold, and each place that assigned it."""

    values: Values
    sites: tuple[Site, ...]


@dataclass
class Heap:
    """The attributes of the object under construction and of the objects it made, at one point of the run."""

    objects: dict[Value, dict[str, Attribute]] = field(default_factory=dict)

    def copy(self) -> Heap:
        """An independent copy, for one arm of a condition."""
        return Heap({key: dict(attributes) for key, attributes in self.objects.items()})

    def write(self, target: Value, name: str, values: Values, site: Site) -> None:
        """Assign ``name`` of ``target``."""
        self.objects.setdefault(target, {})[name] = Attribute(values, (site,))

    def read(self, target: Value, name: str) -> Attribute | None:
        """What ``name`` of ``target`` holds, or None where nothing assigned it."""
        return self.objects.get(target, {}).get(name)

    def replace_by_join(self, heaps: Sequence[Heap]) -> None:
        """Become what any of ``heaps`` may be; they are used up."""
        if len(heaps) == 1:
            self.objects = heaps[0].objects
            return
        joined = {key: dict(attributes) for key, attributes in heaps[0].objects.items()}
        for heap in heaps[1:]:
            for key, attributes in heap.objects.items():
                into = joined.setdefault(key, {})
                for name, attribute in attributes.items():
                    known = into.get(name)
                    if known is None:
                        into[name] = attribute
                    elif known is not attribute:
                        sites = tuple(dict.fromkeys((*known.sites, *attribute.sites)))
                        into[name] = Attribute(union(known.values, attribute.values), sites)
        self.objects = joined


@dataclass
class Frame:
    """One function being followed."""

    module: Module
    heap: Heap
    owner: ClassInfo | None = None
    receiver: Value | None = None
    names: dict[str, Values] = field(default_factory=dict)
    closure: Frame | None = None
    depth: int = 0
    returned: list[Values] = field(default_factory=list)
    exits: list[Heap] = field(default_factory=list)
    environment: dict[str, Alternatives] = field(default_factory=dict)
    far: bool = False

    def site(self, node: ast.expr | ast.stmt) -> Site:
        """The place of ``node`` in the function's file."""
        return Site(self.module.path, node.lineno, node.col_offset, self.owner)


@dataclass(frozen=True)
class Constructed:
    """An object after its construction."""

    info: ClassInfo
    attributes: dict[str, Attribute]
    objects: dict[Value, dict[str, Attribute]]
    complete: bool


class _TooManySteps(Exception):
    """The construction is too large to follow."""


class Interpreter:
    """Evaluates expressions and follows constructors for one project."""

    def __init__(self, names: Resolver) -> None:
        self.names = names
        names.interpreter = self
        self._constructed: dict[tuple[ClassInfo, tuple[tuple[str, Values], ...]], Constructed] = {}
        self._in_progress: set[ClassInfo] = set()
        self._active: list[tuple[str, int, Value | None]] = []
        self._known_defaults: dict[tuple[str, Place], dict[str, Values]] = {}
        self._steps = 0

    def construct(self, info: ClassInfo, arguments: tuple[tuple[str, Values], ...] = ()) -> Constructed:
        """The attributes of a new object of ``info`` built with ``arguments`` (others have their defaults)."""
        key = (info, arguments)
        found = self._constructed.get(key)
        if found is None:
            if info in self._in_progress:
                return Constructed(info, {}, {}, False)
            self._in_progress.add(info)
            try:
                found = self._construct(info, arguments)
            finally:
                self._in_progress.discard(info)
            self._constructed[key] = found
        return found

    def class_attribute(self, info: ClassInfo, name: str) -> Values:
        """What ``name`` looked up on the class itself denotes."""
        found = info.find(name)
        if found is None:
            return (UnknownValue(f"{info.name} has no {name}"),)
        return self._member(found, None)

    def member_of(self, found: Found, receiver: Value, heaps: Iterable[dict[Value, dict[str, Attribute]]]) -> Values:
        """What a member of its class gives on the object ``receiver``, a property what it returns.

        ``heaps`` are the attributes of the objects around it, the nearest first.
        """
        objects: dict[Value, dict[str, Attribute]] = {}
        for heap in heaps if found.member.decorators else ():
            for holder, attributes in heap.items():
                objects.setdefault(holder, dict(attributes))
        outermost = self._steps == 0
        try:
            return self._member(found, receiver, Frame(found.definer.module, Heap(objects), found.definer, receiver))
        except (_TooManySteps, RecursionError):
            return (UnknownValue("the property is too large to follow"),)
        finally:
            if outermost:
                self._steps = 0

    def module_assignments(self, module: Module, bindings: Sequence[Binding]) -> Values:
        """What the assignments ``bindings`` of one name at module level leave in it."""
        frame = Frame(module, Heap())
        found: list[Values] = []
        grown: list[Values] = []
        for binding in bindings:
            if binding.shape:
                found.append(self._simple(module, binding, frame))
                continue
            try:
                node = module.statement(binding.place)
            except UnreadableSourceError as error:
                found.append((UnknownValue(error.reason),))
                continue
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                found.append(self._guarded(node.value, frame))
            elif isinstance(node, ast.AugAssign):
                grown.append(self._guarded(node.value, frame))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                grown.extend(self._guarded(argument, frame) for argument in node.value.args)
        return _grow(union(*found), grown) if grown else union(*found)

    def _simple(self, module: Module, binding: Binding, frame: Frame) -> Values:
        """What a plain name, or a list of plain names, denotes; the facts hold them, so nothing is parsed."""
        parts = []
        for dotted in binding.names:
            root, *rest = dotted.split(".")
            values = self.names.resolve(module, root, far=frame.far)
            for attribute in rest:
                values = self.names.attribute(values, attribute, far=frame.far)
            parts.append(values)
        return parts[0] if binding.shape == "name" else (SequenceValue(tuple(parts)),)

    def evaluate_in_module(self, module: Module, node: ast.expr, environment: dict[str, Alternatives]) -> Values:
        """What ``node`` denotes at module level, with ``environment`` for names that have another binding there."""
        return self._guarded(node, Frame(module, Heap(), environment=environment, far=True))

    def _guarded(self, node: ast.expr, frame: Frame) -> Values:
        outermost = self._steps == 0
        try:
            return self.evaluate(node, frame)
        except (_TooManySteps, RecursionError):
            return (UnknownValue("the expression is too large to follow"),)
        finally:
            if outermost:
                self._steps = 0

    def _construct(self, info: ClassInfo, arguments: tuple[tuple[str, Values], ...]) -> Constructed:
        heap = Heap()
        receiver = SelfValue(info)
        complete = True
        steps, self._steps = self._steps, 0
        active, self._active = self._active, []
        try:
            found = info.find("__init__")
            if found is not None:
                self._call_found(found, receiver, [], dict(arguments), heap, 0, spread=False)
        except (_TooManySteps, RecursionError):
            complete = False
        finally:
            self._steps = steps
            self._active = active
        attributes = heap.objects.get(receiver, {})
        return Constructed(info, attributes, heap.objects, complete)

    # Statements

    def run(self, body: Iterable[ast.stmt], frame: Frame) -> bool:
        """Follow ``body``; True when no path reaches its end."""
        for node in body:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise _TooManySteps
            handler = _STATEMENTS.get(type(node))
            if handler is not None and handler(self, node, frame):
                return True
        return False

    def _run_expression(self, node: ast.Expr, frame: Frame) -> bool:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value, frame)
        return False

    def _run_assign(self, node: ast.Assign, frame: Frame) -> bool:
        computed = isinstance(node.value, ast.Call) and all(map(_holds_quantization, node.targets))
        values = _ANYTHING if computed else self.evaluate(node.value, frame)
        for target in node.targets:
            self._assign(target, values, frame)
        return False

    def _run_annotated(self, node: ast.AnnAssign, frame: Frame) -> bool:
        if node.value is not None:
            self._assign(node.target, self.evaluate(node.value, frame), frame)
        return False

    def _run_augmented(self, node: ast.AugAssign, frame: Frame) -> bool:
        added = self.evaluate(node.value, frame)
        if isinstance(node.target, ast.Name):
            before = self._name(node.target, frame)
            frame.names[node.target.id] = _grow(before, [added])
        elif isinstance(node.target, ast.Attribute):
            before = self.evaluate(node.target, frame)
            self._assign(node.target, _grow(before, [added]), frame)
        return False

    def _run_return(self, node: ast.Return, frame: Frame) -> bool:
        frame.returned.append(self.evaluate(node.value, frame) if node.value else (ConstantValue(None),))
        frame.exits.append(frame.heap.copy())
        return True

    def _run_raise(self, node: ast.Raise, frame: Frame) -> bool:
        return True

    def _run_if(self, node: ast.If, frame: Frame) -> bool:
        if checks_typing(node.test) is True:
            return self.run(node.orelse, frame)
        self._bind_walrus(node.test, frame)
        decided = self._truth(node.test, frame)
        if decided is not None:
            return self.run(node.body if decided else node.orelse, frame)
        return self._arms([node.body, node.orelse], frame)

    def _arms(self, bodies: Sequence[Sequence[ast.stmt]], frame: Frame) -> bool:
        # Most conditions only guard a ``raise``: nothing is to be joined then.
        bodies = [body for body in bodies if not body or not isinstance(body[0], ast.Raise)]
        if len(bodies) == 1:
            return self.run(bodies[0], frame)
        heap, names = frame.heap, frame.names
        outcomes: list[tuple[Heap, dict[str, Values]]] = []
        for body in bodies:
            frame.heap, frame.names = heap.copy(), dict(names)
            if not self.run(body, frame):
                outcomes.append((frame.heap, frame.names))
        frame.heap, frame.names = heap, names
        if not outcomes:
            return True
        heap.replace_by_join([outcome[0] for outcome in outcomes])
        _join_names(names, [outcome[1] for outcome in outcomes])
        return False

    def _run_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        values = self.evaluate(node.iter, frame)
        self._assign(node.target, _items(values), frame)
        self._arms([node.body, []], frame)
        return self.run(node.orelse, frame)

    def _run_while(self, node: ast.While, frame: Frame) -> bool:
        self._bind_walrus(node.test, frame)
        self._arms([node.body, []], frame)
        return self.run(node.orelse, frame)

    def _run_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> bool:
        for item in node.items:
            values = self.evaluate(item.context_expr, frame)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, values, frame)
        return self.run(node.body, frame)

    def _run_try(self, node: ast.Try, frame: Frame) -> bool:
        handlers = [handler.body for handler in node.handlers]
        ended = self._arms([[*node.body, *node.orelse], *handlers], frame)
        return self.run(node.finalbody, frame) or ended

    def _run_match(self, node: ast.Match, frame: Frame) -> bool:
        self.evaluate(node.subject, frame)
        return self._arms([case.body for case in node.cases] + [[]], frame)

    def _run_import(self, node: ast.Import, frame: Frame) -> bool:
        for alias in node.names:
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            known = self.names.modules.find(dotted) is not None
            frame.names[alias.asname or dotted] = (ModuleValue(dotted) if known else ExternalValue(dotted),)
        return False

    def _run_import_from(self, node: ast.ImportFrom, frame: Frame) -> bool:
        target = absolute_module(frame.module, node.module or "", node.level)
        for alias in node.names:
            if alias.name != "*":
                frame.names[alias.asname or alias.name] = self.names.module_attribute(target, alias.name, far=False)
        return False

    def _run_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> bool:
        frame.names[node.name] = (
            FunctionValue(frame.module, place_of(node), frame.owner, closure=frame, inline=node, name=node.name),
        )
        return False

    def _run_class(self, node: ast.ClassDef, frame: Frame) -> bool:
        at = frame.module.shown(node.lineno)
        frame.names[node.name] = (UnknownValue(f"{node.name} at {at} is a class inside a function", weight=2),)
        return False

    def _run_delete(self, node: ast.Delete, frame: Frame) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                for value in self.evaluate(target.value, frame):
                    frame.heap.objects.get(value, {}).pop(target.attr, None)
        return False

    # Assignment

    def _assign(self, target: ast.expr, values: Values, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            frame.names[target.id] = values
        elif isinstance(target, ast.Attribute):
            for holder in self.evaluate(target.value, frame):
                if isinstance(holder, (SelfValue, InstanceValue, ExternalInstance)):
                    frame.heap.write(holder, target.attr, values, frame.site(target))
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, values, frame)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, values, frame)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, (ast.Name, ast.Attribute)):
            self._assign(target.value, _grow_entry(self.evaluate(target.value, frame), values), frame)

    def _unpack(self, targets: Sequence[ast.expr], values: Values, frame: Frame) -> None:
        for index, target in enumerate(targets):
            parts: list[Values] = []
            for value in values:
                if isinstance(value, SequenceValue) and not value.uniform and len(value.items) == len(targets):
                    parts.append(value.items[index])
                elif isinstance(value, SequenceValue) and value.uniform:
                    parts.append((value,))
                else:
                    parts.append(_ANYTHING)
            self._assign(target, union(*parts), frame)

    def _bind_walrus(self, node: ast.expr, frame: Frame) -> None:
        for inner in walk(node):
            if isinstance(inner, ast.NamedExpr):
                frame.names[inner.target.id] = self.evaluate(inner.value, frame)

    # Expressions

    def evaluate(self, node: ast.expr, frame: Frame) -> Values:
        """What ``node`` may denote in ``frame``."""
        # Half of all that is evaluated is a name that the followed code has set itself.
        if isinstance(node, ast.Name) and (known := frame.names.get(node.id)) is not None:
            return known
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _TooManySteps
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node, frame) if handler is not None else _ANYTHING

    def _constant(self, node: ast.Constant, frame: Frame) -> Values:
        return (ConstantValue(node.value),)

    def _name(self, node: ast.Name, frame: Frame) -> Values:
        scope: Frame | None = frame
        while scope is not None:
            if node.id in scope.names:
                return scope.names[node.id]
            scope = scope.closure
        if node.id in frame.environment:
            values = self.names.alternatives(frame.module, node.id, frame.environment[node.id], far=frame.far)
        else:
            values = self.names.resolve(frame.module, node.id, far=frame.far)
        return self._named(values, frame, node)

    def _named(self, values: Values, frame: Frame, node: ast.expr) -> Values:
        """Remember where the code names a class, unless a class's code did so before."""
        for value in values:
            if isinstance(value, ClassValue):
                break
        else:
            return values
        site = frame.site(node)
        return tuple(
            ClassValue(value.info, site)
            if isinstance(value, ClassValue) and (value.named_at is None or value.named_at.owner is None)
            else value
            for value in values
        )

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Values:
        # Most attributes are read of what the runtime hands in (``config.hidden_size``): nothing is known of these.
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and frame.names.get(root.id) is _ANYTHING:
            return _ANYTHING
        bases = self.evaluate(node.value, frame)
        if len(bases) == 1:
            return self._attribute_of(bases[0], node.attr, frame, node)
        return union(*(self._attribute_of(base, node.attr, frame, node) for base in bases))

    def _attribute_of(self, base: Value, name: str, frame: Frame, node: ast.expr) -> Values:
        if isinstance(base, (ModuleValue, ExternalValue)):
            return self._named(self.names.attribute((base,), name, far=frame.far), frame, node)
        if isinstance(base, ClassValue):
            return self._class_level(base, name)
        if isinstance(base, SuperValue):
            return self._super_attribute(base, name)
        if isinstance(base, (SelfValue, InstanceValue)):
            return self._instance_attribute(base, name, frame)
        if isinstance(base, ExternalInstance):
            written = frame.heap.read(base, name)
            if written is not None:
                return written.values
            return (_given_by(base),)
        return _ANYTHING

    def _class_level(self, base: ClassValue, name: str) -> Values:
        if name == "__name__":
            return (ConstantValue(base.info.name),)
        nested = self.names.attribute((base,), name)
        return tuple(
            replace(v, receiver=base) if isinstance(v, FunctionValue) and "classmethod" in v.decorators else v
            for v in nested
        )

    def _super_attribute(self, base: SuperValue, name: str) -> Values:
        receiver = base.receiver
        info = receiver.info if isinstance(receiver, (SelfValue, InstanceValue, ClassValue)) else None
        found = info.find_after(base.owner, name) if info is not None else None
        if found is None:
            return (ExternalValue(f"super.{name}"),)
        return self._member(found, receiver)

    def _instance_attribute(self, base: SelfValue | InstanceValue, name: str, frame: Frame) -> Values:
        written = frame.heap.read(base, name)
        if written is not None:
            return written.values
        if name == "__class__":
            return (ClassValue(base.info),)
        if isinstance(base, InstanceValue):
            made = self.construct(base.info, base.arguments).attributes.get(name)
            if made is not None:
                return made.values
            given = dict(base.arguments).get(name)
            if given is not None and base.info.find("__init__") is None:
                return given
        found = base.info.find(name)
        if found is None:
            return (UnknownValue(f"{base.info.name} has no {name} here"),)
        return self._member(found, base, frame)

    def _member(self, found: Found, receiver: Value | None, frame: Frame | None = None) -> Values:
        module = found.definer.module
        member = found.member
        if member.kind == "class":
            return (ClassValue(self.names.info(module, member.class_index)),)
        try:
            if member.kind == "function":
                bound = None if "staticmethod" in member.decorators else receiver
                function = FunctionValue(
                    module, member.place, found.definer, bound, name=member.name, decorators=member.decorators
                )
                if "property" in member.decorators or "cached_property" in member.decorators:
                    return self._property(function, frame)
                return (function,)
            if member.kind == "assign":
                statement = module.statement(member.place)
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                    holder = Frame(module, Heap(), found.definer)
                    return self.evaluate(statement.value, holder)
        except UnreadableSourceError as error:
            return (UnknownValue(error.reason),)
        return _ANYTHING

    def _property(self, function: FunctionValue, frame: Frame | None) -> Values:
        if frame is None or function.receiver is None or frame.depth > 4:
            return _ANYTHING
        return self._call_function(function, [], {}, frame, spread=False)

    def _call(self, node: ast.Call, frame: Frame) -> Values:
        special = self._special_call(node, frame)
        if special is not None:
            return special
        callees = self.evaluate(node.func, frame)
        if len(callees) == 1 and isinstance(callees[0], ExternalValue) and callees[0].dotted not in _TELLING:
            return self._made_outside(callees[0].dotted, self._arguments_that_matter(node, frame), frame, node)
        starred = [argument for argument in node.args if isinstance(argument, ast.Starred)]
        plain = [one for one in node.args if not isinstance(one, ast.Starred)] if starred else node.args
        positional = [self.evaluate(argument, frame) for argument in plain]
        keywords: dict[str, Values] = {}
        spread = bool(starred)
        builds = all(isinstance(callee, ClassValue) for callee in callees)
        for keyword in node.keywords:
            if keyword.arg is None:
                spread = True
            elif not (builds and keyword.arg in _GIVEN_BY_RUNTIME):
                keywords[keyword.arg] = self.evaluate(keyword.value, frame)
        for argument in starred:
            self.evaluate(argument.value, frame)
        if len(callees) == 1:
            return self._call_value(callees[0], positional, keywords, frame, node, spread=spread)
        return union(
            *(self._call_value(callee, positional, keywords, frame, node, spread=spread) for callee in callees)
        )

    def _call_value(
        self,
        callee: Value,
        positional: list[Values],
        keywords: dict[str, Values],
        frame: Frame,
        node: ast.Call,
        *,
        spread: bool,
    ) -> Values:
        if isinstance(callee, ClassValue):
            order = callee.info.order
            if order.is_refused:
                return (UnknownValue(order.problem, weight=2),)
            arguments = self._telling_arguments(callee.info, positional, keywords)
            chosen = callee.named_at or frame.site(node)
            if chosen.owner is None:
                chosen = frame.site(node)
            return (InstanceValue(callee.info, frame.site(node), chosen, arguments),)
        if isinstance(callee, FunctionValue):
            if not self._worth_following(callee, positional, keywords):
                at = callee.module.shown(callee.place.line)
                return (UnknownValue(f"{callee.name} at {at} gives it, which lies outside the models", weight=2),)
            values = self._call_function(callee, positional, keywords, frame, spread=spread)
            return self._named_after(callee, values, node)
        if isinstance(callee, ExternalValue):
            return self._call_external(callee, positional, keywords, frame, node)
        if isinstance(callee, UnknownValue):
            return (replace(callee, missing=False),)
        if isinstance(callee, (InstanceValue, SelfValue)):
            return _ANYTHING
        if isinstance(callee, ExternalInstance):
            return (_given_by(callee),)
        return (UnknownValue("what is called can't be told from the source"),)

    def _named_after(self, callee: FunctionValue, values: Values, node: ast.Call) -> Values:
        """``values``, of which ``callee`` is named as the one that chooses what can't be told."""
        if not any(map(_lacks_a_cause, values)):
            return values
        config = any("config" in getattr(one, "id", getattr(one, "attr", "")) for one in walk(node))
        at = callee.module.shown(callee.place.line)
        reason = f"{callee.name} at {at} chooses it {'from the configuration ' if config else ''}at run time"
        chosen = UnknownValue(reason, weight=1)
        return union(tuple(chosen if _lacks_a_cause(value) else value for value in values))

    def _telling_arguments(
        self, info: ClassInfo, positional: list[Values], keywords: dict[str, Values]
    ) -> tuple[tuple[str, Values], ...]:
        found = info.find("__init__")
        names: list[str] = []
        if found is not None and any(_chooses(value) for values in positional for value in values):
            node = found.function()
            if node is not None:
                names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)][1:]
        elif found is None:
            names = [member.name for member in info.facts.members if member.kind in {"declared", "assign"}]
        given = dict(zip(names, positional, strict=False)) | keywords
        return tuple(
            (name, values)
            for name, values in given.items()
            if any(isinstance(value, (ClassValue, FunctionValue, ConstantValue)) for value in values)
            and name not in _GIVEN_BY_RUNTIME
            and all(_is_plain(value) for value in values)
        )

    def _worth_following(self, callee: FunctionValue, positional: list[Values], keywords: dict[str, Values]) -> bool:
        if callee.receiver is not None or callee.closure is not None:
            return True
        if self.names.follows(callee.module.name):
            return True
        return any(
            isinstance(value, (ClassValue, FunctionValue))
            for values in (*positional, *keywords.values())
            for value in values
        )

    def _call_external(
        self,
        callee: ExternalValue,
        positional: list[Values],
        keywords: dict[str, Values],
        frame: Frame,
        node: ast.Call,
    ) -> Values:
        if callee.dotted in _CONTAINERS:
            return (_as_sequence(positional[0] if positional else ()),)
        if callee.dotted in _MAPPINGS:
            known = [value for values in positional[:1] for value in values if isinstance(value, MappingValue)]
            entries = tuple(entry for value in known for entry in value.entries)
            return (MappingValue((*entries, *keywords.items())),)
        if callee.dotted == "functools.partial" and positional:
            preset = tuple(keywords.items())
            return tuple(
                replace(v, preset=(*v.preset, *preset)) if isinstance(v, FunctionValue) else v for v in positional[0]
            )
        if callee.dotted == "builtins.next" and positional:
            return union(_items(positional[0]), *positional[1:])
        if callee.dotted == "types.MethodType" and positional:
            return positional[0]
        return self._made_outside(callee.dotted, [*positional, *keywords.values()], frame, node)

    def _arguments_that_matter(self, node: ast.Call, frame: Frame) -> list[Values]:
        """The arguments of a call of something outside the project, without constants: of those nothing comes."""
        named = [keyword.value for keyword in node.keywords if keyword.arg not in _NEVER_TELLING]
        given = [
            self.evaluate(one, frame)
            for one in (*node.args, *named)
            if not isinstance(one, (ast.Constant, ast.Starred))
        ]
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.evaluate(argument.value, frame)
        return given

    def _made_outside(self, dotted: str, arguments: Iterable[Values], frame: Frame, node: ast.Call) -> Values:
        made = self._results_of_callables(arguments, frame)
        if made:
            return (SequenceValue((made,), uniform=True),)
        return (ExternalInstance(dotted, frame.site(node)),)

    def _results_of_callables(self, arguments: Iterable[Values], frame: Frame) -> Values:
        results: list[Values] = []
        for values in arguments:
            for value in values if values is not _ANYTHING else ():
                if isinstance(value, FunctionValue) and value.closure is not None and not _only_looks_through(value):
                    results.append(self._call_function(value, [], {}, frame, spread=True))
                elif isinstance(value, SequenceValue):
                    results.append(value.any_item())
        return union(*results) if results else ()

    # Functions

    def _call_found(
        self,
        found: Found,
        receiver: Value,
        positional: list[Values],
        keywords: dict[str, Values],
        heap: Heap,
        depth: int,
        *,
        spread: bool,
    ) -> Values:
        callees = self._member(found, receiver)
        frame = Frame(found.definer.module, heap, depth=depth)
        return union(
            *(
                self._call_function(callee, positional, keywords, frame, spread=spread)
                for callee in callees
                if isinstance(callee, FunctionValue)
            )
        )

    def _call_function(
        self,
        callee: FunctionValue,
        positional: list[Values],
        keywords: dict[str, Values],
        frame: Frame,
        *,
        spread: bool,
    ) -> Values:
        mark = (callee.module.path, callee.place.line, callee.receiver)
        if frame.depth >= _MOST_DEPTH or self._active.count(mark) > 1:
            return (UnknownValue(f"{callee.name} calls itself or is nested too deeply"),)
        try:
            node = callee.node
        except UnreadableSourceError as error:
            return (UnknownValue(error.reason),)
        inner = Frame(
            callee.module, frame.heap, callee.owner, callee.receiver, closure=callee.closure, depth=frame.depth + 1
        )
        self._bind_parameters(callee, positional, dict(callee.preset) | keywords, inner, spread=spread)
        self._active.append(mark)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, inner)
            ended = self.run(node.body, inner)
        finally:
            self._active.pop()
        if inner.exits:
            frame.heap.replace_by_join(inner.exits if ended else [*inner.exits, inner.heap.copy()])
        if not ended:
            inner.returned.append((ConstantValue(None),))
        return union(*inner.returned) if inner.returned else ()

    def _bind_parameters(
        self,
        callee: FunctionValue,
        positional: list[Values],
        keywords: dict[str, Values],
        inner: Frame,
        *,
        spread: bool,
    ) -> None:
        arguments = callee.node.args
        order = [*arguments.posonlyargs, *arguments.args]
        given = list(positional)
        if callee.receiver is not None and order:
            inner.names[order[0].arg] = (callee.receiver,)
            order = order[1:]
        elif callee.owner is not None and order and order[0].arg == "self" and given:
            inner.receiver = given[0][0] if given[0] else None
        defaults = self._defaults(callee)
        for position, parameter in enumerate(order):
            if position < len(given):
                inner.names[parameter.arg] = given[position]
            else:
                inner.names[parameter.arg] = _argument(parameter.arg, keywords, defaults, spread=spread)
        for parameter in arguments.kwonlyargs:
            inner.names[parameter.arg] = _argument(parameter.arg, keywords, defaults, spread=spread)
        if arguments.vararg is not None:
            inner.names[arguments.vararg.arg] = (SequenceValue(tuple(given[len(order) :])),)
        if arguments.kwarg is not None:
            known = {parameter.arg for parameter in (*order, *arguments.kwonlyargs)}
            rest = tuple((name, values) for name, values in keywords.items() if name not in known)
            inner.names[arguments.kwarg.arg] = (MappingValue(rest),)

    def _defaults(self, callee: FunctionValue) -> dict[str, Values]:
        if callee.closure is not None:
            return self._defaults_in(callee, callee.closure)
        key = (callee.module.path, callee.place)
        known = self._known_defaults.get(key)
        if known is None:
            steps = self._steps
            known = self._defaults_in(callee, Frame(callee.module, Heap(), callee.owner))
            self._known_defaults[key] = known
            # Whoever asks first must not get less far than the others.
            self._steps = steps
        return known

    def _defaults_in(self, callee: FunctionValue, holder: Frame) -> dict[str, Values]:
        arguments = callee.node.args
        order = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(order[len(order) - len(arguments.defaults) :], arguments.defaults, strict=True))
        pairs += [(p, d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        return {parameter.arg: self.evaluate(default, holder) for parameter, default in pairs}

    # Calls with a meaning of their own

    def _special_call(self, node: ast.Call, frame: Frame) -> Values | None:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id == "super":
                return self._super(node, frame)
            if function.id in {"getattr", "setattr"} and len(node.args) >= 2:
                return self._reflection(node, frame, function.id)
            if function.id == "type" and len(node.args) == 1:
                return tuple(
                    ClassValue(value.info) if isinstance(value, (SelfValue, InstanceValue)) else _ANYTHING[0]
                    for value in self.evaluate(node.args[0], frame)
                )
        if isinstance(function, ast.Attribute):
            return self._method_call(node, function, frame)
        return None

    def _super(self, node: ast.Call, frame: Frame) -> Values:
        owner, receiver = frame.owner, frame.receiver
        if len(node.args) == 2:
            first = self.evaluate(node.args[0], frame)
            second = self.evaluate(node.args[1], frame)
            if first and isinstance(first[0], ClassValue) and second:
                owner, receiver = first[0].info, second[0]
        scope = frame.closure
        while (receiver is None or owner is None) and scope is not None:
            owner, receiver, scope = owner or scope.owner, receiver or scope.receiver, scope.closure
        if owner is None or receiver is None:
            return _ANYTHING
        return (SuperValue(owner, receiver),)

    def _reflection(self, node: ast.Call, frame: Frame, function: str) -> Values:
        holders = self.evaluate(node.args[0], frame)
        names = self.evaluate(node.args[1], frame)
        name = names[0].value if len(names) == 1 and isinstance(names[0], ConstantValue) else None
        if not isinstance(name, str):
            return _ANYTHING
        if function == "setattr":
            values = self.evaluate(node.args[2], frame) if len(node.args) > 2 else _ANYTHING
            for holder in holders:
                if isinstance(holder, (SelfValue, InstanceValue, ExternalInstance)):
                    frame.heap.write(holder, name, values, frame.site(node))
            return (ConstantValue(None),)
        found = [self._attribute_of(holder, name, frame, node) for holder in holders]
        if len(node.args) > 2:
            found.append(self.evaluate(node.args[2], frame))
        return union(*found)

    def _method_call(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Values | None:
        if function.attr in _RETURNING_SELF:
            return self._itself(function, frame)
        if function.attr not in _CONTAINER_METHODS:
            return self._explicit_init(node, function, frame)
        holders = self.evaluate(function.value, frame)
        if not holders or not all(isinstance(value, (MappingValue, SequenceValue)) for value in holders):
            return None
        arguments = [self.evaluate(argument, frame) for argument in node.args]
        if function.attr in {"get", "pop", "setdefault"}:
            default = arguments[1] if len(arguments) > 1 else (ConstantValue(None),)
            key = arguments[0] if arguments else ()
            return union(*(_entry(value, key) for value in holders), default)
        if function.attr in {"values", "keys", "items"}:
            return tuple(
                SequenceValue((value.any_item(),), uniform=True)
                for value in holders
                if isinstance(value, (MappingValue, SequenceValue))
            )
        if function.attr in {"append", "add", "insert", "extend", "update"} and arguments:
            extending = function.attr in {"extend", "update"}
            added = [_items(arguments[-1]) if extending else arguments[-1]]
            if isinstance(function.value, (ast.Name, ast.Attribute)):
                self._assign(function.value, _append(holders, added), frame)
            return (ConstantValue(None),)
        return None

    def _itself(self, function: ast.Attribute, frame: Frame) -> Values | None:
        """``module.to(…)``: the call gives the same object, unless the class has such a method of its own."""
        holders = self.evaluate(function.value, frame)
        kept = all(
            isinstance(v, ExternalInstance) or (isinstance(v, InstanceValue) and v.info.find(function.attr) is None)
            for v in holders
        )
        return holders if holders and kept else None

    def _explicit_init(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Values | None:
        """``Base.method(self, …)``: the call goes on with the same object."""
        if not node.args or not isinstance(function.value, (ast.Name, ast.Attribute)):
            return None
        if not (isinstance(node.args[0], ast.Name) and frame.receiver is not None):
            return None
        if frame.names.get(node.args[0].id) != (frame.receiver,):
            return None
        bases = self.evaluate(function.value, frame)
        if not bases or not all(isinstance(base, ClassValue) for base in bases):
            return None
        positional = [self.evaluate(a, frame) for a in node.args[1:] if not isinstance(a, ast.Starred)]
        keywords = {k.arg: self.evaluate(k.value, frame) for k in node.keywords if k.arg is not None}
        results: list[Values] = []
        for base in bases:
            found = base.info.find(function.attr) if isinstance(base, ClassValue) else None
            if found is not None:
                results.append(
                    self._call_found(
                        found, frame.receiver, positional, keywords, frame.heap, frame.depth + 1, spread=False
                    )
                )
        return union(*results) if results else None

    # Other expressions

    def _if_expression(self, node: ast.IfExp, frame: Frame) -> Values:
        self._bind_walrus(node.test, frame)
        decided = self._truth(node.test, frame)
        if decided is not None:
            return self.evaluate(node.body if decided else node.orelse, frame)
        return union(self.evaluate(node.body, frame), self.evaluate(node.orelse, frame))

    def _either(self, node: ast.BoolOp, frame: Frame) -> Values:
        found = [self.evaluate(value, frame) for value in node.values]
        if isinstance(node.op, ast.Or):
            head = [tuple(v for v in values if not _is_false(v)) for values in found[:-1]]
            return union(*head, found[-1])
        return union(*found)

    def _walrus(self, node: ast.NamedExpr, frame: Frame) -> Values:
        values = self.evaluate(node.value, frame)
        frame.names[node.target.id] = values
        return values

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Values:
        return (FunctionValue(frame.module, place_of(node), frame.owner, closure=frame, inline=node),)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Values:
        if any(isinstance(element, ast.Starred) for element in node.elts):
            parts = [
                _items(self.evaluate(e.value, frame)) if isinstance(e, ast.Starred) else self.evaluate(e, frame)
                for e in node.elts
            ]
            return (SequenceValue((union(*parts),), uniform=True),)
        return (SequenceValue(tuple(self.evaluate(element, frame) for element in node.elts)),)

    def _mapping(self, node: ast.Dict, frame: Frame) -> Values:
        entries: list[tuple[object, Values]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            values = self.evaluate(value, frame)
            if key is None:
                entries.extend(e for v in values if isinstance(v, MappingValue) for e in v.entries)
            else:
                entries.append((_key(key), values))
        return (MappingValue(tuple(entries)),)

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Values:
        holders = self.evaluate(node.value, frame)
        key = self.evaluate(node.slice, frame)
        found: list[Values] = []
        for holder in holders:
            if isinstance(node.slice, ast.Slice) and isinstance(holder, SequenceValue):
                found.append((SequenceValue((holder.any_item(),), uniform=True),))
            elif isinstance(holder, (MappingValue, SequenceValue)):
                found.append(_entry(holder, key))
            elif _has_own_items(holder):
                found.append(_ANYTHING)
            elif isinstance(holder, (ClassValue, ExternalValue)):
                found.append((holder,))
            else:
                found.append(_ANYTHING)
        return union(*found)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Values:
        inner = Frame(frame.module, frame.heap, frame.owner, frame.receiver, closure=frame, depth=frame.depth)
        self._generators(node.generators, inner)
        return (SequenceValue((self.evaluate(node.elt, inner),), uniform=True),)

    def _mapping_comprehension(self, node: ast.DictComp, frame: Frame) -> Values:
        inner = Frame(frame.module, frame.heap, frame.owner, frame.receiver, closure=frame, depth=frame.depth)
        self._generators(node.generators, inner)
        return (MappingValue(((_AnyKey, self.evaluate(node.value, inner)),)),)

    def _generators(self, generators: Iterable[ast.comprehension], inner: Frame) -> None:
        for generator in generators:
            values = _items(self.evaluate(generator.iter, inner))
            for name in bound_names(generator.target):
                inner.names[name] = values if isinstance(generator.target, ast.Name) else _ANYTHING

    def _binary(self, node: ast.BinOp, frame: Frame) -> Values:
        left, right = self.evaluate(node.left, frame), self.evaluate(node.right, frame)
        words = [value.value for value in (*left, *right) if isinstance(value, ConstantValue)]
        if isinstance(node.op, ast.Add) and len(left) == len(right) == 1 and len(words) == 2:
            first, second = words
            if isinstance(first, str) and isinstance(second, str):
                return (ConstantValue(first + second),)
        if isinstance(node.op, ast.BitOr) and any(isinstance(v, MappingValue) for v in left):
            entries = [e for v in (*left, *right) if isinstance(v, MappingValue) for e in v.entries]
            return (MappingValue(tuple(entries)),)
        if isinstance(node.op, ast.Add) and any(isinstance(v, SequenceValue) for v in (*left, *right)):
            return (SequenceValue((union(_items(left), _items(right)),), uniform=True),)
        return _ANYTHING

    def _wrapped(self, node: ast.Await | ast.Starred, frame: Frame) -> Values:
        return self.evaluate(node.value, frame)

    # Conditions

    def _truth(self, node: ast.expr, frame: Frame) -> bool | None:
        """Whether ``node`` is true, where the source decides it."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._truth(node.operand, frame)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            return self._truth_of_all(node, frame)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._comparison(node, frame)
        if isinstance(node, ast.Name):
            values = self._name(node, frame)
            if len(values) == 1 and isinstance(values[0], ConstantValue):
                return bool(values[0].value)
            if values and all(isinstance(value, (ClassValue, InstanceValue, FunctionValue)) for value in values):
                return True
        return None

    def _truth_of_all(self, node: ast.BoolOp, frame: Frame) -> bool | None:
        parts = [self._truth(value, frame) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive

    def _comparison(self, node: ast.Compare, frame: Frame) -> bool | None:
        operator = node.ops[0]
        if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return None
        left = self.evaluate(node.left, frame)
        right = self.evaluate(node.comparators[0], frame)
        same = _identical(left, right)
        if same is None:
            return None
        return same if isinstance(operator, (ast.Is, ast.Eq)) else not same


class _AnyKey:
    """The key of an entry whose key is computed."""


# Methods of ``torch.nn.Module`` that return the module (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
_RETURNING_SELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "type", "requires_grad_", "to_empty"}
)
_CONTAINER_METHODS = frozenset(
    {"get", "pop", "setdefault", "values", "keys", "items", "append", "add", "insert", "extend", "update"}
)

_StatementHandler = Callable[[Interpreter, ast.stmt, Frame], bool]
_ExpressionHandler = Callable[[Interpreter, ast.expr, Frame], Values]


def _argument(name: str, keywords: dict[str, Values], defaults: dict[str, Values], *, spread: bool) -> Values:
    if name in keywords:
        return keywords[name]
    if name in _GIVEN_BY_RUNTIME or name not in defaults:
        return _ANYTHING
    return union(defaults[name], _ANYTHING) if spread else defaults[name]


def _chooses(value: Value) -> bool:
    """Whether an argument may decide which classes a constructor uses."""
    return isinstance(value, (ClassValue, FunctionValue)) or (
        isinstance(value, ConstantValue) and isinstance(value.value, bool)
    )


def _given_by(maker: ExternalInstance) -> UnknownValue:
    return UnknownValue(f"{maker.dotted}, outside the project, gives it", weight=1)


def _lacks_a_cause(value: Value) -> bool:
    return isinstance(value, UnknownValue) and value.weight < 2 and not value.missing


def _has_own_items(holder: Value) -> bool:
    """Whether the code says itself what ``holder[…]`` gives; else ``[…]`` after a class only tells its parameters."""
    if isinstance(holder, InstanceValue):
        return holder.info.find("__getitem__") is not None
    if not isinstance(holder, ClassValue):
        return False
    metaclass = any("metaclass" in one.facts.keywords for one in holder.info.project_classes)
    return metaclass or holder.info.find("__class_getitem__") is not None


def _holds_quantization(target: ast.expr) -> bool:
    """Whether a quantization config is assigned: it never says which models there are, and is made of far-off code."""
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    return name.endswith("quant_config")


def _only_looks_through(function: FunctionValue) -> bool:
    """Whether a lambda gathers, in a comprehension, something of each element of what is there already.

    ``LazyValue(lambda: {n: self.layers[n].weights() for n in range(9)})`` makes no module of its own, and following it would
    mean to follow the making of every layer.
    """
    body = function.inline.body if isinstance(function.inline, ast.Lambda) else None
    if isinstance(body, ast.DictComp):
        element = body.value
    elif isinstance(body, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        element = body.elt
    else:
        return False
    counters = {name for generator in body.generators for name in bound_names(generator.target)}
    root = element
    while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(root, ast.Subscript) and isinstance(root.slice, ast.Name) and root.slice.id in counters:
            return True
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, ast.Name) and root is not element and root.id in counters


def _is_plain(value: Value) -> bool:
    return isinstance(value, (ClassValue, FunctionValue, ConstantValue))


def _is_false(value: Value) -> bool:
    return isinstance(value, ConstantValue) and not value.value


def _items(values: Values) -> Values:
    parts = [value.any_item() if isinstance(value, SequenceValue) else _ANYTHING for value in values]
    return union(*parts) if parts else ()


def _as_sequence(values: Values) -> SequenceValue:
    if len(values) == 1 and isinstance(values[0], SequenceValue):
        return values[0]
    return SequenceValue((_items(values),), uniform=True)


def _key(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _AnyKey


def _entry(holder: Value, key: Values) -> Values:
    if isinstance(holder, SequenceValue):
        constant = key[0].value if len(key) == 1 and isinstance(key[0], ConstantValue) else None
        if isinstance(constant, int) and not holder.uniform and -len(holder.items) <= constant < len(holder.items):
            return holder.items[constant]
        return holder.any_item()
    if isinstance(holder, MappingValue):
        if len(key) == 1 and isinstance(key[0], ConstantValue):
            exact = [values for known, values in holder.entries if known == key[0].value]
            if exact:
                return exact[-1]
        return holder.any_item()
    return _ANYTHING


def _grow(before: Values, added: Iterable[Values]) -> Values:
    """A sequence or mapping after more was added to it by ``+=`` or a method."""
    mappings = [value for values in (before, *added) for value in values if isinstance(value, MappingValue)]
    if mappings:
        return (MappingValue(tuple(entry for value in mappings for entry in value.entries)),)
    if not any(isinstance(value, SequenceValue) for value in before):
        return _ANYTHING
    parts = [_items(before)]
    for values in added:
        for value in values:
            parts.append(value.any_item() if isinstance(value, SequenceValue) else (value,))
    return (SequenceValue((union(*parts),), uniform=True),)


def _append(before: Values, added: list[Values]) -> Values:
    if any(isinstance(value, MappingValue) for value in before):
        return before
    return (SequenceValue((union(_items(before), *added),), uniform=True),)


def _grow_entry(before: Values, values: Values) -> Values:
    if any(isinstance(value, MappingValue) for value in before):
        entries = [entry for value in before if isinstance(value, MappingValue) for entry in value.entries]
        return (MappingValue((*entries, (_AnyKey, values))),)
    if any(isinstance(value, SequenceValue) for value in before):
        return (SequenceValue((union(_items(before), values),), uniform=True),)
    return before


def _join_names(names: dict[str, Values], outcomes: Sequence[dict[str, Values]]) -> None:
    joined = dict(outcomes[0])
    for outcome in outcomes[1:]:
        for name, values in outcome.items():
            known = joined.get(name)
            if known is not values:
                joined[name] = values if known is None else union(known, values)
    names.clear()
    names.update(joined)


def _identical(left: Values, right: Values) -> bool | None:
    if len(left) != 1 or len(right) != 1:
        return None
    one, other = left[0], right[0]
    known = ClassValue | ConstantValue | FunctionValue | InstanceValue
    if not isinstance(one, known) or not isinstance(other, known):
        return None
    return type(one) is type(other) and one == other


_STATEMENTS: dict[type[ast.stmt], _StatementHandler] = {
    ast.Expr: Interpreter._run_expression,  # type: ignore[dict-item]
    ast.Assign: Interpreter._run_assign,  # type: ignore[dict-item]
    ast.AnnAssign: Interpreter._run_annotated,  # type: ignore[dict-item]
    ast.AugAssign: Interpreter._run_augmented,  # type: ignore[dict-item]
    ast.Return: Interpreter._run_return,  # type: ignore[dict-item]
    ast.Raise: Interpreter._run_raise,  # type: ignore[dict-item]
    ast.If: Interpreter._run_if,  # type: ignore[dict-item]
    ast.For: Interpreter._run_for,  # type: ignore[dict-item]
    ast.AsyncFor: Interpreter._run_for,  # type: ignore[dict-item]
    ast.While: Interpreter._run_while,  # type: ignore[dict-item]
    ast.With: Interpreter._run_with,  # type: ignore[dict-item]
    ast.AsyncWith: Interpreter._run_with,  # type: ignore[dict-item]
    ast.Try: Interpreter._run_try,  # type: ignore[dict-item]
    ast.Match: Interpreter._run_match,  # type: ignore[dict-item]
    ast.Import: Interpreter._run_import,  # type: ignore[dict-item]
    ast.ImportFrom: Interpreter._run_import_from,  # type: ignore[dict-item]
    ast.FunctionDef: Interpreter._run_function,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: Interpreter._run_function,  # type: ignore[dict-item]
    ast.ClassDef: Interpreter._run_class,  # type: ignore[dict-item]
    ast.Delete: Interpreter._run_delete,  # type: ignore[dict-item]
}
_EXPRESSIONS: dict[type[ast.expr], _ExpressionHandler] = {
    ast.Constant: Interpreter._constant,  # type: ignore[dict-item]
    ast.Name: Interpreter._name,  # type: ignore[dict-item]
    ast.Attribute: Interpreter._attribute,  # type: ignore[dict-item]
    ast.Call: Interpreter._call,  # type: ignore[dict-item]
    ast.IfExp: Interpreter._if_expression,  # type: ignore[dict-item]
    ast.BoolOp: Interpreter._either,  # type: ignore[dict-item]
    ast.NamedExpr: Interpreter._walrus,  # type: ignore[dict-item]
    ast.Lambda: Interpreter._lambda,  # type: ignore[dict-item]
    ast.List: Interpreter._sequence,  # type: ignore[dict-item]
    ast.Tuple: Interpreter._sequence,  # type: ignore[dict-item]
    ast.Set: Interpreter._sequence,  # type: ignore[dict-item]
    ast.Dict: Interpreter._mapping,  # type: ignore[dict-item]
    ast.Subscript: Interpreter._subscript,  # type: ignore[dict-item]
    ast.ListComp: Interpreter._comprehension,  # type: ignore[dict-item]
    ast.SetComp: Interpreter._comprehension,  # type: ignore[dict-item]
    ast.GeneratorExp: Interpreter._comprehension,  # type: ignore[dict-item]
    ast.DictComp: Interpreter._mapping_comprehension,  # type: ignore[dict-item]
    ast.BinOp: Interpreter._binary,  # type: ignore[dict-item]
    ast.Await: Interpreter._wrapped,  # type: ignore[dict-item]
    ast.Starred: Interpreter._wrapped,  # type: ignore[dict-item]
}
