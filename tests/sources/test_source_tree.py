"""Where SGLang's sources lie: by directories alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from eagle3_lint.sources.tree import (
    SourceTree,
    find_tree_from,
    installed_tree,
    report_root,
    tree_at,
    tree_of_file,
    tree_of_spec,
)


def make(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that is itself called ``sglang``, as git clones it."""
    root = tmp_path / "sglang"
    make(root, "python/sglang/__init__.py", "python/sglang/srt/models/llama.py", "python/sglang/srt/server.py")
    make(root, "python/sglang/srt/models/deep/__init__.py", "python/sglang/srt/models/deep/inner.py")
    make(root, "docs/conf.py", "python/setup.py", "python/sglang/lang/ir.py")
    return root


@pytest.fixture
def tree(checkout: Path) -> SourceTree:
    found = tree_at(str(checkout / "python"))
    assert found is not None
    return found


class TestSourceTree:
    def test_directories(self, tree: SourceTree, checkout: Path) -> None:
        assert tree.root == str(checkout / "python")
        assert tree.package == str(checkout / "python/sglang")
        assert tree.models == str(checkout / "python/sglang/srt/models")

    @pytest.mark.parametrize("name", ["model_executor", "speculative"])
    def test_runtime(self, tree: SourceTree, name: str) -> None:
        assert not tree.has_runtime
        os.mkdir(os.path.join(tree.package, "srt", name))
        assert tree.has_runtime

    @pytest.mark.parametrize(
        ("path", "name"),
        [
            ("sglang/srt/models/llama.py", "sglang.srt.models.llama"),
            ("sglang/srt/models/deep/__init__.py", "sglang.srt.models.deep"),
            ("sglang/srt/models/deep/inner.py", "sglang.srt.models.deep.inner"),
            ("sglang/srt/models", "sglang.srt.models"),
            ("sglang/__init__.py", "sglang"),
            ("sglang/srt/models/a.b.py", None),
            ("sglang/x.y/a.py", None),
            ("setup.py", None),
            ("sglangother/a.py", None),
            ("../sglang/a.py", None),
        ],
    )
    def test_module_names(self, tree: SourceTree, path: str, name: str | None) -> None:
        assert tree.module_name(os.path.join(tree.root, path)) == name

    def test_module_name_below_the_root_of_the_file_system(self) -> None:
        assert SourceTree(os.sep).module_name(os.path.join(os.sep, "sglang", "a.py")) == "sglang.a"

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("sglang", "sglang/__init__.py"),
            ("sglang.srt", "sglang/srt"),
            ("sglang.srt.models", "sglang/srt/models"),
            ("sglang.srt.models.llama", "sglang/srt/models/llama.py"),
            ("sglang.srt.models.deep", "sglang/srt/models/deep/__init__.py"),
            ("sglang.srt.models.deep.inner", "sglang/srt/models/deep/inner.py"),
            ("sglang.srt.models.nope", None),
            ("sglang.srt.models.llama.x", None),
            ("setup", None),
            ("sglang..srt", None),
            ("sglang.srt/models", None),
            ("sglang.srt.models.llama\0", None),
            ("", None),
        ],
    )
    def test_modules(self, tree: SourceTree, name: str, path: str | None) -> None:
        assert tree.find_module(name) == (path and os.path.join(tree.root, path))

    def test_names_that_no_import_statement_can_spell(self, tree: SourceTree) -> None:
        make(Path(tree.models), "fast-transform/code.py")
        file = os.path.join(tree.models, "fast-transform", "code.py")
        assert tree.module_name(file) == "sglang.srt.models.fast-transform.code"
        assert tree.find_module("sglang.srt.models.fast-transform.code") == file

    def test_packages_come_first(self, tree: SourceTree) -> None:
        models = Path(tree.models)
        make(models, "both.py", "both/x.py")
        assert tree.find_module("sglang.srt.models.both") == str(models / "both.py")
        make(models, "both/__init__.py")
        assert tree.find_module("sglang.srt.models.both") == str(models / "both/__init__.py")

    def test_names_lead_back_to_their_files(self, tree: SourceTree) -> None:
        files = [os.path.join(d, n) for d, _, names in os.walk(tree.package) for n in names]
        assert len(files) == 6
        for file in files:
            name = tree.module_name(file)
            assert name is not None
            assert tree.find_module(name) == file


