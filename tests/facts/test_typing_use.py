"""What the analysis says of one use: its place, its kind, its cause; targets, star imports, hostile input."""

from __future__ import annotations

import ast
import sys

import pytest

from eagle3_lint.facts.typing_use import StarImport, TypingUse, find_undefined_typing_names
from eagle3_lint.findings.model import Span
from eagle3_lint.sources.text import SourceText

needs_type_parameters = pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
needs_places = pytest.mark.skipif(sys.version_info < (3, 12), reason="format strings have no exact places")


def uses(text: str, target: tuple[int, int] = (3, 12), **stars: frozenset[str] | None) -> tuple[TypingUse, ...]:
    """The uses in ``text``; ``stars`` are the exports of the modules that it imports from with a star."""
    source = SourceText("p.py", text.encode(), text)
    return find_undefined_typing_names(source, lambda: ast.parse(text), target, lambda star: stars.get(star.module))


def only(text: str, target: tuple[int, int] = (3, 12)) -> TypingUse:
    (use,) = uses(text, target)
    return use


def names(text: str, target: tuple[int, int] = (3, 12)) -> list[tuple[str, bool]]:
    """The names used in ``text``, each with whether it is evaluated."""
    return [(use.name, use.evaluated) for use in uses(text, target)]


def test_every_field() -> None:
    use = only("class Model:\n    def forward(self, x: typing.Optional[int]): ...\n")
    assert use == TypingUse(
        name="Optional",
        span=Span(2, 26, 2, 41),
        evaluated=True,
        written="typing.Optional",
        where="Model.forward",
        reason="`typing` is not imported",
        cause="unbound",
        role="annotation of parameter `x`",
        at_import=True,
    )


@pytest.mark.parametrize(
    ("text", "where", "role", "at_import"),
    [
        ("x: Set", "", "annotation of `x`", True),
        ("x.y[0]: Set", "", "annotation", True),
        ("class A:\n    x: Set", "A", "annotation of `x`", True),
        ("class A(Set): ...", "A", "base class", True),
        ("class A(metaclass=Set): ...", "A", "base class", True),
        ("class A:\n    @Set\n    class B: ...", "A", "decorator", True),
        ("@Set\ndef f(): ...", "", "decorator", True),
        ("def f(x=Set): ...", "f", "default value", True),
        ("def f(*, x=Set): ...", "f", "default value", True),
        ("def f() -> Set: ...", "f", "return annotation", True),
        ("def f():\n    return Set", "f", "expression", False),
        ("class A:\n    async def f(self):\n        def g(x: Set): ...", "A.f.g", "annotation of parameter `x`", False),
        ("lambda: Set", "", "expression", False),
        ("x = [Set for _ in y]", "", "expression", True),
        ("if __name__ == '__main__':\n    Set", "", "expression", False),
        ("with x as Deque, Set as y: ...", "", "expression", True),
    ],
)
def test_where_it_stands(text: str, where: str, role: str, at_import: bool) -> None:
    use = only(text)
    assert (use.where, use.role, use.at_import) == (where, role, at_import)


