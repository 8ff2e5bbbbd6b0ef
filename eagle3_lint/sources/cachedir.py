"""Where the program keeps what it can make again: releases and facts."""

from __future__ import annotations

import os
import sys

CACHE_DIR_VARIABLE = "EAGLE3_LINT_CACHE_DIR"


def cache_dir(option: str | None) -> str:
    """The absolute cache directory (which need not exist yet).

    :param option: the value of ``--cache-dir`` or of the configuration, where there is one; it comes first, then
        the environment variable ``EAGLE3_LINT_CACHE_DIR``, then the platform's directory for a user's caches
        (https://platformdirs.readthedocs.io, on Linux https://specifications.freedesktop.org/basedir-spec).
    """
    chosen = option or os.environ.get(CACHE_DIR_VARIABLE)
    if not chosen and sys.platform.startswith("linux"):
        # Where platformdirs says it is, too; importing that takes longer than a remembered answer.
        home = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
        chosen = os.path.join(home, "eagle3-lint")
    if not chosen:
        from platformdirs import user_cache_dir

        chosen = user_cache_dir("eagle3-lint", appauthor=False)
    return os.path.abspath(os.path.expanduser(chosen))
