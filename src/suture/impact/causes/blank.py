"""ConfigMaps that say nothing: what nobody filled, or what was emptied before it goes.

What names one needs it all the same, which `references` tells; here it is whether anything is lost.
"""

from __future__ import annotations

from typing import Final

import msgspec

from suture.model.difference import UNREADABLE
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS

LARGEST: Final = 16_384
"""LIMIT: bytes of a body that is looked into; one that says nothing is small."""

KEYS: Final = 4
"""LIMIT: keys without a value; of more, the keys may be what is said, as a list of names."""


class _Said(msgspec.Struct, gc=False):
    data: dict[str, str] | None = None
    binaryData: dict[str, str] | None = None  # noqa: N815


_decoder: Final = msgspec.json.Decoder(_Said)


def is_blank(view: GraphView, row: int, body: bytes) -> bool:
    """Whether an object is a ConfigMap all of whose values are empty; `body` is that object."""
    if view.resource(row) != CONFIG_MAPS or not 0 < len(body) <= LARGEST:
        return False
    try:
        said = _decoder.decode(body)
    except UNREADABLE:
        return False
    values = said.data or {}
    return (
        0 < len(values) <= KEYS and not said.binaryData and not any(map(str.strip, values.values()))
    )
