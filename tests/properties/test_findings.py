"""What must not change a finding, and what must end one, on trees put together at random."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eagle3_lint.engine.checking import Request, check
from eagle3_lint.engine.fixing import fix, write
from eagle3_lint.findings.model import Finding
from tests.fuzz.corpus import Corpus, Tree, write_tree
from tests.fuzz.programs import model_tree

CORPUS = Corpus()
# More by hand: EAGLE3_LINT_TESTS_EXAMPLES=1000
SETTINGS = settings(max_examples=int(os.environ.get("EAGLE3_LINT_TESTS_EXAMPLES", "25")), deadline=None)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A tree of the fixtures, or one of the generated programs."""
    random = Random(draw(st.integers(0, 10**6)))
    return CORPUS.tree(random) if draw(st.booleans()) else model_tree(random)


def findings_of(root: Path, *paths: Path, **options: object) -> tuple[Finding, ...]:
    given_paths = tuple(map(str, paths)) or (str(root),)
    return check(replace(Request(paths=given_paths, cache=False, pedantic=True), **options)).findings  # type: ignore[arg-type]


def plain(findings: tuple[Finding, ...], root: Path) -> list[tuple[object, ...]]:
    """Findings without what names lines: code, path, class, methods, and the message with its numbers taken out."""
    return sorted(
        (
            one.code,
            str(Path(one.path).relative_to(root)),
            one.class_name or one.scope,
            one.methods,
            re.sub(r"\d+", "N", one.message),
        )
        for one in findings
    )


@contextmanager
def written(files: Tree) -> Iterator[Path]:
    """The root of ``files`` on disk."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        write_tree(root, files)
        yield root


def models_of(files: Tree) -> list[str]:
    return sorted(name for name in files if "/models/" in name)


@SETTINGS
@given(trees())
def test_blank_lines_change_nothing_but_lines(files: Tree) -> None:
    spread_out = (b"\\\n", b'"""', b"\r", b"\xef\xbb\xbf", b"# eagle3-lint", b"# noqa", b"# pylint")
    assume(not any(part in data for data in files.values() for part in spread_out))
    with written(files) as root:
        before = plain(findings_of(root), root)
        for name, data in files.items():
            (root / name).write_bytes(b"\n\n\n" + re.sub(rb"(?m)^(class |def |EntryClass)", rb"\n\n\1", data))
        assert plain(findings_of(root), root) == before


@SETTINGS
@given(trees(), st.sampled_from(["m0.py", "zzz.py", "pkg2/__init__.py", "pkg2/inside.py"]))
def test_an_unrelated_module_changes_nothing(files: Tree, name: str) -> None:
    with written(files) as root:
        before = plain(findings_of(root), root)
        path = root / "sglang/srt/models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "class EntirelyUnrelated:\n    def method(self):\n        return 1\n\n\nEntryClass = EntirelyUnrelated\n"
        )
        assert plain(findings_of(root), root) == before


@SETTINGS
@given(trees())
def test_a_file_that_nobody_imports_may_have_any_name(files: Tree) -> None:
    text = b"\n".join(files.values())
    alone = [name for name in models_of(files) if name.count("/") == 3 and not _is_named(name, text)]
    assume(alone)
    with written(files) as root:
        before = plain(findings_of(root), root)
        old = root / alone[0]
        new = old.with_name("renamed_by_a_test.py")
        old.rename(new)
        after = plain(findings_of(root), root)
        module = Path(alone[0]).stem
        renamed = [tuple(_renamed(part, module) for part in one) for one in before]
        assert sorted(renamed) == sorted(tuple(_renamed(part, module) for part in one) for one in after)


def _is_named(name: str, text: bytes) -> bool:
    stem = Path(name).stem.encode()
    return stem == b"__init__" or re.search(rb"\b" + stem + rb"\b", text) is not None


def _renamed(part: object, module: str) -> object:
    return re.sub(rf"\b({module}|renamed_by_a_test)\b", "MODULE", part) if isinstance(part, str) else part


@SETTINGS
@given(trees(), st.randoms(use_true_random=False))
def test_split_file_lists_in_any_order_find_the_same(files: Tree, random: Random) -> None:
    with written(files) as root:
        whole = findings_of(root)
        paths = [root / name for name in files]
        random.shuffle(paths)
        middle = random.randint(0, len(paths))
        parts = [part for part in (paths[:middle], paths[middle:]) if part]
        for part in parts:
            mine = [one for one in findings_of(root, *part) if not one.elsewhere]
            given_paths = set(map(str, part))
            assert mine == [one for one in whole if one.path in given_paths]
        assert findings_of(root, *paths) == whole


@SETTINGS
@given(trees())
def test_the_cache_and_a_buffer_make_no_difference(files: Tree) -> None:
    with written(files) as root, TemporaryDirectory() as cache:
        whole = findings_of(root)
        for _ in range(2):
            assert findings_of(root, cache=True, cache_dir=cache) == whole
        name = models_of(files)[0] if models_of(files) else min(files)
        path = str(root / name)
        saved = (root / name).read_bytes()
        (root / name).write_bytes(b"class Something:\n    x: List = 1\n")
        found = findings_of(root, Path(path), buffer=(path, saved), cache=True, cache_dir=cache)
        assert [one for one in found if not one.elsewhere] == [one for one in whole if one.path == path]


@SETTINGS
@given(trees())
def test_fixes_reach_a_state_without_what_they_fix(files: Tree) -> None:
    with written(files) as root:
        request = Request(paths=(str(root),), cache=False, pedantic=True)
        fixed = fix(request, unsafe=True, reported=lambda report: report)
        write(fixed.changes)
        again = fix(request, unsafe=True, reported=lambda report: report)
        assert again.changes == ()
        assert again.report.findings == fixed.report.findings
        untouched = {one.path for one in fixed.report.findings if one.code == "EGL901"}
        for name, data in files.items():
            if str(root / name) in untouched:
                assert (root / name).read_bytes() == data


def _with_comment(lines: list[bytes], one: Finding, comment: str) -> None:
    line = one.span.line - 1
    ending = lines[line][len(lines[line].rstrip(b"\r\n")) :]
    lines[line] = lines[line].rstrip(b"\r\n") + comment.encode() + ending


@pytest.mark.parametrize("comment", ["  # noqa: {}", "  # eagle3-lint: ignore[{}] because a test says so"])
@SETTINGS
@given(files=trees())
def test_suppressing_every_finding_leaves_none(comment: str, files: Tree) -> None:
    assume(all(b"\\\n" not in data and b'"""' not in data and b"#" not in data for data in files.values()))
    with written(files) as root:
        found = findings_of(root)
        assume(found and all(one.code not in ("EGL901", "EGL902") for one in found))
        by_line: dict[tuple[str, int], list[Finding]] = {}
        for one in found:
            by_line.setdefault((one.path, one.span.line), []).append(one)
        for (path, _), group in by_line.items():
            lines = Path(path).read_bytes().splitlines(keepends=True)
            _with_comment(lines, group[0], comment.format(",".join(sorted({one.code for one in group}))))
            Path(path).write_bytes(b"".join(lines))
        report = check(Request(paths=(str(root),), cache=False, pedantic=True))
        assert report.findings == ()
        assert report.suppressed == len(found)
