"""What capture setters write on which object, and which code of that object's class reads it.

An object is followed by the class that builds it: attribute paths of a setter (``self.model.layers_to_capture``) are
resolved through the constructors (``Project.construct``), calls of another object's own setter are followed with that
object as receiver. Everything is computed once for each project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.nodes import walk
from eagle3_lint.project.capture_layers import LayerQuestion, indexes, layer_questions, shifts_ids
from eagle3_lint.project.classes import ClassInfo, ExternalValue, Found
from eagle3_lint.project.effects import ITEM, Effects, Event, Path, effects_of
from eagle3_lint.project.interpreter import Constructed
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.pair_flow import PairUse, hands_on, pair_use
from eagle3_lint.project.reading_forward import first_parameter
from eagle3_lint.project.values import (
    ClassValue,
    ConstantValue,
    FunctionValue,
    InstanceValue,
    SequenceValue,
    Value,
    Values,
)
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

_MOST_DEPTH = 5
CAPTURE_STATE = re.compile(r"layers?_to_capture|capture_aux_hidden")
# Of whatever ``CAPTURE_STATE`` matches, one of these is a part.
_STATE_WORDS = ("to_capture", "capture_aux_hidden")
# What these do with an object doesn't depend on the attributes that it was given.
_HARMLESS = frozenset(
    {"isinstance", "issubclass", "hasattr", "getattr", "setattr", "type", "id", "super", "repr", "len"}
)
_CALLED_ALONE = frozenset({"enumerate", "zip", "range", "reversed", "list", "tuple", "iter", "min", "max", "sum"})


@dataclass(frozen=True)
class Holder:
    """An object of which the class is known; ``instance`` where another object's constructor made it."""

    info: ClassInfo
    instance: InstanceValue | None = None


@dataclass(frozen=True)
class Held:
    """The objects that a path may lead to; ``known`` when there are no others."""

    holders: tuple[Holder, ...]
    known: bool


@dataclass(frozen=True)
class CaptureWrite:
    """One attribute that a setter writes; ``chain`` are the objects on the way from the setter's own.

    ``per_item`` says that it is written on the items of a sequence that the last of ``chain`` holds (flags of layers),
    ``indexed`` that these are picked by their number, whatever that is;
    ``constant`` that the value doesn't depend on anything; ``delegated`` that another object's setter writes it;
    ``known`` that no other object than ``holder`` and those of the same setter's other writes can be meant.
    """

    holder: Holder
    name: str
    chain: tuple[Holder, ...]
    per_item: bool
    constant: bool
    delegated: bool
    known: bool
    path: str
    line: int
    indexed: bool = False

    @property
    def body(self) -> Holder:
        """The object that holds what is written: of flags of layers, the one whose layers these are."""
        return self.chain[-1] if self.per_item else self.holder


@dataclass(frozen=True)
class SetterEffects:
    """Everything that an effective setter writes; ``known`` when every receiver could be told.

    ``switches`` are the attributes of the object itself that it sets to a true constant.
    """

    writes: tuple[CaptureWrite, ...]
    known: bool
    switches: frozenset[str]
    functions: tuple[Found, ...]


@dataclass(frozen=True)
class Reach:
    """The methods of one class that run when its forward does."""

    methods: tuple[Found, ...]
    known: bool


