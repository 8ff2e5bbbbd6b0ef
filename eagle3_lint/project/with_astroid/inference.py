"""What a call makes, inferred by astroid: for calls that the interpreter doesn't follow.

astroid follows functions anywhere in the tree to what they return, calls objects, looks up members of enumerations, and
knows what ``getattr``, ``type`` and other functions of Python give. It doesn't see the order of statements in a
constructor, nor conditions: an answer is every class that the call may make.
"""

from __future__ import annotations

from typing import Any

from astroid import bases, nodes
from astroid.exceptions import AstroidError
from astroid.util import UninferableBase

from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.resolver import Resolver
from eagle3_lint.project.values import Site
from eagle3_lint.project.with_astroid.positions import key_of
from eagle3_lint.project.with_astroid.tree import AstroidTree


class Inference:
    """Infers calls in the modules of one project."""

    def __init__(self, names: Resolver) -> None:
        self._names = names
        self._tree = AstroidTree(names.modules, names.packages, names.follows, brains=True)
        self._known: dict[tuple[str, int, int], tuple[tuple[ClassInfo, ...], bool]] = {}

    def made_by_call(self, site: Site) -> tuple[tuple[ClassInfo, ...], bool]:
        """The classes of the project of which the call at ``site`` may make an object, and whether that is all."""
        key = (site.path, site.line, site.offset)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._made_by_call(site)
        return found

    def _made_by_call(self, site: Site) -> tuple[tuple[ClassInfo, ...], bool]:
        call = self._call_at(site)
        if call is None:
            return (), False
        classes: dict[ClassInfo, None] = {}
        certain = True
        with self._tree.entered(far=True):
            try:
                for made in call.infer():
                    info = self._class_of(made)
                    if info is not None:
                        classes.setdefault(info)
                    elif not (isinstance(made, nodes.Const) and made.value is None):
                        certain = False
            except (AstroidError, RecursionError):
                certain = False
        return tuple(classes), certain

    def _class_of(self, made: Any) -> ClassInfo | None:
        if isinstance(made, UninferableBase) or type(made) is not bases.Instance:
            return None
        node = made._proxied
        path = self._tree.path_of(node.root())
        module = self._names.modules.at(path) if path is not None else None
        if module is None or not self._names.follows(module.name):
            return None
        for index, facts in enumerate(module.facts.classes):
            if (facts.place.line, facts.place.offset) == key_of(node):
                return self._names.info(module, index)
        return None

    def _call_at(self, site: Site) -> nodes.Call | None:
        """The outermost call that starts at ``site``."""
        module = self._names.modules.at(site.path)
        built = self._tree.module(module.name) if module is not None else None
        if built is None:
            return None
        calls = [
            one for one in built.nodes_of_class(nodes.Call) if (one.lineno, one.col_offset) == (site.line, site.offset)
        ]
        return max(calls, key=lambda one: (one.end_lineno, one.end_col_offset), default=None)
