"""What a name of a module denotes: followed through imports, aliases, packages and conditions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.module import Alternatives, BaseExpression, Binding, Member
from eagle3_lint.project.classes import ClassInfo, ExternalValue, Order
from eagle3_lint.project.hierarchy import Hierarchy
from eagle3_lint.project.modules import Module, Modules
from eagle3_lint.project.values import ClassValue, FunctionValue, ModuleValue, UnknownValue, Values, union

if TYPE_CHECKING:
    from eagle3_lint.project.interpreter import Interpreter

_BUILTINS = frozenset(dir(builtins))
# A name is looked for in no more modules than this that star imports lead to.
_MOST_STARS = 200


class Names:
    """Resolves names across the modules of one project.

    Bases of classes are followed wherever they lead. What constructors use is followed only into ``packages``, where
    models live: anything else of the tree counts as external there, and its file isn't read.
    """

    def __init__(self, modules: Modules, packages: tuple[str, ...]) -> None:
        self.modules = modules
        self.packages = packages
        self.interpreter: Interpreter
        self._hierarchy = Hierarchy(self.base_values)
        self._infos: dict[tuple[str, int], ClassInfo] = {}
        self._resolved: dict[tuple[str, str, bool], Values] = {}
        self._pending: set[tuple[str, str, bool]] = set()
        self._near_bases: dict[tuple[str, str], Values] = {}
        self._star_imports: dict[str, tuple[Module | None, ...]] = {}

    def info(self, module: Module, index: int) -> ClassInfo:
        """The class number ``index`` of ``module``."""
        key = (module.path, index)
        found = self._infos.get(key)
        if found is None:
            found = self._infos[key] = ClassInfo(self, module, index)
        return found

    def order_of(self, info: ClassInfo) -> Order:
        """The method resolution order of ``info``."""
        return self._hierarchy.order(info)

    def base_values(self, info: ClassInfo, base: BaseExpression) -> Values:
        """What a base expression of ``info`` denotes at the point of its class statement."""
        environment = dict(info.facts.environment)
        if base.dotted:
            return self._dotted_base(info, base.dotted, environment, far=True)
        try:
            node = info.module.class_node(info.facts)
        except UnreadableSourceError as error:
            return (UnknownValue(error.reason),)
        for expression in node.bases:
            if (expression.lineno, expression.col_offset) == (base.place.line, base.place.offset):
                return self._complex_base(info, expression, environment)
        return (UnknownValue("the base can't be found"),)

    def near_bases(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """The classes of models that the bases of ``info`` may be; other files of the tree aren't read for it."""
        found: dict[ClassInfo, None] = {}
        environment = dict(info.facts.environment)
        for base in info.facts.bases:
            values = self._near_base(info, base.dotted, environment) if base.dotted else self.base_values(info, base)
            found.update(dict.fromkeys(value.info for value in values if isinstance(value, ClassValue)))
        return tuple(found)

    def _near_base(self, info: ClassInfo, dotted: str, environment: dict[str, Alternatives]) -> Values:
        """What a dotted base may be, without reading far-off files; most classes of a module have the same."""
        if environment or "." in info.facts.qualname:
            return self._dotted_base(info, dotted, environment, far=False)
        key = (info.path, dotted)
        found = self._near_bases.get(key)
        if found is None:
            found = self._near_bases[key] = self._dotted_base(info, dotted, environment, far=False)
        return found

    def _dotted_base(self, info: ClassInfo, dotted: str, environment: dict[str, Alternatives], *, far: bool) -> Values:
        root, *rest = dotted.split(".")
        values = self.in_class_body(info, root, environment, far=far)
        for attribute in rest:
            values = self.attribute(values, attribute, far=far)
        return values

    def members_of(self, info: ClassInfo) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""
        own = {member.name: member for member in info.facts.members if member.kind != "declared"}
        prefix = f"{info.facts.qualname}."
        for dotted, found in info.module.attribute_bindings:
            if dotted.startswith(prefix) and found.indexes:
                place = info.module.binding(found.indexes[-1]).place
                name = dotted[len(prefix) :]
                own[name] = Member(name, "assign", place, place.line, conditional=len(found.indexes) > 1)
        return own

    def in_class_body(
        self, info: ClassInfo, name: str, environment: dict[str, Alternatives], *, far: bool = True
    ) -> Values:
        """What ``name`` denotes where the class statement of ``info`` is evaluated."""
        outer = info.facts.qualname.rpartition(".")[0]
        while outer:
            for index, facts in enumerate(info.module.facts.classes):
                if facts.qualname == f"{outer}.{name}":
                    return (ClassValue(self.info(info.module, index)),)
            outer = outer.rpartition(".")[0]
        if name in environment:
            return self.alternatives(info.module, name, environment[name], far=far)
        return self.resolve(info.module, name, far=far)

    def follows(self, dotted: str) -> bool:
        """Whether constructors are followed into the module ``dotted``."""
        return any(dotted == package or dotted.startswith(f"{package}.") for package in self.packages)

    def resolve(self, module: Module, name: str, *, far: bool = True) -> Values:
        """What ``name`` denotes after ``module`` has run; without ``far`` only names of models are followed."""
        key = (module.path, name, far)
        found = self._resolved.get(key)
        if found is not None:
            return found
        if key in self._pending:
            return (UnknownValue(f"{name} is defined by itself"),)
        # Long chains of aliases are resolved from their end: going down them would exhaust Python's stack.
        for one, its_name in reversed(self._chain(module, name, far=far)):
            self._resolve_and_keep(one, its_name, far=far)
        return self._resolve_and_keep(module, name, far=far)

    def _resolve_and_keep(self, module: Module, name: str, *, far: bool) -> Values:
        key = (module.path, name, far)
        self._pending.add(key)
        try:
            found = self._resolved[key] = self._resolve(module, name, far=far)
        finally:
            self._pending.discard(key)
        return found

    def _chain(self, module: Module, name: str, *, far: bool) -> list[tuple[Module, str]]:
        """What ``name`` is another name of, link after link, as far as that is plain; without ``name`` itself."""
        found: list[tuple[Module, str]] = []
        seen = {(module.path, name)}
        while (link := self._link(module, name, far=far)) is not None:
            module, name = link
            key = (module.path, name, far)
            if key in self._resolved or key in self._pending or key[:2] in seen:
                break
            seen.add(key[:2])
            found.append(link)
        return found

    def _link(self, module: Module, name: str, *, far: bool) -> tuple[Module, str] | None:
        """The name that ``name`` is plainly another name of, with its module."""
        alternatives = module.final.get(name)
        if alternatives is None:
            holder = next(iter(self._star_holders(module, name)), None)
            return None if holder is None else (holder, name)
        if len(alternatives.indexes) != 1:
            return None
        binding = module.binding(alternatives.indexes[0])
        if binding.kind == "assign" and binding.shape == "name" and "." not in binding.names[0]:
            return module, binding.names[0]
        if binding.kind != "from":
            return None
        target = self._absolute(module, binding)
        if not far and not self.follows(target):
            return None
        following = self.modules.named(target)
        return None if following is None else (following, binding.original)

    def defines(self, module: Module, name: str) -> bool:
        """Whether ``module`` binds ``name`` itself."""
        return name in module.final

    def attribute(self, values: Values, name: str, *, far: bool = True) -> Values:
        """What ``.name`` of a module or of something external denotes; unknown for anything else."""
        found: list[Values] = []
        for value in values:
            if isinstance(value, ModuleValue):
                found.append(self.module_attribute(value.dotted, name, far=far))
            elif isinstance(value, ExternalValue):
                found.append((ExternalValue(f"{value.dotted}.{name}"),))
            elif isinstance(value, ClassValue):
                found.append(self._class_attribute(value.info, name))
            else:
                found.append((UnknownValue(f"the attribute {name} can't be told"),))
        return union(*found)

    def module_attribute(self, dotted: str, name: str, *, far: bool = True) -> Values:
        """What ``name`` of the module or package ``dotted`` denotes."""
        if not far and not self.follows(dotted):
            return self._near_attribute(f"{dotted}.{name}")
        module = self.modules.named(dotted)
        if module is not None and (self.defines(module, name) or "*" in module.final):
            values = self.resolve(module, name, far=far)
            if not _missing(values):
                return values
        if self.modules.find(f"{dotted}.{name}") is not None:
            return (ModuleValue(f"{dotted}.{name}"),)
        if module is None and self.modules.find(dotted) is None:
            return (ExternalValue(f"{dotted}.{name}"),)
        return (UnknownValue(f"{dotted} has no {name}", missing=True),)

    def _near_attribute(self, dotted: str) -> Values:
        leads_on = any(package == dotted or package.startswith(f"{dotted}.") for package in self.packages)
        return (ModuleValue(dotted) if leads_on else ExternalValue(dotted),)

    def _class_attribute(self, info: ClassInfo, name: str) -> Values:
        for index, facts in enumerate(info.module.facts.classes):
            if facts.qualname == f"{info.facts.qualname}.{name}":
                return (ClassValue(self.info(info.module, index)),)
        return self.interpreter.class_attribute(info, name)

    def _resolve(self, module: Module, name: str, *, far: bool) -> Values:
        alternatives = module.final.get(name)
        if alternatives is not None:
            return self.alternatives(module, name, alternatives, far=far)
        values, is_sure = self._from_stars(module, name, far=far)
        if values:
            return values
        if name in _BUILTINS:
            return (ExternalValue(f"builtins.{name}"),)
        if not is_sure:
            return (UnknownValue(f"{name} may come from a star import"),)
        return (UnknownValue(f"{module.name} has no {name}", missing=True),)

    def _from_stars(self, module: Module, name: str, *, far: bool) -> tuple[Values, bool]:
        """What the star imports of ``module`` bring as ``name``; else whether they surely don't."""
        is_sure = True
        for holder in self._star_holders(module, name):
            if holder is None:
                is_sure = False
                continue
            values = self.resolve(holder, name, far=far)
            if not _missing(values):
                return values, True
        return (), is_sure

    def _star_holders(self, module: Module, name: str) -> Iterator[Module | None]:
        """The modules that bind ``name`` and that star imports lead to from ``module``, the last import first.

        None stands for one that can't be read. Modules that import everything from each other are looked at once.
        """
        seen = {module.path}
        pending = list(self._stars(module))
        while pending:
            target = pending.pop()
            if target is None or len(seen) > _MOST_STARS:
                yield None
                continue
            exports = target.facts.exports
            is_exported = name in exports if exports is not None else not name.startswith("_")
            if target.path in seen or not is_exported:
                continue
            seen.add(target.path)
            if name in target.final:
                yield target
            else:
                pending.extend(self._stars(target))

    def _stars(self, module: Module) -> tuple[Module | None, ...]:
        """The modules that ``module`` imports everything from, in order; None for one that isn't there."""
        found = self._star_imports.get(module.path)
        if found is None:
            stars = module.final.get("*")
            bindings = [module.binding(index) for index in stars.indexes] if stars else []
            found = tuple(self.modules.named(self._absolute(module, binding)) for binding in bindings)
            self._star_imports[module.path] = found
        return found

    def alternatives(self, module: Module, name: str, alternatives: Alternatives, *, far: bool = True) -> Values:
        """What ``name`` denotes at a point where it has these bindings."""
        bindings = [module.binding(index) for index in alternatives.indexes]
        if alternatives.preferred:
            for binding in bindings:
                values = self._bound(module, binding, far=far)
                if not _missing(values):
                    return values
        if len(bindings) > 1 and all(binding.kind == "assign" for binding in bindings):
            return self.interpreter.module_assignments(module, bindings)
        return union(*(self._bound(module, binding, far=far) for binding in bindings))

    def _bound(self, module: Module, binding: Binding, *, far: bool) -> Values:
        if binding.kind == "class":
            return (ClassValue(self.info(module, binding.class_index)),)
        if binding.kind == "import":
            known = self.modules.find(binding.target) is not None
            return (ModuleValue(binding.target) if known else ExternalValue(binding.target),)
        if binding.kind == "from":
            return self.module_attribute(self._absolute(module, binding), binding.original, far=far)
        if binding.kind == "assign":
            return self.interpreter.module_assignments(module, [binding])
        if binding.kind == "function":
            return (FunctionValue(module, binding.place, name=binding.name),)
        at = module.shown(binding.place.line)
        return (UnknownValue(f"{binding.name} is bound at {at} by a statement that can't be followed", weight=2),)

    def _absolute(self, module: Module, binding: Binding) -> str:
        return absolute_module(module, binding.target, binding.level)

    def _complex_base(self, info: ClassInfo, expression: ast.expr, environment: dict[str, Alternatives]) -> Values:
        if isinstance(expression, ast.Subscript):
            expression = expression.value
        elif isinstance(expression, ast.Call):
            called = self.interpreter.evaluate_in_module(info.module, expression.func, environment)
            if any(isinstance(value, ExternalValue) for value in called):
                return called
        return self.interpreter.evaluate_in_module(info.module, expression, environment)


def absolute_module(module: Module, target: str, level: int) -> str:
    """The dotted module that a ``from`` import of ``module`` names."""
    if level == 0:
        return target
    package = module.package
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{target}" if target else package


def _missing(values: Values) -> bool:
    return any(isinstance(value, UnknownValue) and value.missing for value in values)
