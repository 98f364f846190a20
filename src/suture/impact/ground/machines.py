"""Nodes behind machines: which node goes with a custom resource that stands for its machine.

Told by field and type, never by product: a provider's id, a finalizer that holds the object until
the machine is gone, and the node that the object's status names. Who removes such a machine closes
and drains its node first: it is weighed as that node's end, not as a thing of its own.
Source: Cluster API Machine `status.nodeRef`; Karpenter NodeClaim `status.nodeName`; Gardener
Machine `status.node` and its label `node`.
"""

from __future__ import annotations

from suture.impact.ground.bodies import node_named
from suture.impact.ground.builtin import BUILT_IN
from suture.model.graph import GraphView
from suture.model.names import NODES, ObjectKey, Operation
from suture.model.objects import CustomFacts, NodeFacts
from suture.model.request import Request


def is_id(said: str) -> bool:
    """Whether a field says which thing outside it is, and not what becomes of it.

    By an address, or as AWS names its own: `arn:aws:rds:eu-west-1:111122223333:db:orders`.
    """
    return "://" in said or said.startswith("arn:")


def is_machine_id(said: str) -> bool:
    """Whether a field says which machine of a provider it is, and not where to ask for a thing."""
    return "://" in said and not said.startswith("http")


def holder(view: GraphView, row: int) -> str:
    """Return the finalizer of somebody's own that keeps an object; empty where none does."""
    return next((one for one in view.finalizers(row) if one not in BUILT_IN), "")


def node_behind(request: Request, view: GraphView, row: int) -> int | None:
    """Return the node that goes with the machine which a request deletes; None where none does.

    WHY of the request's own object alone: its status is in the review, and not in the model.
    """
    if request.operation is not Operation.DELETE or view.uid(row) != request.object_uid:
        return None
    facts = view.facts(row)
    if not (isinstance(facts, CustomFacts) and is_id(facts.outside) and holder(view, row)):
        return None
    name = node_named(request.old_body)
    node = view.find(ObjectKey(NODES, "", name)) if name else None
    return node if node is not None and isinstance(view.facts(node), NodeFacts) else None
