"""Custom resources that a living pod or node is known by: its own, or of its name.

Such are the endpoints and ranges of addresses that a network agent keeps, and the states of cards
and disks, one for each pod or node and for as long as it lives. One that was looked up by name may
belong to the next of that name.

What nobody owns and is in no namespace is a node's by its name alone; what is in one where most of
its type bear names of nodes, and no finalizer says that a thing outside goes with it: a machine
may be called as its node is. A node that is closed, or was tainted a moment ago, is on its way
out, and what is kept of it may go before it. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.drained import closes
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import NODES, PODS, ObjectKey
from suture.model.objects import NodeFacts

ALIKE_ASKED: Final = 64
"""LIMIT: objects of a type that are asked whether nodes bear their names, 0.3 us each."""


def stands_for_living(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a custom resource is what a Ready pod or node is known by."""
    if not is_custom(view.resource(row)):
        return False
    if _is_of_node(view, row):
        node = _node_of(view, row)
        return node is not None and _is_up(view, node, now)
    return any(
        owner.present and view.name(owner.row) == view.name(row) and _is_up(view, owner.row, now)
        for owner in view.owners(row)
    )


def _is_of_node(view: GraphView, row: int) -> bool:
    """Whether a custom resource is one for each node, by what it and its type are called."""
    if not view.namespace(row):
        return not view.has_owner(row)
    if view.finalizers(row) or _node_of(view, row) is None:
        return False
    alike = view.rows(view.resource(row))[:ALIKE_ASKED]
    return len(alike) > 1 and sum(_node_of(view, one) is not None for one in alike) * 2 > len(alike)


def _node_of(view: GraphView, row: int) -> int | None:
    return view.find(ObjectKey(NODES, "", view.name(row)))


def _is_up(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a pod is Ready, or a node is Ready and open, and stays."""
    if view.resource(row) == PODS:
        return view.serves(row)
    return isinstance(view.facts(row), NodeFacts) and not closes(view, row, now)