class TestFinding:
    @pytest.mark.parametrize("start", [".", "docs", "python", "python/sglang", "python/sglang/srt/models/deep"])
    def test_upwards_from_a_directory(self, tree: SourceTree, checkout: Path, start: str) -> None:
        assert find_tree_from(str(checkout / start)) == tree

    def test_a_checkout_comes_before_a_tree_beside_it(self, tree: SourceTree, checkout: Path) -> None:
        make(checkout, "sglang/srt/models/other.py")
        assert find_tree_from(str(checkout)) == tree

    def test_unpacked_wheel(self, tmp_path: Path) -> None:
        make(tmp_path, "sglang/srt/models/a.py", "sglang-0.5.9.dist-info/METADATA")
        assert find_tree_from(str(tmp_path)) == SourceTree(str(tmp_path))

    def test_nothing_above(self, tmp_path: Path) -> None:
        assert find_tree_from(str(tmp_path)) is None

    @pytest.mark.parametrize("name", ["python/sglang/srt/models/llama.py", "python/sglang/lang/new.py"])
    def test_of_a_file(self, tree: SourceTree, checkout: Path, name: str) -> None:
        assert tree_of_file(str(checkout / name)) == tree

    @pytest.mark.parametrize("name", ["docs/conf.py", "python/setup.py", "sglang.py"])
    def test_of_a_file_outside(self, tree: SourceTree, checkout: Path, name: str) -> None:
        assert tree_of_file(str(checkout / name)) is None

    def test_nearest_ancestor_wins(self, tree: SourceTree) -> None:
        inner = os.path.join(tree.models, "vendored")
        make(Path(inner), "sglang/srt/models/a.py")
        assert tree_of_file(os.path.join(inner, "sglang/srt/models/a.py")) == SourceTree(inner)

    @pytest.mark.parametrize("name", ["", "python", "python/sglang", "python/sglang/srt", "python/sglang/srt/models"])
    def test_by_what_a_user_names(self, tree: SourceTree, checkout: Path, name: str) -> None:
        assert tree_of_spec(str(checkout / name)) == tree

    def test_a_directory_beside_the_sources_does_not_name_them(self, tree: SourceTree, checkout: Path) -> None:
        assert tree_of_spec(str(checkout / "docs")) is None
        assert tree_of_spec(str(checkout / "python/sglang/nope")) is None


class TestInstalled:
    def test_on_the_search_path(self, tmp_path: Path) -> None:
        make(tmp_path, "site/sglang/srt/models/a.py")
        assert installed_tree([str(tmp_path / "nope"), str(tmp_path / "site")]) == SourceTree(str(tmp_path / "site"))

    def test_the_working_directory_is_not_installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make(tmp_path, "sglang/srt/models/a.py")
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "link").symlink_to(".")
        monkeypatch.chdir(tmp_path)
        assert installed_tree(["", ".", str(tmp_path), str(tmp_path / "link")]) is None
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert installed_tree([str(tmp_path)]) == SourceTree(str(tmp_path))

    @pytest.mark.parametrize("below", ["", "/python"])
    def test_editable(self, tmp_path: Path, below: str) -> None:
        make(tmp_path, "check out/python/sglang/srt/models/a.py", "site/sglang-0.5.9.dist-info/direct_url.json")
        url = (tmp_path / "check out").as_uri() + below
        record = tmp_path / "site/sglang-0.5.9.dist-info/direct_url.json"
        record.write_text(json.dumps({"url": url, "dir_info": {"editable": True}}))
        assert installed_tree([str(tmp_path / "site")]) == SourceTree(str(tmp_path / "check out/python"))

    @pytest.mark.parametrize(
        "content",
        [
            '{"url": "file://SOURCES", "dir_info": {}}',
            '{"url": "https://SOURCES", "dir_info": {"editable": true}}',
            '{"url": 1, "dir_info": {"editable": true}}',
            '{"url": "file://[", "dir_info": {"editable": true}}',
            '{"dir_info": {"editable": true}}',
            "[]",
            "{",
            "\udcff",
        ],
    )
    def test_other_records_of_an_installer(self, tmp_path: Path, content: str) -> None:
        make(tmp_path, "sources/sglang/srt/models/a.py", "site/sglang-0.5.9.dist-info/direct_url.json")
        record = tmp_path / "site/sglang-0.5.9.dist-info/direct_url.json"
        record.write_bytes(content.replace("SOURCES", str(tmp_path / "sources")).encode("utf-8", "surrogateescape"))
        assert installed_tree([str(tmp_path / "site")]) is None


class TestReportRoot:
    def test_all_below_one_source_root(self, tree: SourceTree) -> None:
        names = ["sglang/srt/models/llama.py", "sglang/lang/ir.py", "setup.py"]
        assert report_root([os.path.join(tree.root, name) for name in names]) == tree.root

    def test_one_outside(self, tree: SourceTree, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(checkout)
        files = [os.path.join(tree.models, "llama.py"), str(checkout / "docs/conf.py")]
        assert report_root(files) == os.getcwd()

    def test_two_roots(self, tree: SourceTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make(tmp_path, "other/sglang/srt/models/a.py")
        monkeypatch.chdir(tmp_path)
        files = [os.path.join(tree.models, "llama.py"), str(tmp_path / "other/sglang/srt/models/a.py")]
        assert report_root(files) == os.getcwd()

    def test_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert report_root([]) == os.getcwd()

    def test_package_without_models(self, tmp_path: Path) -> None:
        make(tmp_path, "a/sglang/__init__.py", "a/sglang/x.py", "b/sglang/srt/y.py")
        assert report_root([str(tmp_path / "a/sglang/x.py")]) == str(tmp_path / "a")
        assert report_root([str(tmp_path / "b/sglang/srt/y.py")]) == str(tmp_path / "b")
