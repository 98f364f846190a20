"""Drivers by which nodes mount volumes, as long as running pods have some of theirs.

Beside `agents`, told by what a DaemonSet asks for: here by where it registers at the kubelet (the
`driver` edge); and a volume says by name which driver mounts it. Without it all that runs stays;
but no pod with such a volume starts again, and none can let go of it.

LIMIT: not of a driver that calls its directory otherwise, nor of one that goes along with another.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import mounting
from suture.model.edges import Edge
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, VOLUMES, ObjectKey

VOLUMES_LOOKED_AT: Final = 4_000
"""LIMIT: volumes that are looked through for one that is mounted. Of more, the rest is not."""


def mounted_drivers(view: GraphView, row: int) -> list[ObjectKey]:
    """Return the drivers that a DaemonSet registers and of which a running pod mounts a volume."""
    registered = [view.key(one) for one, _ in view.targets(row, Edge.DRIVER)]
    return [key for key in registered if _is_used(view, key.name)]


def _is_used(view: GraphView, driver: str) -> bool:
    return any(
        isinstance(facts := view.facts(volume), VolumeFacts)
        and facts.driver == driver
        and _is_mounted(view, volume)
        for volume in view.rows(VOLUMES)[:VOLUMES_LOOKED_AT]
    )


def _is_mounted(view: GraphView, volume: int) -> bool:
    return any(
        view.resource(claim) == CLAIMS and mounting(view, claim)
        for claim in view.there(volume, Edge.BOUND_CLAIM)
    )
