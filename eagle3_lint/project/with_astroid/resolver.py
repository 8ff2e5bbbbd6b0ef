"""The resolver of ``--engine astroid``: what the index reads off names and imports, asked of astroid.

astroid answers

- which bindings a name has at a point of a module or at its end, and in which scope (``LookupMixIn.lookup``);
- which module an import leads to, relative ones too, and which names a star import brings;
- what a value assigned at module level is, through names, attributes, calls, containers and operators (inference);
- what each base of a class denotes, and the class's method resolution order (``ClassDef.mro``);
- which members a class's own body binds (``ClassDef.locals``), and those assigned to it after the class statement.

astroid does not answer, and the code that both engines share does,

- which of the bindings that astroid finds stands: astroid keeps those that only type checkers see, both arms of
  ``try``/``except ImportError``, and what a later unconditional statement replaces;
- what a constructor leaves in the attributes of an object: astroid's inference knows neither the order of statements
  nor conditions nor defaults handed up through ``super().__init__``. The interpreter follows them and asks here for
  every name of a module that it meets; what it can't follow is inferred by ``Inference``;
- values at module level that astroid calls uninferable, or that are objects: the interpreter evaluates the expression,
  asking here for the names in it;
- the order of classes of which a base depends on a condition, or is one that Python itself replaces
  (``typing.NamedTuple``): the shared C3 over the bases that astroid found;
- modules that astroid can't build: there the index answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from astroid import bases, nodes
from astroid.context import InferenceContext
from astroid.exceptions import AstroidError
from astroid.util import UninferableBase

from eagle3_lint.facts.module import Alternatives, BaseExpression, Member
from eagle3_lint.project.classes import ClassInfo, ExternalValue, Order
from eagle3_lint.project.linearization import external_order
from eagle3_lint.project.modules import Module, Modules
from eagle3_lint.project.names import Names
from eagle3_lint.project.values import (
    ClassValue,
    ConstantValue,
    FunctionValue,
    MappingValue,
    ModuleValue,
    SequenceValue,
    UnknownValue,
    Values,
    union,
)
from eagle3_lint.project.with_astroid.external import is_external
from eagle3_lint.project.with_astroid.positions import classes_in, is_typing_only, key_of, member, place_of
from eagle3_lint.project.with_astroid.tree import AstroidTree

_MOST_VALUES = 64


class AstroidResolver(Names):
    """Resolves the names of one project with astroid."""

    def __init__(self, modules: Modules, packages: tuple[str, ...]) -> None:
        super().__init__(modules, packages)
        self._tree = AstroidTree(modules, packages, self.follows)
        self._classes: dict[str, dict[tuple[int, int], nodes.ClassDef]] = {}
        self._indexes: dict[str, dict[tuple[int, int], int]] = {}
        self._ends: dict[str, nodes.Pass] = {}
        self._plain: dict[ClassInfo, bool] = {}

    def class_node(self, info: ClassInfo) -> nodes.ClassDef | None:
        """The class statement of ``info``, or None where astroid can't build its module."""
        found = self._classes.get(info.path)
        if found is None:
            built = self._tree.module(info.module.name)
            found = {} if built is None else {key_of(node): node for node in classes_in(built.body)}
            self._classes[info.path] = found
        return found.get((info.facts.place.line, info.facts.place.offset))

    def base_values(self, info: ClassInfo, base: BaseExpression) -> Values:
        """What a base expression of ``info`` denotes at the point of its class statement."""
        node = self.class_node(info)
        if node is None:
            return super().base_values(info, base)
        place = (base.place.line, base.place.offset)
        expression = next((one for one in node.bases if key_of(one) == place), None)
        if expression is None:
            return super().base_values(info, base)
        if not base.dotted:
            values = self._infer(expression, far=True)
            return values or super().base_values(info, base)
        name, *rest = base.dotted.split(".")
        root = expression
        while not isinstance(root, nodes.Name):
            root = root.expr
        with self._tree.entered(far=True):
            bindings = root.lookup(name)[1]
        values = self._found(info.module, name, bindings, far=True)
        for attribute in rest:
            values = self.attribute(values, attribute)
        return values

    def order_of(self, info: ClassInfo) -> Order:
        """The method resolution order of ``info``."""
        order = super().order_of(info)
        own = self.own_order(info) if not order.problem and self._is_plain(info) else None
        return order if own is None else replace(order, classes=own)

    def own_order(self, info: ClassInfo) -> tuple[ClassInfo | ExternalValue, ...] | None:
        """What astroid alone says of the order of ``info``, without ``object``; None where it has no order."""
        node = self.class_node(info)
        if node is None:
            return None
        with self._tree.entered(far=True):
            try:
                found = node.mro()
            except (AstroidError, RecursionError):
                return None
        return tuple(one for one in map(self._ordered, found) if one is not None)

    def members_of(self, info: ClassInfo) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""
        node = self.class_node(info)
        if node is None:
            return super().members_of(info)
        found: dict[str, Member] = {}
        for name, bindings in node.locals.items():
            for binding in reversed(bindings):
                one = self._member(name, binding, node, info)
                if one is not None:
                    found[name] = one
                    break
        return found

    def alternatives(self, module: Module, name: str, alternatives: Alternatives, *, far: bool = True) -> Values:
        """What ``name`` denotes at a point where it has these bindings."""
        built = self._tree.module(module.name)
        if built is None:
            return super().alternatives(module, name, alternatives, far=far)
        places = [module.binding(index).place for index in alternatives.indexes]
        wanted = {(place.line, place.offset) for place in places}
        bindings = [one for one in built.locals.get(name, ()) if key_of(one.statement()) in wanted]
        return self._found(module, name, bindings, far=far)

    def _resolve(self, module: Module, name: str, *, far: bool) -> Values:
        built = self._tree.module(module.name)
        if built is None:
            return super()._resolve(module, name, far=far)
        if _grows(module, name, built):
            return super().alternatives(module, name, module.final[name], far=far)
        if name in built.scope_attrs and name not in built.locals:
            return super()._resolve(module, name, far=far)
        with self._tree.entered(far=far):
            bindings = built.scope_lookup(self._end(module, built), name)[1]
        return self._found(module, name, bindings, far=far)

    def _class_attribute(self, info: ClassInfo, name: str) -> Values:
        node = self.class_node(info)
        own = node.locals.get(name, ()) if node is not None else ()
        if own and isinstance(own[-1], nodes.ClassDef):
            return self._class(own[-1])
        return self.interpreter.class_attribute(info, name)

    # Bindings

    def _found(self, module: Module, name: str, bindings: Iterable[nodes.NodeNG], *, far: bool) -> Values:
        """What the bindings of ``name`` that astroid found leave in it."""
        standing = _standing(bindings)
        values: list[Values] = []
        worked: set[nodes.NodeNG] = set()
        for binding in standing:
            tried, handles = _tried(binding)
            if handles and tried in worked:
                continue
            one = self._bound_by(module, name, binding, far=far)
            missing = any(isinstance(value, UnknownValue) and value.missing for value in one)
            if tried is not None and not handles:
                if missing and any(_tried(other) == (tried, True) for other in standing):
                    continue
                worked.add(tried)
            values.append(one)
        if values:
            return union(*values)
        return super()._resolve(module, name, far=far)

    def _bound_by(self, module: Module, name: str, binding: nodes.NodeNG, *, far: bool) -> Values:
        if isinstance(binding, nodes.ImportFrom):
            return self._imported_from(name, binding, far=far)
        if isinstance(binding, nodes.Import):
            dotted = next((d for d, alias in binding.names if alias == name), name)
            known = self.modules.find(dotted) is not None
            return (ModuleValue(dotted) if known else ExternalValue(dotted),)
        dotted = is_external(binding)
        if dotted:
            return (ExternalValue(dotted),)
        if isinstance(binding, nodes.ClassDef):
            return self._class(binding)
        if isinstance(binding, nodes.FunctionDef):
            return (FunctionValue(module, place_of(binding), name=name),)
        values = self._infer(binding, far=far, name=name)
        return values or self._evaluated(module, name, binding, far=far)

    def _imported_from(self, name: str, binding: nodes.ImportFrom, *, far: bool) -> Values:
        with self._tree.entered(far=True):
            try:
                original = binding.real_name(name)
                target = binding.root().relative_to_absolute_name(binding.modname or "", binding.level)
                if any(one == "*" for one, _ in binding.names) and name not in _star(binding):
                    return (UnknownValue(f"{target} has no {original}", missing=True),)
            except AstroidError:
                return (UnknownValue(f"{binding.modname} has no {name}", missing=True),)
        return self.module_attribute(target, original, far=far)

    def _evaluated(self, module: Module, name: str, binding: nodes.NodeNG, *, far: bool) -> Values:
        """What the interpreter makes of a binding that astroid can't infer."""
        key = key_of(binding.statement())
        for number, one in enumerate(module.facts.bindings):
            if one.name == name and (one.place.line, one.place.offset) == key:
                return super().alternatives(module, name, Alternatives((number,)), far=far)
        return (UnknownValue(f"{name} is bound by a statement that can't be followed"),)

    # Values

    def _infer(self, node: nodes.NodeNG, *, far: bool, name: str | None = None) -> Values:
        """What astroid infers for ``node``; nothing where any of it can't be told or isn't a plain value."""
        with self._tree.entered(far=far):
            return self._inferred(node, name, 0)

    def _inferred(self, node: nodes.NodeNG, name: str | None, depth: int) -> Values:
        context = InferenceContext()
        context.lookupname = name
        found: list[Values] = []
        try:
            for one in node.infer(context):
                values = self._value(one, depth)
                if not values or len(found) > _MOST_VALUES:
                    return ()
                found.append(values)
        except (AstroidError, RecursionError):
            return ()
        return union(*found) if found else ()

    def _value(self, node: object, depth: int) -> Values:
        if isinstance(node, UninferableBase) or depth > 6:
            return ()
        dotted = is_external(node)
        if dotted:
            return (ExternalValue(dotted),)
        if isinstance(node, nodes.ClassDef):
            return self._class(node)
        if isinstance(node, nodes.Module):
            return (ModuleValue(node.name),)
        if isinstance(node, nodes.Const):
            return (ConstantValue(node.value),)
        if isinstance(node, (nodes.List, nodes.Tuple, nodes.Set)):
            items = [self._inferred(item, None, depth + 1) for item in node.elts]
            return (SequenceValue(tuple(items)),) if all(items) else ()
        if isinstance(node, nodes.Dict):
            return self._mapping(node, depth)
        return self._function(node)

    def _mapping(self, node: nodes.Dict, depth: int) -> Values:
        entries: list[tuple[object, Values]] = []
        for key, value in node.items:
            values = self._inferred(value, None, depth + 1)
            if not isinstance(key, nodes.Const) or not values:
                return ()
            entries.append((key.value, values))
        return (MappingValue(tuple(entries)),)

    def _class(self, node: nodes.ClassDef) -> Values:
        module = self._module_of(node)
        index = self._index(module, node) if module is not None else None
        if module is None or index is None:
            return (UnknownValue(f"{node.name} is a class defined inside a function"),)
        return (ClassValue(self.info(module, index)),)

    def _function(self, node: object) -> Values:
        if not isinstance(node, nodes.FunctionDef) or isinstance(node, bases.Proxy):
            return ()
        module = self._module_of(node)
        if module is None or not isinstance(node.parent.scope(), nodes.Module):
            return ()
        return (FunctionValue(module, place_of(node), name=node.name),)

    def _ordered(self, node: nodes.ClassDef) -> ClassInfo | ExternalValue | None:
        dotted = is_external(node)
        if dotted:
            return None if dotted == "builtins.object" else ExternalValue(dotted)
        values = self._class(node)
        return values[0].info if isinstance(values[0], ClassValue) else None

    def _is_plain(self, info: ClassInfo) -> bool:
        """Whether every base of ``info``, and of its bases, is one class for astroid and for us."""
        return all(map(self._has_plain_bases, super().order_of(info).project_classes))

    def _has_plain_bases(self, info: ClassInfo) -> bool:
        known = self._plain.get(info)
        if known is None:
            node = self.class_node(info)
            known = self._plain[info] = node is not None and all(
                self._is_plain_base(info, base, expression)
                for base, expression in zip(info.facts.bases, node.bases, strict=True)
            )
        return known

    def _is_plain_base(self, info: ClassInfo, base: BaseExpression, expression: nodes.NodeNG) -> bool:
        values = self.base_values(info, base)
        if len(values) != 1 or self._infer(expression, far=True) != values:
            return False
        value = values[0]
        if isinstance(value, ExternalValue):
            is_object = value == ExternalValue("builtins.object")
            return external_order(value.dotted)[:1] == (value.dotted,) or (is_object and len(info.facts.bases) == 1)
        return isinstance(value, ClassValue)

    def _member(self, name: str, binding: nodes.NodeNG, node: nodes.ClassDef, info: ClassInfo) -> Member | None:
        if binding.lineno is None or is_typing_only(binding) or isinstance(binding, nodes.DelName):
            return None
        one = member(name, binding, node)
        if one is None or one.kind != "class":
            return one
        index = self._index(info.module, binding)
        return None if index is None else one._replace(class_index=index)

    def _index(self, module: Module, node: nodes.ClassDef) -> int | None:
        known = self._indexes.get(module.path)
        if known is None:
            places = [facts.place for facts in module.facts.classes]
            known = {(place.line, place.offset): index for index, place in enumerate(places)}
            self._indexes[module.path] = known
        return known.get(key_of(node))

    def _module_of(self, node: nodes.NodeNG) -> Module | None:
        path = self._tree.path_of(node.root())
        return self.modules.at(path) if path is not None else None

    def _end(self, module: Module, built: nodes.Module) -> nodes.Pass:
        found = self._ends.get(module.path)
        if found is None:
            line = len(module.source.lines) + 1
            found = nodes.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=4, parent=built)
            self._ends[module.path] = found
        return found


