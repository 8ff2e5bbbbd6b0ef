"""Writing: to standard output, to a file that is replaced whole or not at all, and to standard error."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

from eagle3_lint.errors import UsageError
from eagle3_lint.output.escape import printable


def write_output(pieces: Iterable[str], path: str | None) -> None:
    """Writes text to the file ``path``, or to standard output for None.

    A closed pipe is no error: its reader has seen enough. Raises UsageError where the text can't be written; a file
    that was there before then still has its old content.
    """
    if path is None:
        _write_standard_output(pieces)
    else:
        _write_named((piece.encode("utf-8", "backslashreplace") for piece in pieces), path)


def write_bytes(data: bytes, path: str | None) -> None:
    """Writes ``data`` as it is, where and as ``write_output`` writes text."""
    if path is not None:
        _write_named([data], path)
    elif data:
        _write_standard_output([data])


def write_error_output(pieces: Iterable[str]) -> None:
    """Writes text to standard error, because something else is on standard output."""
    if sys.stderr is not None:
        try:
            sys.stderr.writelines(pieces)
            sys.stderr.flush()
        except (OSError, ValueError):
            # nobody listens: there is no other place to say so
            return


def say(text: str) -> None:
    """One line on standard error, without anything that acts on a terminal."""
    write_error_output([printable(text) + "\n"])


def complain(text: str) -> None:
    """One error line on standard error."""
    say(f"eagle3-lint: error: {text}")


def use_color(choice: str, path: str | None) -> bool:
    """Whether the output has colours: as ``--color`` says, by default on a terminal unless NO_COLOR is set.

    Source: https://no-color.org
    """
    if choice != "auto":
        return choice == "always"
    if path is not None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


class Progress:
    """A line on a terminal's standard error that is written over as work proceeds."""

    def __init__(self) -> None:
        self._shown = False

    @staticmethod
    def is_wanted() -> bool:
        """Whether anybody would see it."""
        return sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the line away, so that what follows starts at the margin."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def _write_named(pieces: Iterable[bytes], path: str) -> None:
    try:
        _write_file(pieces, path)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from None


def _write_standard_output(pieces: Iterable[str] | Iterable[bytes]) -> None:
    stream = sys.stdout
    if stream is None:
        return
    try:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        for piece in pieces:
            if isinstance(piece, bytes):
                stream.buffer.write(piece)
            else:
                stream.write(piece)
        stream.flush()
    except BrokenPipeError:
        _silence(stream.fileno())
    except OSError as error:
        _silence(stream.fileno())
        raise UsageError(f"can't write to standard output: {error.strerror or error}") from None


def _silence(descriptor: int) -> None:
    """Points the descriptor at nowhere, so that the interpreter's last flush doesn't fail once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _write_file(pieces: Iterable[bytes], path: str) -> None:
    # of the path as it is given: /dev/stdout leads to a pipe that has no path of its own
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        # a device, a FIFO: there is nothing to keep, and replacing it would destroy it
        with open(path, "wb") as file:
            file.writelines(pieces)
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}.tmp")
    from eagle3_lint.sources.writing import replacing  # nothing that --version should wait for

    with replacing(target, temporary) as file:
        file.writelines(pieces)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
