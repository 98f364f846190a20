"""What one link means beside its two ends."""

from __future__ import annotations

import msgspec

from suture.model.edges import Edge
from suture.model.names import Gvk


class Detail(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The meaning of links. Of an OWNER link: how the ownerReference is written.

    `name` is the owner's name as the reference has it, where that is not the name of its row.
    No edge: the target is a set of needs, each with a link of its own.
    `derived`: the object's facts name the target, and its needs do not repeat it.
    """

    edge: Edge | None
    key: str = ""
    optional: bool = False
    gvk: Gvk | None = None
    controller: bool = False
    blocks_deletion: bool = False
    name: str = ""
    derived: bool = False
