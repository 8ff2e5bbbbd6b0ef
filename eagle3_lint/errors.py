"""Every error that a front end turns into one clear line for its user."""

from __future__ import annotations


class Eagle3LintError(Exception):
    """Base of all expected errors; its text is what the user reads."""


class UsageError(Eagle3LintError):
    """Wrong options, codes, versions or paths (exit code 2)."""


class ConfigurationError(Eagle3LintError):
    """A configuration file has an unknown key or a bad value (exit code 2)."""


class ReleaseError(Eagle3LintError):
    """A release of SGLang could not be fetched or unpacked (exit code 2)."""


class TreeError(Eagle3LintError):
    """No SGLang source tree was found where one is needed (exit code 2)."""


class FixError(Eagle3LintError):
    """A fixed file can't be written (exit code 2); it still has its old content."""


class GitError(Eagle3LintError):
    """A git repository can't give what ``--since`` asks for (exit code 2)."""


class UnreadableSourceError(Eagle3LintError):
    """One file can't be read or parsed; becomes finding EGL901.

    ``line`` and ``column`` count from 1 and point at the reason where it is known.
    """

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
