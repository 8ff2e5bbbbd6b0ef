"""Suppressing comments: what each form covers, and what it leaves alone."""

from __future__ import annotations

import ast
import tokenize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.findings.codes import PYLINT_BLOCK
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.suppression import Directive, Suppressions, suppressions
from eagle3_lint.rules.catalogue import CODES
from eagle3_lint.sources.reading import MAX_IMPORT_DOTS
from eagle3_lint.sources.text import SourceText

SYMBOL = "missing-eagle3-delegation"


def read(text: str, **options: object) -> Suppressions:
    return suppressions(SourceText("/x/m.py", text.encode("utf-8", "surrogatepass"), text), CODES, **options)  # type: ignore[arg-type]


def at(line: int, column: int = 7) -> Span:
    return Span(line, column, line, column + 5)


def is_silent(text: str, line: int, code: str = "EGL101", symbol: str = SYMBOL, column: int = 7) -> bool:
    return read(text).covers(code, symbol, at(line, column)) is not None


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NoQA",
        "#noqa",
        "# noqa: EGL101",
        "# noqa:EGL101",
        "# noqa: E501, EGL101",
        "# noqa: E501 EGL101",
        "# noqa: EGL1",
        "# noqa: egl101",
        "# noqa: a reason without codes",
        "# type: ignore  # noqa: EGL101",
        "# noqa: E501  # noqa: EGL101",
        "# pylint: disable=missing-eagle3-delegation",
        "# pylint: disable=E7311",
        "# pylint: disable=invalid-name, missing-eagle3-delegation",
        "# pylint: disable=E",
        "# pylint: disable=eagle3",
        "# pylint:disable = missing-eagle3-delegation; why",
        "# why # pylint: disable=missing-eagle3-delegation",
        "# eagle3-lint: ignore",
        "# eagle3-lint: ignore why",
        "# eagle3-lint: ignore[EGL101] why",
        "# eagle3-lint: ignore[EGL102, EGL101]",
        "# eagle3-lint: ignore[EGL1]",
        "# eagle3-lint: ignore[missing-eagle3-delegation]",
        "# eagle3-lint:ignore[EGL101]",
    ],
)
def test_silences_its_line_alone(comment: str) -> None:
    text = f"class A: ...\nclass B: ...  {comment}\nclass C: ...\n"
    assert is_silent(text, 2)
    assert not is_silent(text, 1)
    assert not is_silent(text, 3)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: EGL102",
        "# noqa: EG1",
        "# noqa: EGL1011",
        "# no qa",
        "# noqable",
        "# pylint: disable=invalid-name",
        "# pylint: disable=W",
        "# pylint: disable=E7312",
        "# pylint: enable=missing-eagle3-delegation",
        "# pylint: disable missing-eagle3-delegation",
        "# pylint: disable=",
        "# pylint: unknown=missing-eagle3-delegation",
        "# eagle3-lint: ignore[EGL102]",
        "# eagle3-lint: ignore[]",
        "# eagle3-lint: ignore[EGL101",
        "# eagle3-lint: ignored",
        "# eagle3-lint: ignore-line",
        "# type: ignore",
        "# ruff: noqa: E501",
    ],
)
def test_silences_nothing_of_ours(comment: str) -> None:
    assert not is_silent(f"class B: ...  {comment}\n", 1)


@pytest.mark.parametrize(
    "comment",
    [
        "# flake8: noqa",
        "# flake8=noqa",
        "# FLAKE8: NOQA",
        "# flake8: noqa: EGL101",
        "# pylint: skip-file",
        "# pylint: disable=all",
        "# eagle3-lint: ignore-file why",
        "# eagle3-lint: ignore-file",
        "# eagle3-lint: ignore-file[EGL1]",
    ],
)
@pytest.mark.parametrize("place", ["first", "last", "inside"])
def test_silences_the_whole_file(comment: str, place: str) -> None:
    texts = {
        "first": f"{comment}\nclass A: ...\n\nclass B: ...\n",
        "last": f"\nclass A: ...\n\nclass B: ...\n{comment}",
        "inside": f"\nclass A:\n    {comment}\n    x = 1\nclass B: ...\n",
    }
    assert is_silent(texts[place], 2)
    assert is_silent(texts[place], 4)


