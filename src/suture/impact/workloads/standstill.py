"""Workloads of the cluster itself that one actor stops one after the other.

Beside `sizes`, where somebody above a workload asks for its pods: nobody is above what the cluster
is made of, and all of it asks. One of them is stopped to repair or to move something; who
stops several stops the cluster, though each by itself is ordinary and serves nobody.
Source: the namespaces that Kubernetes keeps for itself begin with `kube-`.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import wants_none
from suture.impact.ground.change import Resized
from suture.impact.ordinary.paused import notes_size
from suture.impact.ordinary.sweeps import is_swept
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.names import DEPLOYMENTS, RESERVED, STATEFUL_SETS

NOBODY: Final = -1


def kept_up(scene: Scene, resized: Resized) -> int:
    """Return how many pods of a workload the cluster asks for itself: one, or -1 for nobody does.

    One, where it is the cluster's own and would be stopped, and the actor has stopped others there
    within the hour that are so still. Not of what is put to sleep, with its size noted beside it.
    """
    view = scene.view
    space = view.namespace(resized.row)
    if resized.after or not space.startswith(RESERVED) or notes_size(scene.request, resized):
        return NOBODY
    others = (
        row
        for resource in (DEPLOYMENTS, STATEFUL_SETS)
        for row in view.rows(resource, space)
        if row != resized.row
    )
    swept = is_swept(scene, others, lambda row: wants_none(view, row), What.SCALED)
    return 1 if swept else NOBODY
