"""The command line: ``eagle3-lint check``, ``explain``, ``matrix`` and ``rule``.

Only what a command needs is imported: ``--version`` costs little more than Python itself.
"""

import sys

COMMANDS = ("check", "explain", "matrix", "rule")
USAGE_ERROR = 2
INTERRUPTED = 130


def main(argv: "list[str] | None" = None) -> int:
    """Runs one command; ``argv`` are the arguments after the program's name, those of the process by default.

    Returns the exit code: 0 nothing found, 1 findings, 2 wrong usage or configuration or an error of the program,
    3 no Python file matched, 130 interrupted. Errors are one line on standard error.
    """
    try:
        from eagle3_lint.frontends.cli.dispatch import dispatch

        return dispatch(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return INTERRUPTED
