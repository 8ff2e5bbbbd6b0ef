"""astroid as a resolver: it runs nothing, leaves pylint's astroid alone, and answers where the index can't."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from astroid import MANAGER
from astroid import context as inference_context
from astroid.builder import AstroidBuilder
from astroid.manager import AstroidManager

from eagle3_lint.engine.workspace import Workspace
from eagle3_lint.project.capture import Capture, capture_of
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.project import Project
from eagle3_lint.project.resolver import ENGINES
from eagle3_lint.sources.tree import SourceTree

REPOSITORY = Path(__file__).parents[2]

TEXT = """\
from torch import nn


class TextForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.model.layers_to_capture = layer_ids

    def forward(self, input_ids):
        return self.model(input_ids)


class PlainForCausalLM(nn.Module):
    def forward(self, input_ids):
        return input_ids


EntryClass = [TextForCausalLM, PlainForCausalLM]
"""

FACTORY = """\
from sglang.srt.models.text import PlainForCausalLM, TextForCausalLM


def pick(config):
    if config.plain:
        return PlainForCausalLM
    return TextForCausalLM


def plain(config):
    return PlainForCausalLM(config)


def text(config):
    return TextForCausalLM(config)
"""

WRAPPER = """\
from torch import nn

{head}


class Wrapper(nn.Module):
    def __init__(self, config):
        super().__init__()
        {body}

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids):
        return self.language_model(input_ids)


EntryClass = Wrapper
"""

FROM_FACTORY = "from sglang.srt.utils.factory import pick, plain, text"
FROM_TEXT = "from sglang.srt.models.text import PlainForCausalLM, TextForCausalLM"


def write(root: Path, files: dict[str, str]) -> SourceTree:
    """A tree with ``files`` by path below ``sglang/srt``."""
    for name, text in files.items():
        path = root / "sglang" / "srt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return SourceTree(str(root))


def wrapper_tree(root: Path, head: str, body: str) -> SourceTree:
    """A tree with a multimodal wrapper of which ``body`` builds the inner model."""
    return write(
        root,
        {
            "models/text.py": TEXT,
            "utils/factory.py": FACTORY,
            "models/wrapper.py": WRAPPER.format(head=head, body=body),
        },
    )


def opened(tree: SourceTree, engine: str) -> tuple[Project, ClassInfo]:
    """The project of ``tree``, and its class ``Wrapper``."""
    project = Workspace(tree, engine=engine).project
    return project, next(info for info in project.registered if info.name == "Wrapper")


def inner_classes(project: Project, info: ClassInfo) -> set[str]:
    """The names of the classes that ``language_model`` may hold."""
    return {one.info.name for one in project.roles.candidates(info, "language_model")}


BOTH = {"PlainForCausalLM", "TextForCausalLM"}
CLASSES = [
    pytest.param(FROM_TEXT, "self.language_model = TextForCausalLM(config)", {"TextForCausalLM"}, id="plain"),
    pytest.param(
        FROM_TEXT, "self.language_model = TextForCausalLM(config).to('cuda').eval()", {"TextForCausalLM"}, id="to"
    ),
    pytest.param(
        FROM_TEXT,
        "self.language_model = next(c for c in (TextForCausalLM, PlainForCausalLM) if c.__name__ == config.n)(config)",
        BOTH,
        id="next",
    ),
    pytest.param(
        "from sglang.srt.models import text",
        "self.language_model = getattr(text, 'Text' + 'ForCausalLM')(config)",
        {"TextForCausalLM"},
        id="joined name",
    ),
    pytest.param(
        f"from dataclasses import dataclass\n\n{FROM_TEXT}\n\n\n@dataclass\nclass Spec:\n    name: str\n"
        "    model: type = PlainForCausalLM\n\n\nSPEC = Spec('text', TextForCausalLM)",
        "self.language_model = SPEC.model(config)",
        {"TextForCausalLM"},
        id="given field",
    ),
]
WRAPPER_LINE = "sglang/srt/models/wrapper.py"
# What follows names doesn't tell these: they are unknown, and the note says what gives them, and where.
UNKNOWN = [
    pytest.param(
        FROM_FACTORY,
        "self.language_model = pick(config)(config)",
        "sglang.srt.utils.factory.pick, outside the project, gives it",
        id="class from a factory",
    ),
    pytest.param(
        FROM_FACTORY,
        "self.language_model = text(config)",
        "sglang.srt.utils.factory.text, outside the project, builds it",
        id="object from a factory",
    ),
    pytest.param(
        f"{FROM_TEXT}\n\n\ndef choose(config):\n    return REGISTRY[config.name]",
        "self.language_model = choose(config.text_config)(config)",
        f"choose at {WRAPPER_LINE}:6 chooses it from the configuration at run time",
        id="function of the configuration",
    ),
    pytest.param(
        FROM_TEXT,
        "self.language_model = self.pick(3)(config)\n\n    def pick(self, n):\n        return n.anything",
        f"pick at {WRAPPER_LINE}:11 chooses it at run time",
        id="method",
    ),
    pytest.param(
        FROM_TEXT,
        "class Local(nn.Module): ...\n        self.language_model = Local()",
        f"Local at {WRAPPER_LINE}:9 is a class inside a function",
        id="class inside a function",
    ),
    pytest.param(
        "import transformers",
        "self.language_model = transformers.AutoModel.from_config(config)",
        "transformers.AutoModel.from_config, outside the project, builds it",
        id="another package",
    ),
    pytest.param(
        FROM_TEXT,
        "self.language_model = config.architecture(config)",
        "it depends on a value known only at run time",
        id="value of the configuration",
    ),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("head", "body", "classes"), CLASSES)
def test_the_inner_classes_are_found(tmp_path: Path, engine: str, head: str, body: str, classes: set[str]) -> None:
    project, info = opened(wrapper_tree(tmp_path, head, body), engine)

    assert inner_classes(project, info) == classes
    assert capture_of(project, info) == Capture("missing")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("head", "body", "reason"), UNKNOWN)
def test_what_cannot_be_told_is_named_with_its_place(
    tmp_path: Path, engine: str, head: str, body: str, reason: str
) -> None:
    tree = wrapper_tree(tmp_path, head, body)
    project, info = opened(tree, engine)
    text = (tmp_path / WRAPPER_LINE).read_text(encoding="utf-8").splitlines()
    line = next(number for number, one in enumerate(text, 1) if "self.language_model =" in one)

    assert inner_classes(project, info) == set()
    found = capture_of(project, info)
    assert found.state == "unknown"
    assert found.note == (
        f"the class of self.language_model ({WRAPPER_LINE}:{line}) can't be told: {reason}; "
        "Wrapper itself has no set_eagle3_layers_to_capture"
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """This interpreter with ``arguments``, with ``folder`` as its working directory."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_auto_never_imports_astroid(tmp_path: Path) -> None:
    tree = wrapper_tree(tmp_path, f"{FROM_FACTORY}\n{FROM_TEXT}", "self.language_model = text(config)")
    command = (
        "import sys\n"
        "from eagle3_lint.engine import Request, check\n"
        f"check(Request(paths=({tree.models!r},), pedantic=True, cache=False))\n"
        "print('astroid' in sys.modules)\n"
    )
    assert run(tmp_path, "-c", command).stdout == "False\n"


