"""Mutated configuration, baselines, cache entries and wheels."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from eagle3_lint.config import find_configuration
from eagle3_lint.engine.checking import Request, check
from eagle3_lint.engine.explaining import ExplainRequest, explain
from eagle3_lint.errors import ConfigurationError, ReleaseError
from eagle3_lint.findings.baseline import apply_baseline, entries_of, read_baseline, write_baseline
from eagle3_lint.sources.unpacking import unpack_sources
from tests.fuzz.judging import expect_one_line, judge_report, require
from tests.fuzz.mutations import change_bytes, change_ends, change_tokens

_TOML = b"""\
[build-system]
requires = ["x"]

[tool.eagle3-lint]
select = ["EGL1", "EGL301"]
ignore = ["EGL105"]
pedantic = true
baseline = "accepted.json"
sglang = "../sglang"
engine = "auto"
cache-dir = "cache"
target-version = "3.12"
"""
_INI = b"""\
[metadata]
name = x

[eagle3-lint]
select = EGL1, EGL301
pedantic = yes
format = json
output = report
quiet = on
"""
_WORDS = (
    b"[",
    b"]",
    b'"',
    b"=",
    b"select",
    b"nested.key = 1",
    b"[eagle3-lint]",
    b"[tool]",
    b"[[tool.eagle3-lint]]",
    b"\n ",
    b"%(x)s",
)


def fuzz_configuration(folder: Path, random: Random) -> None:
    """A mutated configuration file is read, or refused in one line with its file, line and key."""
    name = random.choice(("pyproject.toml", "setup.cfg", "tox.ini"))
    data = _TOML if name.endswith("toml") else _INI
    for _ in range(random.randint(1, 4)):
        mutate = random.choice((change_bytes, change_tokens, change_ends, _put_word))
        data = mutate(data, random)
    (folder / name).write_bytes(data)
    try:
        found = find_configuration(str(folder))
    except ConfigurationError as error:
        expect_one_line(error)
        require(str(error).startswith(f"{folder / name}"), f"no file in {error}")
        return
    if found is not None and found.path == str(folder / name):
        for key, setting in found.settings.items():
            require(setting.line >= 1 and isinstance(setting.value, str | bool | tuple), f"{key} is {setting}")


def _put_word(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(_WORDS) + data[at:]


def fuzz_baseline(folder: Path, root: str, random: Random) -> None:
    """A mutated baseline is read, or refused in one line with its file and line; never does it take the run down."""
    report = check(Request(paths=(root,), cache=False))
    text = "".join(write_baseline(entries_of(report)))
    document = json.loads(text)
    data = text.encode()
    if random.random() < 0.5:
        data = json.dumps(_changed(document, random), indent=random.choice((None, 2))).encode()
    else:
        for _ in range(random.randint(1, 3)):
            data = random.choice((change_bytes, change_tokens, change_ends))(data, random)
    path = folder / "accepted.json"
    path.write_bytes(data)
    try:
        entries = read_baseline(str(path))
    except ConfigurationError as error:
        expect_one_line(error)
        require(str(error).startswith(f"{path}:"), f"no place in {error}")
        return
    judge_report(apply_baseline(report, entries))


def fuzz_cache(folder: Path, root: str, random: Random) -> None:
    """Whatever is in the cache, the answer is the same as without it, and the next one too."""
    request = Request(paths=(root,), pedantic=True, cache_dir=str(folder))
    plain = check(Request(paths=(root,), pedantic=True, cache=False))
    check(request)
    name = _any_class(root)
    known = explain(ExplainRequest(name, root, cache_dir=str(folder))).document if name else None
    paths = sorted((folder / "facts").iterdir())
    for path in paths:
        if random.random() < 0.7:
            _damage(path, random, [other.read_bytes() for other in paths if other.is_file()])
    for word in ("a damaged cache", "a cache that was damaged"):
        report = check(request)
        judge_report(report)
        require(report.findings == plain.findings, f"other findings with {word}")
        require((report.classes, report.wrappers) == (plain.classes, plain.wrappers), f"other counts with {word}")
    if name:
        require(explain(ExplainRequest(name, root, cache_dir=str(folder))).document == known, "another explanation")


def _any_class(root: str) -> str | None:
    from eagle3_lint.engine.support_matrix import MatrixRequest, matrix

    names = [one["class"] for one in matrix(MatrixRequest(root, all_classes=True, cache=False))["classes"]]
    return next((name for name in names if names.count(name) == 1), None)


def _damage(path: Path, random: Random, others: list[bytes]) -> None:
    """What a full disk, a crash, another program, or a careless copy leaves of a cache entry."""
    data = path.read_bytes()
    choices: tuple[Callable[[], object], ...] = (
        lambda: path.write_bytes(change_bytes(data, random)),
        lambda: path.write_bytes(data[: random.randint(0, len(data))]),
        lambda: path.write_bytes(random.choice(others)),
        lambda: path.write_bytes(data + random.choice(others)),
        lambda: path.write_bytes(bytes(len(data))),
        lambda: (path.unlink(), path.mkdir()),
        lambda: (path.unlink(), path.symlink_to("/dev/zero" if random.random() < 0.5 else "nowhere")),
        lambda: (path.unlink(), os.mkfifo(path)),
    )
    random.choice(choices)()


def _changed(value: Any, random: Random) -> Any:
    """``value`` with one place of it, at any depth, of another type, gone, or doubled."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        if random.random() < 0.1:
            return {other: one for other, one in value.items() if other != key}
        return {**value, key: _changed(value[key], random)}
    if isinstance(value, list | tuple) and value and random.random() < 0.9:
        items = list(value)
        at = random.randrange(len(items))
        roll = random.random()
        if roll < 0.1:
            del items[at]
        elif roll < 0.2:
            items.insert(at, items[at])
        else:
            items[at] = _changed(items[at], random)
        return type(value)(items)
    return random.choice((None, True, 0, -1, 10**30, 1.5, "", "x" * 300, "\n", [], {}, ["x"], "EGL101", "\ud800"))


