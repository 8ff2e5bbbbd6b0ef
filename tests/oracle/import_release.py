"""What Python itself says about the model classes of one SGLang release, as JSON.

    python tests/oracle/import_release.py ROOT OUT.json [cuda|cpu]

ROOT holds the package ``sglang``. The third argument is the machine to pretend (``cuda`` if left out): some
releases rebind a base class at module level where there is no accelerator. The release is really imported, in
this process and no other, so run it as a subprocess: its own modules from ROOT, the standard library, and stand-ins
for everything else (installed or not). Nothing of the linter is used or imported here, and the linter never
imports what it lints.

How the registry walks (``sglang/srt/models/registry.py``, ``import_model_classes``; the same from 0.4.6 to 0.5.23):
``pkgutil.iter_modules`` over the package's ``__path__``, which lists modules directly in the folder and packages
that have an ``__init__.py``; packages are skipped, folders without ``__init__.py`` are not listed at all. Each module
is imported; an ``Exception`` there is logged and the module passed over. Of an ``EntryClass``, a ``list``
gives each of its items, anything else (a tuple too) counts as one class; the key is the class's ``__name__``, and
a second class of the same name is an ``AssertionError`` that ends the walk. Which module defined the class plays no
part. Later releases add to this, none of it by default: modules named in ``SGLANG_DISABLED_MODEL_ARCHS`` are skipped
(seen from 0.5.5.post3 on), an external package is walked too (from 0.5.6.post2 on) or first, the own one then only
when needed (from 0.5.22 on), and a ``strict`` walk raises what a module raises (from 0.5.7 on).

Output: ``python``; ``device``; ``modules`` (of the models ``imported`` and ``failed``, of all ``healed``, of the rest
of ``sglang`` ``substituted``); ``classes`` (each with ``class``, ``path``, ``line``, ``mro`` without ``object``,
``methods``); ``registered`` (architecture to class, by a walk of our own) and ``registry`` (what the release's own
registry holds); ``problems`` met on that walk; ``not_executed``, the class statements outside functions that the
import did not reach or whose name it bound anew.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import pkgutil
import platform
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from release_modules import MODELS, Log, install
from standins import dotted, is_root, pretend, stand_in

METHODS = (
    "set_eagle3_layers_to_capture",
    "set_dflash_layers_to_capture",
    "set_dspark_layers_to_capture",
    "get_embed_and_head",
    "set_embed_and_head",
    "get_embed",
    "set_embed",
    "get_input_embeddings",
)

# As a server does, before it asks the registry; the order decides circular imports.
FIRST = ("sglang", "sglang.srt.model_executor.model_runner")


def model_modules(root: Path) -> dict[str, Path]:
    """Every module below ``sglang.srt.models``, packages with and without ``__init__.py``, by dotted name."""
    found = {}
    for path in sorted((root / "sglang" / "srt" / "models").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str) -> types.ModuleType | None:
    """The module, or None where Python can't import it (the loader has logged why)."""
    with contextlib.suppress(Exception):
        return importlib.import_module(name)
    return None


def class_statements(path: Path) -> dict[int, tuple[str, int]]:
    """Qualified name and line of the class statements outside functions, by the first line, decorators included."""

    def walk(body: list[ast.AST], prefix: str) -> Iterator[tuple[int, tuple[str, int]]]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield first, (prefix + node.name, node.lineno)
                yield from walk(list(node.body), f"{prefix}{node.name}.")
            elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                yield from walk(list(ast.iter_child_nodes(node)), prefix)

    return dict(walk(list(ast.parse(path.read_bytes()).body), ""))


def classes_of(module: types.ModuleType) -> dict[str, type]:
    """The classes reachable from a module that say they were made there, by qualified name."""
    found: dict[str, type] = {}
    pending: list[Any] = list(vars(module).values())
    while pending:
        value = pending.pop()
        own = isinstance(value, type) and value.__module__ == module.__name__ and "<locals>" not in value.__qualname__
        if own and value.__qualname__ not in found:
            found[value.__qualname__] = value
            pending.extend(vars(value).values())
    return found


def method_resolution(cls: type) -> list[str]:
    """Dotted names along the method resolution order, without ``object`` and the stand-ins' private root."""
    return [dotted(base) for base in cls.__mro__ if base is not object and not is_root(base)]


