"""``check --since``: what the working tree has and a revision has not, in real repositories."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from git_checkout import DELEGATION, MODELS, SETTER, Found, GitCheckout, inner, typed, wrapper

from eagle3_lint.frontends.cli.dispatch import dispatch

INNER_MODULE = "sglang.srt.models.inner_lm"
INNER = "InnerForCausalLM"
WRAPPER = "sglang/srt/models/wrapper_vl.py"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE3_LINT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitCheckout:
    """Committed: a language model without the setter, its wrapper, another wrapper with an old fault, a typing fault."""
    made = GitCheckout.create(tmp_path / "checkout")
    made.write("inner_lm.py", inner(INNER))
    made.write("wrapper_vl.py", wrapper("WrapperForConditionalGeneration", INNER, INNER_MODULE))
    made.write("old_lm.py", inner("OldForCausalLM", SETTER))
    made.write("old_vl.py", wrapper("OldForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.old_lm"))
    made.write("typed.py", typed())
    made.commit("start")
    monkeypatch.chdir(made.root)
    return made


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that ``check`` says when it can't do what is asked."""
    capsys.readouterr()
    assert dispatch(["check", *arguments]) == 2
    out, line = capsys.readouterr()
    assert out == ""
    assert line.startswith("eagle3-lint: error: ")
    assert line.count("\n") == 1
    return line


def test_nothing_changed(checkout: GitCheckout) -> None:
    assert len(checkout.found()) >= 2
    assert checkout.found("--since", "HEAD") == []


def test_a_setter_makes_an_untouched_wrapper_wrong(checkout: GitCheckout) -> None:
    changed = checkout.write("inner_lm.py", inner(INNER, SETTER))
    assert checkout.found("--since", "HEAD", "--select", "EGL101") == [Found("EGL101", WRAPPER, False)]
    assert checkout.found("--since", "HEAD", "--select", "EGL101", str(changed)) == [Found("EGL101", WRAPPER, True)]
    checkout.commit()
    assert checkout.found("--since", "HEAD~1", "--select", "EGL101") == [Found("EGL101", WRAPPER, False)]
    assert checkout.found("--since", "HEAD") == []


def test_both_trees_are_linted_whole(checkout: GitCheckout) -> None:
    """A change outside the given files counts as well."""
    given = checkout.root / MODELS / "old_lm.py"
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.write("more.py", typed("Dict"))
    found = checkout.found("--since", "HEAD", "--select", "EGL101,EGL301", str(given))
    assert found == [Found("EGL301", "sglang/srt/models/more.py", True), Found("EGL101", WRAPPER, True)]


def test_what_moves_in_its_file_is_not_new(checkout: GitCheckout) -> None:
    for name in ("old_vl.py", "typed.py"):
        path = checkout.root / MODELS / name
        path.write_text("# a line\n" * 40 + path.read_text())
    assert checkout.found("--since", "HEAD") == []


def test_the_second_of_equal_findings_is_new(checkout: GitCheckout) -> None:
    path = checkout.root / MODELS / "typed.py"
    path.write_text(path.read_text() + "\n\n" + path.read_text())
    (found,) = checkout.document("--since", "HEAD")["findings"]
    assert (found["code"], found["line"]) == ("EGL301", 5)
    everything = checkout.document("--select", "EGL301")["findings"]
    assert [one["fingerprint"] for one in everything if one["line"] == 5] == [found["fingerprint"]]


def test_a_fix_yields_nothing(checkout: GitCheckout) -> None:
    checkout.write(
        "old_vl.py",
        wrapper("OldForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.old_lm", DELEGATION),
    )
    assert checkout.found("--since", "HEAD") == []


def test_a_comment_that_is_taken_out(checkout: GitCheckout) -> None:
    plain = (checkout.root / MODELS / "typed.py").read_text()
    checkout.write("typed.py", plain.replace(":\n", ":  # noqa: EGL301\n"))
    checkout.commit()
    assert checkout.found("--since", "HEAD") == []
    checkout.write("typed.py", plain)
    assert checkout.found("--since", "HEAD") == [Found("EGL301", "sglang/srt/models/typed.py", False)]


