"""The sieve: what it drops is nothing that the analysis would report."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from eagle3_lint.facts.typing_names import PUBLIC_NAMES
from eagle3_lint.facts.typing_use import uses_of
from eagle3_lint.facts.typing_words import MODULE_ALIASES, Suspicion, normalized, suspicion
from eagle3_lint.sources.text import SourceText

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").glob("egl30*/*.py"))
EVERYTHING = Suspicion(PUBLIC_NAMES, MODULE_ALIASES)

CLEAN = {
    "nothing": "x = 1\n",
    "imported": "from typing import Optional\nx: Optional[int]\n",
    "imported in brackets": "from typing import (\n    List,  # rows\n    Set,\n)\nx: List[int]\n",
    "imported from elsewhere": "from .types import Format\nx: Format\n",
    "imported after a docstring": '"""From here\nfrom typing import X\n"""\nfrom typing import List\nx: List\n',
    "module": "import typing\nx: typing.Optional[int]\n",
    "module under its alias": "import typing as t\nx: t.Optional[int]\n",
    "comment": "x = 1  # a Set, or Optional[int]\n",
    "comment with a brace before it": "x = {1}  # a Set\n",
    "prose": '"""a Set of words, an Optional argument"""\n',
    "attribute": "import ast\nx = ast.Set\n",
    "keyword argument": "print(final=1, cast = 2)\n",
    "parameter": "def f(runtime=None): pass\n",
    "definition": "class Reader: pass\n\n\ndef cast(): pass\n",
    "part of a word": "OptionalThing = MyList = broadcast = 1\n",
    "test that binds nothing": (
        "from typing import TYPE_CHECKING, List\ndef f(x):\n    if TYPE_CHECKING:  # see above\n"
        "        assert isinstance(\n    x, (int, str)\n)\n\n    return List\n"
    ),
    "delete of another name": "from typing import List\nmodel = 1\ndel model\nx: List\n",
}
SUSPECT = {
    "used": "x: Optional[int]\n",
    "used before the import": "x: Optional[int]\nfrom typing import Optional\n",
    "import in a docstring": '"""\nfrom typing import List\n"""\nx: List\n',
    "import in a long string after a quote": "x = '''\"'\nfrom typing import List\n'''\ny: List\n",
    "import in a continued string": 'x = "\\\nfrom typing import List\\\n"\ny: List\n',
    "import under a condition": "if x:\n    from typing import List\ny: List\n",
    "import that goes on": "if x: \\\nfrom typing import List\ny: List\n",
    "import and delete": "from typing import List; del List\ny: List\n",
    "delete": "from typing import List\ndel List\nx: List\n",
    "delete of several": "from typing import List\ndel (\n    List)\nx: List\n",
    "hidden in a function": (
        "from typing import TYPE_CHECKING, List\ndef f():\n    if TYPE_CHECKING:\n"
        "        from typing import List\n    return List\n"
    ),
    "hidden by the second line": (
        "from typing import TYPE_CHECKING, List\ndef f(x):\n    if TYPE_CHECKING:\n        assert (\n    x\n)\n"
        "        from typing import List\n    return List\n"
    ),
    "hidden on the line of the test": (
        "from typing import TYPE_CHECKING, List\ndef f():\n    if TYPE_CHECKING: import List\n    return List\n"
    ),
    "module hidden in a function": (
        "import typing as t\ndef f():\n    if t.TYPE_CHECKING:\n        import x as t\n    return t.List\n"
    ),
    "another name of the import": "from typing import List as Rows\nx: List\n",
    "string": "x: 'Optional[int]'\n",
    "long string": "x: '''\nOptional[int]'''\n",
    "hash in a string": "x = '#', Optional\n",
    "hash in a long string that ends": "x = '''\n# ''', Optional\n",
    "hash in a continued string": "x = '\\\n# ', Optional\n",
    "hash in a format string": "x = f'''\n# {Optional}'''\n",
    "keyword before": "x = not Optional\n",
    "keyword after": "x = Optional or 1\n",
    "match": "match Optional:\n    case Set():\n        pass\n",
    "self-documenting expression": "x = f'{1, Optional=}'\n",
    "comparison": "print(Optional == 1)\n",
    "module": "x: typing.Optional\n",
    "module with spaces": "x: typing . Optional\n",
    "module of extensions": "x: typing_extensions.Optional\n",
    "module alias": "x: t.Optional\n",
    "module imported below": "x: typing.Optional\nimport typing\n",
    "ligature": "x = ﬁnal\n",
    "mathematical letters": "x: \N{MATHEMATICAL BOLD CAPITAL O}ptional[int]\n",
    "carriage returns": "# a comment\rx: Optional\r",
    "very long line": "x = [" + "1, " * 1000 + "Optional]\n",
}


def suspected(text: str) -> tuple[str, ...]:
    """What the analysis of every name reports in ``text``."""
    source = SourceText("p.py", text.encode(), text)
    return tuple(use.name for use in uses_of(source, ast.parse(text), (3, 12), lambda _: None, EVERYTHING))


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_text_that_needs_no_parsing(text: str) -> None:
    assert not suspected(text)
    assert not bool(suspicion(text))


@pytest.mark.parametrize("text", SUSPECT.values(), ids=SUSPECT)
def test_text_that_needs_parsing(text: str) -> None:
    assert bool(suspicion(text))


@pytest.mark.parametrize("name", ["hash in a string", "ligature", "mathematical letters", "carriage returns"])
def test_suspect_text_with_a_finding(name: str) -> None:
    assert suspected(SUSPECT[name])


def test_only_what_is_suspect_is_named() -> None:
    text = "from typing import List\nx: List[Optional]\ny: typing.Set\n"
    assert suspicion(text) == Suspicion(frozenset({"Optional"}), frozenset({"typing"}))


def test_text_is_read_as_python_reads_it() -> None:
    assert normalized("a\r\nb\rc\n") == "a\nb\nc\n"
    assert normalized("# plain … text\n") == "# plain … text\n"
    assert normalized("ﬁnal\n") == "final\n"


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_sieve_changes_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source = SourceText(str(path), text.encode(), text)
    tree = ast.parse(text)
    sieved = uses_of(source, tree, (3, 12), lambda _: None, suspicion(text))
    assert sieved == uses_of(source, tree, (3, 12), lambda _: None, EVERYTHING)
    assert bool(sieved) <= bool(suspicion(text))
