"""How time and memory grow with the size of a generated tree.

``python benchmarks/growth.py`` makes trees of several shapes, each in growing sizes, lints every one in a process of its own
and prints seconds, megabytes, and the power of the size with which time grows (1 is in proportion). It ends with 1 where a
shape grows with more than ``MOST_POWER`` or takes more than ``MOST_MEGABYTES``.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

MOST_POWER = 1.25
MOST_MEGABYTES = 1024
# Below this, starting Python is most of it.
_LEAST_SECONDS = 0.5

Files = Iterable[tuple[str, str]]

_BODY = """\
class {name}({base}):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.{attribute} = {inner}(config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.{attribute}(input_ids, positions, forward_batch)
"""
_INNER = """\
class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.capture_aux_hidden_states = False
        self.lm_head = nn.Linear(1, 1)
        self.model = nn.Module()

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [1, 2, 3]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight
"""
_HEAD = "from torch import nn\nfrom sglang.srt.models.inner import Inner\n"


def _inner() -> Files:
    yield "inner.py", f"from torch import nn\n\n\n{_INNER}\n\nEntryClass = Inner\n"


def files(size: int) -> Files:
    """Model files in hierarchies 50 deep, each class with 20 children beside the next in line."""
    yield from _inner()
    made = 0
    tower = 0
    while made < size:
        for depth in range(50):
            above = f"tower_{tower}_{depth - 1}"
            base = f"Model{depth - 1}" if depth else "nn.Module"
            head = _HEAD + (f"from sglang.srt.models.{above} import {base}\n" if depth else "")
            for child in range(20):
                name = f"tower_{tower}_{depth}" if child == 0 else f"tower_{tower}_{depth}_{child}"
                wrapper = _BODY.format(name=f"Model{depth}", base=base, attribute="language_model", inner="Inner")
                yield f"{name}.py", f"{head}\n\n{wrapper}\n\nEntryClass = Model{depth}\n"
                made += 1
                if made >= size:
                    return
        tower += 1


def entry(size: int) -> Files:
    """One module whose EntryClass names ``size`` classes."""
    yield from _inner()
    classes = "\n\n".join(
        f"class Model{number}(nn.Module):\n    def __init__(self, config):\n        self.llm = Inner(config)\n"
        for number in range(size)
    )
    names = ", ".join(f"Model{number}" for number in range(size))
    yield "many.py", f"{_HEAD}\n\n{classes}\n\nEntryClass = [{names}]\n"


def wrappers(size: int) -> Files:
    """One module with ``size`` wrappers, each of them reported."""
    yield from _inner()
    classes = "\n\n".join(
        _BODY.format(name=f"Model{number}", base="nn.Module", attribute="llm", inner="Inner") for number in range(size)
    )
    names = ", ".join(f"Model{number}" for number in range(size))
    yield "many.py", f"{_HEAD}\n\n{classes}\n\nEntryClass = [{names}]\n"


def methods(size: int) -> Files:
    """A class with ``size`` methods, and a hundred classes that inherit from it."""
    yield from _inner()
    body = "\n".join(f"    def method_{number}(self, x):\n        return self.model.run(x)\n" for number in range(size))
    children = "\n\n".join(f"class Child{number}(Large):\n    pass\n" for number in range(100))
    large = _BODY.format(name="Large", base="nn.Module", attribute="llm", inner="Inner") + "\n" + body
    yield "large.py", f"{_HEAD}\n\n{large}\n\n{children}\n\nEntryClass = [Large, Child99]\n"


def lines(size: int) -> Files:
    """A module of ``size`` lines."""
    yield from _inner()
    statement = "        x = self.layers[{0}](x, residual={0})\n"
    forwards = "\n".join(
        f"class Body{number}(nn.Module):\n    def forward(self, x: Optional[int]):\n"
        + "".join(statement.format(line) for line in range(97))
        for number in range(size // 100)
    )
    wrapper = _BODY.format(name="Model", base="nn.Module", attribute="llm", inner="Inner")
    yield "long.py", f"{_HEAD}\n\n{forwards}\n\n{wrapper}\n\nEntryClass = Model\n"


def cycles(size: int) -> Files:
    """Modules that import everything from each other, all the way round."""
    yield from _inner()
    for number in range(size):
        following = (number + 1) % size
        wrapper = _BODY.format(name=f"Model{number}", base="nn.Module", attribute="llm", inner="Inner")
        wrapper += f"\n    def other(self):\n        return Model{following}\n"
        imports = f"from torch import nn\nfrom sglang.srt.models.inner import *\nfrom sglang.srt.models.ring_{following} import *\n"
        yield f"ring_{number}.py", f"{imports}\n\n{wrapper}\n\nEntryClass = Model{number}\n"


def aliases(size: int) -> Files:
    """A chain of ``size`` names, each another name of the one before, inside a module and from module to module."""
    yield from _inner()
    inside = "\n".join(f"Name{number + 1} = Name{number}" for number in range(size))
    wrapper = _BODY.format(name="Model", base="nn.Module", attribute="llm", inner=f"Name{size}")
    yield "chain.py", f"{_HEAD}\nName0 = Inner\n{inside}\n\n\n{wrapper}\n\nEntryClass = Model\n"
    yield "link_0.py", "from sglang.srt.models.inner import Inner as Link0\n"
    for number in range(1, size + 1):
        before = number - 1
        yield f"link_{number}.py", f"from sglang.srt.models.link_{before} import Link{before} as Link{number}\n"
    wrapper = _BODY.format(name="Linked", base="nn.Module", attribute="llm", inner=f"Link{size}")
    imports = f"from torch import nn\nfrom sglang.srt.models.link_{size} import Link{size}\n"
    yield "linked.py", f"{imports}\n\n{wrapper}\n\nEntryClass = Linked\n"


def dictionaries(size: int) -> Files:
    """A dictionary of ``size`` classes, one of which a wrapper builds."""
    yield from _inner()
    classes = "\n\n".join(f"class Inner{number}(Inner):\n    pass\n" for number in range(size))
    table = "\n".join(f"    '{number}': Inner{number}," for number in range(size))
    wrapper = _BODY.format(name="Model", base="nn.Module", attribute="llm", inner="TABLE[config.kind]")
    yield "table.py", f"{_HEAD}\n\n{classes}\n\nTABLE = {{\n{table}\n}}\n\n\n{wrapper}\n\nEntryClass = Model\n"


def branches(size: int) -> Files:
    """A constructor with ``size`` branches, each of which builds another class."""
    yield from _inner()
    classes = "\n\n".join(f"class Inner{number}(Inner):\n    pass\n" for number in range(size))
    arms = "".join(
        f"        if config.kind == {number}:\n            self.llm = Inner{number}(config)\n" for number in range(size)
    )
    wrapper = f"class Model(nn.Module):\n    def __init__(self, config):\n{arms}\n    def pad_input_ids(self):\n        pass\n"
    yield "branches.py", f"{_HEAD}\n\n{classes}\n\n{wrapper}\n\nEntryClass = Model\n"


def comments(size: int) -> Files:
    """``size`` findings, each silenced by a comment."""
    yield from _inner()
    functions = "\n\n".join(f"def f{number}(x: Optional[int]):  # noqa: EGL301\n    pass\n" for number in range(size))
    yield "silent.py", f"{_HEAD}\n\n{functions}\n"


def unsilenced(size: int) -> Files:
    """``size`` findings in one file."""
    yield from _inner()
    functions = "\n\n".join(f"def f{number}(x: Optional[int]):\n    pass\n" for number in range(size))
    yield "loud.py", f"{_HEAD}\n\n{functions}\n"


SHAPES: dict[str, tuple[Callable[[int], Files], tuple[int, ...]]] = {
    "files": (files, (1250, 2500, 5000, 10000)),
    "entry": (entry, (1250, 2500, 5000)),
    "wrappers": (wrappers, (500, 1000, 2000)),
    "methods": (methods, (1250, 2500, 5000)),
    "lines": (lines, (25_000, 50_000, 100_000)),
    "cycles": (cycles, (250, 500, 1000)),
    "aliases": (aliases, (250, 500, 1000)),
    "dictionaries": (dictionaries, (2500, 5000, 10_000)),
    "branches": (branches, (250, 500, 1000)),
    "comments": (comments, (1250, 2500, 5000)),
    "unsilenced": (unsilenced, (1250, 2500, 5000)),
}


def write(root: Path, made: Files) -> Path:
    """Write the model files of one tree below ``root``; returns their directory."""
    models = root / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    for name, text in made:
        (models / name).write_text(text)
    return models


def measure(models: Path, arguments: Iterable[str]) -> tuple[float, float]:
    """Seconds (of processor time, children too) and the largest megabytes of one run."""
    command = [sys.executable, "-m", "eagle3_lint", "check", str(models), "--format", "json", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    probe = (
        "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, code)"
    )
    ran = subprocess.run([sys.executable, "-c", probe, *command], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, code = ran.stdout.split()
    if code not in ("0", "1"):
        raise SystemExit(f"exit code {code} after {time.monotonic() - started:.0f} s: {ran.stderr[-2000:]}")
    if ran.stderr:
        print(ran.stderr[-2000:], file=sys.stderr)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(peak) / 1024


def main() -> int:
    """Measure the chosen shapes; 1 where one grows too fast or takes too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", help=f"of {', '.join(SHAPES)}; all by default")
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    bad = 0
    print("shape            size   seconds       MB   power   again")
    for shape in options.shapes or SHAPES:
        make, sizes = SHAPES[shape]
        last: tuple[int, float] | None = None
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                models = write(Path(folder), make(size))
                cache = ["--engine", options.engine, "--cache-dir", os.path.join(folder, "cache")]
                seconds, peak = measure(models, cache)
                again, _ = measure(models, cache)
            power = math.log(seconds / last[1]) / math.log(size / last[0]) if last else 0.0
            too_fast = power > MOST_POWER and seconds > _LEAST_SECONDS
            bad += too_fast or peak > MOST_MEGABYTES
            mark = "  !" if too_fast or peak > MOST_MEGABYTES else ""
            print(f"{shape:13} {size:7} {seconds:9.2f} {peak:8.0f} {power:7.2f} {again:7.2f}{mark}", flush=True)
            last = size, seconds
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
