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


class Shelf:
    def __getitem__(self, name):
        return TextForCausalLM


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


class Maker:
    def __call__(self, config):
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

FROM_FACTORY = "from sglang.srt.utils.factory import Maker, pick, plain, text"
FROM_TEXT = "from sglang.srt.models.text import PlainForCausalLM, Shelf, TextForCausalLM"


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
CLASSES_THAT_NEED_INFERENCE = [
    pytest.param(FROM_FACTORY, "self.language_model = pick(config)(config)", BOTH, id="class from a factory"),
    pytest.param(FROM_FACTORY, "cls = pick(config)\n        self.language_model = cls(config)", BOTH, id="by a name"),
    pytest.param(
        FROM_FACTORY,
        "self.cls = pick(config)\n        self.language_model = self.cls(config)",
        BOTH,
        id="by an attribute",
    ),
    pytest.param(FROM_FACTORY, "self.language_model = text(config)", {"TextForCausalLM"}, id="object from a factory"),
    pytest.param(
        FROM_FACTORY,
        "self.language_model = (text(config) if config.a else plain(config)).to('cuda')",
        BOTH,
        id="moved object from a factory",
    ),
    pytest.param(FROM_FACTORY, "self.language_model = Maker()(config)", {"TextForCausalLM"}, id="called object"),
    pytest.param(
        f"import enum\n\n{FROM_TEXT}\n\n\nclass Kind(enum.Enum):\n    TEXT = TextForCausalLM",
        "self.language_model = Kind.TEXT.value(config)",
        {"TextForCausalLM"},
        id="member of an enumeration",
    ),
    pytest.param(
        f"{FROM_TEXT}\n\nSHELF = Shelf()",
        "self.language_model = SHELF['text'](config)",
        {"TextForCausalLM"},
        id="own __getitem__",
    ),
    pytest.param(
        f"{FROM_TEXT}\n\nFIRST, SECOND = TextForCausalLM, PlainForCausalLM",
        "self.language_model = FIRST(config)",
        {"TextForCausalLM"},
        id="unpacked at module level",
    ),
    pytest.param(
        f"{FROM_TEXT}\n\n\nclass Meta(type):\n    @property\n    def model(cls):\n        return TextForCausalLM\n\n\n"
        "class Choice(metaclass=Meta):\n    pass",
        "self.language_model = Choice.model(config)",
        {"TextForCausalLM"},
        id="property of a metaclass",
    ),
]
CLASSES_THAT_THE_INDEX_TELLS = [
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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("head", "body", "classes"), CLASSES_THAT_NEED_INFERENCE + CLASSES_THAT_THE_INDEX_TELLS)
def test_the_inner_classes_are_found(tmp_path: Path, engine: str, head: str, body: str, classes: set[str]) -> None:
    project, info = opened(wrapper_tree(tmp_path, head, body), engine)

    assert inner_classes(project, info) == classes
    assert capture_of(project, info) == Capture("missing")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_factory_whose_text_names_no_models_is_unknown(tmp_path: Path, engine: str) -> None:
    tree = wrapper_tree(tmp_path, "from sglang.srt.utils.other import make", "self.language_model = make(config)")
    write(tmp_path, {"utils/other.py": "def make(config):\n    return config.architecture(config)\n"})
    project, info = opened(tree, engine)

    assert inner_classes(project, info) == set()
    assert capture_of(project, info).state == "unknown"


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


def asks_astroid(tree: SourceTree, folder: Path) -> bool:
    """Whether a run of ``auto`` over ``tree`` in a process of its own imports astroid."""
    command = (
        "import sys\n"
        "from eagle3_lint.engine import Request, check\n"
        f"check(Request(paths=({tree.models!r},), pedantic=True, cache=False))\n"
        "print('astroid' in sys.modules)\n"
    )
    done = run(folder, "-c", command)
    assert done.stdout in {"True\n", "False\n"}, done.stderr
    return done.stdout == "True\n"


@pytest.mark.parametrize(
    ("body", "asked"),
    [("self.language_model = TextForCausalLM(config)", False), ("self.language_model = text(config)", True)],
    ids=["told by names", "to be inferred"],
)
def test_auto_imports_astroid_only_to_infer(tmp_path: Path, body: str, asked: bool) -> None:
    tree = wrapper_tree(tmp_path, f"{FROM_FACTORY}\n{FROM_TEXT}", body)
    assert asks_astroid(tree, tmp_path) is asked


def test_auto_leaves_what_no_wrapper_holds(tmp_path: Path) -> None:
    tree = wrapper_tree(tmp_path, FROM_FACTORY, "self.language_model = text(config)")
    wrapper = tmp_path / "sglang/srt/models/wrapper.py"
    wrapper.write_text(wrapper.read_text(encoding="utf-8").replace("pad_input_ids", "other"), encoding="utf-8")

    assert not asks_astroid(tree, tmp_path)


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
    tree = wrapper_tree(tmp_path, f"import enum\n{FROM_FACTORY}", "self.language_model = text(config)")
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
        tmp_path, f"{FROM_FACTORY}\n\nSETTINGS = dict()\nSETTINGS.model = 1", "self.language_model = text(config)"
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
