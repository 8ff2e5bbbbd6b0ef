"""The tree under lint as astroid modules, apart from everything else that astroid holds in this process.

astroid's manager is one for the whole process, and pylint works with it too. While a question is answered here the
manager's state is exchanged for one of our own and put back afterwards: no module, import, setting or inference of
pylint's is seen, changed or dropped, and none of ours is left behind.

In that state nothing is imported, searched for on ``sys.path`` or loaded from an extension: modules are built from text
that this program's own reader read, under the names that its own index gives them (``sglang.srt.models`` has no
``__init__.py``); anything else is external. No brain plug-in is active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from astroid import context as inference_context
from astroid import nodes
from astroid.builder import AstroidBuilder, build_namespace_package_module
from astroid.exceptions import AstroidBuildingError, AstroidImportError
from astroid.manager import AstroidManager
from astroid.transforms import TransformVisitor

from eagle3_lint.project.modules import Modules
from eagle3_lint.project.with_astroid.external import ExternalModule

MOST_STEPS = 4_000
"""Inferences for one question (a class, a name, a call), above which it has no answer."""

Follows = Callable[[str], bool]


class AstroidTree:
    """The modules of one project for astroid, built when asked for.

    There are two views of them: one follows imports anywhere in the tree, the other (``near``) only where ``follows``
    says so and sees the rest as external.
    """

    def __init__(self, modules: Modules, packages: tuple[str, ...], follows: Follows) -> None:
        self._modules = modules
        self._packages = packages
        self._follows = follows
        self._built: dict[str, nodes.Module | None] = {}
        self._paths: dict[nodes.Module, str] = {}
        self._far = _State(self._far_module)
        self._near = _State(self._near_module)

    @contextmanager
    def entered(self, *, far: bool) -> Iterator[None]:
        """Within, astroid sees this tree and nothing else."""
        state = self._far if far else self._near
        outer, outer_inferred = AstroidManager.brain, inference_context._INFERENCE_CACHE
        if outer is state.brain:
            yield
            return
        state.inferred.begin()
        state.brain["astroid_cache"]["builtins"] = _builtins()
        AstroidManager.brain, inference_context._INFERENCE_CACHE = state.brain, state.inferred
        try:
            yield
        finally:
            AstroidManager.brain, inference_context._INFERENCE_CACHE = outer, outer_inferred

    def module(self, dotted: str) -> nodes.Module | None:
        """The module ``dotted`` of the tree, or None where it has none that astroid can build."""
        path = self._modules.find(dotted)
        if path is None:
            return None
        if path not in self._built:
            self._built[path] = None
            self._built[path] = self._build(dotted, path)
        return self._built[path]

    def path_of(self, module: nodes.Module) -> str | None:
        """The file of a module of this tree; None for any other."""
        return self._paths.get(module)

    def _build(self, dotted: str, path: str) -> nodes.Module | None:
        if not path.endswith(".py"):
            return build_namespace_package_module(dotted, [])
        module = self._modules.at(path)
        if module is None:
            return None
        with self.entered(far=True):
            builder = _Builder(AstroidManager(), apply_transforms=False)
            try:
                built = builder.string_build(module.source.text, dotted, path)
            except (AstroidBuildingError, RecursionError):
                return None
        self._paths[built] = path
        return built

    def _far_module(self, dotted: str) -> nodes.Module:
        if self._modules.find(dotted) is None:
            return ExternalModule(dotted, self._inside_far)
        return _required(self.module(dotted), dotted)

    def _near_module(self, dotted: str) -> nodes.Module:
        if self._follows(dotted) and self._modules.find(dotted) is not None:
            return _required(self.module(dotted), dotted)
        return ExternalModule(dotted, self._inside_near)

    def _inside_far(self, dotted: str) -> nodes.Module | None:
        return None

    def _inside_near(self, dotted: str) -> nodes.Module | None:
        if any(package == dotted or package.startswith(f"{dotted}.") for package in self._packages):
            found: nodes.Module = AstroidManager().ast_from_module_name(dotted)
            return found
        return None


class _State:
    """What the manager holds while one view is at work."""

    def __init__(self, module: Callable[[str], nodes.Module]) -> None:
        self.inferred = _Inferred()
        self.brain: dict[str, Any] = dict(AstroidManager.brain)
        self.brain.update(
            astroid_cache={},
            _mod_file_cache=_NoFiles(),
            _failed_import_hooks=[self._import],
            _transform=TransformVisitor(),
            always_load_extensions=False,
            extension_package_whitelist=set(),
            module_denylist=set(),
        )
        self._module = module

    def _import(self, dotted: str) -> nodes.Module:
        """What the manager asks when it finds no file, which is always."""
        found = self._module(dotted)
        self.brain["astroid_cache"][dotted] = found
        return found


class _Inferred(dict[Any, Any]):
    """What astroid has inferred, which it asks for before it infers anything: there its steps are counted.

    Classes that inherit from themselves by way of a subscript or a call would keep astroid busy for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0

    def begin(self) -> None:
        """A new question."""
        self._steps = 0

    def __contains__(self, key: object) -> bool:
        self._steps += 1
        if self._steps > MOST_STEPS:
            # astroid takes this for the end of what can be inferred
            raise RecursionError("too many steps of inference")
        return super().__contains__(key)


class _NoFiles(dict[Any, Any]):
    """The manager's memory of files, which says of every module that it was looked for and isn't there."""

    def __missing__(self, key: tuple[str, str | None]) -> AstroidImportError:
        return AstroidImportError("{modname} is not looked for", modname=key[0])


class _Builder(AstroidBuilder):  # type: ignore[misc]
    """Builds a module without inferring anything.

    astroid's own builder infers the object of every attribute that is assigned, and writes the attribute into its class
    even where that is a class of ``builtins``, which pylint shares. Here ``self.x = …`` goes to the class around it and
    ``C.x = …`` to the class ``C`` of the same block.
    """

    def add_from_names_to_locals(self, node: nodes.ImportFrom, *names: Any) -> None:
        """As astroid's; but first forget the file, beside which astroid would look for packages."""
        node.root().path = None
        super().add_from_names_to_locals(node, *names)

    def delayed_assattr(self, node: nodes.AssignAttr) -> None:
        """Enter an attribute that is assigned into its class."""
        holder = node.expr
        if not isinstance(holder, nodes.Name):
            return
        scope = node.scope()
        if isinstance(scope, nodes.FunctionDef):
            owner = scope.parent.scope() if scope.parent is not None else None
            positional = [*scope.args.posonlyargs, *(scope.args.args or [])]
            if isinstance(owner, nodes.ClassDef) and positional and positional[0].name == holder.name:
                owner.instance_attrs.setdefault(node.attrname, []).append(node)
        elif isinstance(scope, nodes.Module):
            for found in scope.locals.get(holder.name, ())[-1:]:
                if isinstance(found, nodes.ClassDef):
                    found.locals.setdefault(node.attrname, []).append(node)


def _builtins() -> nodes.Module:
    """The module ``builtins``, which all of a process share; astroid makes it with the first builder."""
    manager = AstroidManager()
    if "builtins" not in manager.astroid_cache:
        AstroidBuilder(manager)
    return manager.builtins_module


def _required(module: nodes.Module | None, dotted: str) -> nodes.Module:
    if module is None:
        raise AstroidImportError("{modname} can't be read", modname=dotted)
    return module
