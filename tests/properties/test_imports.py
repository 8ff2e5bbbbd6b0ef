"""What a file is remembered with reaches everything that it imports, and nothing else."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.facts.imports import Import
from eagle3_lint.project.imports import ImportGraph
from eagle3_lint.project.modules import Modules

Graph = dict[str, tuple[str, ...]]
NAMES = "abcdefgh"


class _Named(Modules):
    """Modules without files: each is found under its own name."""

    def find(self, dotted: str) -> str | None:
        return dotted


def graph_of(imports: Graph) -> ImportGraph:
    def imports_of(path: str) -> list[Import]:
        return [(0, name, ()) for name in imports[path]]

    return ImportGraph(_Named((os.sep,)), frozenset(imports), tuple(imports), imports_of)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    return {name: tuple(draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))) for name in NAMES}


@settings(max_examples=300, deadline=None)
@given(graphs(), st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=3))
def test_what_is_reached(imports: Graph, start: frozenset[str]) -> None:
    expected = set(start)
    while new := {other for name in expected for other in imports[name]} - expected:
        expected |= new
    assert graph_of(imports).reached(start) == expected


def test_a_chain_longer_than_pythons_stack() -> None:
    size = 5000
    chain = {f"m{number}": (f"m{(number + 1) % size}",) for number in range(size)}
    assert graph_of(chain).reached(("m7",)) == frozenset(chain)
