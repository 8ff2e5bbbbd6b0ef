"""The name is imported."""

from typing import Optional


def layers_of(layer_ids: Optional[list[int]] = None) -> list[int]:
    return layer_ids or []
