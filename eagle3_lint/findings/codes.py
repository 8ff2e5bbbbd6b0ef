"""What is fixed about the code of a rule, and what other tools call it. Which codes there are, the rules say.

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
    """One code: its symbol, its severity, what it finds in a sentence, and whether its findings are pedantic.

    ``about_classes`` says that the rule looks at the classes of a whole project, not at one file's text. ``in_part``
    says that some findings of a pedantic rule are shown by default.
    """

    code: str
    symbol: str
    severity: Severity
    summary: str
    pedantic: bool = False
    about_classes: bool = True
    in_part: bool = False

    @property
    def is_default(self) -> bool:
        """Whether the rule runs unasked."""
        return self.in_part or not self.pedantic


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
