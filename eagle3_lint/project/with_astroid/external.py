"""What lies outside the tree, as astroid sees it: modules without source, classes known by their dotted name alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from astroid import bases, nodes
from astroid.exceptions import AttributeInferenceError
from astroid.manager import AstroidManager

from eagle3_lint.project.linearization import external_order


class ExternalModule(nodes.Module):  # type: ignore[misc]
    """A module that isn't of the tree. Whatever is asked of it exists; ``inside`` gives its submodules of the tree."""

    def __init__(self, name: str, inside: Callable[[str], nodes.Module | None]) -> None:
        super().__init__(name=name, file=None, path=None, package=False)
        self.postinit(body=[], doc_node=None)
        self._inside = inside
        self._members: dict[str, nodes.NodeNG] = {}

    def getattr(self, name: str, context: Any = None, ignore_locals: bool = False) -> list[nodes.NodeNG]:
        """The class ``name`` of this module, or the submodule where the tree has one."""
        found = self._members.get(name)
        if found is None:
            found = self._inside(f"{self.name}.{name}") or ExternalClass(f"{self.name}.{name}", self)
            self._members[name] = found
        return [found]


class ExternalClass(nodes.ClassDef):  # type: ignore[misc]
    """Something that a package outside the tree defines: used as a class, called, or asked for attributes."""

    def __init__(self, dotted: str, parent: nodes.NodeNG) -> None:
        self.dotted = dotted
        super().__init__(
            name=dotted.rpartition(".")[2],
            lineno=0,
            col_offset=0,
            parent=parent,
            end_lineno=0,
            end_col_offset=0,
        )
        self.postinit(bases=[], body=[], decorators=None)
        self._attributes: dict[str, ExternalClass] = {}
        self._order: list[nodes.ClassDef] = []

    def qname(self) -> str:
        """The dotted import name."""
        return self.dotted

    def getattr(self, name: str, context: Any = None, class_context: bool = True) -> list[nodes.NodeNG]:
        """Something external by its dotted name; what Python itself looks for in a class isn't there."""
        if name.startswith("__"):
            raise AttributeInferenceError(target=self, attribute=name, context=context)
        found = self._attributes.get(name)
        if found is None:
            found = self._attributes[name] = ExternalClass(f"{self.dotted}.{name}", self)
        return [found]

    def igetattr(self, name: str, context: Any = None, class_context: bool = True) -> Iterator[nodes.NodeNG]:
        """As ``getattr``."""
        yield from self.getattr(name, context)

    def getitem(self, index: Any, context: Any = None) -> ExternalClass:
        """A generic class with parameters is the class."""
        return self

    def infer_call_result(self, caller: Any = None, context: Any = None) -> Iterator[bases.Instance]:
        """An object of which only the maker is known."""
        yield bases.Instance(self)

    def _compute_mro(self, context: Any = None, **_: Any) -> list[nodes.ClassDef]:
        if not self._order:
            known = [self if one == self.dotted else external_class(one) for one in external_order(self.dotted)]
            self._order = [*known, AstroidManager().builtins_module["object"]]
        return list(self._order)


def external_class(dotted: str) -> nodes.ClassDef:
    """The one class that stands for ``dotted`` in the view at work."""
    module, _, name = dotted.rpartition(".")
    found = AstroidManager().ast_from_module_name(module).getattr(name)[0]
    assert isinstance(found, nodes.ClassDef)
    return found


def is_external(node: object) -> str:
    """The dotted name of something outside the tree, or the empty string."""
    if isinstance(node, ExternalClass):
        return node.dotted
    if isinstance(node, ExternalModule):
        return str(node.name)
    if isinstance(node, (nodes.ClassDef, nodes.FunctionDef)) and node.root().name == "builtins":
        return f"builtins.{node.name}"
    return ""
