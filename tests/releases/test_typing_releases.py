"""On real releases EGL301 and EGL302 are what pyflakes and ruff report for typing names, no more and no less.

Besides three releases that have real ones, every release below the folder that ``EAGLE3_LINT_RELEASES`` names
(``<VERSION>/sglang``) is compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyflakes")
pytest.importorskip("ruff")

if TYPE_CHECKING:
    from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

FOUND = {
    "0.4.6": {"EGL301": 1, "EGL302": 3},
    "0.4.10.post2": {"EGL301": 2, "EGL302": 4},
    "0.5.3": {"EGL301": 2, "EGL302": 2},
}


def _more_releases() -> list[Path]:
    folder = os.environ.get("EAGLE3_LINT_RELEASES")
    return sorted(Path(folder).glob("*/sglang")) if folder else []


@pytest.mark.parametrize("version", FOUND)
def test_releases_with_real_ones(version: str, release: Callable[[str], SourceTree]) -> None:
    from tests.releases.compare_typing import compare

    result = compare(Path(release(version).package))
    assert not result.differences
    assert {code: result.counts[code] for code in ("EGL301", "EGL302")} == FOUND[version]
    assert not result.counts["type checkers only"]


@pytest.mark.parametrize("folder", _more_releases(), ids=lambda folder: folder.parent.name)
def test_more_releases(folder: Path) -> None:
    from tests.releases.compare_typing import compare

    assert not compare(folder).differences
