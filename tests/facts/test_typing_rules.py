"""What EGL301 and EGL302 tell their reader, and what their fixes do."""

from __future__ import annotations

import ast
import re

import pytest

from eagle3_lint.findings.model import Finding
from eagle3_lint.rules import egl301_unimported_typing_name as egl301
from eagle3_lint.rules import egl302_unimported_typing_name_deferred as egl302
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.sources.text import SourceText

MODEL = "sglang.srt.models.kimi"
HEADINGS = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix", "Sources"]


def findings(text: str, module_name: str | None = None, target: tuple[int, int] = (3, 12)) -> list[Finding]:
    """What both rules find in ``text``."""
    source = SourceText("/p.py", text.encode(), text)
    context = ModuleContext(source, lambda: ast.parse(text), target, lambda module, level: None, module_name)
    return [*egl301.check(context), *egl302.check(context)]


def only(text: str, module_name: str | None = None, target: tuple[int, int] = (3, 12)) -> Finding:
    (found,) = findings(text, module_name, target)
    return found


def fixed(text: str) -> str:
    """``text`` after the fixes of its findings, each applied alone, until none has one."""
    for _ in range(20):
        fix = next((found.fix for found in findings(text) if found.fix), None)
        if fix is None:
            return text
        for edit in sorted(fix.edits, key=lambda edit: (edit.span.line, edit.span.column), reverse=True):
            text = (
                text[: _offset(text, edit.span.line, edit.span.column)]
                + edit.text
                + (text[_offset(text, edit.span.end_line, edit.span.end_column) :])
            )
    raise AssertionError(text)


def _offset(text: str, line: int, column: int) -> int:
    return sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1


def _without_imports(text: str) -> list[str]:
    body = ast.parse(text).body
    return [ast.dump(node) for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]


def test_a_model_file_is_told_what_its_users_see() -> None:
    text = "from typing import List\n\n\nclass Kimi:\n    def forward(self, x: Optional[List[int]]): ...\n"
    found = only(text, MODEL)
    assert found.message == (
        "`Optional` is never imported. Python evaluates it while it imports this module (annotation of parameter `x` "
        "of `Kimi.forward`) and raises NameError. SGLang's model registry only logs that the file failed to import, so "
        "its classes are missing and the server reports the architecture as not supported. Make line 1 "
        "`from typing import List, Optional`."
    )
    assert (found.code, found.severity, found.name, found.scope) == ("EGL301", "error", "Optional", "Kimi.forward")
    assert [(one.line, one.message) for one in found.evidence] == [(1, "other names are imported from typing here")]


@pytest.mark.parametrize("module", [None, "sglang.srt.utils", "sglang.srt.models.deep.kimi", "other.srt.models.kimi"])
def test_another_file_is_not(module: str | None) -> None:
    assert "registry" not in only("x: Optional[int] = None\n", module).message


def test_a_body_raises_when_it_runs() -> None:
    message = only("def f():\n    return cast(int, 1)\n", MODEL).message
    assert "Python raises NameError when it runs this line (expression in `f`)" in message
    assert "registry" not in message


def test_what_is_not_evaluated_is_a_warning() -> None:
    found = only("def f():\n    x: Optional[int] = None\n")
    assert found.message == (
        "`Optional` is never imported. Python doesn't evaluate it here (annotation of `x` in `f`), but type checkers "
        "and typing.get_type_hints do, and fail. Write `from typing import Optional` at the top of the module."
    )
    assert (found.code, found.severity) == ("EGL302", "warning")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("x: typing.List", "Write `import typing` at the top of the module."),
        ("x: t.List", "Write `import typing as t` at the top of the module."),
        ("x: Buffer", "Write `from typing_extensions import Buffer` at the top of the module."),
        ("x: TypeIs", "Write `from typing_extensions import TypeIs` at the top of the module."),
        ("from typing import (\n    List,\n)\nx: Set", "Add `Set` to the `from typing import ...` on line 1."),
        ("from typing import List as L, Text\nx: Set", "Make line 1 `from typing import List as L, Set, Text`."),
        ("x = List\nfrom helpers import List", "Move line 2 above this one."),
        ("List = 1\ndel List\nx = List", "Delete it after its last use, or not at all (line 2)."),
        (
            "import t\nif t.TYPE_CHECKING:\n    from x import List\ndef f(x: List): ...",
            "Bind it at run time too, not only under the `if TYPE_CHECKING:` of line 3, or quote the annotation.",
        ),
        (
            "try: ...\nexcept E as Text: ...\nprint(Text)",
            "The name of the handler on line 2 hides it; give that another name.",
        ),
    ],
)
def test_advice(text: str, advice: str) -> None:
    found = only(text)
    assert found.message.endswith(advice)


