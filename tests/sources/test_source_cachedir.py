"""The option before the environment before the platform."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eagle3_lint.sources.cachedir import CACHE_DIR_VARIABLE, cache_dir


def test_option_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "environment"))
    assert cache_dir(str(tmp_path / "option")) == str(tmp_path / "option")
    assert cache_dir(None) == str(tmp_path / "environment")


def test_relative_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_dir("x") == os.path.join(os.getcwd(), "x")
    assert cache_dir("~/x") == str(tmp_path / "home" / "x")


@pytest.mark.parametrize("value", [None, ""])
def test_platform_last(value: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CACHE_DIR_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(CACHE_DIR_VARIABLE, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    found = cache_dir(value)
    assert found.startswith(str(tmp_path))
    assert "eagle3-lint" in found
    assert not os.path.exists(found)
