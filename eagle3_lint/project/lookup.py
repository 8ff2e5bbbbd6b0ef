"""What an attribute of an object holds, and whether an object surely has no such attribute.

``Lookup`` follows a path of attributes from an object through what constructors leave in it, members along the method
resolution order, attributes put on an object after it is made, and properties. That an object lacks an attribute is
said only where nothing in the source could give it one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eagle3_lint.facts.assigned import COMPUTING, assigned, assigns_computed
from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.project.classes import ClassInfo, ExternalValue, Found
from eagle3_lint.project.effects import ITEM, Path
from eagle3_lint.project.interpreter import Attribute, Constructed
from eagle3_lint.project.values import ConstantValue, InstanceValue, MappingValue, SelfValue, SequenceValue, Value
from eagle3_lint.sources.identifiers import mentions

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

Objects = dict[Value, dict[str, Attribute]]

# https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html, with what its sources set in ``__init__``.
_MODULE_ATTRIBUTE_NAMES = (
    "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double "
    "dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule "
    "half ipu load_state_dict modules mtia named_buffers named_children named_modules named_parameters "
    "parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook "
    "register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook "
    "register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to "
    "to_empty train training type xpu zero_grad"
)
_MODULE_ATTRIBUTES = frozenset(_MODULE_ATTRIBUTE_NAMES.split())
# Bases outside the project that bring no public attribute of their own.
_BARE_BASES = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol"})
_HARMLESS = frozenset({"getattr", "hasattr", "id", "isinstance", "len", "print", "setattr", "super", "type"})


@dataclass(frozen=True)
class Node:
    """One object that a path may lead to, and the attributes that constructors put on the objects around it."""

    value: Value
    heaps: tuple[Objects, ...] = field(default=(), compare=False)

    @property
    def info(self) -> ClassInfo | None:
        """The class of the object, where the project defines it."""
        return self.value.info if isinstance(self.value, (SelfValue, InstanceValue)) else None


@dataclass(frozen=True)
class Holder:
    """How a method gets to an object: by ``path`` from one of ``receiver``, to which an object of ``origin`` leads."""

    path: Path
    receiver: ClassInfo
    origin: ClassInfo


@dataclass(frozen=True)
class Step:
    """What one attribute of several objects may hold.

    ``lacking`` are the objects that surely don't have it, ``holding`` those that have; ``unsure`` says that for some
    object it can't be told.
    """

    nodes: tuple[Node, ...]
    holding: tuple[Node, ...]
    lacking: tuple[Node, ...]
    unsure: bool


class Lookup:
    """Follows attributes in one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def start(self, info: ClassInfo) -> Node:
        """An object of ``info`` as the runtime builds it."""
        return Node(SelfValue(info), (self._project.construct(info).objects,))

    def step(self, nodes: tuple[Node, ...], name: str, holder: Holder) -> Step:
        """What ``name`` of ``nodes`` may hold; ``holder`` says how the code that asks gets to them."""
        found: dict[Node, None] = {}
        holding: list[Node] = []
        lacking: list[Node] = []
        unsure = False
        for node in nodes:
            if node.value == ConstantValue(None):
                continue
            inner = self._items(node) if name == ITEM else self._attribute(node, name)
            if inner is None and node.info is not None and name != ITEM and self._surely_lacks(node.info, name, holder):
                lacking.append(node)
            elif inner is None:
                unsure = True
            else:
                holding.append(node)
                found.update(dict.fromkeys(inner))
        return Step(tuple(found), tuple(holding), tuple(lacking), unsure)

    def _items(self, node: Node) -> tuple[Node, ...] | None:
        if isinstance(node.value, (SequenceValue, MappingValue)):
            return tuple(Node(value, node.heaps) for value in node.value.any_item())
        return None

    def _attribute(self, node: Node, name: str) -> tuple[Node, ...] | None:
        """What ``name`` of ``node`` may hold, or None where nothing is known to give it one."""
        info = node.info
        if info is None:
            return None
        for heap in node.heaps:
            written = heap.get(node.value, {}).get(name)
            if written is not None:
                return tuple(Node(value, node.heaps) for value in written.values)
        heaps = node.heaps
        if isinstance(node.value, InstanceValue):
            made = self._made(node.value)
            heaps = (made.objects, *node.heaps)
            attribute = made.attributes.get(name)
            if attribute is not None:
                return tuple(Node(value, heaps) for value in attribute.values)
        found = info.find(name)
        if found is not None:
            values = self._project.interpreter.member_of(found, node.value, heaps)
            return tuple(Node(value, heaps) for value in values)
        return self._forwarded(node, name, heaps)

    def _made(self, value: InstanceValue) -> Constructed:
        return self._project.interpreter.construct(value.info, value.arguments)

    def _forwarded(self, node: Node, name: str, heaps: tuple[Objects, ...]) -> tuple[Node, ...] | None:
        """What ``__getattr__`` of ``node`` gives for ``name``, where an object that it hands names to has it."""
        if node.info is None or name.startswith("__"):
            return None
        for attribute in self._project.roles.forwards_to(node.info):
            holders = self._attribute(Node(node.value, heaps), attribute) if attribute != name else None
            for holder in holders or ():
                inner = self._attribute(holder, name)
                if inner is not None:
                    return inner
        return None

    def _surely_lacks(self, info: ClassInfo, name: str, holder: Holder) -> bool:
        """Whether nothing in the source could give an object of ``info`` the attribute ``name``."""
        if info.order.problem or name.startswith("__") or not self._project.construct(info).complete:
            return False
        if any(info.find(hook) is not None for hook in ("__getattr__", "__getattribute__")):
            return False
        for one in info.order.classes:
            if isinstance(one, ExternalValue) and not _surely_without(one, name):
                return False
            if isinstance(one, ClassInfo) and (one.facts.decorators or one.facts.keywords):
                return False
        if _is_handed_out(holder):
            return False
        writers = (*info.project_classes, *holder.receiver.project_classes, *holder.origin.project_classes)
        return not any(self._may_assign(one, info, name) for one in dict.fromkeys(writers))

    def _may_assign(self, writer: ClassInfo, info: ClassInfo, name: str) -> bool:
        """Whether code of ``writer``, or elsewhere in its file, may put ``name`` on an object of ``info``."""
        if any(member.name == name for member in info.facts.members):
            return True
        if writer.module.mentions(name) and name in writer.module.assigned_elsewhere:
            return True
        if writer not in info.project_classes or not mentions(writer.text, name, *COMPUTING):
            return False
        node = writer.module.class_node(writer.facts)
        # What a constructor that runs sets is among the attributes: one that assigns the name otherwise doesn't run.
        others = [one for one in node.body if not (isinstance(one, ast.FunctionDef) and one.name == "__init__")]
        return assigns_computed(node) or any(_names_as_string(one, name) or _assigns(one, name) for one in others)