def methods(cls: type) -> dict[str, str | None]:
    """For each method of the interface family, the class that defines it for ``cls``."""
    return {name: next((dotted(base) for base in cls.__mro__ if name in vars(base)), None) for name in METHODS}


def registered() -> tuple[dict[str, str], list[str]]:
    """Architecture to class as the registry walks, and what its own walk would have stumbled over."""
    found: dict[str, str] = {}
    problems: list[str] = []
    package = importlib.import_module(MODELS)
    for _, name, is_package in pkgutil.iter_modules(package.__path__, MODELS + "."):
        module = None if is_package else imported(name)
        if module is None or not hasattr(module, "EntryClass"):
            continue
        entry = module.EntryClass
        for cls in entry if isinstance(entry, list) else [entry]:
            if not isinstance(cls, type):
                problems.append(f"{name}: EntryClass holds {type(cls).__name__}, no class")
            elif cls.__name__ in found:
                problems.append(f"{name}: {cls.__name__} is registered twice")
            else:
                found[cls.__name__] = dotted(cls)
    return found, problems


def own_registry() -> dict[str, str] | None:
    """What the release's own registry holds, or None where it could not be imported."""
    module = imported(f"{MODELS}.registry")
    registry = getattr(module, "ModelRegistry", None)
    return None if registry is None else {name: dotted(cls) for name, cls in registry.models.items()}


def import_as_a_server_does() -> None:
    """What comes before the registry: the runtime, then the parallel groups that some models read at import."""
    for name in FIRST:
        imported(name)
    groups = imported("sglang.srt.distributed.parallel_state")
    if groups is not None and groups._TP is None:
        groups.__dict__["_TP"] = stand_in("tensor_parallel_group")
    imported(f"{MODELS}.registry")


def report(root: Path, log: Log) -> dict[str, Any]:
    """Import all models of the release at ``root`` and describe their classes."""
    import_as_a_server_does()
    classes = []
    not_executed = []
    sources = model_modules(root)
    for name, path in sources.items():
        module = imported(name)
        relative = path.relative_to(root).as_posix()
        statements = class_statements(path)
        reached: set[int] = set()
        for cls in classes_of(module).values() if module is not None else ():
            first, line = _place(cls, statements, log)
            reached.add(first)
            classes.append(
                {
                    "class": dotted(cls),
                    "path": relative,
                    "line": line,
                    "mro": method_resolution(cls),
                    "methods": methods(cls),
                }
            )
        not_executed += [
            {"class": f"{name}.{qualname}", "path": relative, "line": line}
            for first, (qualname, line) in statements.items()
            if first not in reached
        ]
    by_architecture, problems = registered()
    failed = {name: reason for name, reason in log.failed.items() if name in sources}
    return {
        "python": platform.python_version(),
        "modules": {
            "imported": sorted(set(sources) & set(log.executed)),
            "failed": failed,
            "healed": log.healed,
            "substituted": {name: reason for name, reason in log.failed.items() if name not in sources},
        },
        "classes": sorted(classes, key=lambda item: (item["path"], item["line"] or 0, item["class"])),
        "registered": by_architecture,
        "registry": own_registry(),
        "problems": problems,
        "not_executed": not_executed,
    }


def _place(cls: type, statements: dict[int, tuple[str, int]], log: Log) -> tuple[int, int | None]:
    """The first line and the line of the ``class`` statement that made ``cls``; (0, None) where there is none.

    A class that a decorator made anew (``dataclass(slots=True)``) is found by its qualified name.
    """
    first = log.first_lines.get(cls, 0)
    if first in statements:
        return first, statements[first][1]
    by_name = [(first, line) for first, (qualname, line) in statements.items() if qualname == cls.__qualname__]
    return by_name[-1] if by_name else (0, None)


def main(arguments: list[str]) -> int:
    """Write the report; the release's own printing goes nowhere."""
    root, out = Path(arguments[0]).resolve(), Path(arguments[1])
    device = arguments[2] if len(arguments) > 2 else "cuda"
    for name in [name for name in os.environ if name.startswith("SGLANG_")]:
        del os.environ[name]
    pretend(device)
    warnings.simplefilter("ignore")
    log = Log()
    with out.open("w", encoding="utf-8") as file, open(os.devnull, "w") as nowhere:
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            install(root, log)
            result = {"device": device, **report(root, log)}
        json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
