"""The key under which findings of a family are remembered changes with whatever it imports, and with nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.project.imports import Digests

Graph = dict[str, tuple[str, ...]]
NAMES = "abcdefgh"


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    return {name: tuple(draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))) for name in NAMES}


def reached(graph: Graph, start: frozenset[str]) -> set[str]:
    found = set(start)
    pending = list(start)
    while pending:
        for other in graph[pending.pop()]:
            if other not in found:
                found.add(other)
                pending.append(other)
    return found


@settings(max_examples=300, deadline=None)
@given(graphs(), st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=3), st.permutations(NAMES), st.data())
def test_the_key_of_a_family(graph: Graph, family: frozenset[str], order: list[str], data: st.DataObject) -> None:
    contents = dict.fromkeys(NAMES, b"as it was")
    imports = Digests(graph.__getitem__, contents.__getitem__)
    before = imports.digest(family)
    again = Digests(graph.__getitem__, contents.__getitem__)
    for name in order:
        again.digest(frozenset(name))
    assert again.digest(family) == before
    changed = data.draw(st.sampled_from(NAMES))
    contents = {**contents, changed: b"as it is"}
    after = Digests(graph.__getitem__, contents.__getitem__).digest(family)
    assert (after != before) == (changed in reached(graph, family))


def test_a_circle_and_a_chain_longer_than_pythons_stack() -> None:
    size = 5000
    chain = {str(number): (str(number + 1),) for number in range(size)} | {str(size): ()}
    circle = {**chain, str(size): ("0",)}
    for graph in (chain, circle):
        imports = Digests(graph.__getitem__, str.encode)
        assert imports.digest(frozenset({"0"})) == imports.digest(frozenset({"0"}))
