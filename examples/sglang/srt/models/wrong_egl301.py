"""A name of typing that nobody imported, where Python evaluates it: the module can't be imported."""


def layers_of(layer_ids: Optional[list[int]] = None) -> list[int]:
    return layer_ids or []
