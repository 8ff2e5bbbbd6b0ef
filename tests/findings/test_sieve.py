"""What the sieve drops, silences nothing: the directives near a finding are those of the whole file."""

from __future__ import annotations

import ast
from textwrap import indent

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.findings.model import Span
from eagle3_lint.findings.sieve import may_silence
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
