"""The imports that EGL301 and EGL302 add: in the layout that is there, in the right place, above what needs them."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.engine.fixing import compatible
from eagle3_lint.findings.model import Finding
from eagle3_lint.fixes.text import apply_edits
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.rules.registry import load
from eagle3_lint.sources.reading import parse_source, read_source

CODES = ("EGL301", "EGL302")


def findings(text: str, target: tuple[int, int] = (3, 10)) -> list[Finding]:
    """What the rules about typing names find in ``text``."""
    source = read_source("/module.py", text.encode())
    context = ModuleContext(source, lambda: parse_source(source), target, lambda *_: None, None)
    rules = [load(code).check_module for code in CODES]
    return [one for check in rules if check is not None for one in check(context)]


def applied(text: str, target: tuple[int, int] = (3, 10)) -> str:
    """``text`` with every fix made, round by round."""
    for _ in range(20):
        fixable = [one for one in findings(text, target) if one.fix is not None]
        if not fixable:
            return text
        text = apply_edits(text, [edit for one in compatible(fixable) for edit in (one.fix.edits if one.fix else ())])
        ast.parse(text)
    raise AssertionError("the fixes never end")


USE = "def f(a: Optional[int]): ...\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from typing import List\n", "from typing import List, Optional\n"),
        ("from typing import Any, Union\n", "from typing import Any, Optional, Union\n"),
        ("from typing import Union, Any\n", "from typing import Union, Any, Optional\n"),
        ("from typing import (Any, Union)\n", "from typing import (Any, Optional, Union)\n"),
        ("from typing import (Any, Dict,)\n", "from typing import (Any, Dict, Optional,)\n"),
        (
            "from typing import (\n    Any,\n    Union,\n)\n",
            "from typing import (\n    Any,\n    Optional,\n    Union,\n)\n",
        ),
        ("from typing import (\n    Any\n)\n", "from typing import (\n    Any,\n    Optional,\n)\n"),
        (
            "from typing import (\n    Any,  # all\n    Dict  # some\n)\n",
            "from typing import (\n    Any,  # all\n    Dict,  # some\n    Optional,\n)\n",
        ),
        ("from typing import Any, \\\n    Union\n", "from typing import Any, \\\n    Optional, Union\n"),
        ("from typing import Any as A, Union as U\n", "from typing import Any as A, Optional, Union as U\n"),
        ("import os; from typing import Any; import re\n", "import os; from typing import Any, Optional; import re\n"),
        ("import os\nimport zlib\n", "import os\nimport zlib\nfrom typing import Optional\n"),
        ("import os\nfrom abc import ABC\n", "import os\nfrom abc import ABC\nfrom typing import Optional\n"),
        (
            "from abc import ABC\nfrom xml import dom\n",
            "from abc import ABC\nfrom typing import Optional\nfrom xml import dom\n",
        ),
        ("import torch\n", "from typing import Optional\n\nimport torch\n"),
        ("import os\n\nimport torch\n", "import os\nfrom typing import Optional\n\nimport torch\n"),
        ("from . import x\n", "from typing import Optional\n\nfrom . import x\n"),
        ("# license\n\nimport torch\n", "# license\n\nfrom typing import Optional\n\nimport torch\n"),
        ('"""Docs."""\n\nimport torch\n', '"""Docs."""\n\nfrom typing import Optional\n\nimport torch\n'),
        ('"""Docs."""\n', '"""Docs."""\n\nfrom typing import Optional\n'),
        ("#!/usr/bin/env python\n", "#!/usr/bin/env python\nfrom typing import Optional\n\n"),
        ("", "from typing import Optional\n\n"),
    ],
)
def test_where_a_name_goes(before: str, after: str) -> None:
    assert applied(before + USE) == after + USE


def test_a_line_that_would_be_too_long_is_broken_as_black_breaks_it() -> None:
    names = "AbstractSet, AnyStr, AsyncIterator, Callable, ContextManager, Dict"
    found = applied(f"from typing import {names}\n{USE}")
    lines = "".join(f"    {name},\n" for name in (*names.split(", "), "Optional"))
    assert found == f"from typing import (\n{lines})\n{USE}"


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings(ending: str) -> None:
    text = f"import os\n\nimport torch\n{USE}"
    expected = f"import os\nfrom typing import Optional\n\nimport torch\n{USE}"
    assert applied(text.replace("\n", ending)) == expected.replace("\n", ending)


def test_after_future_imports() -> None:
    head = '"""Docs."""\nfrom __future__ import annotations\n'
    assert applied(head + USE) == head + "\nfrom typing import Optional\n" + USE


def test_several_names_and_uses_make_one_import() -> None:
    text = "def f(a: Optional[int], b: List[int]) -> Optional[str]: ...\n"
    assert applied(text) == "from typing import List, Optional\n\n" + text


def test_modules_that_are_not_imported() -> None:
    assert applied("a: typing.Any = 1\n") == "import typing\n\na: typing.Any = 1\n"
    assert applied("import os\nfrom abc import ABC\na: typing.Any = 1\n") == (
        "import os\nimport typing\nfrom abc import ABC\na: typing.Any = 1\n"
    )
    assert applied("a: t.Any = 1\n") == "import typing as t\n\na: t.Any = 1\n"


def test_names_of_a_newer_typing_come_from_typing_extensions() -> None:
    text = "from typing import Any\n\nimport torch\n\ndef f(self) -> Self: ...\n"
    (finding,) = findings(text)
    assert finding.fix is not None and finding.fix.safety == "unsafe"
    assert "from typing_extensions import Self\n" in applied(text)
    assert applied(text, (3, 11)) == text.replace("Any\n", "Any, Self\n")


def test_names_that_are_bound_too_late_are_bound_earlier() -> None:
    text = f"{USE}from typing import Optional\n"
    assert applied(text) == f"from typing import Optional\n\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        f"{USE}class Optional: ...\n",
        f"{USE}from mine import Optional\n",
        "from typing import Optional\ndel Optional\n" + USE,
        "def f():\n    a = cast(int, 1)\n    cast = a\n",
        '"""Docs."""; b: Optional[int] = None\n',
    ],
)
def test_no_fix_where_none_is_sure(text: str) -> None:
    assert findings(text)
    assert [one.fix for one in findings(text)] == [None] * len(findings(text))


def test_what_only_type_checkers_need_stays_with_its_like() -> None:
    head = (
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n    from typing import Any\n\n\n"
    )
    assert applied(head + USE) == head.replace("import Any", "import Any, Optional") + USE


def test_what_is_needed_at_run_time_too_is_imported_for_both() -> None:
    head = (
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        "if TYPE_CHECKING:\n    from typing import Any\n\n\n"
    )
    expected = head.replace("import TYPE_CHECKING", "import TYPE_CHECKING, Optional")
    assert applied(head + USE + "X = Optional[int]\n") == expected + USE + "X = Optional[int]\n"


COMMENTS = ["", "#!/usr/bin/env python\n", "# Copyright\n# of somebody\n\n"]
DOCSTRINGS = ["", '"""Docs."""\n', '"""Docs\n\nof two lines.\n"""\n\n', "'a' 'b'\n"]
FUTURES = ["", "from __future__ import annotations\n", "from __future__ import (\n    annotations,\n)\n\n"]
IMPORTS = [
    "import os\n",
    "import os, re\n",
    "import os; import re\n",
    "import zlib  # packed\n",
    "from abc import ABC\n",
    "from xml import dom\n",
    "import other_package\n",
    "from other_package import name\n",
    "from typing import Any\n",
    "from typing import Union, Any  # noqa\n",
    "from typing import (Any, Dict,)\n",
    "from typing import (\n    Any,  # everything\n    Union  # one of them\n)\n",
    "from typing import Any, \\\n    Union\n",
    "from typing import (\n    Dict, Any,\n    Union,\n)\n",
    "import typing as typing_module\n",
    "\n",
    "# more\n",
]
STATEMENTS = [
    "a = 1\n",
    "if True:\n    from typing import Set\n",
    "try:\n    import os\nexcept ImportError:\n    os = None\n",
    "@staticmethod\ndef decorated(): ...\n",
]
USES = [
    "def f(a: Optional[int], b: List[str] = ()) -> Dict[str, int]: ...\n",
    "class C:\n    x: Dict[str, int] = {}\n\n    def g(self, y: 'Sequence[int]') -> Union[int, str]: ...\n",
    "X = Union[int, Optional[str]]\n",
    "y: typing.Any = t.cast(int, 1); z: Tuple[int, ...] = ()\n",
    "@decorate(Callable[[int], int])\ndef h(): ...\n",
    "def k():\n    return Iterable\n",
]


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Modules that use names of typing, some of which they import."""
    parts = [draw(st.sampled_from(COMMENTS)), draw(st.sampled_from(DOCSTRINGS)), draw(st.sampled_from(FUTURES))]
    parts += draw(st.lists(st.sampled_from(IMPORTS), max_size=4))
    parts += draw(st.lists(st.sampled_from(STATEMENTS), max_size=1))
    parts += draw(st.lists(st.sampled_from([*USES, *IMPORTS[8:14]]), min_size=1, max_size=4))
    text = "".join(parts)
    text = text.rstrip("\n") if draw(st.booleans()) else text
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def decorate(_: object) -> types.FunctionType:
    """What the decorators of the generated modules are."""
    return lambda function: function  # type: ignore[return-value]


@pytest.fixture(autouse=True)
def _other_package() -> Iterator[None]:
    """The generated modules really run: what they import is there."""
    other = types.ModuleType("other_package")
    other.__dict__["name"] = 1
    sys.modules["other_package"] = other
    yield
    del sys.modules["other_package"]


@settings(max_examples=300, deadline=None)
@given(modules())
def test_generated_modules_run_once_they_are_fixed(text: str) -> None:
    found = applied(text)
    assert findings(found) == []
    exec(compile(found, "/module.py", "exec"), {"decorate": decorate, "__name__": "module"})  # noqa: S102
    assert others(found) == others(text)
    assert found.count("#") == text.count("#")


def others(text: str) -> list[str]:
    """The statements of ``text`` that import nothing, as trees."""
    imports = (ast.Import, ast.ImportFrom)
    return [ast.dump(node) for node in ast.parse(text).body if not isinstance(node, imports)]