def test_file_directives_beside_code() -> None:
    assert not is_silent("class A: ...\nx = 1  # flake8: noqa\n", 1)
    assert is_silent("class A: ...\nx = 1  # eagle3-lint: ignore-file\n", 1)


@pytest.mark.parametrize("comment", ["# flake8: noqa: E501", "# eagle3-lint: ignore-file[EGL301]"])
def test_file_directives_for_other_codes(comment: str) -> None:
    assert not is_silent(f"{comment}\nclass A: ...\n", 2)


@pytest.mark.parametrize("comment", ["# noqa", "# eagle3-lint: ignore[EGL101]"])
def test_lines_that_belong_to_a_definition(comment: str) -> None:
    above = f"{comment}\nclass A: ...\n"
    on_decorator = f"@one  {comment}\n@two(\n    1)\nclass A: ...\n"
    inside_decorator = f"@one\n@two(  {comment}\n    1)\nclass A: ...\n"
    above_decorator = f"{comment}\n@one\nclass A: ...\n"
    between = f"@one\n{comment}\nclass A: ...\n"
    assert is_silent(above, 2)
    assert is_silent(on_decorator, 4)
    assert is_silent(inside_decorator, 4)
    assert is_silent(above_decorator, 3)
    assert is_silent(between, 3)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\nclass A: ...\n",
        "# noqa\n\nclass A: ...\n",
        "# noqa\nx = 1\nclass A: ...\n",
        "class A:\n    # noqa\n    x = 1\n",
        "class A(\n    B,\n):  # noqa\n    x = 1\n",
        "@one  # noqa\ndef f(): ...\nclass A: ...\n",
    ],
)
def test_lines_that_belong_to_something_else(text: str) -> None:
    line = text[: text.index("class A")].count("\n") + 1
    assert not is_silent(text, line)


def test_a_pylint_comment_on_a_decorator_counts_for_the_definition() -> None:
    assert is_silent(f"@one  # pylint: disable={SYMBOL}\n@two\nclass A: ...\nclass B: ...\n", 3)
    assert not is_silent(f"@one  # pylint: disable={SYMBOL}\n@two\nclass A: ...\nclass B: ...\n", 4)


def test_the_line_above_is_for_the_name_not_for_what_else_the_header_holds() -> None:
    text = "# noqa\ndef f(x: Optional[int]): ...\n"
    assert is_silent(text, 2, column=5)
    assert not is_silent(text, 2, "EGL301", "unimported-typing-name", column=10)


def test_an_async_function_is_a_definition() -> None:
    assert is_silent("# noqa\nasync def f(): ...\n", 2, column=11)


def test_joined_lines_are_one_line_for_flake8() -> None:
    text = 'x = """a\nb\nc"""  # noqa: EGL301\ny = 1 + \\\n    2  # noqa: EGL301\nz = (1,\n     2)  # noqa: EGL301\n'
    silent = [line for line in range(1, 8) if is_silent(text, line, "EGL301", "unimported-typing-name")]
    assert silent == [1, 2, 3, 4, 5, 7]


@pytest.mark.parametrize(
    "text",
    [
        'x = "# noqa"\n',
        'x = """\n# noqa\n"""\n',
        "x = '''# eagle3-lint: ignore-file'''\n",
        'x = "# pylint: skip-file"\n',
        'def f():\n    """\n    # flake8: noqa\n    """\n',
        'x = f"{y}# noqa"\n',
    ],
)
def test_strings_hold_no_directives(text: str) -> None:
    assert read(text).directives == ()