@pytest.mark.parametrize(
    "text",
    [
        "x: Set\n",
        '"""Doc."""\nx: Set\n',
        "from __future__ import annotations\nx: Set\n",
        "#!/usr/bin/python\nimport os\nx: Set\n",
        "@x\ndef f(x: Set): ...\n",
        "x: Set\nimport os\n",
        "import os\r\nx: Set\r\n",
        "from typing import Any, Text\nx: Set\n",
        "from typing import Text, Any\nx: Set\n",
        "from typing import (Any, Text)\nx: Set\n",
        "from typing import (\n    Any,\n    Text,\n)\nx: Set\n",
        "from typing import (\n    Any  # rows\n)\nx: Set\n",
        "from typing import Any, \\\n    Text\nx: Set\n",
        "from typing import *\nx: Buffer\n",
        "from typing import Any\nx: Set[List[cast]]\n",
        "x: t.Set\n",
        "x: Set\nfrom typing import Set\n",
        "if x:\n    from typing import Any\ny: Set\n",
        "import t\nif t.TYPE_CHECKING:\n    from typing import Any\ny: Set\nz: 'Set'\n",
    ],
)
def test_fix(text: str) -> None:
    """Nothing is left to find, and only imports have changed."""
    assert findings(text)
    cured = fixed(text)
    assert not findings(cured)
    assert cured.endswith("\r\n") == text.endswith("\r\n")
    if "if " not in text:
        assert _without_imports(cured) == _without_imports(text)


@pytest.mark.parametrize(
    ("text", "safety"),
    [
        ("x: Set", "safe"),
        ("x = Set[int]", "safe"),
        ("x: Match", "safe"),
        ("x = Match", "unsafe"),
        ("x = cast(int, 1)", "unsafe"),
        ("x: Buffer", "unsafe"),
        ("x: t.Set", "safe"),
        ("x = Set\nSet = 1", None),
        ("def f():\n    Set\n    from typing import Set", None),
        ("Set = 1\ndel Set\nSet", None),
        ("try: ...\nexcept E as Set: ...\nSet", None),
        ("import t\nif t.TYPE_CHECKING:\n    from x import Set\nSet", None),
    ],
)
def test_safety(text: str, safety: str | None) -> None:
    fix = only(text).fix
    assert (fix.safety if fix else None) == safety


def test_what_a_fix_leaves() -> None:
    fix = only("x: TypeIs", target=(3, 12)).fix
    assert fix is not None
    assert fix.remains == "see that typing_extensions is installed"
    fix = only("def f():\n    TypeIs", target=(3, 13)).fix
    assert fix is not None
    assert fix.remains == ""


@pytest.mark.parametrize("module", [egl301, egl302])
def test_documentation(module: object) -> None:
    """Its sections are there, in order, and its examples behave as it says."""
    text = module.__doc__ or ""
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    bad, good = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    codes = {found.code for found in findings(bad)}
    assert codes == {module.RULE.code}  # type: ignore[attr-defined]
    assert not findings(good)
    assert not findings(fixed(bad))


def test_a_module_is_parsed_only_under_suspicion() -> None:
    def parse() -> ast.Module:
        raise AssertionError("parsed")

    source = SourceText("/p.py", b"", "from typing import List\nx: List[int]\n")
    context = ModuleContext(source, parse, (3, 12), lambda module, level: None, MODEL)
    assert [*egl301.check(context), *egl302.check(context)] == []
