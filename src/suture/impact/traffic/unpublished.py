"""Routes of which nobody says any more where they are reached, though they lead somewhere.

Beside `addresses`, where a load balancer gives an address back: here it stays, and whoever keeps
names of hosts by the status of routes takes those away. One route is withdrawn by whoever serves it
no more; who withdraws one after the other has lost sight of them, or stops.
Source: networking/v1 IngressStatus, which whoever serves an Ingress writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import read_body
from suture.impact.ground.change import Change
from suture.impact.ordinary.sweeps import OTHERS, swept
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import INGRESSES
from suture.model.objects import RouteFacts


def writes_status(change: Change) -> bool:
    """Whether a change may be of a status alone: nothing that the model reads differs."""
    return change.empty


def unpublished_effects(scene: Scene) -> Iterator[EntriesDropped]:
    """Tell of an Ingress that leads to Ready pods, and is reached nowhere any more.

    Critical where the actor has done so to others within the hour, and they are so still.
    """
    request, view = scene.request, scene.view
    if request.subresource != "status" or request.gvr.resource != INGRESSES:
        return
    had = _published(request.old_body)
    row = view.find(request.key) if had and not _published(request.new_body) else None
    if row is None or view.terminating(row) or not _leads(view, row):
        return
    others = (one for one in view.rows(INGRESSES) if one != row)
    yield EntriesDropped(
        holder=scene.victim(row),
        field="status.loadBalancer.ingress",
        before=len(had),
        dropped=len(had),
        entries=tuple(had[: scene.limit]),
        readers=0,
        critical=swept(scene, others, lambda one: _is_nowhere(view, one), What.STATUS) >= OTHERS,
    )


def _published(body: bytes) -> list[str]:
    """Return the addresses at which a route is said to be reached."""
    status = read_body(body).status
    balancer = status.load_balancer if status is not None else None
    given = (balancer.ingress if balancer is not None else None) or ()
    return sorted({one.ip or one.hostname for one in given} - {""})


def _leads(view: GraphView, route: int) -> bool:
    """Whether a route leads to a Service with a ready endpoint."""
    facts = view.facts(route)
    if not isinstance(facts, RouteFacts):
        return False
    services = map(view.service, facts.services)
    return any(one is not None and view.serving_count(one) > 0 for one in services)


def _is_nowhere(view: GraphView, route: int) -> bool:
    """Whether a route leads somewhere and says no address."""
    facts = view.facts(route)
    return isinstance(facts, RouteFacts) and not facts.addresses and _leads(view, route)