def fuzz_wheel(folder: Path, random: Random) -> None:
    """A mutated wheel is unpacked below the target alone, or refused in one line; nothing is left beside it."""
    wheel, target = folder / "sglang-1.whl", folder / "out"
    wheel.write_bytes(_wheel(random))
    before = {path for path in folder.rglob("*")}
    try:
        unpack_sources(str(wheel), str(target))
    except ReleaseError as error:
        expect_one_line(error)
    made = {path for path in folder.rglob("*")} - before
    require(all(path == target or target in path.parents for path in made), "something was written beside the target")
    for path in made:
        require(path.is_dir() or (path.suffix == ".py" and not path.is_symlink()), f"{path} came out of a wheel")
        require(target / "sglang" in (path, *path.parents) or path == target, f"{path} is not of the package")


def _wheel(random: Random) -> bytes:
    names = ["sglang/__init__.py", "sglang/srt/models/a.py", "sglang/x.so", "y/z.py", "sglang-1.dist-info/METADATA"]
    odd = [
        "../e.py",
        "/e.py",
        "sglang/../e.py",
        "sglang//e.py",
        "sglang/a.py/b.py",
        "sglang/\x1b.py",
        "sglang\\e.py",
        "",
    ]
    chosen = random.sample(names, random.randint(1, len(names)))
    if random.random() < 0.3:
        chosen.append(random.choice(odd))
    stream = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
        warnings.simplefilter("ignore")
        for name in chosen:
            entry = zipfile.ZipInfo(name or "x")
            entry.compress_type = method
            if random.random() < 0.1:
                entry.external_attr = random.randrange(2**16) << 16
            archive.writestr(entry, os.path.basename(name).encode() * random.randint(0, 200))
    data = stream.getvalue()
    return change_bytes(data, random) if random.random() < 0.7 else data
