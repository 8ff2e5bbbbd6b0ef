"""The codes of the rules, and what other tools call them.

Codes and symbols are fixed for good: a code is never used again for another rule. ``PYLINT_BLOCK`` is a block of
message ids that neither pylint and its extensions nor the public plugins looked at (edx-lint 75, pylint-django 51,
Home Assistant 74, pylint-odoo 80 and 81) use.
"""

from __future__ import annotations

from typing import NamedTuple

from eagle3_lint.findings.model import Severity

PYLINT_BLOCK = "73"
PYLINT_CHECKER = "eagle3"
PREFIX = "EGL"
DOCUMENTATION = "https://github.com/eagle3-lint/eagle3-lint/blob/main/docs/rules/"


class Code(NamedTuple):
    """One code: its symbol, its severity, what it finds in a sentence, and whether only ``--pedantic`` turns it on.

    The sentence stands here so that hosts can list the rules without loading them.
    """

    code: str
    symbol: str
    severity: Severity
    summary: str
    pedantic: bool = False


CODES: tuple[Code, ...] = (
    Code(
        "EGL101",
        "missing-eagle3-delegation",
        "error",
        "A multimodal wrapper does not expose the EAGLE-3 setter that its inner language model has.",
    ),
    Code(
        "EGL102",
        "incomplete-eagle3-interface",
        "error",
        "A registered target exposes the EAGLE-3 setter but lacks another method that the runtime calls unguarded.",
    ),
    Code(
        "EGL103",
        "broken-eagle3-delegation",
        "error",
        "A delegating method calls or reads on the inner model something that no candidate inner class has.",
    ),
    Code(
        "EGL104",
        "silent-eagle3-delegation",
        "warning",
        "The EAGLE-3 setter does nothing, without a word, when the inner model cannot capture.",
    ),
    Code(
        "EGL105",
        "eagle3-signature-mismatch",
        "error",
        "A method of the EAGLE-3 interface cannot be called the way the runtime calls it, or drops the layer ids.",
    ),
    Code(
        "EGL106",
        "misspelled-eagle3-method",
        "warning",
        "A method's name is a near miss of the EAGLE-3 interface, and nothing calls it.",
    ),
    Code(
        "EGL107",
        "duplicate-eagle3-method",
        "warning",
        "A method of the EAGLE-3 interface is defined twice in one class body.",
    ),
    Code(
        "EGL201",
        "inert-eagle3-capture",
        "error",
        "What the EAGLE-3 setter writes on the body is never read by the forward of the body that is built.",
    ),
    Code(
        "EGL202",
        "dropped-aux-hidden-states",
        "error",
        "Capture is switched on, but the forward does not hand the captured hidden states on.",
    ),
    Code(
        "EGL203",
        "uninitialised-capture-state",
        "error",
        "The forward or the setter reads capture state that no executed __init__ and no class body sets.",
    ),
    Code(
        "EGL204",
        "unreachable-capture-layer",
        "warning",
        "Layer ids are shifted by one and the body cannot capture after its last layer.",
        pedantic=True,
    ),
    Code(
        "EGL205",
        "capture-without-residual",
        "warning",
        "A layer loop that carries a separate residual captures bare hidden states.",
        pedantic=True,
    ),
    Code(
        "EGL206",
        "partial-pipeline-capture",
        "warning",
        "The EAGLE-3 setter returns early on some pipeline ranks without raising.",
        pedantic=True,
    ),
    Code(
        "EGL301",
        "unimported-typing-name",
        "error",
        "A name of typing that nothing binds is evaluated at run time: a NameError when that line runs.",
    ),
    Code(
        "EGL302",
        "unimported-typing-name-deferred",
        "warning",
        "A name of typing that nothing binds stands in an annotation that Python does not evaluate.",
    ),
    Code("EGL901", "unreadable-source", "error", "A file cannot be read or parsed."),
    Code("EGL902", "unused-suppression", "warning", "A suppression comment suppresses nothing.", pedantic=True),
)

_BY_CODE = {code.code: code for code in CODES}


def known(code: str) -> Code | None:
    """What is fixed about ``code``; None for a code that doesn't exist."""
    return _BY_CODE.get(code)


def pylint_id(code: str, severity: Severity) -> str:
    """pylint's message id of ``code``: ``EGLX0Y`` is the block followed by ``XY``, with E or W in front.

    >>> pylint_id("EGL101", "error")
    'E7311'
    """
    letter = "E" if severity == "error" else "W"
    return f"{letter}{PYLINT_BLOCK}{code[3]}{code[5]}"


def documentation_url(code: str) -> str:
    """The address of the rule's page."""
    return f"{DOCUMENTATION}{code}.md"
