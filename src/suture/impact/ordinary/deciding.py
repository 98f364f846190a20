"""Controllers of Kubernetes that decide by themselves, and whether what they decide by is so.

The others of the control plane carry out what somebody asked for: an owner that is gone, a size
that was written. These look at the world before they take something away, and have been wrong about
it; where the model sees no cause, they are judged as any other operator. Pure.
Source: attach-detach controller (it detaches what no pod of a node wants any more, and what a node
has that is not well or out of service); horizontal controller (sizes between the bounds, and none
that is smaller while a metric cannot be read).
"""

from __future__ import annotations

from typing import Final

from suture.impact.effects import DataLost, Impact, PodsLost
from suture.impact.ground.builtin import OF_SYSTEM
from suture.impact.ground.change import Change
from suture.model.edges import Edge
from suture.model.graph import GraphView

DETACHER: Final = f"{OF_SYSTEM}attachdetach-controller"
SCALER: Final = f"{OF_SYSTEM}horizontal-pod-autoscaler"


def unfounded(identity: str, change: Change, impact: Impact, view: GraphView) -> bool:
    """Whether a controller takes something away for which the cause that it goes by is not there.

    LIMIT: of a workload whose autoscaler the model does not hold, the controller is believed.
    """
    if identity == DETACHER:
        return any(
            isinstance(one, DataLost) and one.direct and one.mounted > 0 and not one.explained
            for one in impact.effects
        )
    resized = change.resized
    if identity != SCALER or resized is None or not view.sources(resized.row, Edge.SCALES):
        return False
    return any(isinstance(one, PodsLost) and one.lasting > 0 for one in impact.effects)
