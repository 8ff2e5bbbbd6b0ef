"""From the command's name to its module; from an error to its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle3_lint import __version__
from eagle3_lint.errors import Eagle3LintError, UsageError
from eagle3_lint.frontends.cli import COMMANDS, USAGE_ERROR
from eagle3_lint.frontends.cli.streams import complain, write_output

if TYPE_CHECKING:
    from eagle3_lint.frontends.cli.engine import Engine

_HELP = """\
usage: eagle3-lint [--version] [--help] COMMAND …

Finds SGLang model classes that EAGLE-3 speculative decoding would crash on or silently ignore.

commands:
  check [PATH …]         lint files and directories
  explain CLASS          the whole investigation of one model class
  matrix [PATH]          the support matrix of a models directory
  rule [CODE or SYMBOL]  the documentation of one rule, or the list

`eagle3-lint COMMAND --help` describes the options of a command.
"""


def dispatch(arguments: list[str], engine: Engine | None = None) -> int:
    """Runs the command that ``arguments`` name, on ``engine`` or the real one; returns the exit code."""
    try:
        return _run(arguments, engine)
    except Eagle3LintError as error:
        complain(str(error))
        return USAGE_ERROR
    except SystemExit as stop:
        # argparse ends --help this way
        return stop.code if isinstance(stop.code, int) else USAGE_ERROR
    except Exception as error:  # noqa: BLE001 - whatever a fault of ours is, its user gets a line and an exit code
        complain(f"internal error: {type(error).__name__}: {error}")
        if "-v" in arguments or "--verbose" in arguments:
            import traceback

            traceback.print_exc()
        return USAGE_ERROR


def _run(arguments: list[str], engine: Engine | None) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        write_output([_HELP], None)
        return 0 if arguments else USAGE_ERROR
    if arguments[0] in ("-V", "--version"):
        write_output([f"eagle3-lint {__version__}\n"], None)
        return 0
    command, rest = arguments[0], arguments[1:]
    if command == "check":
        from eagle3_lint.frontends.cli.check import run_check

        return run_check(rest, engine)
    if command == "explain":
        from eagle3_lint.frontends.cli.explain import run_explain

        return run_explain(rest, engine)
    if command == "matrix":
        from eagle3_lint.frontends.cli.matrix import run_matrix

        return run_matrix(rest, engine)
    if command == "rule":
        from eagle3_lint.frontends.cli.rule import run_rule

        return run_rule(rest)
    raise UsageError(f"unknown command {command!r}: one of {', '.join(COMMANDS)}")