def test_pylint_scopes() -> None:
    text = (
        "class A:\n"
        f"    # pylint: disable={SYMBOL}\n"
        "    class B: ...\n"
        "    def f(self): ...\n"
        f"    # pylint: enable={SYMBOL}\n"
        "    class C: ...\n"
        "class D: ...\n"
        f"# pylint: disable-next={SYMBOL}\n"
        "class E: ...\n"
        "class F: ...\n"
    )
    # the late "enable" takes the class's own line back, as in pylint
    assert [line for line in range(1, 11) if is_silent(text, line)] == [2, 3, 4, 9]


def test_the_syntax_tree_is_asked_for_only_when_a_scope_needs_it() -> None:
    asked = []

    def tree() -> ast.Module:
        asked.append(True)
        return ast.parse(text)

    text = f"class A: ...  # noqa: EGL102\nclass B: ...  # pylint: disable={SYMBOL}\n"
    found = read(text, tree=tree)
    assert found.covers("EGL301", "unimported-typing-name", at(2)) is None
    assert asked == []
    assert found.covers("EGL101", SYMBOL, at(2)) is not None
    assert found.covers("EGL101", SYMBOL, at(1)) is None
    assert asked == [True]


def test_what_is_too_costly_to_parse_is_not_parsed_for_a_pragma(monkeypatch: pytest.MonkeyPatch) -> None:
    costly = f"import {'.'.join(['a'] * (MAX_IMPORT_DOTS + 2))}\n" * 900
    parsed: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(ast, "parse", lambda text, *_, **__: parsed.append(text))
        found = read(f"{costly}x = 1  # pylint: disable={SYMBOL}\n")
        covered = [found.covers("EGL101", SYMBOL, at(line)) is not None for line in (900, 901)]
    assert (covered, parsed) == ([False, True], [])


def test_kinds_that_the_host_handles_are_left_out() -> None:
    text = f"class A: ...  # noqa # pylint: disable={SYMBOL}\n"
    assert {directive.kind for directive in read(text).directives} == {"noqa", "pylint"}
    assert [directive.kind for directive in read(text, kinds={"pylint"}).directives] == ["pylint"]
    assert not read(text, kinds={"eagle3-lint"})


def test_text_without_a_mark_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("tokenized")

    monkeypatch.setattr(tokenize, "generate_tokens", refuse)
    assert read("class A:\n    x = 1  # a comment\n" * 100).directives == ()
    with pytest.raises(AssertionError, match="tokenized"):
        read("class A: ...  # noqa\n")


def test_a_file_that_is_not_python_keeps_what_stands_above_the_fault() -> None:
    text = "# eagle3-lint: ignore-file broken on purpose\nclass A(:\n    x = '''\n"
    assert is_silent(text, 2, "EGL901", "unreadable-source")
    text = "class A(:  # pylint: disable=unreadable-source\n    x = (\n"
    assert is_silent(text, 1, "EGL901", "unreadable-source")
    assert not is_silent(text, 2, "EGL901", "unreadable-source")


def test_a_reason_is_kept() -> None:
    (directive,) = read("class A: ...  # eagle3-lint: ignore[EGL101] served without a draft # more\n").directives
    assert directive.reason == "served without a draft"
    (directive,) = read(f"class A: ...  # pylint: disable={SYMBOL}; served without a draft\n").directives
    assert directive.reason == "served without a draft"


def test_places_of_directives_and_entries() -> None:
    (directive,) = read("class A: ...  # noqa: E501,EGL101\n").directives
    assert directive.span == Span(1, 15, 1, 34)
    assert [(entry.text, entry.column) for entry in directive.entries] == [("E501", 23), ("EGL101", 28)]


def used_of(found: Suppressions, code: str, symbol: str, line: int) -> list[tuple[Directive, str]]:
    return [(directive, code) for directive in found.covering(code, symbol, at(line))]


ALL = [code.code for code in CODES]


