"""Importing a release's own modules, with stand-ins for whatever else they import."""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import traceback
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from standins import ABSENT_MODULES, StandInModule

MODELS = "sglang.srt.models"


class Log:
    """What happened while importing: which modules ran, which didn't and why, and where classes began."""

    def __init__(self) -> None:
        self.executed: list[str] = []
        self.failed: dict[str, str] = {}
        self.healed: dict[str, str] = {}
        self.first_lines: dict[type, int] = {}


class ReleaseLoader(importlib.machinery.SourceFileLoader):
    """Runs a module of the release and writes down how that went.

    Outside ``sglang.srt.models`` a module that fails keeps what it had defined and answers for the rest with
    stand-ins. A module of ``sglang.srt.models`` fails as it would for Python. Only where a name of ``typing`` was
    never imported (a fault that real releases have, and the linter's EGL301) is that name lent to the module, and
    ``healed`` says what Python raised.
    """

    def __init__(self, fullname: str, path: str, log: Log) -> None:
        super().__init__(fullname, path)
        self._log = log

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        try:
            self._run(module)
        except Exception as error:
            self._log.failed[name] = _reason(error, self.path)
            if _is_model(name):
                raise
            module.__class__ = StandInModule
        else:
            self._log.executed.append(name)

    def _run(self, module: types.ModuleType) -> None:
        try:
            super().exec_module(module)
        except NameError as error:
            missing = error.name
            if missing is None or not hasattr(typing, missing):
                raise
            self._log.healed.setdefault(module.__name__, _reason(error, self.path))
            setattr(module, missing, getattr(typing, missing))
            self._run(module)


class ReleaseFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """First on ``sys.meta_path``: the release's own modules, the standard library's, stand-ins for the rest."""

    def __init__(self, root: Path, log: Log) -> None:
        self._root = str(root)
        self._log = log

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top in sys.stdlib_module_names:
            return None
        if top == "sglang":
            return self._own(fullname, path)
        if top in ABSENT_MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _own(self, fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, [self._root] if path is None else path)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        if spec.origin is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = ReleaseLoader(fullname, spec.origin, self._log)
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def install(root: Path, log: Log) -> None:
    """Import from ``root`` and from stand-ins only, note where classes begin, and forbid effects on the machine."""
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, ReleaseFinder(root, log))
    _note_classes(log)
    tempfile.gettempdir()  # Found by writing a file, once.
    sys.addaudithook(_forbid)


def _note_classes(log: Log) -> None:
    build = builtins.__build_class__

    def noting(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
        made = build(body, name, *bases, **keywords)
        if isinstance(made, type):
            log.first_lines[made] = body.__code__.co_firstlineno
        return made

    vars(builtins)["__build_class__"] = noting


_FORBIDDEN = (
    "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.kill",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate",
    "shutil.", "socket.", "urllib.", "ctypes.dlopen", "ftplib.", "smtplib.", "signal.pthread_kill",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """A release's import must stay without effect: no processes, no network, no files changed."""
    if event.startswith(_FORBIDDEN) and arguments != (None,):
        raise PermissionError(f"{event} while importing a release")
    if event == "open" and arguments[2] & _WRITING:
        raise PermissionError(f"writing {arguments[0]} while importing a release")


def _is_model(name: str) -> bool:
    return name.startswith(MODELS + ".")


def _reason(error: Exception, path: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
