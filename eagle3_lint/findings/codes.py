"""Every code there is, readable without loading one rule.

Front ends list, select and register codes before any rule runs; loading the rules for that would cost start-up
time that a run may never need. A test holds this table and the rules equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from eagle3_lint.findings.model import Severity

# Free in pylint 3.3 to 4.1 and its extensions; pylint leaves the blocks from 51 on to plugins.
PYLINT_BLOCK = "87"


@dataclass(frozen=True)
class Code:
    """The identity of one rule: what users type, see and configure."""

    code: str
    symbol: str
    severity: Severity
    summary: str
    pedantic: bool = False

    @property
    def pylint_id(self) -> str:
        """The message id in pylint: EGLX0Y is BBXY, with E or W for the severity."""
        return f"{self.severity[0].upper()}{PYLINT_BLOCK}{self.code[3]}{self.code[5]}"


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
