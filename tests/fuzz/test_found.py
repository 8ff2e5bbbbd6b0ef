"""The small input of each fault that the fuzzer and the other hostile tests found; docs/hardness.md is the record."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks.growth import aliases, cycles, write
from eagle3_lint.config import find_configuration
from eagle3_lint.engine import fixing
from eagle3_lint.engine.checking import Request, check
from eagle3_lint.errors import ReleaseError
from eagle3_lint.findings.report import Report
from eagle3_lint.sources.unpacking import unpack_sources
from tests.frontends.small_tree import TYPED


def same(report: Report) -> Report:
    return report


@pytest.mark.parametrize(
    "body",
    ["del Protocol", "Counter: int\n    return Counter", "Protocol: int\n    def g(): return Protocol\n    return g"],
)
def test_an_import_does_not_help_a_name_that_a_function_makes_its_own(tmp_path: Path, body: str) -> None:
    """The fix added the import again and again, forty times, and wrote that."""
    path = tmp_path / "m.py"
    path.write_text(f"from typing import List\n\n\ndef f(x: List):\n    {body}\n")
    fixed = fixing.fix(Request(paths=(str(path),), cache=False), unsafe=True, reported=same)
    assert [one.code for one in fixed.report.findings] == ["EGL301"]
    assert fixed.report.findings[0].fix is None
    assert fixed.changes == ()


def test_fixes_that_go_on_for_ever_are_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixing, "MOST_ROUNDS", 1)
    path = tmp_path / "m.py"
    path.write_text(TYPED)
    fixed = fixing.fix(Request(paths=(str(path),), cache=False), unsafe=True, reported=same)
    assert (fixed.changes, fixed.report.fixed) == ((), 0)
    assert [one.code for one in fixed.report.findings] == ["EGL301"]
    assert any("each fix of it asks for another" in note for note in fixed.report.notes)


@pytest.mark.parametrize("header", ["[eagle3-lint]]", "[eagle3-lint] ]", "[x]\nkey =\n[eagle3-lint]]"])
def test_a_header_that_only_looks_like_ours(tmp_path: Path, header: str) -> None:
    (tmp_path / "setup.cfg").write_text(f"{header}\npedantic = yes\n")
    found = find_configuration(str(tmp_path))
    assert found is None or found.path != str(tmp_path / "setup.cfg")


@pytest.mark.parametrize("missing", range(1, 40, 6))
def test_a_wheel_without_its_beginning(tmp_path: Path, missing: int) -> None:
    import zipfile

    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sglang/a.py", "x")
    wheel.write_bytes(wheel.read_bytes()[missing:])
    with pytest.raises(ReleaseError, match="is damaged"):
        unpack_sources(str(wheel), str(tmp_path / "out"))


def test_chains_of_aliases_longer_than_pythons_stack(tmp_path: Path) -> None:
    report = check(Request(paths=(str(write(tmp_path, aliases(1500))),), cache=False))
    assert sorted(one.class_name or "" for one in report.findings) == [
        "sglang.srt.models.chain.Model",
        "sglang.srt.models.linked.Linked",
    ]
    assert not report.internal_errors


def test_modules_that_import_everything_from_each_other(tmp_path: Path) -> None:
    report = check(Request(paths=(str(write(tmp_path, cycles(30))),), cache=False))
    assert len([one for one in report.findings if one.code == "EGL101"]) == 30
    assert not report.internal_errors


def test_subscripted_bases_that_keep_astroid_busy(tmp_path: Path) -> None:
    models = tmp_path / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    (models / "a.py").write_text(
        "class A(B[int], C[int], A[int]):\n    def pad_input_ids(self): ...\n"
        "class B(C[int], A[int], B[int]): ...\nclass C(A[int], B[int], C[int]): ...\nEntryClass = A\n"
    )
    started = time.process_time()
    report = check(Request(paths=(str(models),), cache=False, engine="astroid"))
    assert time.process_time() - started < 20
    assert not report.internal_errors
