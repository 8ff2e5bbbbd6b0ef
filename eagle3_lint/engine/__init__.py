"""The one door to the engine: what front ends ask, and what they get.

``check`` lints paths for the command line, ``fix`` also makes what the findings propose; ``open_session`` answers for one
file at a time, for hosts that visit files one by one; ``matrix`` describes every class of a models directory, ``explain``
one of them in full.

Each is imported when it is asked for, since an answer that is remembered needs little of the rest. No module of this
package may have the name of one of these functions: importing it would put the module in the function's place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle3_lint.engine.checking import Request, check
    from eagle3_lint.engine.explaining import ExplainRequest, Explanation, explain
    from eagle3_lint.engine.fixing import Fixed, fix
    from eagle3_lint.engine.session import Session, SessionOptions, open_session
    from eagle3_lint.engine.since import Comparison, compared_with
    from eagle3_lint.engine.support_matrix import MatrixRequest, matrix

__all__ = [
    "Comparison",
    "ExplainRequest",
    "Explanation",
    "Fixed",
    "MatrixRequest",
    "Request",
    "Session",
    "SessionOptions",
    "check",
    "compared_with",
    "explain",
    "fix",
    "matrix",
    "open_session",
]

_HOMES = {
    "Comparison": "since",
    "ExplainRequest": "explaining",
    "Explanation": "explaining",
    "Fixed": "fixing",
    "MatrixRequest": "support_matrix",
    "Request": "checking",
    "Session": "session",
    "SessionOptions": "session",
    "check": "checking",
    "compared_with": "since",
    "explain": "explaining",
    "fix": "fixing",
    "matrix": "support_matrix",
    "open_session": "session",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"eagle3_lint.engine.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
