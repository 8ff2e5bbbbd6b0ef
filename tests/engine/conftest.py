"""Who does the work in the tests of the engine."""

from __future__ import annotations

import os

import pytest

from eagle3_lint.engine import by_family, loading, partner
from eagle3_lint.engine.partner import Partner


@pytest.fixture(params=["one process", "the other process"])
def who(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does the work: this process, or as much as can be the second one."""
    if request.param == "one process":
        return
    parent = os.getpid()
    taken = Partner._taken
    for module in (by_family, loading):
        monkeypatch.setattr(module, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(partner, "can_fork", lambda: True)
    monkeypatch.setattr(
        Partner, "_taken", lambda self, *numbers: taken(self, *numbers) if os.getpid() != parent else iter(())
    )
