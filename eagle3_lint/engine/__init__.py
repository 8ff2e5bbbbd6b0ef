"""The one door to the engine: what front ends ask, and what they get.

``check`` lints paths for the command line; ``open_session`` answers for one file at a time, for hosts that visit files
one by one; ``matrix`` describes every class of a models directory.
"""

from __future__ import annotations

from eagle3_lint.engine.checking import Request, check
from eagle3_lint.engine.matrix import MatrixRequest, matrix
from eagle3_lint.engine.session import Session, SessionOptions, open_session

__all__ = ["MatrixRequest", "Request", "Session", "SessionOptions", "check", "matrix", "open_session"]
