"""A name of typing that nobody imported, in annotations that Python leaves alone: type checkers fail."""

from __future__ import annotations


def layers_of(layer_ids: Optional[list[int]] = None) -> list[int]:
    return layer_ids or []
