"""A second process that stays for several jobs, and takes its share of each item by item, so that neither waits.

Only the command line asks for it: a host's own threads and workers are not to be forked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from eagle3_lint.engine.second_process import Ended, can_fork, end_with, receive, send, wide_pipe

if TYPE_CHECKING:
    from typing_extensions import Self

_NUMBER = 2
# So many numbers fit into any system's pipe while nobody reads.
_MOST_PARTS = 4096 // _NUMBER


class Job(Protocol):
    """Work on items that have numbers from 0, which two processes share.

    The partner has a copy of the job as it was when the partner was started; ``argument`` is what it needs to know beside.
    What goes from one process to the other is made of tuples, lists, dictionaries, strings and numbers.
    """

    @property
    def count(self) -> int:
        """How many items there are."""

    @property
    def mine(self) -> int:
        """With how many of them, from the first, this process begins; the partner begins with the others.

        Who is done with its own goes on with what the other one has left, so those that take longest are to come first in
        each part.
        """

    def argument(self) -> Any:
        """What the partner needs to know; asked for right before the work begins."""

    def here(self, number: int) -> None:
        """Deal with one item in this process."""

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        """Deal with some items in the partner; returns what came of them."""

    def take(self, answer: Any) -> None:
        """Take what ``there`` returned."""


class Partner:
    """A child for ``jobs``; where there is no second core or no ``fork``, or it fails, all is done in this process."""

    def __init__(self, *jobs: Job) -> None:
        self._jobs = jobs
        self._child = 0
        self._begun: Job | None = None
        self._mine, self._others = _Numbers(), _Numbers()
        self._requests = self._answers = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the child, with all that is known by now; nothing where there is one already."""
        if self._child or not can_fork():
            return
        parent = os.getpid()
        opened: list[int] = []
        try:
            for pipe in (os.pipe, os.pipe, wide_pipe, wide_pipe):
                opened += pipe()
            self._child = os.fork()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            return
        self._mine, self._others = _Numbers(*opened[:2]), _Numbers(*opened[2:4])
        requests, self._requests, self._answers, answers = opened[4:]
        if self._child:
            os.close(requests)
            os.close(answers)
            return
        try:
            os.close(self._requests)
            os.close(self._answers)
            end_with(parent)
            self._serve(requests, answers)
        finally:
            # Whatever happens, the child must not go on with the parent's work.
            os._exit(1)

    def begin(self, job: Job) -> None:
        """Have the child begin with ``job``, which is to be shared next, while this process does something else."""
        self._begun = job if self._child and self._asked(job) else None

    def share(self, job: Job, following: Job | None = None) -> None:
        """Get ``job`` done, with the child where there is one; what it raises in this process is raised.

        The child can begin with the job ``following``, which is to be shared next, while its answer is taken.
        """
        parts = _parts(job.mine, job.count)
        done: set[int] = set()
        answer = None
        if self._child and (self._begun is job or self._asked(job)):
            for part in self._taken(self._mine, self._others):
                done.add(part)
                for number in parts[part]:
                    job.here(number)
            answer = self._answer()
        self._begun = None
        if following is not None:
            self.begin(following)
        if answer is not None:
            job.take(answer)
            return
        for part, numbers in enumerate(parts):
            for number in numbers if part not in done else ():
                job.here(number)

    def stop(self, ended: Ended | None = None) -> None:
        """End the child, whatever it is at; whoever holds ``ended``, if it is given, waits for it."""
        if not self._child:
            return
        child, self._child = self._child, 0
        for numbers in (self._mine, self._others):
            numbers.close()
        for descriptor in (self._requests, self._answers):
            os.close(descriptor)
        dying = ended or Ended()
        dying.end(child)
        if ended is None:
            dying.wait()

    def _asked(self, job: Job) -> bool:
        """Whether the child could be told of ``job``."""
        mine = len(_split(0, job.mine))
        try:
            self._mine.put(range(mine))
            self._others.put(range(mine, len(_parts(job.mine, job.count))))
            send(self._requests, (self._jobs.index(job), job.argument(), job.mine, job.count))
        except OSError:
            self.stop()
            return False
        return True

    def _answer(self) -> Any:
        """What the child answers in a tuple of one, so that it can be anything; None where it failed."""
        answer = receive(self._answers)
        if answer is None:
            self.stop()
            return None
        return answer[0]

    def _taken(self, first: _Numbers, second: _Numbers) -> Iterator[int]:
        """The parts that this process gets hold of, one by one."""
        for numbers in (first, second):
            while (part := numbers.take()) is not None:
                yield part

    def _serve(self, requests: int, answers: int) -> None:
        while (request := receive(requests)) is not None:
            index, argument, mine, count = request
            parts = _parts(mine, count)
            numbers = (number for part in self._taken(self._others, self._mine) for number in parts[part])
            send(answers, (self._jobs[index].there(argument, numbers),))


class _Numbers:
    """Numbers in a pipe: what is in it is handed to one reader only, and a number is read whole."""

    def __init__(self, reading: int = -1, writing: int = -1) -> None:
        self._reading = reading
        self._writing = writing
        if reading >= 0:
            os.set_blocking(reading, False)

    def put(self, numbers: Iterable[int]) -> None:
        """Have ``numbers`` taken; raises OSError where that can't be."""
        os.write(self._writing, b"".join(number.to_bytes(_NUMBER, "little") for number in numbers))

    def take(self) -> int | None:
        """One that nobody has taken, or None."""
        try:
            return int.from_bytes(os.read(self._reading, _NUMBER), "little")
        except BlockingIOError:
            return None

    def close(self) -> None:
        """Close the pipe in this process."""
        os.close(self._reading)
        os.close(self._writing)


def _parts(mine: int, count: int) -> list[range]:
    """All numbers below ``count`` in parts; no part has some below ``mine`` and others."""
    return _split(0, mine) + _split(mine, count)


def _split(start: int, end: int) -> list[range]:
    """The numbers from ``start`` to ``end`` in parts, of which there are never too many."""
    each = -(-(end - start) // _MOST_PARTS) or 1
    return [range(at, min(at + each, end)) for at in range(start, end, each)]