class CaptureFlow:
    """Answers about the capture state of one project; each is computed once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._effects: dict[tuple[str, int], Effects | None] = {}
        self._setters: dict[tuple[ClassInfo, str], SetterEffects | None] = {}
        self._reached: dict[tuple[ClassInfo, tuple[str, ...]], Reach] = {}
        self._reads: dict[tuple[Holder, str, bool, tuple[Holder, ...]], bool | None] = {}
        self._attributes: dict[tuple[str, int], frozenset[str]] = {}
        self._texts: dict[tuple[str, int], str] = {}
        self._above: dict[tuple[str, int], tuple[str, ...]] = {}
        self._pair_uses: dict[tuple[str, int, frozenset[str], frozenset[str]], PairUse | None] = {}
        self._leaving: dict[tuple[str, int, str], bool] = {}
        self._questions: dict[tuple[str, int, str], tuple[LayerQuestion, ...] | None] = {}
        self._shifts: dict[tuple[str, int], int | None] = {}

    # Functions

    def effects(self, found: Found) -> Effects | None:
        """What the method ``found`` does; None where it is no plain function."""
        key = (found.definer.path, found.line)
        if key not in self._effects:
            function = found.function()
            self._effects[key] = effects_of(function) if function is not None else None
        return self._effects[key]

    def text(self, found: Found) -> str:
        """The source of ``found``."""
        key = (found.definer.path, found.line)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = found.text
        return text

    def super_calls(self, found: Found) -> tuple[str, ...]:
        """The methods that ``found`` calls through ``super()``."""
        key = (found.definer.path, found.line)
        above = self._above.get(key)
        if above is None:
            function = found.function() if mentions(self.text(found), "super") else None
            above = self._above[key] = tuple(dict.fromkeys(_super_calls(function))) if function is not None else ()
        return above

    def mentions_state(self, module: Module) -> bool:
        """Whether the text of ``module`` has the words that capture state is named with."""
        return module.mentions(*_STATE_WORDS, within=True)

    def layer_questions(self, found: Found, name: str) -> tuple[LayerQuestion, ...] | None:
        """Where ``found`` asks whether a layer is in ``name``; None where it does something else with it."""
        key = (found.definer.path, found.line, name)
        if key not in self._questions:
            function = found.function() if mentions(self.text(found), name) else None
            self._questions[key] = layer_questions(function, name) if function is not None else ()
        return self._questions[key]

    def shift(self, found: Found) -> int | None:
        """The line where ``found`` shifts layer ids by one, or None."""
        key = (found.definer.path, found.line)
        if key not in self._shifts:
            function = found.function()
            self._shifts[key] = shifts_ids(function) if function is not None else None
        return self._shifts[key]

    def pair_use(self, found: Found, bodies: frozenset[str], flags: frozenset[str]) -> PairUse | None:
        """What ``found`` does with what ``bodies`` return; None where it is no plain function."""
        key = (found.definer.path, found.line, bodies, flags)
        if key not in self._pair_uses:
            effects = self.effects(found)
            self._pair_uses[key] = pair_use(effects, bodies, flags) if effects is not None else None
        return self._pair_uses[key]

    def leaves(self, found: Found, name: str) -> bool:
        """Whether what the local ``name`` of ``found`` holds leaves the function, or may: where there is no function."""
        key = (found.definer.path, found.line, name)
        if key not in self._leaving:
            function = found.function()
            self._leaving[key] = function is None or hands_on(function, name)
        return self._leaving[key]

    # Objects

    def constructed(self, holder: Holder) -> Constructed:
        """The attributes of ``holder`` after its construction."""
        if holder.instance is None or not holder.instance.arguments:
            return self._project.construct(holder.info)
        return self._project.interpreter.construct(holder.info, holder.instance.arguments)

    def held(self, holder: Holder, attribute: str) -> Held:
        """What ``attribute`` of ``holder`` may be; the items where it is a sequence."""
        made = self.constructed(holder)
        found = made.attributes.get(attribute)
        if found is None:
            return Held((), False)
        holders, known = _holders(found.values)
        return Held(holders, known and made.complete)

    def resolve(self, holder: Holder, path: Path) -> Held:
        """The objects at ``path`` (without ``self``) of ``holder``."""
        current: tuple[Holder, ...] = (holder,)
        known = True
        for part in path:
            if part == ITEM:
                continue
            steps = [self.held(one, part) for one in current]
            known = known and all(step.known for step in steps)
            current = tuple(dict.fromkeys(one for step in steps for one in step.holders))
        return Held(current, known and bool(current))

    def has(self, holder: Holder, name: str) -> bool | None:
        """Whether ``holder`` has the attribute ``name``; None where that can't be told."""
        if holder.info.find(name) is not None or name in self.constructed(holder).attributes:
            return True
        return None if holder.info.order.problem or holder.info.find("__getattr__") is not None else False

    # Setters

    def setter(self, info: ClassInfo, name: str) -> SetterEffects | None:
        """What the effective setter ``name`` does to an object of ``info``; None where it has none that is a method."""
        key = (info, name)
        if key not in self._setters:
            self._setters[key] = self._setter(info, name)
        return self._setters[key]

    def _setter(self, info: ClassInfo, name: str) -> SetterEffects | None:
        found = info.find(name)
        if found is None or self.effects(found) is None:
            return None
        walk = _SetterWalk(self)
        walk.method(Holder(info), found, (), 0, delegated=False)
        return SetterEffects(
            tuple(walk.writes), walk.known and not info.order.problem, frozenset(walk.switches), tuple(walk.functions)
        )

    # Reads

    def reach(self, info: ClassInfo, entries: tuple[str, ...] = ("forward",)) -> Reach:
        """The methods of ``info`` that ``entries`` may run, by the names that they mention."""
        key = (info, entries)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self._reach(info, entries)
        return found

    def _reach(self, info: ClassInfo, entries: tuple[str, ...]) -> Reach:
        pending = [found for found in map(info.find, entries) if found is not None]
        known = bool(pending) and not info.order.problem
        seen: dict[tuple[str, int], Found] = {}
        while pending:
            method = pending.pop()
            key = (method.definer.path, method.line)
            if key in seen:
                continue
            seen[key] = method
            if method.member.kind != "function":
                known = known and method.member.kind != "assign"
                continue
            above = bool(self.super_calls(method))
            for name in self.attributes(method):
                following = info.find_after(method.definer, name) if above else None
                pending.extend(one for one in (info.find(name), following) if one is not None and _runs(one))
        return Reach(tuple(seen.values()), known)

    def attributes(self, method: Found) -> frozenset[str]:
        """The name of every attribute in the code of ``method``, on whatever object."""
        key = (method.definer.path, method.line)
        found = self._attributes.get(key)
        if found is None:
            function = method.function()
            nodes = walk(function) if function is not None else ()
            found = self._attributes[key] = frozenset(one.attr for one in nodes if isinstance(one, ast.Attribute))
        return found

    def called_names(self, info: ClassInfo) -> tuple[str, ...]:
        """Every attribute name that the forward of ``info`` mentions, on whatever object."""
        return tuple(sorted({name for one in self.reach(info).methods for name in self.attributes(one)}))

    def is_read(self, write: CaptureWrite) -> bool | None:
        """Whether the forward of the object (or of what holds it) reads what ``write`` wrote; None if unknown."""
        key = (write.holder, write.name, write.per_item, write.chain)
        if key not in self._reads:
            self._reads[key] = self._is_read(write)
        return self._reads[key]

    def _is_read(self, write: CaptureWrite) -> bool | None:
        owners = tuple(dict.fromkeys((*write.chain, write.holder)))
        mentioned = self.called_names(owners[0].info)
        reaches = [self._entered(one.info, () if one is owners[0] else mentioned) for one in owners]
        if write.per_item:
            inner = tuple(sorted({name for one in owners for name in self.called_names(one.info)}))
            reaches[-1] = self._entered(write.holder.info, inner)
        methods = [one for reach in reaches for one in reach.methods]
        if any(mentions(self.text(one), write.name) and self._loads(one, write.name) for one in methods):
            return True
        if not write.known or not self._is_plain(write):
            return None
        return self._handed_on(write, owners, reaches)

    def _entered(self, info: ClassInfo, mentioned: tuple[str, ...]) -> Reach:
        """What runs in ``info`` when its forward does, or one of its methods that other code mentions."""
        return self.reach(info, ("forward", *(one for one in mentioned if one != "forward" and _is_entry(info, one))))

    def _is_plain(self, write: CaptureWrite) -> bool:
        """Whether the class's own forward is all that could read it."""
        info = write.holder.info
        if not self.reach(info).known or not self.constructed(write.holder).complete:
            return False
        found = info.find(write.name)
        if found is not None and found.member.kind not in {"assign", "declared"}:
            return False
        if any(info.find(name) is not None for name in ("__setattr__", "__getattr__", "__call__", "__getattribute__")):
            return False
        return not self._is_reshaped(write)

    def _is_reshaped(self, write: CaptureWrite) -> bool:
        """Whether somebody puts another forward on the object after it is made."""
        if "forward" in self.constructed(write.holder).attributes:
            return True
        instance = write.holder.instance
        return instance is not None and any(
            "forward" in self.constructed(one).objects.get(instance, {}) for one in write.chain
        )

    def _handed_on(self, write: CaptureWrite, owners: tuple[Holder, ...], reaches: list[Reach]) -> bool | None:
        """False where no function that is handed the object (or the items) can read it, else None."""
        for owner, reach in zip(owners, reaches, strict=True):
            attributes: frozenset[str] = frozenset()
            if owner is not write.holder:
                attributes = self._item_attributes(owner, write.holder) if write.per_item else frozenset()
                if not attributes:
                    continue
            for method in reach.methods:
                if self._hands_on(method, write.name, attributes) is not False:
                    return None
        return False

    def _item_attributes(self, owner: Holder, item: Holder) -> frozenset[str]:
        made = self.constructed(owner)
        return frozenset(name for name in made.attributes if item in self.held(owner, name).holders)

    def _hands_on(self, method: Found, name: str, attributes: frozenset[str]) -> bool | None:
        """Whether ``method`` hands its object, or one of ``attributes`` of it, to code that mentions ``name``.

        None where it hands it to code that can't be found.
        """
        try:
            function = method.function()
        except UnreadableSourceError:
            return None
        if function is None:
            return None
        for call in handing_calls(function, attributes):
            text = self._source_of(method.definer.module, call)
            if text is None:
                return None
            if mentions(text, name):
                return True
        return False

    def _source_of(self, module: Module, call: ast.Call) -> str | None:
        """The source of the module that defines what ``call`` calls."""
        names = self._project.names
        if isinstance(call.func, ast.Name):
            values = names.resolve(module, call.func.id)
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            values = names.attribute(names.resolve(module, call.func.value.id), call.func.attr)
        else:
            return None
        texts: list[str] = []
        for value in values:
            if isinstance(value, FunctionValue):
                texts.append(value.module.source.text)
            elif isinstance(value, ClassValue):
                texts.append(value.info.module.source.text)
            else:
                return None
        return "\n".join(texts) if texts else None

    def _loads(self, method: Found, name: str) -> bool:
        try:
            function = method.function()
        except UnreadableSourceError:
            return False
        return function is not None and loads_name(function, name)