@pytest.mark.parametrize("stage", [True, False])
def test_renamed_files(checkout: GitCheckout, stage: bool) -> None:
    models = checkout.root / MODELS
    for old, new in (
        ("typed.py", "renamed_typed.py"),
        ("old_vl.py", "deep/renamed_vl.py"),
        ("old_lm.py", "moved_lm.py"),
    ):
        (models / new).parent.mkdir(exist_ok=True)
        (models / old).rename(models / new)
    (models / "deep" / "renamed_vl.py").write_text(
        wrapper("OldForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.moved_lm")
    )
    checkout.write(
        "uses.py", "from sglang.srt.models.deep.renamed_vl import OldForConditionalGeneration as EntryClass\n"
    )
    if stage:
        checkout.git("add", "-A")
    assert len(checkout.found()) >= 2
    assert checkout.found("--since", "HEAD") == []


def test_a_renamed_file_with_a_new_fault(checkout: GitCheckout) -> None:
    models = checkout.root / MODELS
    (models / "old_lm.py").rename(models / "new_lm.py")
    with (models / "new_lm.py").open("a") as file:
        file.write("\n" + typed("Dict"))
    checkout.write("old_vl.py", wrapper("OldForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.new_lm"))
    assert checkout.found("--since", "HEAD") == [Found("EGL301", "sglang/srt/models/new_lm.py", False)]


def test_a_directory_is_renamed(checkout: GitCheckout) -> None:
    checkout.git("mv", "python", "src")
    found = checkout.found("--since", "HEAD", str(checkout.root / "src"))
    assert found == []


def test_a_class_that_moves_to_another_file(checkout: GitCheckout) -> None:
    models = checkout.root / MODELS
    text = (models / "old_vl.py").read_text()
    checkout.write("inner_lm.py", inner(INNER) + "\n\n" + text.replace("EntryClass", "Other"))
    checkout.write("old_vl.py", "from sglang.srt.models.inner_lm import OldForConditionalGeneration as EntryClass\n")
    assert [one.path for one in checkout.found("--select", "EGL101")] == ["sglang/srt/models/inner_lm.py"]
    assert checkout.found("--since", "HEAD") == []


def test_a_class_that_is_only_called_the_same_is_new(checkout: GitCheckout) -> None:
    """One wrapper is mended, another of the same name gets the fault: neither moved."""
    copy = wrapper("OldForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.old_lm", DELEGATION)
    checkout.write("second_vl.py", copy)
    checkout.commit()
    shutil.copyfile(checkout.root / MODELS / "old_vl.py", checkout.root / "kept.py")
    checkout.write("old_vl.py", copy)
    (checkout.root / "kept.py").rename(checkout.root / MODELS / "second_vl.py")
    assert checkout.found("--since", "HEAD") == [Found("EGL101", "sglang/srt/models/second_vl.py", False)]


def test_deleted_files(checkout: GitCheckout) -> None:
    gone = checkout.root / MODELS / "typed.py"
    gone.unlink()
    (checkout.root / MODELS / "old_vl.py").unlink()
    assert checkout.found("--since", "HEAD") == []
    assert checkout.found("--since", "HEAD", str(gone)) == []


def test_a_deletion_breaks_something_elsewhere(checkout: GitCheckout) -> None:
    """The delegating base class is deleted, and the wrapper is left without."""
    base = wrapper("BaseForConditionalGeneration", "OldForCausalLM", "sglang.srt.models.old_lm", DELEGATION)
    checkout.write("base_vl.py", base)
    checkout.commit()
    checkout.write("base_vl.py", base.replace(DELEGATION, ""))
    assert [one.path for one in checkout.found("--since", "HEAD")] == ["sglang/srt/models/base_vl.py"]


