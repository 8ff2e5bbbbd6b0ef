"""The options of each command, and how they meet the configuration.

An option that isn't given stays None, so that the configuration's value, then the default, can take its place.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import NoReturn, TypeVar, cast

from eagle3_lint.config import Configuration, Value, find_configuration
from eagle3_lint.config.options import COLORS, ENGINES, TARGET_VERSIONS
from eagle3_lint.errors import UsageError
from eagle3_lint.output import EXPLAIN_FORMATS, FORMATS, MATRIX_FORMATS

T = TypeVar("T", bound=Value | None)


def working_directory() -> str:
    """The absolute working directory; UsageError where it has been removed."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError(f"no working directory: {error.strerror}") from None


def _columns() -> int:
    """How wide help is to be: as argparse has it, without ``shutil``, which takes longer to import than argparse itself."""
    try:
        return int(os.environ["COLUMNS"]) or 80
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


class _Formatter(argparse.HelpFormatter):
    """argparse makes one of these for each option that it is told of."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours: one line, no usage text."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"eagle3-lint {command}", description=description, allow_abbrev=False, formatter_class=_Formatter
        )

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with ``message``."""
        raise UsageError(f"{self.prog.partition(' ')[2]}: {message}")

    def flag(self, name: str, help_text: str, *short: str) -> None:
        """An option without a value."""
        self.add_argument(*short, f"--{name}", action="store_const", const=True, help=help_text)


class Options:
    """The given options, over the configuration of the working directory, over defaults.

    Raises UsageError and ConfigurationError where there is no working directory or its configuration is wrong.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self.configuration: Configuration | None = find_configuration(working_directory())

    def get(self, name: str, default: T) -> T:
        """The value of a long option without its dashes; one from a configuration has been checked to be of its kind."""
        given = getattr(self._given, name.replace("-", "_"), None)
        if given is None and self.configuration is not None:
            given = self.configuration.get(name)
        return default if given is None else cast("T", given)

    def optional(self, name: str) -> str | None:
        """The text of an option that has no default."""
        return self.get(name, "") or None

    def is_configured(self, name: str) -> bool:
        """Whether the value comes from the configuration."""
        given = getattr(self._given, name.replace("-", "_"), None)
        return given is None and self.configuration is not None and self.configuration.get(name) is not None


def codes(text: str) -> tuple[str, ...]:
    """The codes of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


class _Codes(argparse.Action):
    """Adds a comma-separated list to what earlier uses of the option gave."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        before: tuple[str, ...] = getattr(namespace, self.dest) or ()
        setattr(namespace, self.dest, (*before, *codes(str(values))))


def check_parser() -> Parser:
    """The parser of ``check``."""
    parser = Parser("check", "Lint files and directories; without PATH, the models directory of the SGLang found here.")
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="a file, a directory, or - for standard input")
    add("--format", choices=FORMATS, help="how findings are written (default: text)")
    add("--output", metavar="FILE", help="write to FILE instead of standard output")
    add("--select", action=_Codes, metavar="CODES", help="only these codes or prefixes, comma-separated")
    add("--ignore", action=_Codes, metavar="CODES", help="not these codes or prefixes, comma-separated")
    parser.flag("pedantic", "also the rules that are off by default")
    add("--sglang", metavar="PATH|VERSION", help="the SGLang to lint against: a checkout, an unpacked wheel, a release")
    add("--engine", choices=ENGINES, help="how classes are resolved (default: auto)")
    add("--baseline", metavar="FILE", help="report only findings that FILE doesn't list")
    add("--write-baseline", metavar="FILE", help="list the present findings in FILE")
    add("--since", metavar="REV", help="report only findings that the git revision REV doesn't have")
    parser.flag("fix", "make every fix that is safe, then report what remains")
    parser.flag("unsafe-fixes", "with --fix or --diff: also the fixes that need a look")
    parser.flag("diff", "change nothing; print what --fix would change as a diff")
    add("--stdin-filename", metavar="PATH", help="the path that standard input stands for, with PATH -")
    _add_cache_options(parser)
    parser.flag("exit-zero", "exit 0 even with findings")
    add("--target-version", choices=TARGET_VERSIONS, metavar="3.10…3.14", help="the Python that will run the code")
    add("--color", choices=COLORS, help="colours in the text format (default: auto)")
    parser.flag("statistics", "also how often each code was found")
    parser.flag("quiet", "findings alone: no source lines, no summary, no notes", "-q")
    parser.flag("verbose", "also say what was linted, and show where the program itself fails", "-v")
    return parser


def explain_parser() -> Parser:
    """The parser of ``explain``."""
    parser = Parser("explain", "Investigate one model class, step by step, to a verdict and a patch.")
    add = parser.add_argument
    add("name", metavar="CLASS", help="the name of a class, short or dotted")
    add("--format", choices=EXPLAIN_FORMATS, help="how the investigation is written (default: text)")
    add("--output", metavar="FILE", help="write to FILE instead of standard output")
    add("--sglang", metavar="PATH|VERSION", help="a checkout, an unpacked wheel, or a release")
    add("--engine", choices=ENGINES, help="how classes are resolved (default: auto)")
    _add_cache_options(parser)
    add("--color", choices=COLORS, help="colours and links in the text format (default: auto)")
    return parser


def matrix_parser() -> Parser:
    """The parser of ``matrix``."""
    parser = Parser("matrix", "Describe how every registered class of a models directory stands to EAGLE-3.")
    add = parser.add_argument
    add("path", nargs="?", metavar="PATH", help="a checkout, an unpacked wheel, or a directory of one")
    add("--format", choices=MATRIX_FORMATS, help="how the matrix is written (default: text)")
    add("--output", metavar="FILE", help="write to FILE instead of standard output")
    parser.flag("all", "every class, not only registered ones")
    add("--against", metavar="VERSION|PATH", help="also what changed since this release, checkout or wheel")
    add("--sglang", metavar="PATH|VERSION", help="a checkout, an unpacked wheel, or a release")
    add("--engine", choices=ENGINES, help="how classes are resolved (default: auto)")
    _add_cache_options(parser)
    return parser


def rule_parser() -> Parser:
    """The parser of ``rule``."""
    parser = Parser("rule", "Print the documentation of one rule, or list all rules.")
    parser.add_argument("rule", nargs="?", metavar="CODE or SYMBOL")
    return parser


def _add_cache_options(parser: Parser) -> None:
    parser.flag("no-cache", "neither read nor write cached facts")
    parser.add_argument("--cache-dir", metavar="DIR", help="where facts and releases are kept")