class _SetterWalk:
    """Follows a setter through the objects that it tells."""

    def __init__(self, flow: CaptureFlow) -> None:
        self.writes: list[CaptureWrite] = []
        self.switches: set[str] = set()
        self.functions: list[Found] = []
        self.known = True
        self._flow = flow

    def method(self, holder: Holder, found: Found, chain: tuple[Holder, ...], depth: int, *, delegated: bool) -> None:
        """Follow the method ``found`` on ``holder``."""
        effects = self._flow.effects(found)
        if effects is None or depth > _MOST_DEPTH:
            self.known = False
            return
        self.functions.append(found)
        for event in effects.events:
            if event.path[:1] != ("self",):
                continue
            if event.kind == "write":
                self._write(holder, event, found, chain, delegated=delegated)
            elif event.kind == "call" and len(event.path) > 1:
                self._call(holder, event, chain, depth, delegated=delegated)
        for name in self._flow.super_calls(found):
            following = holder.info.find_after(found.definer, name)
            if following is not None:
                self.method(holder, following, chain, depth + 1, delegated=delegated)

    def _write(self, holder: Holder, event: Event, found: Found, chain: tuple[Holder, ...], *, delegated: bool) -> None:
        inner, name = event.path[1:-1], event.path[-1]
        if name == ITEM or not event.path[1:]:
            return
        true = isinstance(event.value, ast.Constant) and event.value.value is True
        if not inner and not chain and true:
            self.switches.add(name)
        held = self._flow.resolve(holder, inner)
        if not held.known and (ITEM not in inner or not held.holders):
            self.known = False
        for one in held.holders:
            if not self._holds(one, event, inner):
                continue
            through = tuple(dict.fromkeys((*chain, holder, *self._between(holder, inner))))
            self.writes.append(
                CaptureWrite(
                    one,
                    name,
                    through,
                    ITEM in inner,
                    isinstance(event.value, ast.Constant) and ITEM not in inner,
                    delegated,
                    held.known,
                    found.definer.path,
                    event.line,
                    self._is_indexed(found, event, inner),
                )
            )

    def _is_indexed(self, found: Found, event: Event, inner: Path) -> bool:
        effects = self._flow.effects(found)
        asked = any(guard.kind == "other" for guard in event.guards)
        return ITEM in inner and not asked and effects is not None and indexes(effects.node, event.node)

    def _between(self, holder: Holder, inner: Path) -> Iterator[Holder]:
        """The objects on the way along ``inner``, without the last."""
        for end in range(1, len(inner)):
            if any(part != ITEM for part in inner[end:]):
                yield from self._flow.resolve(holder, inner[:end]).holders

    def _call(self, holder: Holder, event: Event, chain: tuple[Holder, ...], depth: int, *, delegated: bool) -> None:
        inner, name = event.path[1:-1], event.path[-1]
        if not inner:
            found = holder.info.find(name)
            if found is not None and found.member.kind == "function":
                self.method(holder, found, chain, depth + 1, delegated=delegated)
            elif "captur" in name:
                self.known = False
            return
        if "captur" not in name:
            return
        held = self._flow.resolve(holder, inner)
        self.known = self.known and held.known
        for one in held.holders:
            if not self._holds(one, event, inner):
                continue
            found = one.info.find(name)
            if found is None:
                self.known = False
            else:
                self.method(one, found, (*chain, holder), depth + 1, delegated=True)

    def _holds(self, one: Holder, event: Event, inner: Path) -> bool:
        """Whether the guards of ``event`` let it happen for ``one``."""
        path = ("self", *inner)
        for guard in event.guards:
            if guard.kind == "has" and guard.path[:-1] == path:
                exists = self._flow.has(one, guard.path[-1])
                if exists is not None and exists != guard.positive:
                    return False
        return True