@pytest.mark.parametrize(
    ("text", "cause", "reason", "line", "module", "local"),
    [
        ("x = Set", "unbound", "never imported", None, None, False),
        ("x = Set\nfrom typing import Set", "later", "bound later at line 2", 2, "typing", False),
        ("print(Set, Set := 1)", "later", "bound later at line 1", 1, None, False),
        ("def f():\n    Set\n    Set = 1", "later", "bound later at line 3", 3, None, True),
        ("Set = 1\ndel Set\nx = Set", "deleted", "deleted at line 2", 2, None, False),
        (
            "try: ...\nexcept E as Set: ...\nx = Set",
            "handler",
            "bound only inside the handler at line 2",
            2,
            None,
            False,
        ),
        (
            "class A:\n    import Set\n    def f(self): return Set",
            "class-scope",
            "bound at line 2 in a class, whose names its functions don't see",
            2,
            "Set",
            False,
        ),
        (
            "if x.TYPE_CHECKING:\n    from .y import Set\nx = Set",
            "type-checking",
            "bound only under TYPE_CHECKING at line 2",
            2,
            ".y",
            False,
        ),
        (
            "import Set\ndef f():\n    if x.TYPE_CHECKING: import Set\n    Set",
            "type-checking",
            "bound only under TYPE_CHECKING at line 3",
            3,
            "Set",
            True,
        ),
    ],
)
def test_why_nothing_provides_it(
    text: str, cause: str, reason: str, line: int | None, module: str | None, local: bool
) -> None:
    use = only(text)
    assert (use.cause, use.reason, use.binding_line) == (cause, reason, line)
    assert (use.binding_module, use.binding_is_local) == (module, local)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("é = 'é', Optional", Span(1, 10, 1, 18)),
        ("x: 'list[é] | Optional'", Span(1, 15, 1, 23)),
        ("if x:\n\tx = typing . Optional", Span(2, 6, 2, 23)),
        ('x: """\n  int | Optional\n"""', None),
        ('x: """int |\\\n  Optional"""', Span(1, 4, 2, 14)),
        ('x: """list[\n  é, Optional]"""', Span(2, 6, 2, 14)),
        ("x: U_['U_[\"Optional\"]']".replace("U_", "list"), Span(1, 16, 1, 24)),
        ("x: r'Optional'", Span(1, 6, 1, 14)),
        ("x: 'Optional' 'Thing | Optional'", Span(1, 4, 1, 33)),
        ("x: '\\x4fptional | Optional'", Span(1, 4, 1, 28)),
        ("x = f'{y}{Optional}'", Span(1, 11, 1, 19)),
        ("x = (\n  t.\n  Optional)", Span(2, 3, 3, 11)),
    ],
)
def test_span(text: str, span: Span | None) -> None:
    assert {use.span for use in uses(text)} == ({span} if span else set())


@needs_places
def test_span_in_a_format_string() -> None:
    assert only("x = f'''{\n  Optional} Optional'''").span == Span(2, 3, 2, 11)


@pytest.mark.parametrize(
    ("text", "before", "at"),
    [
        ("def f(x: Optional): ...", [("Optional", True)], [("Optional", False)]),
        ("def f(x: Optional): ...\nfrom typing import Optional", [("Optional", True)], []),
        ("class A:\n    x: Optional", [("Optional", True)], [("Optional", False)]),
        ("x = Optional", [("Optional", True)], [("Optional", True)]),
        ("x: Optional = Optional", [("Optional", True)] * 2, [("Optional", False), ("Optional", True)]),
        ("from typing import *\nx = TypeIs", [("TypeIs", True)], []),
    ],
)
def test_python_3_14(text: str, before: list[tuple[str, bool]], at: list[tuple[str, bool]]) -> None:
    assert names(text, (3, 12)) == before
    assert names(text, (3, 14)) == at


@needs_type_parameters
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("type X = Optional[int]", [("Optional", False)]),
        ("type X = Optional[int]\nfrom typing import Optional", []),
        ("type X[Optional] = Optional", []),
        ("def f[Optional](x: Optional) -> Optional:\n    return Optional", []),
        ("def f[T: Set](x: T): ...", [("Set", False)]),
        ("def f[T](x: Set): ...", [("Set", True)]),
        ("def f[Set](x=Set): ...", [("Set", True)]),
        ("@Set\ndef f[Set](): ...", [("Set", True)]),
        ("class A[Set](Set):\n    x: Set\n    def f(self) -> Set: return Set", []),
        ("class A[T](Set): ...", [("Set", True)]),
        ("class A:\n    from typing import List\n    def f[T: List](self, x: List) -> T: ...", []),
        ("class A:\n    from typing import List\n    type X = List", []),
    ],
)
def test_type_parameters(text: str, found: list[tuple[str, bool]]) -> None:
    assert names(text) == found


@pytest.mark.skipif(sys.version_info < (3, 13), reason="syntax of Python 3.13")
def test_default_of_a_type_parameter() -> None:
    assert names("def f[T = Optional](x: T): ...") == [("Optional", False)]


