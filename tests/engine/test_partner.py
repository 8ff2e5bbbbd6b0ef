"""What two processes share is done once, whatever becomes of the second one."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from eagle3_lint.engine import partner as partner_module
from eagle3_lint.engine.partner import Partner
from eagle3_lint.engine.second_process import Ended

PARENT = os.getpid()
COUNTS = (0, 1, 3, 2048, 2049, 10_000)


class Counting:
    """Notes who dealt with which number; ``fails`` and ``dies`` say after how many of them the child does.

    The first half of the numbers is this process's.
    """

    def __init__(
        self, count: int, *, mine: int | None = None, fails: int = -1, dies: int = -1, pause: float = 0.0
    ) -> None:
        self.count = count
        self.mine = count // 2 if mine is None else mine
        self.fails = fails
        self.dies = dies
        self.pause = pause
        self.said = "nothing"
        self.here_done: list[int] = []
        self.there_done: list[int] = []
        self.told: list[str] = []

    def argument(self) -> Any:
        return self.said

    def here(self, number: int) -> None:
        time.sleep(self.pause)
        self.here_done.append(number)

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        assert os.getpid() != PARENT
        done = []
        for number in numbers:
            if len(done) == self.fails:
                raise ValueError(number)
            if len(done) == self.dies:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self.pause)
            done.append(number)
        return done, argument

    def take(self, answer: Any) -> None:
        done, argument = answer
        self.there_done.extend(done)
        self.told.append(argument)

    @property
    def all(self) -> list[int]:
        return sorted((*self.here_done, *self.there_done))


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture(params=[True, False], ids=["with a child", "alone"])
def can_fork(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(partner_module, "can_fork", lambda: request.param)
    return bool(request.param)


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partner_module, "can_fork", lambda: True)


@pytest.mark.parametrize("count", COUNTS)
def test_every_item_of_every_job_is_dealt_with_once(count: int, can_fork: bool) -> None:
    jobs = [Counting(count), Counting(7), Counting(count)]
    with Partner(*jobs) as partner:
        partner.start()
        for number, job in enumerate(jobs):
            job.said = f"of job {number}"
        for job, following in zip(jobs, (jobs[1], None, None), strict=True):
            partner.share(job, following)
            assert job.all == list(range(job.count))
            assert job.told == ([job.said] if can_fork else [])
            assert can_fork or not job.there_done


def test_without_a_start_all_is_done_here(forking: None) -> None:
    job = Counting(50)
    with Partner(job) as partner:
        partner.share(job)
    assert job.here_done == list(range(50))


@pytest.mark.parametrize("call", ["fork", "pipe"])
def test_a_system_without_room_for_another_process(call: str, forking: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room() -> None:
        raise OSError(errno.EAGAIN, "no room")

    monkeypatch.setattr(os, call, no_room)
    job = Counting(50)
    with Partner(job) as partner:
        partner.start()
        partner.share(job)
    assert job.here_done == list(range(50))


def test_where_the_system_buries_children(forking: None) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        job = Counting(500)
        with Partner(job) as partner:
            partner.start()
            partner.share(job)
        assert job.all == list(range(500))
        dying = Counting(20, dies=0)
        with Partner(dying) as partner:
            partner.start()
            partner.begin(dying)
            time.sleep(0.1)
            partner.share(dying)
        assert sorted(dying.here_done) == list(range(20))
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_each_process_begins_with_its_own_and_goes_on_with_what_the_other_has_left(forking: None) -> None:
    for mine in (0, 10, 90, 100):
        job = Counting(100, mine=mine, pause=0.001)
        with Partner(job) as partner:
            partner.start()
            partner.share(job)
        assert job.all == list(range(100))
        own = [number for number in job.here_done if number < mine]
        assert job.here_done[: len(own)] == own == sorted(own)
        theirs = [number for number in job.there_done if number >= mine]
        assert job.there_done[: len(theirs)] == theirs == sorted(theirs)
        assert min(len(job.here_done), len(job.there_done)) > 20


def test_who_ends_a_child_may_leave_the_waiting_to_others(forking: None) -> None:
    job = Counting(10)
    ended = Ended()
    partner = Partner(job)
    partner.start()
    partner.share(job)
    # a child whose pipe is closed would end by itself, sooner or later
    held = os.dup(partner._requests)
    partner.stop(ended)
    partner.stop(ended)
    assert os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT) is not None
    os.close(held)
    ended.wait()
    ended.wait()


def test_a_child_that_the_system_has_buried_is_not_ended_again(forking: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        partner = Partner(Counting(3))
        partner.start()
        child = partner._child
        os.kill(child, signal.SIGKILL)
        with pytest.raises(ProcessLookupError):
            while True:
                os.kill(child, 0)
                time.sleep(0.01)
        monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("its number may be another's"))
        ended = Ended()
        partner.stop(ended)
        ended.wait()
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_both_processes_take_some(forking: None) -> None:
    job = Counting(100, pause=0.001)
    with Partner(job) as partner:
        partner.start()
        partner.start()
        partner.share(job)
    assert job.all == list(range(100))
    assert len(job.here_done) > 1
    assert len(job.there_done) > 1


@pytest.mark.parametrize("fault", [{"fails": 0}, {"fails": 2}, {"dies": 0}, {"dies": 2}])
@pytest.mark.parametrize("count", COUNTS)
def test_what_a_failed_child_took_is_done_here(count: int, fault: dict[str, int], forking: None) -> None:
    first, second = Counting(count, pause=0.0001 if count < 100 else 0.0, **fault), Counting(20)
    with Partner(first, second) as partner:
        partner.start()
        for job, following in ((first, second), (second, None)):
            partner.share(job, following)
            assert job.all == list(range(job.count))


def test_an_item_that_fails_here_ends_the_child(forking: None) -> None:
    class Failing(Counting):
        def here(self, number: int) -> None:
            raise KeyboardInterrupt

    def leave() -> None:
        job = Failing(2000, pause=0.01)
        with Partner(job) as partner:
            partner.start()
            partner.share(job)

    with pytest.raises(KeyboardInterrupt):
        leave()


def test_large_messages_go_both_ways(forking: None) -> None:
    class Large(Counting):
        def there(self, argument: Any, numbers: Iterable[int]) -> Any:
            return super().there(argument, numbers)[0], argument * 2

    job = Large(10)
    job.said = "x" * 3_000_000
    with Partner(job) as partner:
        partner.start()
        partner.share(job)
    assert job.told == [job.said * 2]


def test_a_job_that_is_begun_is_done_elsewhere_meanwhile(can_fork: bool) -> None:
    job = Counting(50)
    with Partner(job) as partner:
        partner.start()
        partner.begin(job)
        time.sleep(0.2)
        partner.share(job)
    assert job.all == list(range(50))
    assert job.here_done == ([] if can_fork else list(range(50)))