def _holders(values: Values) -> tuple[tuple[Holder, ...], bool]:
    found: dict[Holder, None] = {}
    known = True
    pending: list[Value] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, InstanceValue):
            found.setdefault(Holder(value.info, value))
        elif isinstance(value, SequenceValue):
            pending.extend(value.any_item())
        elif not (isinstance(value, ConstantValue) and value.value is None):
            known = False
    return tuple(found), known


def _is_entry(info: ClassInfo, name: str) -> bool:
    found = info.find(name)
    return found is not None and found.member.kind == "function" and _runs(found)


def _runs(found: Found) -> bool:
    return found.member.name != "__init__" and not is_setter(found.member.name)


def may_name_state(text: str) -> bool:
    """Whether ``text`` has the words that capture state is named with."""
    return mentions(text, *_STATE_WORDS, within=True)


def is_setter(name: str) -> bool:
    """Whether a method of this name tells what to capture."""
    return name.startswith("set_") and name.endswith("_to_capture")


def loads_name(function: FunctionNode, name: str) -> bool:
    """Whether ``function`` reads an attribute called ``name``, on whatever object."""
    for node in walk(function):
        if isinstance(node, ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Load):
                return True
        elif isinstance(node, ast.Constant) and node.value == name:
            return True
    return False


def _super_calls(function: FunctionNode) -> Iterator[str]:
    """The methods that ``function`` calls through ``super()``."""
    for node in walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super":
                yield node.func.attr