def test_star_imports() -> None:
    asked: list[StarImport] = []

    def exports(star: StarImport) -> frozenset[str] | None:
        asked.append(star)
        return {"known": frozenset({"List"}), "empty": frozenset[str]()}.get(star.module)

    def found(text: str) -> list[str]:
        source = SourceText("p.py", text.encode(), text)
        return [use.name for use in find_undefined_typing_names(source, lambda: ast.parse(text), (3, 12), exports)]

    assert found("from known import *\nx: List[Set]") == ["Set"]
    assert found("from empty import *\nx: List[Set]") == ["List", "Set"]
    assert found("from known import *\nfrom .unknown import *\nx: List[Set]") == []
    assert found("x: Set\nfrom unknown import *\ny: Set") == ["Set"]
    assert found("from typing_extensions import *\nx: Buffer") == []
    assert asked == [
        StarImport("known", 0, 1),
        StarImport("empty", 0, 1),
        StarImport("known", 0, 1),
        StarImport("unknown", 1, 2),
        StarImport("unknown", 0, 2),
    ]


def test_star_imports_for_type_checkers() -> None:
    text = "import t\nif t.TYPE_CHECKING:\n    from known import *\n    from {} import *\nx: Set\ny: 'Set'\nz: 'List'"
    one, *other = uses(text.format("unknown"), known=frozenset({"Set"}))
    assert (one.name, one.span.line, one.evaluated, one.cause, other) == ("Set", 5, True, "type-checking", [])
    empty = frozenset[str]()
    assert [use.name for use in uses(text.format("empty"), known=frozenset({"Set"}), empty=empty)] == ["Set", "List"]


def test_an_alias_of_type_checking() -> None:
    text = "from typing import TYPE_CHECKING as CHECKING\nif CHECKING:\n    import Set\n    List\nSet\n"
    assert names(text) == [("List", False), ("Set", True)]


def test_conditions_on_type_checking() -> None:
    for test in ("t.TYPE_CHECKING", "t.TYPE_CHECKING and x", "not not t.TYPE_CHECKING", "x and t.TYPE_CHECKING"):
        assert names(f"import t\nif {test}:\n    Set\nelse:\n    List") == [("Set", False), ("List", True)], test
    for test in ("not t.TYPE_CHECKING", "x or not t.TYPE_CHECKING", "not (x and t.TYPE_CHECKING)"):
        assert names(f"import t\nif {test}:\n    Set\nelse:\n    List") == [("Set", True), ("List", False)], test
    for test in ("t.TYPE_CHECKING or x", "x", "not t.TYPE_CHECKING and x", "False"):
        assert names(f"import t\nif {test}:\n    Set\nelse:\n    List") == [("Set", True), ("List", True)], test


HOSTILE = {
    "attributes": "x = Optional" + ".a" * 900,
    "target": "x" + ".a" * 900 + ": Optional = 1",
    "operators": "x: Optional" + " | int" * 900,
    "calls": "x = Optional" + "()" * 900,
    "elif": "if x: pass\n" + "elif x: pass\n" * 900 + "else: Optional",
    "blocks": "".join("    " * depth + "if x:\n" for depth in range(95)) + "    " * 95 + "Optional",
    "classes": "".join("    " * depth + "class A:\n" for depth in range(95)) + "    " * 95 + "Optional",
    "functions": "".join("    " * depth + "def f():\n" for depth in range(95)) + "    " * 95 + "Optional",
    "quotes": "x: " + repr(repr(repr(repr(repr("Optional"))))),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_deep_nesting_does_not_exhaust_the_stack(text: str) -> None:
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        pytest.skip("this Python can't parse it")
    found = find_undefined_typing_names(SourceText("p.py", text.encode(), text), lambda: tree, (3, 12), lambda _: None)
    assert [use.name for use in found] == ["Optional"]


@pytest.mark.parametrize(
    "annotation", ["'Optional['", "'Optional\\0'", "'" + "(" * 300 + "Optional'", "'x = Optional'"]
)
def test_a_string_that_holds_no_expression_is_no_annotation(annotation: str) -> None:
    assert uses(f"x: {annotation}") == ()
