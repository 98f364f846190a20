"""Nodes behind machines: which node goes with a custom resource that stands for its machine.

Told by field and type, never by product: a finalizer that holds the object until the machine is
gone, and the one node that names it as its owner; or a provider's id, and the node that the
object's status names. Who removes such a machine closes and drains its node first: it is weighed as
that node's end, not as a thing of its own.
Source: Cluster API Machine `status.nodeRef`; Karpenter NodeClaim `status.nodeName`, which its Node
names as its owner; Gardener Machine `status.node` and its label `node`.
"""

from __future__ import annotations

from suture.impact.ground.bodies import node_named
from suture.impact.ground.builtin import BUILT_IN
from suture.impact.ground.kinds import is_custom
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
    if not (is_custom(view.resource(row)) and holder(view, row)):
        return None
    facts = view.facts(row)
    has_id = isinstance(facts, CustomFacts) and is_id(facts.outside)
    named = node_named(request.old_body) if has_id else ""
    node = view.find(ObjectKey(NODES, "", named)) if named else _node_owned(view, row)
    return node if node is not None and isinstance(view.facts(node), NodeFacts) else None


def _node_owned(view: GraphView, row: int) -> int | None:
    """Return the node that names a custom resource as its owner; None where none does, or more."""
    if view.children_count(row, NODES) != 1:
        return None
    return next(one for one in view.owned_but_pods(row) if view.resource(one) == NODES)


def is_kept_with_machine(view: GraphView, node: int) -> bool:
    """Whether a finalizer keeps what a node names as its owners: it is collected after these."""
    owners = view.owners(node)
    return bool(owners) and all(holder(view, one.row) for one in owners)
