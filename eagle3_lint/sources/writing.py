"""Replacing a file whole or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress


def replace_file(path: str, data: bytes) -> None:
    """Put ``data`` in the place of the content of the regular file ``path``, which is no link.

    Permissions and owner stay. Until the last step, which is one rename, the old file is untouched; a temporary file
    beside it is gone whatever happens. Raises OSError where any of that can't be had.
    """
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".eagle3-lint.{os.getpid()}.tmp")
    before = os.stat(path, follow_symlinks=False)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _keep_owner(temporary, before)
        os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.replace(temporary, path)
    except BaseException:
        # a signal may come when the rename is already done
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _keep_owner(path: str, before: os.stat_result) -> None:
    made = os.stat(path)
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        os.chown(path, before.st_uid, before.st_gid)