def handing_calls(function: FunctionNode, attributes: frozenset[str]) -> Iterator[ast.Call]:
    """The calls that are handed the object itself, or one of its ``attributes`` or their items, as an argument."""
    holder = first_parameter(function)
    names = {holder} if not attributes else _item_names(function, holder, attributes)
    for node in walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _HARMLESS | _CALLED_ALONE:
            continue
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(_mentions(argument, holder, names, attributes) for argument in arguments):
            yield node


def _item_names(function: FunctionNode, holder: str, attributes: frozenset[str]) -> set[str]:
    """The local names that may hold an item of one of ``attributes``."""
    found: set[str] = set()
    for node in walk(function):
        target: ast.expr | None = None
        value: ast.expr | None = None
        if isinstance(node, (ast.For, ast.comprehension)):
            target, value = node.target, node.iter
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
        if target is None or value is None or not _is_path_to(value, holder, attributes):
            continue
        found.update(inner.id for inner in walk(target) if isinstance(inner, ast.Name))
    return found


def _is_path_to(value: ast.expr, holder: str, attributes: frozenset[str]) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _CALLED_ALONE:
        return any(_is_path_to(argument, holder, attributes) for argument in value.args)
    while isinstance(value, ast.Subscript):
        value = value.value
    return (
        isinstance(value, ast.Attribute)
        and value.attr in attributes
        and isinstance(value.value, ast.Name)
        and value.value.id == holder
    )


def _mentions(argument: ast.expr, holder: str, names: set[str], attributes: frozenset[str]) -> bool:
    if isinstance(argument, ast.Starred):
        argument = argument.value
    if isinstance(argument, ast.Name):
        return argument.id in names
    if isinstance(argument, ast.Lambda):
        return any(isinstance(node, ast.Name) and node.id == holder for node in walk(argument.body))
    return bool(attributes) and _is_path_to(argument, holder, attributes)


EXTERNAL_ROOTS = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "abc.ABC", "typing.Generic"})


def foreign_bases(info: ClassInfo) -> tuple[str, ...]:
    """The bases of ``info`` outside the project whose code nobody here can read."""
    return tuple(
        one.dotted for one in info.order.classes if isinstance(one, ExternalValue) and one.dotted not in EXTERNAL_ROOTS
    )
