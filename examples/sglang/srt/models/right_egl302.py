"""The name is imported where type checkers see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Optional


def layers_of(layer_ids: Optional[list[int]] = None) -> list[int]:
    return layer_ids or []
