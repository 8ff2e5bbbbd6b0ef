"""A release in parts: however a hook splits and shuffles the files, each file has the findings of the whole run."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle3_lint.engine.checking import Request, check
from eagle3_lint.sources.tree import SourceTree


@pytest.mark.release
def test_parts_of_a_release_find_what_the_whole_does(release: Callable[[str], SourceTree], tmp_path: Path) -> None:
    models = release("0.5.9").models
    whole = check(Request(paths=(models,), cache=False, pedantic=True))
    paths = [str(path) for path in sorted(Path(models).rglob("*.py"))]
    by_path = {path: [one for one in whole.findings if one.path == path] for path in paths}
    shuffled = random.Random(59)
    for parts in (2, 7):
        shuffled.shuffle(paths)
        for number in range(parts):
            part = tuple(paths[number::parts])
            # the first part fills the cache, the others find it as that left it
            report = check(Request(paths=part, cache_dir=str(tmp_path / str(parts)), pedantic=True))
            mine = {path: [one for one in report.findings if one.path == path] for path in part}
            assert mine == {path: by_path[path] for path in part}
            assert all(one.elsewhere for one in report.findings if one.path not in part)
    assert check(Request(paths=tuple(paths), cache_dir=str(tmp_path / "7"), pedantic=True)).findings == whole.findings
