"""EGL902 through the whole engine: wherever a text is looked at, each comment that silences nothing is told."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check

COMMENTED = """\
x = 1  # noqa: EGL101
y = 2  # noqa
z = 3  # NoQA: egl103, E501
a = 4  # eagle3-lint: ignore[EGL102] reason
b = 5  # pylint: disable=missing-eagle3-delegation
c = 6  # pylint: disable=unused-import
d: Optional[int] = None  # noqa: EGL301
"""
ALONE = "x = 1  # noqa: EGL101\n"
PLAIN = "x = 1\n"
UNUSED = [
    ("alone.py", 1, "EGL101"),
    ("commented.py", 1, "EGL101"),
    ("commented.py", 3, "egl103"),
    ("commented.py", 4, "EGL102"),
    ("commented.py", 5, "missing-eagle3-delegation"),
]


@pytest.mark.parametrize("of_a_tree", [True, False])
def test_every_comment_that_silences_nothing_is_told(of_a_tree: bool, tmp_path: Path) -> None:
    folder = tmp_path / ("sglang/srt/models" if of_a_tree else "elsewhere")
    folder.mkdir(parents=True)
    for name, text in {"alone": ALONE, "commented": COMMENTED, "plain": PLAIN}.items():
        (folder / f"{name}.py").write_text(text)
    request = Request(paths=(str(folder),), pedantic=True, cache_dir=str(tmp_path / "cache"))
    for asked in (replace(request, cache=False), request, request):
        report = check(asked)
        assert {finding.code for finding in report.findings} == {"EGL902"}
        assert [(os.path.basename(one.path), one.span.line, one.scope) for one in report.findings] == UNUSED
        assert report.suppressed == 1
