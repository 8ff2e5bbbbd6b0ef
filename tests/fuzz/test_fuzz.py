"""The brief run of the fuzzer: the same few hundred inputs each time. The long one is ``python -m tests.fuzz``."""

from __future__ import annotations

import pytest

from tests.fuzz.cases import KINDS, run_case
from tests.fuzz.corpus import Corpus

CORPUS = Corpus()
COUNTS = {
    "programs": 25,
    "files": 25,
    "mixed": 8,
    "configuration": 150,
    "baseline": 15,
    "cache": 10,
    "wheel": 150,
    "hypothesmith": 2,
}


def test_every_kind_has_its_share() -> None:
    assert COUNTS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_of_every_kind(kind: str) -> None:
    for number in range(COUNTS[kind]):
        run_case(kind, number, CORPUS)
