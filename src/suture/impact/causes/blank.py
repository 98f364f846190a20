"""ConfigMaps that say nothing: what nobody filled, or what was emptied before it goes.

What names one needs it all the same, which `references` tells; here it is whether anything is lost.
"""

from __future__ import annotations

from typing import Final

from suture.model.difference import map_in, parts_of
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS

LARGEST: Final = 16_384
"""LIMIT: bytes of a body that is looked into; one that says nothing is small."""

KEYS: Final = 4
"""LIMIT: keys without a value; of more, the keys may be what is said, as a list of names."""


def is_blank(view: GraphView, row: int, body: bytes) -> bool:
    """Whether an object is a ConfigMap all of whose values are empty; `body` is that object."""
    if view.resource(row) != CONFIG_MAPS or not 0 < len(body) <= LARGEST:
        return False
    parts = parts_of(body)
    values = map_in(parts.get("data")).values()
    return (
        0 < len(values) <= KEYS
        and not map_in(parts.get("binaryData"))
        and not any(not isinstance(one, str) or one.strip() for one in values)
    )
