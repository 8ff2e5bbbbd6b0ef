"""Replacing a file whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


def replace_file(path: str, data: bytes) -> None:
    """Put ``data`` in the place of the content of the regular file ``path``, which is no link.

    Permissions and owner stay. Raises OSError where any of that can't be had; the file is then what it was.
    """
    temporary = os.path.join(os.path.dirname(path), f".eagle3-lint.{os.getpid()}.tmp")
    before = os.stat(path, follow_symlinks=False)
    with replacing(path, temporary, 0o600) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        _keep_owner(temporary, before)
        os.chmod(temporary, stat.S_IMODE(before.st_mode))


@contextmanager
def replacing(path: str, temporary: str, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file ``temporary``, with the permissions ``mode``, which takes the place of ``path`` when the block ends.

    Until then, which is one rename, the old file is untouched; ``temporary`` is gone whatever happens. Raises OSError where
    it is there already, or can't be made or moved.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, mode)
    try:
        with open(descriptor, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        # a signal may come when the rename is already done
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _keep_owner(path: str, before: os.stat_result) -> None:
    made = os.stat(path)
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        os.chown(path, before.st_uid, before.st_gid)
