"""Drivers by which nodes mount volumes, as long as running pods have some of theirs.

Beside `agents`, told by what a DaemonSet asks for: here by where it registers at the kubelet. A
driver has a directory below the kubelet's `plugins` that is called after it, and a volume says by
name which driver mounts it. Without it all that runs stays; but no pod with such a volume starts
again, and none can let go of it.

LIMIT: not of a driver that calls its directory otherwise, nor of one that goes along with another.
Source: Kubernetes CSI documentation, "Deploying a CSI Driver on Kubernetes" (the socket lies in
`/var/lib/kubelet/plugins/<driver name>`).
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.causes.parents import mounting
from suture.model.edges import Edge
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, VOLUMES
from suture.model.podtemplate import host_paths

VOLUMES_LOOKED_AT: Final = 4_000
"""LIMIT: volumes that are looked through for one that is mounted. Of more, the rest is not."""

_DIRECTORY: Final = re.compile(r".*/plugins/([^/]+)/?")


def mounts_volumes(view: GraphView, body: bytes) -> bool:
    """Whether a DaemonSet is the driver of a volume that a running pod has mounted."""
    found = map(_DIRECTORY.fullmatch, host_paths(body))
    names = {one[1] for one in found if one is not None}
    return bool(names) and any(
        isinstance(facts := view.facts(volume), VolumeFacts)
        and facts.driver in names
        and _is_mounted(view, volume)
        for volume in view.rows(VOLUMES)[:VOLUMES_LOOKED_AT]
    )


def _is_mounted(view: GraphView, volume: int) -> bool:
    return any(
        view.resource(claim) == CLAIMS and mounting(view, claim)
        for claim in view.there(volume, Edge.BOUND_CLAIM)
    )
