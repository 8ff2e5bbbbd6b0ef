"""The flake8 plugin: entry point ``EGL`` of ``flake8.extension``.

flake8 makes one plugin object per file, in each of its worker processes; the engine's session behind them is opened
lazily and once per process.

flake8 doesn't run plugins on a file that it can't parse: it reports E999 there, in the place of EGL901.

Source: https://flake8.pycqa.org/en/latest/plugin-development/plugin-parameters.html
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from eagle3_lint import __version__
from eagle3_lint.errors import Eagle3LintError
from eagle3_lint.frontends.host import SEARCH_PATH, engine_at_work, failures_of

if TYPE_CHECKING:
    import argparse
    import ast

    from flake8.options.manager import OptionManager

    from eagle3_lint.findings.model import Finding


@dataclass(frozen=True)
class Settings:
    """What flake8's options say to this plugin; ``stdin_name`` is the name of the buffer, if flake8 lints one.

    ``options`` are flake8's own, None where it has parsed none.
    """

    engine: str = "auto"
    sglang: str | None = None
    cache_dir: str | None = None
    pedantic: bool = False
    stdin_name: str | None = None
    honour_noqa: bool = True
    options: argparse.Namespace | None = None

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes that flake8 would show: what nobody asked for is not computed. Looked up when a file is linted."""
        from eagle3_lint.rules.catalogue import CODES

        wanted = frozenset(entry.code for entry in CODES if self.pedantic or entry.is_default)
        return wanted if self.options is None else _selected(self.options, wanted)


class Plugin:
    """One file's findings, for flake8."""

    name = "eagle3-lint"
    version = __version__
    # flake8 hands options to the class and makes the objects itself, so there is no other place for them.
    settings: ClassVar[Settings] = Settings()

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        """Take what flake8 gives: ``tree`` marks this as a plugin for whole files, the rest names and holds the text."""
        self._filename = filename
        self._lines = lines

    @staticmethod
    def add_options(manager: OptionManager) -> None:
        """Declare the options, for the command line and flake8's configuration files."""
        manager.add_option(
            "--eagle3-engine",
            choices=("auto", "astroid"),
            default="auto",
            parse_from_config=True,
            help="How classes are resolved: by the index, with astroid where needed (auto), or by astroid throughout.",
        )
        manager.add_option(
            "--eagle3-sglang",
            metavar="PATH|VERSION",
            default=None,
            parse_from_config=True,
            help="The SGLang that linted model classes build on: a checkout, an unpacked wheel, or a release.",
        )
        manager.add_option(
            "--eagle3-cache-dir",
            metavar="DIR",
            default=None,
            parse_from_config=True,
            help="Where facts and releases are kept; without it, the user's cache directory.",
        )
        manager.add_option(
            "--eagle3-pedantic",
            action="store_true",
            default=False,
            parse_from_config=True,
            help="Also report what is pedantic; --select alone does not.",
        )

    @classmethod
    def parse_options(cls, manager: OptionManager, options: argparse.Namespace, filenames: Sequence[str]) -> None:
        """Take the parsed options; flake8 calls this once, before the first file."""
        cls.settings = Settings(
            engine=options.eagle3_engine,
            sglang=options.eagle3_sglang or None,
            cache_dir=options.eagle3_cache_dir or None,
            pedantic=options.eagle3_pedantic,
            stdin_name=options.stdin_display_name if "-" in filenames else None,
            honour_noqa=not options.disable_noqa,
            options=options,
        )

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Yield line, column from 0, text and origin of each finding.

        Raises flake8's ExecutionError when an option names an SGLang that can't be had, or a rule of ours failed.
        """
        from flake8.exceptions import ExecutionError

        try:
            with engine_at_work():
                findings, failures = self._answer()
        except Eagle3LintError as error:
            raise ExecutionError(f"eagle3-lint: {error}") from error
        if failures:
            raise ExecutionError(failures)
        for finding in findings:
            yield finding.span.line, finding.span.column - 1, f"{finding.code} {finding.message}", Plugin

    def _answer(self) -> tuple[tuple[Finding, ...], str]:
        """The findings, and what failed."""
        settings = self.settings
        if not settings.codes:
            return (), ""

        from eagle3_lint import engine

        session = engine.open_session(
            engine.SessionOptions(
                engine=settings.engine,
                sglang=settings.sglang,
                cache_dir=settings.cache_dir,
                pedantic=settings.pedantic,
                search_path=SEARCH_PATH,
            )
        )
        # A file on disk is read by the engine: it then need not ask whether the host's text differs from it.
        data = _encoded("".join(self._lines)) if self._filename == settings.stdin_name else None
        path = os.path.abspath(self._filename)
        findings = session.findings_of(path, data, settings.codes, honour_noqa=settings.honour_noqa)
        return findings, failures_of(session)


def _selected(options: argparse.Namespace, codes: frozenset[str]) -> frozenset[str]:
    from flake8.style_guide import Decision, DecisionEngine

    decide: Any = DecisionEngine(options).decision_for
    return frozenset(code for code in codes if decide(code) is Decision.Selected)


def _encoded(text: str) -> bytes:
    """The bytes of a buffer that flake8 has decoded, in the encoding that the text declares."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeError):
        return data
