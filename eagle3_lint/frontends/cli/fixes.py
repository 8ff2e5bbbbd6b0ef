"""``--fix`` and ``--diff``: what is written where, and what is shown instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle3_lint.errors import UsageError
from eagle3_lint.frontends.cli.arguments import Options
from eagle3_lint.frontends.cli.streams import write_bytes

if TYPE_CHECKING:
    from eagle3_lint.engine.fixing import Fixed


def check_fix_options(options: Options) -> None:
    """Raises UsageError for options that contradict each other."""
    if options.get("diff", False) and options.optional("write-baseline"):
        raise UsageError("--diff changes nothing: it doesn't go with --write-baseline")


def wants_fixes(options: Options) -> bool:
    """Whether fixes are to be made or shown; ``--unsafe-fixes`` alone only says which."""
    return options.get("fix", False) or options.get("diff", False)


def show_diff(fixed: Fixed, options: Options) -> bool:
    """Write the diff of every change to where output goes; whether there was any."""
    from eagle3_lint.findings.fingerprint import relative_path
    from eagle3_lint.fixes.diff import unified_diff

    pieces: list[bytes] = []
    for change in fixed.changes:
        name = relative_path(change.shown_as, fixed.report.root)
        # in the file's own encoding, or the diff would not apply; a path may hold bytes of no encoding
        head, _, body = unified_diff(name, *change.texts()).partition("@@")
        pieces.append(head.encode("utf-8", "surrogateescape") + b"@@" + body.encode(change.encoding))
    write_bytes(b"".join(pieces), options.optional("output"))
    return bool(pieces)


def keep_fixes(fixed: Fixed, buffer: tuple[str, bytes] | None) -> tuple[str, bytes] | None:
    """Write the changed files; of standard input, write its text to standard output, fixed or not, and return it.

    Raises FixError where a file can't be written.
    """
    if buffer is None:
        from eagle3_lint.engine.fixing import write

        write(fixed.changes)
        return None
    after = fixed.changes[0].after if fixed.changes else buffer[1]
    write_bytes(after, None)
    return buffer[0], after
