"""Work that two processes share is done once, whatever becomes of the second process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable

import pytest

from eagle3_lint.engine import second_process
from eagle3_lint.engine.second_process import SecondProcess, Shared

PARENT = os.getpid()
COUNTS = (0, 1, 3, 2048, 2049, 10_000)


def taken_by(items: Iterable[int]) -> list[int]:
    return list(items)


def fails(items: Iterable[int]) -> list[int]:
    """Takes one item and fails, but only in the second process."""
    for one in items:
        if os.getpid() != PARENT:
            raise ValueError(one)
    return []


def dies(items: Iterable[int]) -> list[int]:
    for _ in items:
        if os.getpid() != PARENT:
            os.kill(os.getpid(), signal.SIGKILL)
    return []


def share(count: int, compute: Callable[[Iterable[int]], list[int]], pause: float = 0.0) -> tuple[list[int], list[int]]:
    with Shared(range(count), compute) as shared:
        time.sleep(pause)
        mine = list(shared.taken())
        return mine, shared.result()


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterable[None]:
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("can_fork", [True, False])
@pytest.mark.parametrize("count", COUNTS)
def test_every_item_is_taken_once(count: int, can_fork: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "can_fork", lambda: can_fork)
    mine, others = share(count, taken_by)
    assert sorted((*mine, *others)) == list(range(count))
    if not can_fork:
        assert not others


def test_both_processes_take_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "can_fork", lambda: True)

    def slowly(items: Iterable[int]) -> list[int]:
        return [one for one in items if time.sleep(0.001) is None]

    with Shared(range(200), slowly) as shared:
        mine = slowly(shared.taken())
        others = shared.result()
    assert sorted((*mine, *others)) == list(range(200))
    assert len(mine) > 1
    assert len(others) > 1


@pytest.mark.parametrize("compute", [fails, dies])
@pytest.mark.parametrize("count", COUNTS)
def test_what_a_failed_process_took_is_done_here(
    count: int, compute: Callable[[Iterable[int]], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_process, "can_fork", lambda: True)
    done: list[int] = []

    def computed(items: Iterable[int]) -> list[int]:
        if os.getpid() == PARENT:
            done.extend(items)
            return []
        return compute(items)

    with Shared(range(count), computed) as shared:
        time.sleep(0.05)
        mine = list(shared.taken())
        assert shared.result() == []
    assert sorted((*mine, *done)) == list(range(count))


def test_leaving_early_ends_the_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_process, "can_fork", lambda: True)

    def leave() -> None:
        with Shared(range(4), lambda items: [time.sleep(60) for _ in items]) as shared:
            next(shared.taken())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()


def test_a_value_computed_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for can_fork in (True, False):
        monkeypatch.setattr(second_process, "can_fork", lambda can_fork=can_fork: can_fork)
        with SecondProcess(lambda: (os.getpid() == PARENT, "value")) as other:
            assert other.result() == (not can_fork, "value")
