"""Pods that a status says are not Ready any more: whether their own containers bear it out.

Beside `serving`, which tells what their Services lose. A kubelet says of its pods what it sees; an
operator that checks for itself, or reads what its own outage made of the world, says it of many.
Source: kubelet `GeneratePodReadyCondition` (Ready is all containers Ready and every readiness gate
True); node lifecycle controller `MarkPodsNotReady`; endpointslice controller (what is not Ready
serves no more).
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bodies import pod_is_fit
from suture.model.graph import GraphView
from suture.model.names import PODS
from suture.model.objects import NodeFacts, PodFacts
from suture.model.request import Request

KUBELET: Final = "system:node:"
"""SOURCE: what the name of a kubelet begins with, before its node's."""


def told_unready(request: Request, view: GraphView) -> int | None:
    """Return the Ready pod of which a write of its status says that it is not Ready any more."""
    after = request.new
    if request.subresource != "status" or request.key.resource != PODS or after is None:
        return None
    facts = after.facts
    if not isinstance(facts, PodFacts) or facts.ready or facts.finished or after.terminating:
        return None
    row = view.find(request.key)
    if row is None or view.uid(row) != after.uid or not view.serves(row):
        return None
    return row


def borne_out(request: Request, view: GraphView, pod: int) -> bool:
    """Whether what a status says of a pod is so: by its containers, its gates or its node.

    Or whether its own kubelet says it.
    """
    node = view.node_of(pod)
    if node is None:
        return True
    facts = view.facts(node)
    if view.gone(node) or not isinstance(facts, NodeFacts) or not facts.ready:
        return True
    if request.user.username == f"{KUBELET}{view.name(node)}":
        return True
    return not pod_is_fit(request.new_body)