def skipped_constructor(info: ClassInfo, name: str) -> Found | None:
    """The constructor above ``info`` that would set ``name``, for an object of ``info`` that lacks it."""
    for one in info.project_classes:
        found = Found(one, one.members["__init__"]) if "__init__" in one.members and one.mentions(name) else None
        function = found.function() if found is not None else None
        if function is not None and _assigns(function, name):
            return found
    return None


def _assigns(root: ast.AST, name: str) -> bool:
    return any(one == name for one, _ in assigned(root))


def _is_handed_out(holder: Holder) -> bool:
    """Whether a constructor hands the object, or the one that holds it, to a function, which may do anything to it."""
    handed = {"self", ".".join(holder.path)}
    for one in holder.receiver.project_classes:
        function = Found(one, one.members["__init__"]).function() if "__init__" in one.members else None
        for call in walk(function) if function is not None else ():
            # A name in capitals is a class, which keeps what it is given as it is.
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.func.id[:1].isupper():
                arguments = {dotted_name(one) for one in (*call.args, *(word.value for word in call.keywords))}
                if call.func.id not in _HARMLESS and arguments & handed:
                    return True
    return False


def _surely_without(base: ExternalValue, name: str) -> bool:
    if base.dotted == "torch.nn.Module":
        return name not in _MODULE_ATTRIBUTES and not name.startswith("_")
    return base.dotted in _BARE_BASES


def _names_as_string(root: ast.AST, name: str) -> bool:
    """Whether ``name`` is a string in ``root``, by which somebody may set it."""
    return any(isinstance(node, ast.Constant) and node.value == name for node in walk(root))
