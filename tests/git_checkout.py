"""Git repositories made by tests: a small checkout of models, commits, and what ``check`` reports about it."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle3_lint.frontends.cli.dispatch import dispatch

MODELS = "python/sglang/srt/models"
SETTER = """\
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

"""
DELEGATION = """\
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()

"""
_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.com",
    "GIT_COMMITTER_NAME": "Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def inner(name: str, methods: str = "") -> str:
    """A language model, with ``methods`` before its forward."""
    return (
        "from torch import nn\n\n\n"
        f"class {name}(nn.Module):\n"
        "    def __init__(self, config):\n"
        "        super().__init__()\n"
        "        self.model = nn.Module()\n"
        "        self.lm_head = nn.Linear(1, 1)\n"
        "        self.capture_aux_hidden_states = False\n\n"
        f"{methods}"
        "    def forward(self, input_ids, positions, forward_batch):\n"
        "        return self.model(input_ids, positions, forward_batch)\n\n\n"
        f"EntryClass = {name}\n"
    )


def wrapper(name: str, inner_name: str, module: str, methods: str = "") -> str:
    """A multimodal wrapper around ``inner_name`` of ``module``."""
    return (
        "from torch import nn\n\n"
        f"from {module} import {inner_name}\n\n\n"
        f"class {name}(nn.Module):\n"
        "    def __init__(self, config):\n"
        "        super().__init__()\n"
        f"        self.language_model = {inner_name}(config.text_config)\n\n"
        f"{methods}"
        "    def pad_input_ids(self, input_ids, mm_inputs):\n"
        "        return input_ids\n\n"
        "    def forward(self, input_ids, positions, forward_batch):\n"
        "        return self.language_model(input_ids, positions, forward_batch)\n\n\n"
        f"EntryClass = {name}\n"
    )


def typed(name: str = "List", function: str = "first") -> str:
    """A function with a default value that nobody imported; no annotation, of which Python 3.14 evaluates none."""
    return textwrap.dedent(
        f"""\
        def {function}(values=({name}[int])) -> int:
            return values[0]
        """
    )


@dataclass(frozen=True)
class Found:
    """One reported finding: what it is, where, and whether its file was given."""

    code: str
    path: str
    elsewhere: bool


@dataclass(frozen=True)
class GitCheckout:
    """A repository with a working tree at ``root``."""

    root: Path

    def git(self, *arguments: str) -> str:
        """Run git here; its standard output."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ("git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments),
            cwd=self.root,
            env={**environment, **_ENVIRONMENT},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    @classmethod
    def create(cls, root: Path) -> GitCheckout:
        """A new repository, without a commit."""
        root.mkdir(parents=True, exist_ok=True)
        made = cls(root)
        made.git("init", "-q")
        return made

    def write(self, path: str, text: str) -> Path:
        """Write one file, in models unless the path has a directory."""
        target = self.root / path if "/" in path else self.root / MODELS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def commit(self, message: str = "change") -> str:
        """Commit everything; the commit's name."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def state(self) -> tuple[str, bytes, dict[str, tuple[int, int]]]:
        """What must not change when the repository is only looked at: status, index, and every file's time and size."""
        index = self.root / ".git" / "index"
        stamp = {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in sorted(self.root.rglob("*"))
            if not path.is_dir()
        }
        status = self.git("--no-optional-locks", "status", "--porcelain")
        return status, index.read_bytes() if index.exists() else b"", stamp

    def document(self, *arguments: str, code: int | None = None) -> Any:
        """The JSON of ``check`` with ``arguments``."""
        target = self.root.parent / "report.json"
        returned = dispatch(["check", *arguments, "--format", "json", "--output", str(target)])
        assert code is None or returned == code
        assert returned in (0, 1)
        return json.loads(target.read_text(encoding="utf-8"))

    def found(self, *arguments: str) -> list[Found]:
        """The findings of ``check`` with ``arguments``; the exit code agrees with them."""
        document = self.document(*arguments)
        found = [Found(one["code"], one["path"], one["elsewhere"]) for one in document["findings"]]
        self.document(*arguments, code=1 if found else 0)
        return found
