"""The hooks under the real pre-commit, in a repository made here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = ["eagle3_lint", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"]
WRAPPERS = 12

WITHOUT_SETTER = """\
from torch import nn


class InnerForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.capture_aux_hidden_states = False
        self.model = nn.Module()


EntryClass = InnerForCausalLM
"""
SETTER = """\
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

"""
WITH_SETTER = WITHOUT_SETTER.replace("\n\nEntryClass", f"\n{SETTER}\nEntryClass")
WRAPPER = """\
from torch import nn

from sglang.srt.models.inner_lm import InnerForCausalLM


class Wrapper{number}(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = InnerForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.language_model(input_ids, positions, forward_batch)


EntryClass = Wrapper{number}
"""


@dataclass(frozen=True)
class Consumer:
    """A repository with model files that uses the hooks; ``home`` is where pre-commit keeps their environments."""

    root: Path
    home: Path

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.root / "python" / "sglang" / "srt" / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.git("add", ".")

    def run(self, hook: str, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", hook, "--color=never", "--verbose", *arguments],
            cwd=self.root,
            env={**os.environ, "PRE_COMMIT_HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    """This project, as the repository that the hooks come from."""
    root = tmp_path_factory.mktemp("hooks")
    for name in PROJECT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    repository = Consumer(root, tmp_path_factory.mktemp("home"))
    repository.git("init", "--quiet")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message=hooks")
    return repository


@pytest.fixture
def consumer(hooks: Consumer, tmp_path: Path) -> Consumer:
    """A repository whose wrappers are right, as long as their inner model has no setter."""
    consumer = Consumer(tmp_path, hooks.home)
    consumer.git("init", "--quiet")
    configuration = f"""\
repos:
- repo: {hooks.root.as_uri()}
  rev: {hooks.git("rev-parse", "HEAD")}
  hooks:
  - id: eagle3-lint
  - id: eagle3-lint-fix
  - id: eagle3-lint-pylint
"""
    (tmp_path / ".pre-commit-config.yaml").write_text(configuration, encoding="utf-8")
    consumer.write("inner_lm.py", WITHOUT_SETTER)
    for number in range(WRAPPERS):
        consumer.write(f"wrapper_{number}.py", WRAPPER.format(number=number))
    consumer.git("commit", "--quiet", "--message=models")
    return consumer


def reported(output: str, code: str) -> Counter[str]:
    """How often each file is named with ``code``."""
    return Counter(re.findall(rf"(\w+\.py):\d+:\d+: (?:error )?{code}", output))


EACH_ONCE = Counter(f"wrapper_{number}.py" for number in range(WRAPPERS))


def test_a_clean_repository_passes(consumer: Consumer) -> None:
    for hook in ("eagle3-lint", "eagle3-lint-pylint"):
        status, output = consumer.run(hook, "--all-files")
        assert status == 0, output
        assert "Passed" in output


def test_a_commit_of_the_inner_model_alone_shows_each_wrapper_once(consumer: Consumer) -> None:
    consumer.write("inner_lm.py", WITH_SETTER)
    status, output = consumer.run("eagle3-lint")
    assert status == 1, output
    assert reported(output, "EGL101") == EACH_ONCE


def test_all_files_show_each_wrapper_once(consumer: Consumer) -> None:
    consumer.write("inner_lm.py", WITH_SETTER)
    status, output = consumer.run("eagle3-lint", "--all-files")
    assert status == 1, output
    assert reported(output, "EGL101") == EACH_ONCE


def test_the_pylint_hook_shows_the_given_files(consumer: Consumer) -> None:
    consumer.write("inner_lm.py", WITH_SETTER)
    consumer.git("commit", "--quiet", "--message=setter")
    consumer.write("wrapper_3.py", WRAPPER.format(number=3) + "\n# touched\n")
    status, output = consumer.run("eagle3-lint-pylint")
    assert status == 1, output
    assert reported(output, "E7311") == Counter(["wrapper_3.py"])


def test_a_commit_without_python_files_runs_nothing(consumer: Consumer) -> None:
    (consumer.root / "notes.txt").write_text("nothing\n", encoding="utf-8")
    consumer.git("add", ".")
    status, output = consumer.run("eagle3-lint")
    assert status == 0, output
    assert "Skipped" in output


def test_the_fixing_hook_changes_the_files_of_the_commit_alone(consumer: Consumer) -> None:
    consumer.write("inner_lm.py", WITH_SETTER)
    consumer.write("wrapper_0.py", WRAPPER.format(number=0) + "\n")
    code, output = consumer.run("eagle3-lint-fix")
    assert code == 1
    assert reported(output, "EGL101") == Counter(f"wrapper_{number}.py" for number in range(1, WRAPPERS))
    assert consumer.git("diff", "--name-only").splitlines() == ["python/sglang/srt/models/wrapper_0.py"]
    consumer.git("add", ".")
    code, output = consumer.run("eagle3-lint", "--all-files")
    assert reported(output, "EGL101") == Counter(f"wrapper_{number}.py" for number in range(1, WRAPPERS))
    assert consumer.run("eagle3-lint-fix", "--all-files")[0] == 1
    assert reported(consumer.run("eagle3-lint", "--all-files")[1], "EGL101") == Counter()