TRAP = "import pathlib\npathlib.Path({marker!r}).write_text(__name__)\n"
TRAPS = (
    "sitecustomize.py",
    "conftest.py",
    "setup.py",
    "typing.py",
    "enum.py",
    "astroid.py",
    "torch/__init__.py",
    "torch/nn.py",
    "sglang/__init__.py",
    "sglang/srt/utils/factory.py",
    "sglang/srt/models/text.py",
    "sglang/srt/models/wrapper.py",
)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_of_the_tree_is_imported(tmp_path: Path, engine: str) -> None:
    tree = wrapper_tree(
        tmp_path,
        f"import enum\n{FROM_FACTORY}\n{FROM_TEXT}",
        "self.other = text(config)\n        self.language_model = TextForCausalLM(config)",
    )
    marker = tmp_path / "marker"
    for name in TRAPS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(TRAP.format(marker=str(marker)) + old, encoding="utf-8")

    done = run(
        tmp_path, "-m", "eagle3_lint", "check", "--engine", engine, "--no-cache", "--format", "concise", tree.models
    )

    assert "EGL101" in done.stdout, done.stderr
    assert not marker.exists(), marker.read_text(encoding="utf-8")


def test_a_host_keeps_its_own_astroid(tmp_path: Path) -> None:
    AstroidBuilder(AstroidManager())
    theirs = AstroidBuilder(MANAGER).string_build("import text\nclass Mine(text.Base): pass\n", "sglang")
    brain = AstroidManager.brain
    modules = dict(MANAGER.astroid_cache)
    settings = {name: value for name, value in brain.items() if not isinstance(value, dict)}
    inferred = inference_context._INFERENCE_CACHE
    inferred_before = dict(inferred)
    in_dict = set(MANAGER.builtins_module["dict"].instance_attrs)
    path, loaded = list(sys.path), {name for name in sys.modules if name.startswith(("sglang", "torch"))}
    tree = wrapper_tree(
        tmp_path,
        f"{FROM_TEXT}\n\nSETTINGS = dict()\nSETTINGS.model = 1",
        "self.language_model = TextForCausalLM(config)",
    )

    project, info = opened(tree, "astroid")

    assert inner_classes(project, info) == {"TextForCausalLM"}
    assert AstroidManager.brain is brain
    assert MANAGER.astroid_cache == modules
    assert MANAGER.ast_from_module_name("sglang") is theirs
    assert {name: value for name, value in brain.items() if not isinstance(value, dict)} == settings
    assert inference_context._INFERENCE_CACHE is inferred
    assert inferred == inferred_before
    assert set(MANAGER.builtins_module["dict"].instance_attrs) == in_dict
    assert sys.path == path
    assert {name for name in sys.modules if name.startswith(("sglang", "torch"))} == loaded
