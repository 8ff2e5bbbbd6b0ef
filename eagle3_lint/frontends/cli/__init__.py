"""The command line: ``eagle3-lint check``, ``explain``, ``matrix`` and ``rule``.

Only what a command needs is imported: ``--version`` costs little more than Python itself.
"""

import sys

COMMANDS = ("check", "explain", "matrix", "rule")
_LONG_COMMANDS = ("check", "explain", "matrix")
USAGE_ERROR = 2
INTERRUPTED = 130
TERMINATED = 143


def main(argv: "list[str] | None" = None) -> int:
    """Runs one command; ``argv`` are the arguments after the program's name, those of the process by default.

    Returns the exit code: 0 nothing found, 1 findings, 2 wrong usage or configuration or an error of the program,
    3 no Python file matched, 130 interrupted, 143 terminated. Errors are one line on standard error.
    """
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments and arguments[0] in _LONG_COMMANDS:
            _end_cleanly_when_told_to()
        from eagle3_lint.frontends.cli.dispatch import dispatch

        return dispatch(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


def _end_cleanly_when_told_to() -> None:
    """Make SIGTERM end the program as Ctrl-C does: half-written files are taken away."""
    import signal

    def end(*_: object) -> None:
        raise SystemExit(TERMINATED)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, end)
    except ValueError:
        # not in the main thread: signals are for whoever started this one
        return
