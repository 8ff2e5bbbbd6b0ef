"""What the sieve drops, silences nothing: the directives near a finding are those of the whole file."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.facts.typing_words import table_words
from eagle3_lint.findings.model import Span
from eagle3_lint.findings.sieve import MARK_WORDS, may_silence
from eagle3_lint.findings.suppression import suppressions
from eagle3_lint.rules.catalogue import CODES
from eagle3_lint.sources.text import SourceText

BLOCKS = (
    "class A:\n    pass",
    "class B:  # noqa\n    x = 1\n",
    "def f():  # noqa: EGL101\n    return 1",
    "def g():\n    '''Text.'''\n    return 1  # noqa",
    "async def h():\n    pass",
    "# noqa",
    "    # noqa",
    "# eagle3-lint: ignore[EGL101] reason",
    "# eagle3-lint: ignore-file[EGL101]",
    "# flake8: noqa: EGL101",
    "# pylint: disable=missing-eagle3-delegation",
    "x = 1  # noqa",
    "x = (  # noqa\n    1,\n)",
    "@decorated\ndef d(): ...",
    "@decorated(  # noqa\n1,\n)\n# between\n@decorated\nclass D: ...",
    "@decorated  # noqa\n\n# noqa: EGL101\n@decorated('''\ndef f():\n''')\ndef e():  # comment\n    pass",
    "@decorated(1 + \\\n    2)  # noqa\ndef k(): ...",
    "s = '''\nclass A:\n'''  # noqa",
    'f(1, """\n# noqa\n""",  # noqa\n  2)',
    "x = 1 + \\\n    2  # noqa",
    "s = 'a \\\nclass X: b'  # noqa: EGL101",
    "",
    "pass",
)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Blocks one after the other, some of them inside a class."""
    blocks = [*draw(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=6))]
    inside = draw(st.lists(st.sampled_from(BLOCKS), max_size=3))
    if inside:
        blocks.insert(
            draw(st.integers(0, len(blocks))), "class Outer:\n    a = 1\n" + indent("\n".join(inside), "    ")
        )
    return "\n".join(blocks) + "\n"


@settings(max_examples=1500, deadline=None)
@given(modules(), st.data())
def test_nothing_that_silences_is_dropped(text: str, data: st.DataObject) -> None:
    ast.parse(text)
    source = SourceText("/m.py", b"", text)
    line = data.draw(st.integers(1, len(source.lines)))
    column = data.draw(st.sampled_from((1, 5, 7, 9, 30)))
    span = Span(line, column, line, column + 1)

    def silencing(at: frozenset[int] | None) -> tuple[object, ...]:
        found = suppressions(source, CODES, None, at=at)
        return found.covering("EGL101", "missing-eagle3-delegation", span)

    assert silencing(frozenset({line})) == silencing(None)


@settings(max_examples=800, deadline=None)
@given(modules(), st.data())
def test_nothing_that_silences_nothing_is_dropped(text: str, data: st.DataObject) -> None:
    source = SourceText("/m.py", b"", text)
    found = data.draw(st.frozensets(st.integers(1, len(source.lines)), max_size=2))

    def unused(at: frozenset[int] | None) -> tuple[object, ...]:
        asked = suppressions(source, CODES, None, at=at, unused=True)
        spans = [Span(line, 1, line, 2) for line in sorted(found)]
        used = [(one, "EGL101") for span in spans for one in asked.covering("EGL101", CODES[0].symbol, span)]
        return asked.unused(used, [code.code for code in CODES], complete=True)

    assert unused(found) == unused(None)
    assert not may_silence(source, CODES, None) or not MARK_WORDS.isdisjoint(table_words(text))


@pytest.mark.parametrize(
    "comment",
    ("#NoQA:EGL101", "x#noqa", "# pylint:disable=all", "#eagle3-lint:ignore[EGL101]", "# flake8:noqa", "# noqa\u00b7"),
)
def test_every_directive_has_a_word_that_marks_it(comment: str) -> None:
    text = f"x = 1  {comment}\n"
    assert may_silence(SourceText("/m.py", b"", text), CODES, None)
    assert not MARK_WORDS.isdisjoint(table_words(text))


def test_a_plain_directive_far_from_every_finding_is_not_tokenized_for_what_is_unused() -> None:
    source = SourceText("/m.py", b"", "x = 1  # noqa\ny = 2  # pylint: disable=all\n")
    assert not may_silence(source, CODES, frozenset(), unused=True)
    named = SourceText("/m.py", b"", "x = 1  # noqa: EGL101\n")
    assert may_silence(named, CODES, frozenset(), unused=True)
    assert not may_silence(named, CODES, frozenset())


def test_what_is_far_from_a_finding_is_not_tokenized() -> None:
    lines = [
        "class Far:",
        "    def f(self):",
        "        '''See.'''",
        "        return 1  # noqa",
        "",
        "class Near:",
        "    pass",
    ]
    source = SourceText("/m.py", b"", "\n".join(lines))
    assert may_silence(source, CODES, None)
    assert may_silence(source, CODES, {4})
    assert not may_silence(source, CODES, {1, 2, 6})
