"""The program ``eagle3-lint``, and ``python -m eagle3_lint``.

``python -m`` puts the working directory first on the import path, so a ``typing.py`` in a tree under lint would be
run instead of Python's own. This module therefore cleans the path before anything else is imported; it imports
nothing that Python has not loaded by then, ``__future__`` included.
"""

import os
import sys


def guard_import_path() -> None:
    """Takes the working directory off ``sys.path``, however it came there.

    A working directory that is itself a folder of installed packages stays where the interpreter put it, without
    the extra place at the front. ``-P`` and ``PYTHONSAFEPATH`` add no such place, so nothing is taken then.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        here = ""
    installed = os.path.basename(here) in ("site-packages", "dist-packages")
    if installed and sys.path and not getattr(sys.flags, "safe_path", False) and os.path.realpath(sys.path[0]) == here:
        del sys.path[0]
    sys.path[:] = [
        entry for entry in sys.path if entry not in ("", ".") and (installed or os.path.realpath(entry) != here)
    ]


def run() -> int:
    """Runs the command line on ``sys.argv``; returns the exit code."""
    try:
        guard_import_path()
        from eagle3_lint.frontends.cli import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def program() -> None:
    """Runs the command line and ends the process with its exit code.

    The process ends at once: freeing every object, after a search for cycles among them, would take as long as half of
    a cold run. mypy ends the same way (``hard_exit`` of its ``mypy/util.py``).
    """
    import gc

    gc.disable()
    status = run()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            # who doesn't listen any more was told so, or can't be
            continue
    os._exit(status)


if __name__ == "__main__":
    program()
