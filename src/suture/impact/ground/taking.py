"""Whether a change takes something away, and from which namespaces: what a freeze window holds.

The same five things that the destructive lane is made of, told from the change itself.
"""

from __future__ import annotations

from suture.impact.ground.change import Change
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, Operation
from suture.model.request import Request


def takes_away(request: Request, change: Change) -> bool:
    """Whether a request deletes, evicts, scales down, lifts a finalizer or rewrites owners."""
    if request.operation is Operation.DELETE or request.subresource == "eviction":
        return True
    if change.removed or (change.resized and change.resized.after < change.resized.before):
        return True
    made = change.rewritten
    if made is None or made.before is None:
        return False
    lifted = set(made.before.finalizers) - set(made.after.finalizers)
    return bool(lifted) or made.before.owners != made.after.owners


def places_of(request: Request, change: Change, view: GraphView) -> frozenset[str]:
    """Return the namespaces in which something changes or goes; a namespace is in itself."""
    own = request.name if request.key.resource == NAMESPACES else request.namespace
    return frozenset((own, *map(view.namespace, change.removed)))
