"""A second process: whether it pays, how it ends, and what goes between the two."""

from __future__ import annotations

import marshal
import os
import signal
from contextlib import suppress
from typing import Any

# Less text than this is dealt with sooner than a second process is started.
WORTH_A_PROCESS = 400_000
# Seconds after which a second process sees that the first is gone.
_LOOKS_EVERY = 0.2
_LENGTH = 8
# What most systems allow; with the usual 64 KiB both processes would wait for each other many times.
_PIPE_SIZE = 1 << 20


def end_with(parent: int) -> None:
    """End this process soon after ``parent`` has ended, however that came."""

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOKS_EVERY, _LOOKS_EVERY)


def wide_pipe() -> tuple[int, int]:
    """The two ends of a pipe, reading and writing, into which as much fits as the system allows."""
    import fcntl

    ends = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return ends


class Ended:
    """Processes that were told to end, and go on giving back their memory while this process does something else."""

    def __init__(self) -> None:
        self._children: list[int] = []

    def end(self, child: int) -> None:
        """End the process ``child``, whatever it is at, without waiting for it.

        Where SIGCHLD is ignored, as some supervisors have it, the system buries it, and its number may be another's by now.
        """
        try:
            if os.waitpid(child, os.WNOHANG) == (0, 0):
                os.kill(child, signal.SIGKILL)
                self._children.append(child)
        except OSError:
            return

    def wait(self) -> None:
        """Wait until all of them are gone."""
        while self._children:
            with suppress(OSError):
                os.waitpid(self._children.pop(), 0)


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
