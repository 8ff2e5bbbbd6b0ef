"""A second process that stays for several jobs, and takes its share of each item by item, so that neither waits.

Only the command line asks for it: a host's own threads and workers are not to be forked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from eagle3_lint.engine.second_process import can_fork, end_process, end_with, receive, send

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
        """How many items there are; those that take longest are to come first."""

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
        self._numbers = self._more_numbers = self._requests = self._answers = -1

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
            for _ in range(3):
                opened += os.pipe()
            self._child = os.fork()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            return
        # What is in a pipe is handed to one reader only, and a number is read whole.
        self._numbers, self._more_numbers, requests, self._requests, self._answers, answers = opened
        os.set_blocking(self._numbers, False)
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
        parts = _split(job.count)
        mine: set[int] = set()
        answer = None
        if self._child and (self._begun is job or self._asked(job)):
            for part in self._parts():
                mine.add(part)
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
            for number in numbers if part not in mine else ():
                job.here(number)

    def stop(self) -> None:
        """End the child, whatever it is at."""
        if not self._child:
            return
        child, self._child = self._child, 0
        for descriptor in (self._numbers, self._more_numbers, self._requests, self._answers):
            os.close(descriptor)
        end_process(child)

    def _asked(self, job: Job) -> bool:
        """Whether the child could be told of ``job``."""
        try:
            parts = range(len(_split(job.count)))
            os.write(self._more_numbers, b"".join(part.to_bytes(_NUMBER, "little") for part in parts))
            send(self._requests, (self._jobs.index(job), job.argument(), job.count))
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

    def _parts(self) -> Iterator[int]:
        while True:
            try:
                data = os.read(self._numbers, _NUMBER)
            except BlockingIOError:
                return
            yield int.from_bytes(data, "little")

    def _serve(self, requests: int, answers: int) -> None:
        while (request := receive(requests)) is not None:
            index, argument, count = request
            parts = _split(count)
            numbers = (number for part in self._parts() for number in parts[part])
            send(answers, (self._jobs[index].there(argument, numbers),))


def _split(count: int) -> list[range]:
    """The numbers below ``count`` in parts, of which there are never too many."""
    each = -(-count // _MOST_PARTS) or 1
    return [range(start, min(start + each, count)) for start in range(0, count, each)]