def test_unused_are_our_codes_that_silenced_nothing() -> None:
    text = (
        "class A: ...  # noqa: E501,EGL101,EGL102\n"
        "class B: ...  # noqa\n"
        "class C: ...  # noqa: E501\n"
        f"class D: ...  # pylint: disable=invalid-name,{SYMBOL}\n"
        "class E: ...  # eagle3-lint: ignore[EGL101, EGL999]\n"
        "class F: ...  # pylint: disable=W7301,E7302\n"
        f"class G: ...  # pylint: enable={SYMBOL}\n"
    )
    found = read(text)
    used = used_of(found, "EGL101", SYMBOL, 1)
    unused = found.unused(used, ALL)
    assert [(item.span.line, item.entry) for item in unused] == [
        (1, "EGL102"),
        (4, SYMBOL),
        (5, "EGL101"),
        (5, "EGL999"),
        (6, "W7301"),
        (6, "E7302"),
    ]
    line, column, _, end_column = (unused[0].span.line, unused[0].span.column, 0, unused[0].span.end_column)
    assert text.splitlines()[line - 1][column - 1 : end_column - 1] == "EGL102"


def test_all_directives_that_silence_a_finding_are_used() -> None:
    text = f"# eagle3-lint: ignore-file[EGL101]\nclass A: ...  # noqa: EGL101 # pylint: disable={SYMBOL}\n"
    found = read(text)
    assert len(found.covering("EGL101", SYMBOL, at(2))) == 3
    assert found.unused(used_of(found, "EGL101", SYMBOL, 2), ALL) == ()


def test_a_code_that_did_not_run_is_not_called_unused() -> None:
    found = read("class A: ...  # noqa: EGL101, EGL2\n")
    assert [item.entry for item in found.unused([], ["EGL101"])] == ["EGL101"]


def test_an_ignore_without_codes_is_judged_only_when_every_rule_ran() -> None:
    found = read("class A: ...  # eagle3-lint: ignore\n")
    assert found.unused([], ALL) == ()
    assert [item.entry for item in found.unused([], ALL, complete=True)] == [""]


def test_unused_can_itself_be_silenced() -> None:
    assert read("class A: ...  # noqa: EGL101,EGL902\n").unused([], ALL) != ()
    assert read("class A: ...  # noqa: EGL101  # eagle3-lint: ignore[EGL902]\n").unused([], ALL) == ()
    assert read("# eagle3-lint: ignore-file[EGL902]\nclass A: ...  # noqa: EGL101\n").unused([], ALL) == ()


LINES = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "  x = 1",
            "class A:",
            "    def f(self):",
            "        pass",
            "@d",
            "if x:",
            "else:",
            "'''",
            "(",
            ")",
            "\\",
            "x = 1 \\",
            "\0",
            "\x0c",
            "\ud800",
            "ä = '…'",
            "# noqa",
            "x  # noqa: EGL101",
            "# pylint: disable=missing-eagle3-delegation",
            "    # pylint: enable=all",
            "x  # pylint: disable-next=E7311",
            "# pylint: skip-file",
            "# eagle3-lint: ignore[EGL101]",
            "# eagle3-lint: ignore-file",
            "# flake8: noqa",
        ]
    ),
    max_size=12,
)


@settings(max_examples=400, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_text_makes_it_fail(lines: list[str], ending: str) -> None:
    text = ending.join(lines)
    found = read(text)
    for line in range(len(lines) + 2):
        found.covers("EGL101", SYMBOL, at(line))
    for item in found.unused([], ALL, complete=True):
        row = SourceText("/x", b"", text).lines[item.span.line - 1]
        assert row[item.span.column - 1 : item.span.end_column - 1]


def test_the_message_block_is_free_in_this_pylint() -> None:
    from pylint.lint import PyLinter

    linter = PyLinter()
    linter.load_default_plugins()
    taken = {message_id[1:3] for message_id in linter.msgs_store._messages_definitions}
    assert PYLINT_BLOCK not in taken