def _grows(module: Module, name: str, built: nodes.Module) -> bool:
    """Whether statements that bind nothing for astroid (``X.append(…)``) add to ``name``."""
    found = module.final.get(name)
    if found is None or len(found.indexes) == 1:
        return False
    known = {key_of(one.statement()) for one in built.locals.get(name, ())}
    places = [module.binding(index).place for index in found.indexes]
    return any((place.line, place.offset) not in known for place in places)


def _star(binding: nodes.ImportFrom) -> list[str]:
    return list(binding.do_import_module().wildcard_import_names())


def _standing(bindings: Iterable[nodes.NodeNG]) -> list[nodes.NodeNG]:
    """The bindings that stand, in order: none before the last unconditional one, none that only type checkers see."""
    standing: list[nodes.NodeNG] = []
    for binding in sorted(bindings, key=lambda one: one.statement().fromlineno or 0):
        if is_typing_only(binding):
            continue
        statement = binding.statement()
        if isinstance(statement.parent, (nodes.Module, nodes.ClassDef)) and not _may_not_run(statement):
            standing = []
        standing.append(binding)
    return standing


def _may_not_run(statement: nodes.NodeNG) -> bool:
    return isinstance(statement, (nodes.For, nodes.While, nodes.With, nodes.Try, nodes.If))


def _tried(binding: nodes.NodeNG) -> tuple[nodes.NodeNG | None, bool]:
    """The innermost ``try`` around ``binding``, and whether it lies in one of its handlers."""
    child, parent = binding, binding.parent
    while parent is not None and not isinstance(parent, (nodes.Module, nodes.ClassDef, nodes.FunctionDef)):
        if isinstance(parent, nodes.ExceptHandler):
            return parent.parent, True
        if isinstance(parent, nodes.Try) and any(child is one for one in (*parent.body, *parent.orelse)):
            return parent, False
        child, parent = parent, parent.parent
    return None, False
