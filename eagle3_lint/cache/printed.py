"""What a command printed, kept for as long as every file and directory that it looked at stays as it is.

Whether they do is told by their status alone, as git tells it of its index: size, times of change, and number. Content
isn't read, and next to nothing is imported, so that an answer comes in hardly more than the interpreter's own start-up.
"""

import marshal
import os
import time
import zlib

_MAGIC = b"eagle3-lint printed 1\n"
# File systems tell times apart by up to this much: what changed later may change once more without a trace.
_MARGIN_NS = 1_000_000_000

# typing would be a part of the time that is to be saved
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    State = tuple[int, int, int, int, int] | None


def recall(directory: str, key: "tuple[Any, ...]") -> "str | None":
    """The text kept in ``directory`` under ``key``, a tuple of plain values, if all that it depends on is unchanged."""
    try:
        with open(_path(directory, key), "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_MAGIC) + 4
    if not data.startswith(_MAGIC) or data[len(_MAGIC) : start] != _checksum(data[start:]):
        return None
    try:
        known, paths, states, text = marshal.loads(data[start:])
    except (EOFError, ValueError, TypeError):
        return None
    if known != key or any(_state(path) != state for path, state in zip(paths, states, strict=True)):
        return None
    return text if isinstance(text, str) else None


def keep(directory: str, key: "tuple[Any, ...]", paths: "Iterable[str]", text: str, started: int) -> None:
    """Keep ``text`` under ``key`` as long as ``paths`` stay what they are.

    Nothing is kept where one of them changed so late (``started`` is when the work began, in nanoseconds since the epoch)
    that a further change might not show, or where ``directory`` can't be written.
    """
    names = sorted(set(paths))
    states = [_state(path) for path in names]
    if any(state is not None and max(state[1:3]) > started - _MARGIN_NS for state in states):
        return
    body = marshal.dumps((key, names, states, text))
    path = _path(directory, key)
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    from eagle3_lint.sources.writing import replacing  # nothing that ``recall`` should wait for

    try:
        os.makedirs(directory, exist_ok=True)
        with replacing(path, temporary) as file:
            file.write(_MAGIC + _checksum(body) + body)
    except OSError:
        return


def _state(path: str) -> "State":
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode


def _path(directory: str, key: "tuple[Any, ...]") -> str:
    # The checksum only spreads the names: the key itself stands in the file.
    return os.path.join(directory, f"printed-{zlib.crc32(marshal.dumps(key, 2)):08x}")


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "little")
