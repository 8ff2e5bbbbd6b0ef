"""One program of hypothesmith for a number."""

from __future__ import annotations

import warnings

import hypothesmith
from hypothesis import HealthCheck, Phase, given, seed, settings


def program(number: int) -> str:
    """A syntactically valid program; the same number gives the same one."""
    found: list[str] = []

    @seed(number)
    @settings(
        max_examples=1,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(hypothesmith.from_node())
    def take(text: str) -> None:
        found.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        take()
    return found[-1]
