"""A second process for half of the work, where there is a second core: a child that shares what is already loaded.

Only the command line asks for it: a host's own threads and workers are not to be forked.
"""

from __future__ import annotations

import marshal
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

# Less text than this is dealt with sooner than a second process is started.
WORTH_A_PROCESS = 400_000
# Seconds after which a second process sees that the first is gone.
_LOOKS_EVERY = 0.2
_LENGTH = 8


class SecondProcess:
    """A child that computes one plain value (tuples, strings, numbers) and sends it back.

    Where there is no second core or the system has no ``fork``, or it fails, the value is computed here when it is
    asked for. A ``with`` block around the asking ends the child when it is left early.
    """

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute = compute
        self._child = 0
        self._pipe = -1
        if can_fork():
            self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def result(self) -> Any:
        """The computed value; what the computation raises is raised here."""
        answer = receive(self._pipe) if self._child else None
        self.stop()
        return self._compute() if answer is None else answer[0]

    def stop(self) -> None:
        """End the child, if there is one still."""
        if self._child:
            child, self._child = self._child, 0
            os.close(self._pipe)
            end_process(child)

    def _start(self) -> None:
        parent = os.getpid()
        opened: tuple[int, ...] = ()
        try:
            opened = os.pipe()
            child = os.fork()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            return
        reading, writing = opened
        if child:
            os.close(writing)
            self._child, self._pipe = child, reading
            return
        status = 1
        try:
            os.close(reading)
            end_with(parent)
            # in a tuple of one, so that it can be anything
            send(writing, (self._compute(),))
            status = 0
        finally:
            # Whatever happens, the child must not go on with the parent's work.
            os._exit(status)


def end_with(parent: int) -> None:
    """End this process soon after ``parent`` has ended, however that came."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOKS_EVERY, _LOOKS_EVERY)


def end_process(child: int) -> None:
    """End the process ``child``, whatever it is at.

    Where SIGCHLD is ignored, as some supervisors have it, the system buries it, and its number may be another's by now.
    """
    try:
        if os.waitpid(child, os.WNOHANG) == (0, 0):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    except OSError:
        return


def send(descriptor: int, value: Any) -> None:
    """Write ``value``, made of tuples, lists, dictionaries, strings and numbers, with its length."""
    data = marshal.dumps(value)
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        stream.write(len(data).to_bytes(_LENGTH, "little") + data)


def receive(descriptor: int) -> Any:
    """What was sent, or None at the end."""
    with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as stream:
        length = _read(stream, _LENGTH)
        data = _read(stream, int.from_bytes(length, "little")) if length else b""
    return marshal.loads(data) if data else None


def _read(stream: Any, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = stream.read(min(size - len(data), 1 << 20))
        if not more:
            return b""
        data += more
    return bytes(data)


def can_fork() -> bool:
    """Whether a second process would run beside this one."""
    return hasattr(os, "fork") and _cores() > 1


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
