"""The pylint plugin: ``pylint --load-plugins eagle3_lint``.

The checker asks the engine once per file, in the visit of that file's module, so that pylint's own suppressions
apply to every message. Nothing is collected for ``close`` or ``reduce_map_data``: pylint with ``-j`` opens and closes
a checker once per file in each worker, and messages that come after the visit escape ``# pylint: disable``.

A file that pylint itself can't parse is never shown to plugins: pylint reports ``syntax-error`` there, in the place
of EGL901.

Source: https://pylint.readthedocs.io/en/stable/development_guide/how_tos/custom_checkers.html
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from astroid import nodes
from pylint.checkers import BaseChecker
from pylint.checkers.utils import only_required_for_messages
from pylint.interfaces import HIGH, INFERENCE

from eagle3_lint.errors import Eagle3LintError
from eagle3_lint.findings.codes import PYLINT_CHECKER, documentation_url, pylint_id
from eagle3_lint.frontends.host import SEARCH_PATH, engine_at_work, failures_of
from eagle3_lint.rules.catalogue import CODES

if TYPE_CHECKING:
    from pylint.lint import PyLinter
    from pylint.typing import MessageDefinitionTuple

    from eagle3_lint.engine import Session
    from eagle3_lint.findings.model import Finding

_USAGE_ERROR = 32
_ENABLING_PRAGMA = re.compile(rb"#[^\n]*pylint:[^\n]*enable")

_MESSAGES: dict[str, MessageDefinitionTuple] = {
    pylint_id(entry.code, entry.severity): (
        "%s",
        entry.symbol,
        f"{entry.code}: {entry.summary} See {documentation_url(entry.code)}",
        {"default_enabled": entry.is_default},
    )
    for entry in CODES
}


class Eagle3Checker(BaseChecker):
    """Reports the findings of the engine as messages of pylint, each in the visit of the file it belongs to."""

    _session: Session | None = None
    name = PYLINT_CHECKER
    msgs = _MESSAGES
    options = (
        (
            "eagle3-engine",
            {
                "type": "choice",
                "choices": ("auto", "astroid"),
                "default": "auto",
                "metavar": "<auto|astroid>",
                "help": "How classes are resolved: by the index, with astroid where inference is needed (auto), "
                "or by astroid throughout.",
            },
        ),
        (
            "eagle3-sglang",
            {
                "type": "string",
                "default": "",
                "metavar": "<path or version>",
                "help": "The SGLang that linted model classes build on: a checkout, an unpacked wheel, or a release. "
                "Without it, the tree around the linted file, else the installed SGLang.",
            },
        ),
        (
            "eagle3-cache-dir",
            {
                "type": "string",
                "default": "",
                "metavar": "<directory>",
                "help": "Where facts and releases are kept; without it, the user's cache directory.",
            },
        ),
    )

    @only_required_for_messages(*(entry.symbol for entry in CODES))
    def visit_module(self, node: nodes.Module) -> None:
        """Report every finding of the file that ``node`` was read from.

        Raises SystemExit with pylint's code for wrong usage when an option names an SGLang that can't be had, and
        RuntimeError, which pylint reports as a fatal message, after the findings when a rule of ours failed.
        """
        try:
            with engine_at_work():
                findings = self._findings(node)
        except Eagle3LintError as error:
            print(f"eagle3-lint: {error}", file=sys.stderr)
            raise SystemExit(_USAGE_ERROR) from error
        for finding in findings:
            self._report(node, finding)
        if self._session is not None and (failures := failures_of(self._session)):
            raise RuntimeError(failures)

    def close(self) -> None:
        """Keep what was learnt; a worker is closed after each file, so there it is left to the session."""
        if self._session is not None and self.linter.config.jobs == 1:
            with engine_at_work():
                self._session.save()

    def _findings(self, module: nodes.Module) -> tuple[Finding, ...]:
        if not module.file:
            return ()
        path = os.path.abspath(module.file)
        # Only --from-stdin leaves the text on the node; else the engine reads the file as pylint has.
        data: bytes | None = module.file_bytes if isinstance(module.file_bytes, bytes) else None
        codes = self._codes(module)
        session = self._session = self._open(codes)
        findings = session.findings_of(path, data, codes, honour_pylint=False)
        if not findings:
            return ()
        kept = frozenset(session.findings_of(path, data, codes, honour_pylint=True))
        return tuple(finding for finding in findings if finding in kept or self._is_disabled(finding))

    def _codes(self, module: nodes.Module) -> frozenset[str]:
        """The codes that may be reported in this file; pylint drops what a line disables."""
        enabled_inside = _enables_messages(module)
        return frozenset(
            entry.code for entry in CODES if enabled_inside or self.linter.is_message_enabled(entry.symbol)
        )

    def _open(self, codes: frozenset[str]) -> Session:
        from eagle3_lint import engine

        config = self.linter.config
        return engine.open_session(
            engine.SessionOptions(
                engine=config.eagle3_engine,
                sglang=config.eagle3_sglang or None,
                cache_dir=config.eagle3_cache_dir or None,
                pedantic=any(not entry.is_default for entry in CODES if entry.code in codes),
                target_version=_target_version(config.py_version),
                search_path=SEARCH_PATH,
            )
        )

    def _is_disabled(self, finding: Finding) -> bool:
        """Whether pylint itself silences the finding; it is then handed over, so that pylint knows its comment is used.

        What only our own reading of a pylint comment silences (one on a decorator) is not handed over.
        """
        return not self.linter.is_message_enabled(finding.symbol, finding.span.line)

    def _report(self, module: nodes.Module, finding: Finding) -> None:
        span = finding.span
        self.add_message(
            finding.symbol,
            node=_innermost_scope(module, span.line),
            args=(finding.message,),
            confidence=HIGH if finding.confidence == "high" else INFERENCE,
            line=span.line,
            col_offset=span.column - 1,
            end_lineno=span.end_line,
            end_col_offset=span.end_column - 1,
        )


def _enables_messages(module: nodes.Module) -> bool:
    """Whether a comment in the file may enable messages that are disabled for the run."""
    try:
        with module.stream() as stream:
            return _ENABLING_PRAGMA.search(stream.read()) is not None
    except OSError:
        return False


def _target_version(py_version: tuple[int, ...]) -> tuple[int, int] | None:
    """pylint's ``py-version`` where it was set to another Python than the running one, else nothing."""
    version = (py_version[0], py_version[1])
    return None if version == sys.version_info[:2] else version


def _innermost_scope(module: nodes.Module, line: int) -> nodes.NodeNG:
    """The innermost class or function around ``line``, which pylint names beside the message."""
    scope: nodes.NodeNG = module
    node: nodes.NodeNG | None = module
    while node is not None:
        if isinstance(node, (nodes.ClassDef, nodes.FunctionDef)):
            scope = node
        node = next((child for child in node.get_children() if _covers(child, line)), None)
    return scope


def _covers(node: nodes.NodeNG, line: int) -> bool:
    return node.lineno is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def register(linter: PyLinter) -> None:
    """Add the checker to ``linter``; pylint calls this when it loads the plugin.

    With ``-j``, pylint before 4.1 loads the plugin into each worker's copy of the linter again, where a second
    checker would say everything twice and turn off what was enabled by name.
    """
    if not any(isinstance(checker, Eagle3Checker) for checker in linter.get_checkers()):
        linter.register_checker(Eagle3Checker(linter))
