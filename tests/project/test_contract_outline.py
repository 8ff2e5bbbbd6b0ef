"""A file of the runtime by its outline is the file as it is parsed in one go."""

from __future__ import annotations

import ast
import os
import textwrap
from collections.abc import Callable

import pytest

from eagle3_lint.project.contract.scopes import FunctionNode, RuntimeModule, runtime_module
from eagle3_lint.sources.reading import parse_source, read_source
from eagle3_lint.sources.text import SourceText
from eagle3_lint.sources.tree import SourceTree

Described = dict[tuple[str, int], str]

PLAIN = {
    "functions and methods": """
        import os

        def first(a, *, b=1):
            return a

        class C(Base, metaclass=M):
            x: int = 1

            @property
            def second(self):
                return self.x
            @staticmethod
            async def third(): return 1

        y = 2
        """,
    "a signature over several lines": """
        def first(
            a,
            b,
        ) -> tuple[
            int
        ]:
            return a

        def second(): pass
        """,
    "comments and blank lines where nothing is": """
        class C:
            def first(self):
        # a comment at the left
                a = 1

            # a comment between
                return a

            # the next one's comment
            def second(self):
                return 2
        # the end
        """,
    "conditional definitions": """
        if True:
            def first():
                return 1
        else:
            def first():
                return 2
        try:
            import x
        except ImportError:
            def second(): return 1
        """,
    "functions in functions": """
        def first():
            def inner(a):
                class Local:
                    def method(self):
                        return a
                return Local
            return inner

        def second():
            return first
        """,
    "nothing after the last line": "def first():\n    return 1",
    "strings that hold indented text": '''
        def first():
            """Documented.

            def no_function():
                pass
            """
            return """
            text
            """

        TEXT = """
        class No:
            def function(self):
                pass
        """

        def second():
            return 1
        ''',
}

FALLBACK = {
    "strings that hold text at the left": 'def first():\n    text = """\nat the left\n    """\n    return text\n\ny = 1\n',
    "tabs": "class C:\n\tdef first(self):\n\t\treturn 1\n",
    "carriage returns": "def first():\r\n    return 1\r\n",
    "form feeds": "def first():\n    return 1\n\f\ndef second():\n    return 2\n",
    "a definition that goes on at the left": "def first(\na,\nb):\n    return a\n",
    "a string with a definition that closes further in": 'x = """\ndef first():\n    pass\n    """\ny = 1\n',
}


def module_of(text: str) -> RuntimeModule:
    return runtime_module(SourceText("/m.py", text.encode(), text), "speculative", "sglang.srt.m", parse_source)


def described(node: FunctionNode) -> str:
    """A function without its decorators, every position included."""
    parts = (node.args, *node.body, *([node.returns] if node.returns else []))
    return "\n".join(ast.dump(part, include_attributes=True) for part in parts)


def functions_of(tree: ast.Module) -> Described:
    """The functions of a whole module that are in no other function."""
    found: Described = {}
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name, node.lineno] = described(node)
        else:
            pending.extend(ast.iter_child_nodes(node))
    return found


def outlined(module: RuntimeModule) -> Described:
    """The same from a module that was read by its outline."""
    return {
        (function.name, function.first_line): described(function.node)
        for function in module.functions
        if function.outer is None and not isinstance(function.node, ast.Module)
    }


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_functions_are_those_of_the_whole_file(text: str) -> None:
    text = textwrap.dedent(text)
    module = module_of(text)

    assert module.blocks
    assert outlined(module) == functions_of(ast.parse(text))


@pytest.mark.parametrize("text", FALLBACK.values(), ids=FALLBACK)
def test_what_lines_cannot_tell_is_parsed_as_a_whole(text: str) -> None:
    module = module_of(text)

    assert not module.blocks
    assert outlined(module) == functions_of(ast.parse(text))


def test_innermost_function_of_a_line() -> None:
    module = module_of(textwrap.dedent(PLAIN["functions in functions"]).lstrip("\n"))

    names = [module.function_at(line).qualified_name for line in range(1, 11)]
    assert names == [
        "first",
        "first.inner",
        "first.inner",
        "Local.method",
        "Local.method",
        "first.inner",
        "first",
        "first",
        "second",
        "second",
    ]


def test_owner_and_decorators_are_known_without_the_body() -> None:
    module = module_of(textwrap.dedent(PLAIN["functions and methods"]))

    methods = module.classes["C"].methods
    assert sorted(methods) == ["second", "third"]
    assert methods["second"].is_property
    assert not methods["third"].is_bound


@pytest.mark.release
def test_release(release: Callable[[str], SourceTree]) -> None:
    root = os.path.join(release("0.5.9").root, "sglang", "srt")
    paths = [
        os.path.join(folder, name)
        for part in ("model_executor", "speculative")
        for folder, _, names in os.walk(os.path.join(root, part))
        for name in names
        if name.endswith(".py")
    ]
    compared = 0
    for path in paths:
        source = read_source(path)
        expected = functions_of(parse_source(source))
        assert outlined(runtime_module(source, "", "", parse_source)) == expected, path
        compared += len(expected)
    assert compared > 400
