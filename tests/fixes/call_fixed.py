"""What fixed classes of a release do when their new methods are called, as JSON.

    python tests/fixes/call_fixed.py ROOT CLASSES.json OUT.json

ROOT holds the package ``sglang``, fixed. CLASSES.json lists ``{"class", "attribute", "calls": [[method, [arguments]]]}``. The
release is really imported, with stand-ins for everything outside ``sglang`` (``tests/oracle``), so run it as a subprocess. An
instance is made without ``__init__``, a recorder put in the place of its inner model, and each call made.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))

from import_release import import_as_a_server_does, imported
from release_modules import Log, install
from standins import pretend


class Recorder:
    """An inner model that answers every call with a text that only it can know."""

    def __init__(self) -> None:
        self.__dict__["calls"] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def answer(*given: Any, **named: Any) -> str:
            self.calls.append([name, list(given), named])
            return f"answer {len(self.calls)} of {name}"

        return answer


class Empty:
    """An inner model that can't do anything."""


def class_named(dotted: str) -> type:
    """The class with this dotted name; AttributeError or ImportError where there is none."""
    module_name, _, qualname = dotted.rpartition(".")
    module = imported(module_name)
    if module is None:
        raise ImportError(module_name)
    found: Any = module
    for name in qualname.split("."):
        found = getattr(found, name)
    made: type = found
    return made


def tried(cls: type, attribute: str, calls: list[tuple[str, list[Any]]]) -> dict[str, Any]:
    """What each call returned, what arrived at the inner model, and what an inner model without the methods leads to."""
    instance: Any = object.__new__(cls)
    bare: Any = object.__new__(cls)
    recorder = Recorder()
    instance.__dict__[attribute] = recorder
    bare.__dict__[attribute] = Empty()
    errors = []
    for name, arguments in calls:
        try:
            getattr(bare, name)(*arguments)
        except AttributeError as error:
            errors.append(str(error))
    returned = [getattr(instance, name)(*arguments) for name, arguments in calls]
    return {"returned": returned, "arrived": recorder.__dict__["calls"], "errors": errors}


def main(arguments: list[str]) -> int:
    """Write what came of it; the release's own printing goes nowhere."""
    root, classes, out = (Path(argument).resolve() for argument in arguments)
    for name in [name for name in os.environ if name.startswith("SGLANG_")]:
        del os.environ[name]
    wanted = json.loads(classes.read_text(encoding="utf-8"))
    pretend("cuda")
    warnings.simplefilter("ignore")
    log = Log()
    with out.open("w", encoding="utf-8") as file, open(os.devnull, "w") as nowhere:
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            install(root, log)
            import_as_a_server_does()
            found = {one["class"]: tried(class_named(one["class"]), one["attribute"], one["calls"]) for one in wanted}
        json.dump({"classes": found, "healed": log.healed}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
