"""The contract of real releases: every call site as it was read in the source, and none that a search finds besides."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.project.contract import CAPTURE_SETTER, EMBED_GETTER, CallSite, Contract, read_contract
from eagle3_lint.sources.reading import parse_source, read_source
from eagle3_lint.sources.tree import SourceTree

pytestmark = pytest.mark.release

DATA = Path(__file__).parent.parent / "data" / "contract"
VERSIONS = sorted(path.stem for path in DATA.glob("*.json"))

CALLED = re.compile(
    rf"^(?!\s*#)[^\"'`]*?(?P<receiver>[\w.\[\]()]+)\.(?P<method>set_\w+_to_capture|{EMBED_GETTER}\w*)\("
)


def expected(version: str) -> dict[str, Any]:
    """The reviewed call sites of one release."""
    loaded: dict[str, Any] = json.loads((DATA / f"{version}.json").read_text(encoding="utf-8"))
    return loaded


def read_release(tree: SourceTree) -> Contract:
    return read_contract(tree.root, read_source, parse_source)


def described(site: CallSite, root: str) -> dict[str, Any]:
    """A call site as the reviewed data have it."""
    return {
        "path": os.path.relpath(site.path, root).replace(os.sep, "/"),
        "line": site.line,
        "shape": site.shape,
        "guard": ("raises" if site.guard_raises else "skips") if site.guarded else None,
        "protocols": list(site.protocols),
        "required": list(site.required_for),
        "unless": list(site.unless),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_call_sites(release: Callable[[str], SourceTree], version: str) -> None:
    tree = release(version)
    contract = read_release(tree)

    found = {method.name: [described(site, tree.root) for site in method.call_sites] for method in contract.methods}
    assert found == expected(version)["methods"]
    assert contract.source == "runtime"


@pytest.mark.parametrize("version", VERSIONS)
def test_no_call_of_the_interface_is_missed(release: Callable[[str], SourceTree], version: str) -> None:
    tree = release(version)
    searched: set[tuple[str, int]] = set()
    for folder, _, names in os.walk(os.path.join(tree.root, "sglang", "srt")):
        if f"{os.sep}models" in folder:
            continue
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".py"):
                searched |= {(path, line) for line in lines_that_call(path)}

    contract = read_release(tree)
    interface = re.compile(rf"set_\w+_to_capture|{EMBED_GETTER}\w*")
    found = {
        (site.path, site.line)
        for method in contract.methods
        if interface.fullmatch(method.name)
        for site in method.call_sites
    }
    assert found == searched


def lines_that_call(path: str) -> list[int]:
    """The lines of a file that call the interface on something that isn't called a draft."""
    text = Path(path).read_text(encoding="utf-8")
    if "_to_capture(" not in text and EMBED_GETTER not in text:
        return []
    matches = ((number, CALLED.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return [number for number, match in matches if match and "draft" not in match["receiver"]]


@pytest.mark.parametrize(
    ("version", "called_with", "guarded"),
    [
        ("0.4.6", ("()",), False),
        ("0.4.10.post2", ("()", "(layer_ids)"), False),
        ("0.5.9", ("()", "(layer_ids)"), False),
        ("0.5.10", ("()", "(layer_ids)"), False),
        ("0.5.11", ("(layer_ids)",), False),
        ("0.5.22", ("(layer_ids)",), False),
        ("0.5.23", ("(layer_ids)",), True),
    ],
)
def test_setter(
    release: Callable[[str], SourceTree], version: str, called_with: tuple[str, ...], guarded: bool
) -> None:
    method = read_release(release(version)).method(CAPTURE_SETTER)

    assert method is not None
    assert (method.called_with, method.guarded) == (called_with, guarded)


@pytest.mark.parametrize("version", VERSIONS)
def test_getter_is_called_unguarded_on_every_release(release: Callable[[str], SourceTree], version: str) -> None:
    contract = read_release(release(version))

    method = contract.method(EMBED_GETTER)
    assert method is not None
    assert (method.called_with, method.guarded) == (("()",), False)
    assert EMBED_GETTER in [required.name for required in contract.required("eagle3")]


@pytest.mark.parametrize(
    ("version", "protocols"),
    [("0.5.10", {"eagle3"}), ("0.5.11", {"eagle3", "dflash"}), ("0.5.16", {"eagle3", "dflash", "dspark"})],
)
def test_protocols(release: Callable[[str], SourceTree], version: str, protocols: set[str]) -> None:
    contract = read_release(release(version))

    assert contract.protocols == {f"set_{protocol}_layers_to_capture" for protocol in protocols}
