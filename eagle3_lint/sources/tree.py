"""Where SGLang's own sources lie, found by looking at directories alone: nothing is imported, nothing followed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eagle3_lint.sources.files import RUNTIME_FOLDERS
from eagle3_lint.sources.upwards import upwards

_PACKAGE = "sglang"
_MODELS = os.path.join(_PACKAGE, "srt", "models")


@dataclass(frozen=True)
class SourceTree:
    """One tree of SGLang sources; ``root`` is the absolute directory that holds the package ``sglang``."""

    root: str

    @property
    def package(self) -> str:
        """The directory of the package ``sglang``."""
        return os.path.join(self.root, _PACKAGE)

    @cached_property
    def models(self) -> str:
        """The directory of the model files."""
        return os.path.join(self.root, _MODELS)

    @property
    def has_runtime(self) -> bool:
        """Whether the runtime that calls the models is there too, to read the contract from."""
        srt = os.path.join(self.package, "srt")
        return any(os.path.isdir(os.path.join(srt, name)) for name in RUNTIME_FOLDERS)

    def module_name(self, path: str) -> str | None:
        """The dotted name under which Python imports the file or directory ``path`` of this tree, else None.

        Names are by directory from the root, because ``sglang/srt`` and ``sglang/srt/models`` have no
        ``__init__.py``. A path with a dot in a directory's or module's name has none.
        """
        below = self.package + os.sep
        if not path.startswith(below):
            return None
        parts = path[len(self.root.rstrip(os.sep)) + 1 :].split(os.sep)
        if parts[-1].endswith(".py"):
            parts[-1] = parts[-1][:-3]
            if parts[-1] == "__init__":
                parts.pop()
        return None if any("." in part or not part for part in parts) else ".".join(parts)

    def find_module(self, dotted: str) -> str | None:
        """The file of module ``dotted``, or its directory where it is a package without ``__init__.py``, else None.

        As Python: a package comes before a module, a module before a namespace package.
        """
        parts = dotted.split(".")
        if parts[0] != _PACKAGE or any(not part or os.sep in part or "/" in part for part in parts):
            return None
        base = os.path.join(self.root, *parts)
        package = os.path.join(base, "__init__.py")
        if os.path.isfile(package):
            return package
        if os.path.isfile(base + ".py"):
            return base + ".py"
        return base if os.path.isdir(base) else None


def tree_at(root: str) -> SourceTree | None:
    """The tree whose root is exactly ``root``, else None."""
    absolute = os.path.abspath(root)
    return SourceTree(absolute) if os.path.isdir(os.path.join(absolute, _MODELS)) else None


def find_tree_from(start: str) -> SourceTree | None:
    """The tree that the directory ``start`` or a directory above it holds.

    Each directory is looked at for ``python/sglang/srt/models`` (a checkout), then ``sglang/srt/models``.
    """
    for directory in upwards(os.path.abspath(start)):
        if tree := _tree_in(directory):
            return tree
    return None


def tree_of_file(path: str) -> SourceTree | None:
    """The tree that the file or directory ``path`` lies in, by its nearest ancestor ``sglang`` with ``srt/models``."""
    for directory in upwards(os.path.abspath(path)):
        parent, name = os.path.split(directory)
        if name == _PACKAGE and (tree := tree_at(parent)):
            return tree
    return None


def tree_of_spec(path: str) -> SourceTree | None:
    """The tree that a user means by a directory: a checkout, an unpacked wheel, or any directory of the package."""
    return _tree_in(path) or (tree_of_file(path) if os.path.isdir(path) else None)


def installed_tree(search_path: Sequence[str] | None = None) -> SourceTree | None:
    """The installed SGLang, found on ``search_path`` (``sys.path`` by default) without importing anything.

    The working directory's own entries are passed over: a tree that merely lies there is not installed. An editable
    install is found by the ``direct_url.json`` that its installer records (https://peps.python.org/pep-0610/).
    """
    here = os.path.realpath(os.getcwd())
    entries = [
        entry
        for entry in (sys.path if search_path is None else search_path)
        if os.path.isabs(entry) and os.path.realpath(entry) != here
    ]
    for entry in entries:
        if tree := tree_at(entry):
            return tree
    return next((tree for entry in entries if (tree := _editable_tree(entry))), None)


def report_root(paths: Sequence[str]) -> str:
    """The directory that reported paths are relative to.

    The source root where all of ``paths`` lie below one, else the working directory.
    """
    roots: set[str | None] = set()
    for directory in dict.fromkeys(map(os.path.dirname, paths)):
        roots.add(_source_root(directory))
        if len(roots) > 1:
            break
    only = roots.pop() if len(roots) == 1 else None
    return only or os.getcwd()


def _tree_in(directory: str) -> SourceTree | None:
    """The tree of a checkout at ``directory``, else the one whose root it is."""
    return tree_at(os.path.join(directory, "python")) or tree_at(directory)


def _source_root(directory: str) -> str | None:
    for ancestor in upwards(os.path.abspath(directory)):
        package = os.path.join(ancestor, _PACKAGE)
        if os.path.isdir(os.path.join(package, "srt")) or os.path.isfile(os.path.join(package, "__init__.py")):
            return ancestor
    return None


def _editable_tree(entry: str) -> SourceTree | None:
    try:
        with os.scandir(entry) as listing:
            names = [item.name for item in listing if item.name.startswith(_PACKAGE + "-")]
    except OSError:
        return None
    for name in sorted(names):
        if name.endswith(".dist-info") and (project := _recorded_project(os.path.join(entry, name, "direct_url.json"))):
            return _tree_in(project)
    return None


def _recorded_project(record: str) -> str | None:
    import json
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        with open(record, encoding="utf-8") as stream:
            content = json.load(stream)
        url = urlsplit(content["url"])
        editable = content["dir_info"]["editable"] is True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return url2pathname(url.path) if editable and url.scheme == "file" else None
