"""An explanation, or a matrix, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from eagle3_lint.output.escape import well_formed_value


def render_json(document: Mapping[str, Any]) -> Iterator[str]:
    """``document`` as pieces of text, in ASCII."""
    yield json.dumps(well_formed_value(document), indent=2)
    yield "\n"
