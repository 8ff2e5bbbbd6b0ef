"""The formats on a real release: valid, small enough, pointing at what is there, and stable when lines move."""

from __future__ import annotations

import codecs
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from jsonschema import Draft7Validator
from official_schemas import sarif_schema

from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.sources.tree import SourceTree

VERSION = "0.5.23"
PARTS = ("srt/models", "srt/model_executor", "srt/speculative", "srt/configs")


@pytest.fixture(scope="module")
def checkouts(release: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The parts of a release that matter, and the same elsewhere with a hundred blank lines on top of every file."""
    source = Path(release(VERSION).root) / "sglang"
    plain = tmp_path_factory.mktemp("plain")
    moved = tmp_path_factory.mktemp("other") / "checkout"
    for part in PARTS:
        shutil.copytree(source / part, plain / "python" / "sglang" / part)
        shutil.copytree(source / part, moved / "python" / "sglang" / part)
    for path in moved.rglob("*.py"):
        content = path.read_bytes()
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        path.write_bytes(mark + b"\n" * 100 + content[len(mark) :])
    for checkout in (plain, moved):
        (checkout / ".git").mkdir()
    return plain, moved


def document(checkout: Path, name: str) -> Any:
    target = checkout / f"report.{name}"
    models = checkout / "python" / "sglang" / "srt" / "models"
    assert dispatch(["check", str(models), "--pedantic", "--no-cache", "--format", name, "--output", str(target)]) == 1
    assert target.stat().st_size < 5_000_000
    return json.loads(target.read_text())


@pytest.mark.release
def test_sarif_of_a_release(checkouts: tuple[Path, Path]) -> None:
    plain, moved = checkouts
    logs = [document(checkout, "sarif") for checkout in (plain, moved)]
    validator = Draft7Validator(sarif_schema())
    for log, checkout in zip(logs, checkouts, strict=True):
        assert [error.message for error in validator.iter_errors(log)] == []
        assert_locations_resolve(log, checkout)
    results = [log["runs"][0]["results"] for log in logs]
    assert len(results[0]) > 30
    keys = [[(one["ruleId"], one["partialFingerprints"]) for one in result] for result in results]
    assert keys[0] == keys[1]


def assert_locations_resolve(log: dict[str, Any], checkout: Path) -> None:
    (run,) = log["runs"]
    lengths: dict[Path, int] = {}
    for place in physical_locations(run["results"]):
        artifact = place["artifactLocation"]
        uri = urljoin(run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"], artifact["uri"])
        path = Path(unquote(urlsplit(uri).path))
        assert path.is_relative_to(checkout)
        if path not in lengths:
            lengths[path] = path.read_text().count("\n") + 1
        assert place["region"]["startLine"] <= lengths[path]


def physical_locations(node: object) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        own = [node["physicalLocation"]] if "physicalLocation" in node else []
        return own + [found for value in node.values() for found in physical_locations(value)]
    if isinstance(node, list):
        return [found for value in node for found in physical_locations(value)]
    return []


@pytest.mark.release
def test_json_fingerprints_of_a_release(checkouts: tuple[Path, Path]) -> None:
    plain, moved = ([one["fingerprint"] for one in document(checkout, "json")["findings"]] for checkout in checkouts)
    assert plain == moved
    assert len(set(plain)) == len(plain)