def test_unknown_paths(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    assert "here or at HEAD" in error(capsys, "--since", "HEAD", "nowhere.py")
    assert "no such file" in error(capsys, "--since", "HEAD", "")


@pytest.mark.parametrize("revision", ["nope", "", "-n", "--output=x", "HEAD\n", "HEAD:python", "HEAD~9", "ä" * 300])
def test_unknown_revisions(checkout: GitCheckout, capsys: pytest.CaptureFixture[str], revision: str) -> None:
    assert "no commit" in error(capsys, f"--since={revision}")
    assert not (checkout.root / "x").exists()


def test_revisions_of_every_kind(checkout: GitCheckout) -> None:
    first = checkout.git("rev-parse", "HEAD")
    checkout.git("tag", "-a", "v1", "-m", "one")
    checkout.git("branch", "typed.py")
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.commit("the setter")
    expected = [Found("EGL101", WRAPPER, False)]
    for revision in (first, first[:8], "v1", "typed.py", "HEAD^", "@~1", "main@{1}", ":/start", "refs/tags/v1"):
        assert checkout.found("--since", revision, "--select", "EGL101") == expected


def test_ranges(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    """``A...B`` compares with where both histories part: what A gained since is not held against B."""
    checkout.git("branch", "topic")
    checkout.write("typed.py", "")
    checkout.commit("mended on main")
    checkout.git("checkout", "-q", "topic")
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.commit("the setter")
    mine = Found("EGL101", WRAPPER, False)
    theirs = Found("EGL301", "sglang/srt/models/typed.py", False)
    chosen = ("--select", "EGL101,EGL301")
    assert checkout.found("--since", "main", *chosen) == [theirs, mine]
    assert checkout.found("--since", "main..HEAD", *chosen) == [theirs, mine]
    for revision in ("main...HEAD", "main...topic", "main..."):
        assert checkout.found("--since", revision, *chosen) == [mine]
    assert "isn't checked out" in error(capsys, "--since", "topic...main")
    assert "no commit 'nope'" in error(capsys, "--since", "nope...HEAD")


def test_unrelated_histories(checkout: GitCheckout) -> None:
    checkout.git("checkout", "-q", "--orphan", "other")
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.commit("another start")
    expected = [Found("EGL101", WRAPPER, False)]
    assert checkout.found("--since", "main", "--select", "EGL101") == expected
    assert checkout.found("--since", "main...HEAD", "--select", "EGL101") == expected


def test_a_history_without_the_tree(checkout: GitCheckout) -> None:
    everything = checkout.found()
    checkout.git("checkout", "-q", "--orphan", "empty")
    checkout.git("rm", "-rq", "--cached", ".")
    checkout.git("commit", "-q", "--allow-empty", "-m", "nothing")
    assert checkout.found("--since", "HEAD") == everything


def test_a_shallow_clone(checkout: GitCheckout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.commit("the setter")
    clone = GitCheckout(tmp_path / "shallow")
    checkout.git("clone", "-q", "--depth=1", checkout.root.as_uri(), str(clone.root))
    os.chdir(clone.root)
    assert "shallow clone" in error(capsys, "--since", "HEAD~1")
    clone.git("fetch", "-q", "--depth=2")
    assert clone.found("--since", "HEAD~1", "--select", "EGL101") == [Found("EGL101", WRAPPER, False)]


def test_a_partial_clone_fetches_nothing(
    checkout: GitCheckout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.git("config", "uploadpack.allowFilter", "true")
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    checkout.commit("the setter")
    clone = GitCheckout(tmp_path / "partial")
    checkout.git("clone", "-q", "--filter=blob:none", checkout.root.as_uri(), str(clone.root))
    os.chdir(clone.root)
    assert "isn't in this clone" in error(capsys, "--since", "HEAD~1")
    assert clone.found("--since", "HEAD") == []


def test_a_sparse_checkout(checkout: GitCheckout, tmp_path: Path) -> None:
    """What is left out of the working tree is not deleted, and its content, which isn't here, not asked for."""
    checkout.git("config", "uploadpack.allowFilter", "true")
    for number in range(3):
        checkout.write(f"tests/test_{number}.py", typed("List", f"function_{number}"))
    checkout.commit()
    clone = GitCheckout(tmp_path / "sparse")
    checkout.git("clone", "-q", "--filter=blob:none", "--sparse", checkout.root.as_uri(), str(clone.root))
    clone.git("sparse-checkout", "set", "python")
    os.chdir(clone.root)
    clone.write("copied.py", typed("List", "function_1"))
    assert not (clone.root / "tests").exists()
    assert clone.found("--since", "HEAD") == [Found("EGL301", "sglang/srt/models/copied.py", False)]


def test_a_failing_rule_is_told(checkout: GitCheckout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure on the revision alone must not make its findings new in silence."""
    from eagle3_lint.rules import egl301_unimported_typing_name as rule

    plain = rule.check

    def failing(context: Any) -> Any:
        if "function_of_old" in context.source.text:
            raise RuntimeError("no")
        return plain(context)

    checkout.write("typed.py", typed("List", "function_of_old"))
    checkout.commit()
    checkout.write("typed.py", typed("List", "function_of_new"))
    monkeypatch.setattr(rule, "RULE", replace(rule.RULE, check_module=failing))
    assert dispatch(["check", "--since", "HEAD", "-q"]) == 2


def test_what_is_not_new_is_counted(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    every = len(checkout.found())
    capsys.readouterr()
    assert dispatch(["check", "--since", "HEAD", "-v"]) == 0
    assert f"{every} findings aren't new since HEAD" in capsys.readouterr().err


def test_a_worktree(checkout: GitCheckout, tmp_path: Path) -> None:
    other = GitCheckout(tmp_path / "worktree")
    checkout.git("worktree", "add", "-q", str(other.root), "-b", "topic")
    other.write("inner_lm.py", inner(INNER, SETTER))
    os.chdir(other.root)
    assert other.found("--since", "main", "--select", "EGL101") == [Found("EGL101", WRAPPER, False)]


def test_the_tree_in_a_submodule(checkout: GitCheckout, tmp_path: Path) -> None:
    outer = GitCheckout.create(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", checkout.root.as_uri(), "vendor/engine")
    outer.commit("vendored")
    inside = GitCheckout(outer.root / "vendor" / "engine")
    inside.write("inner_lm.py", inner(INNER, SETTER))
    found = inside.found("--since", "HEAD", "--select", "EGL101", str(outer.root / "vendor" / "engine"))
    assert found == [Found("EGL101", WRAPPER, False)]


def test_a_submodule_in_the_tree(checkout: GitCheckout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = GitCheckout.create(tmp_path / "extra")
    extra.write("./more.py", typed("Dict", "one"))
    extra.commit("more models")
    checkout.git("submodule", "--quiet", "add", extra.root.as_uri(), f"{MODELS}/extra")
    checkout.commit("with a submodule")
    assert checkout.found("--since", "HEAD") == []
    nested = GitCheckout(checkout.root / MODELS / "extra")
    with (nested.root / "more.py").open("a") as file:
        file.write(typed("Set", "two"))
    assert checkout.found("--since", "HEAD") == [Found("EGL301", "sglang/srt/models/extra/more.py", False)]
    checkout.git("update-index", "--cacheinfo", f"160000,{'1' * 40},{MODELS}/extra")
    checkout.git("commit", "-q", "-m", "a commit that nobody has")
    assert "submodule" in error(capsys, "--since", "HEAD")


def test_no_repository(tmp_path: Path, checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(checkout.root / "python", tmp_path / "plain" / "python")
    os.chdir(tmp_path / "plain")
    assert "not in a git repository" in error(capsys, "--since", "HEAD")


def test_no_commit_yet(checkout: GitCheckout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(checkout.root / ".git")
    GitCheckout.create(checkout.root)
    assert "no commit 'HEAD'" in error(capsys, "--since", "HEAD")


def test_a_damaged_repository(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout.root / ".git" / "HEAD").write_text("nonsense")
    assert "git" in error(capsys, "--since", "HEAD")


def test_no_git(checkout: GitCheckout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    planted = checkout.root / "git"
    planted.write_text("#!/bin/sh\ntouch planted\n")
    planted.chmod(0o755)
    for path in ("", ".", f".{os.pathsep}{checkout.root / 'nowhere'}"):
        monkeypatch.setenv("PATH", path)
        assert "needs git" in error(capsys, "--since", "HEAD")
    assert not (checkout.root / "planted").exists()


def test_the_variables_of_a_hook(checkout: GitCheckout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = GitCheckout.create(tmp_path / "other")
    other.commit()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    assert checkout.found("--since", "HEAD") == []


def test_nothing_is_touched_and_nothing_configured_runs(checkout: GitCheckout, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    hooks = checkout.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(trap, hooks / hook)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "alias.rev-parse",
        "alias.ls-tree",
        "interactive.diffFilter",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "credential.helper",
    ):
        checkout.git("config", key, str(trap))
    (checkout.root / ".git" / "info" / "attributes").write_text("*.py filter=trap diff=trap\n")
    checkout.git("config", "diff.renames", "false")
    (checkout.root / MODELS / "typed.py").rename(checkout.root / MODELS / "typing_fault.py")
    (checkout.root / MODELS / "inner_lm.py").write_text(inner(INNER, SETTER))
    files = {path: path.read_bytes() for path in sorted(checkout.root.rglob("*")) if path.is_file()}
    times = {path: path.stat().st_mtime_ns for path in sorted(checkout.root.rglob("*"))}
    assert checkout.found("--since", "HEAD", "--select", "EGL101,EGL301") == [Found("EGL101", WRAPPER, False)]
    assert not ran.exists()
    assert {path: path.read_bytes() for path in sorted(checkout.root.rglob("*")) if path.is_file()} == files
    assert {path: path.stat().st_mtime_ns for path in sorted(checkout.root.rglob("*"))} == times


def test_with_a_baseline(checkout: GitCheckout, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    checkout.write("more.py", typed("Dict"))
    assert dispatch(["check", "--write-baseline", str(baseline), "--since", "HEAD", "-q"]) == 0
    every = len(checkout.found())
    assert baseline.read_text().count('"fingerprint"') == every
    assert checkout.found("--since", "HEAD", "--baseline", str(baseline)) == []
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    (checkout.root / MODELS / "more.py").unlink()
    document = checkout.document("--since", "HEAD", "--baseline", str(baseline), "--select", "EGL101,EGL301")
    assert [one["code"] for one in document["findings"]] == ["EGL101"]
    assert [one["path"] for one in document["unused_baseline"]] == ["sglang/srt/models/more.py"]


def test_fixes_what_is_new_alone(checkout: GitCheckout) -> None:
    before = (checkout.root / MODELS / "typed.py").read_text()
    changed = checkout.write("more.py", typed("Dict"))
    document = checkout.document("--since", "HEAD", "--fix", "--select", "EGL301")
    assert document["findings"] == []
    assert document["summary"]["fixed"] == 1
    assert "import Dict" in changed.read_text()
    assert (checkout.root / MODELS / "typed.py").read_text() == before


def test_the_runtime_of_the_revision_counts(checkout: GitCheckout) -> None:
    """A runtime that starts to call without argument makes a model's setter wrong."""
    runtime = "python/sglang/srt/model_executor/model_runner.py"
    call = (
        "class ModelRunner:\n"
        "    def __init__(self, eagle_aux_hidden_state_layer_ids):\n"
        "        self.model = self.load()\n"
        "        self.model.set_eagle3_layers_to_capture({})\n"
    )
    checkout.write(runtime, call.format("eagle_aux_hidden_state_layer_ids"))
    checkout.write("old_lm.py", inner("OldForCausalLM", SETTER.replace("=None", "")))
    checkout.commit()
    assert checkout.found("--since", "HEAD") == []
    checkout.write(runtime, call.format(""))
    assert [one.code for one in checkout.found("--since", "HEAD")] == ["EGL105"]


def test_a_package_of_models_outside_any_tree(tmp_path: Path, checkout: GitCheckout) -> None:
    plugin = GitCheckout.create(tmp_path / "plugin")
    plugin.write("models/__init__.py", "")
    plugin.write("models/mine_lm.py", inner("MineForCausalLM"))
    plugin.write("models/mine_vl.py", wrapper("MineForConditionalGeneration", "MineForCausalLM", "models.mine_lm"))
    plugin.commit()
    os.chdir(plugin.root)
    options = ("--since", "HEAD", "--sglang", str(checkout.root), "--select", "EGL101")
    assert plugin.found(*options, ".") == []
    changed = plugin.write("models/mine_lm.py", inner("MineForCausalLM", SETTER))
    assert plugin.found(*options, ".") == [Found("EGL101", "models/mine_vl.py", False)]
    assert plugin.found(*options, str(changed)) == [Found("EGL101", "models/mine_vl.py", True)]
    plugin.git("mv", "models", "renamed")
    (plugin.root / "renamed" / "mine_vl.py").write_text(
        wrapper("MineForConditionalGeneration", "MineForCausalLM", "renamed.mine_lm")
    )
    assert plugin.found(*options, "renamed") == [Found("EGL101", "renamed/mine_vl.py", False)]
    plugin.commit()
    assert plugin.found(*options, "renamed") == []


def test_loose_files_beside_a_vendored_tree(checkout: GitCheckout) -> None:
    """Models outside the tree build on the tree of the same revision."""
    checkout.write("plugins/mine_vl.py", wrapper("Mine", INNER, INNER_MODULE))
    checkout.commit()
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    found = checkout.found("--since", "HEAD", "--select", "EGL101", "plugins")
    assert found == [Found("EGL101", "plugins/mine_vl.py", False)]


def test_links(checkout: GitCheckout, tmp_path: Path) -> None:
    models = checkout.root / MODELS
    (models / "alias.py").symlink_to("typed.py")
    (models / "dangling.py").symlink_to("nowhere.py")
    outside = tmp_path / "outside.py"
    outside.write_text(typed("Set"))
    (models / "outside.py").symlink_to(outside)
    (models / "relative.py").symlink_to("../../../../../outside.py")
    checkout.commit()
    assert len(checkout.found("--select", "EGL301,EGL901")) == 5
    assert checkout.found("--since", "HEAD") == []


def test_through_a_link(checkout: GitCheckout, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(checkout.root, target_is_directory=True)
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    found = checkout.found("--since", "HEAD", "--select", "EGL101", str(link / MODELS))
    assert found == [Found("EGL101", WRAPPER, False)]


def test_unusual_names(checkout: GitCheckout) -> None:
    for number, name in enumerate(("mit leer.py", "umlaut_ä.py", 'quote".py', "tab\t.py", "new\nline.py", "-x.py")):
        checkout.write(name, typed("List", f"function_{number}"))
    checkout.commit()
    assert checkout.found("--since", "HEAD") == []
    (checkout.root / MODELS / "new\nline.py").rename(checkout.root / MODELS / "neu\n.py")
    assert checkout.found("--since", "HEAD") == []


def test_a_hostile_tree_writes_nothing_outside(checkout: GitCheckout, tmp_path: Path) -> None:
    """Names that git itself would never make: an entry that climbs out of its directory, far above the snapshot."""

    def tree(mode: str, name: str, child: str) -> str:
        made = tmp_path / "tree"
        made.write_bytes(f"{mode} {name}\0".encode() + bytes.fromhex(child))
        return checkout.git("hash-object", "-t", "tree", "-w", "--literally", str(made))

    blob = checkout.git("hash-object", "-w", str(checkout.root / MODELS / "typed.py"))
    child = tree("100644", "escaped.py", blob)
    for name in (*[".."] * 9, *reversed(MODELS.split("/"))):
        child = tree("40000", name, child)
    commit = checkout.git("commit-tree", child, "-m", "hostile")
    assert "../../escaped.py" in checkout.git("ls-tree", "-r", "--name-only", commit)
    assert checkout.found("--since", commit) == checkout.found()
    assert [path for path in tmp_path.rglob("*") if path.name == "escaped.py"] == []


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_the_cache_holds_what_it_may(
    checkout: GitCheckout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    for _ in range(2):
        assert checkout.found("--since", "HEAD", "--select", "EGL101", *options) == [Found("EGL101", WRAPPER, False)]
    assert list(temporary.iterdir()) == []
    revisions = tmp_path / "cache" / "revisions"
    assert len(list(revisions.iterdir()) if revisions.exists() else []) == (0 if options else 1)


def test_a_damaged_snapshot_is_made_again(checkout: GitCheckout, tmp_path: Path) -> None:
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    expected = checkout.found("--since", "HEAD")
    (snapshot,) = (tmp_path / "cache" / "revisions").iterdir()
    for path in snapshot.rglob("*.py"):
        path.unlink()
    assert checkout.found("--since", "HEAD") == expected
    assert len(list(snapshot.rglob("*.py"))) == 5


def test_old_snapshots_go(checkout: GitCheckout, tmp_path: Path) -> None:
    revisions = tmp_path / "cache" / "revisions"
    for number in range(12):
        checkout.write("typed.py", typed("List", f"function_{number}"))
        checkout.commit()
        checkout.found("--since", "HEAD", "--select", "EGL301")
        for path in revisions.iterdir():
            os.utime(path, (number, number))
    assert len(list(revisions.iterdir())) == 8


@pytest.mark.parametrize("prepare", [lambda path: path.write_text(""), lambda path: path.mkdir(mode=0o500)])
def test_a_cache_that_cannot_be_written(
    checkout: GitCheckout, tmp_path: Path, prepare: Callable[[Path], object]
) -> None:
    prepare(tmp_path / "cache")
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    assert checkout.found("--since", "HEAD", "--select", "EGL101") == [Found("EGL101", WRAPPER, False)]


def test_no_python_file(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout.root / "docs").mkdir()
    assert dispatch(["check", "--since", "HEAD", "docs"]) == 3


def test_standard_input(checkout: GitCheckout, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    class Stream:
        buffer = io.BytesIO()

    path = checkout.root / MODELS / "inner_lm.py"
    for text, expected in ((inner(INNER, SETTER), [Found("EGL101", WRAPPER, True)]), (inner(INNER), [])):
        Stream.buffer = io.BytesIO(text.encode())
        monkeypatch.setattr("sys.stdin", Stream)
        options = ("--since", "HEAD", "--select", "EGL101", "--stdin-filename", str(path), "-")
        found = checkout.document(*options)["findings"]
        assert [Found(one["code"], one["path"], one["elsewhere"]) for one in found] == expected


def test_from_the_configuration(checkout: GitCheckout) -> None:
    checkout.write("./pyproject.toml", '[tool.eagle3-lint]\nsince = "HEAD"\n')
    assert checkout.found() == []


def test_the_machine_formats_say_what_is_new(checkout: GitCheckout, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.write("inner_lm.py", inner(INNER, SETTER))
    capsys.readouterr()
    assert dispatch(["check", "--since", "HEAD", "--select", "EGL101", "--format", "github"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert f"file=python/{WRAPPER}" in lines[0]
