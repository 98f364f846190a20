"""Routes and load balancers of which nobody says any more where they are reached, yet they serve.

Beside `addresses`, where a load balancer gives an address back as its Service says. Here nobody has
said so: whoever keeps names of hosts by these statuses takes those away, and what is announced by
them is announced no more. One is withdrawn by whoever serves it no more; who withdraws one after
the other has lost sight of them, of where addresses come from, or stops. Not where another wrote it
within the hour: a route may be of another class by now, and whoever has that writes its own.
Source: networking/v1 IngressStatus and core/v1 ServiceStatus, which whoever serves them writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.causes.given import GIVEN_TO, given_by_another
from suture.impact.causes.labelled import kept_beside
from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import addresses_given, annotations_of
from suture.impact.ground.change import Change
from suture.impact.ordinary.copies import went
from suture.impact.ordinary.sweeps import is_swept
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import SERVICES
from suture.model.objects import LOAD_BALANCER, RouteFacts, ServiceFacts


def writes_status(change: Change) -> bool:
    """Whether a change may be of a status alone: nothing that the model reads differs."""
    return change.empty


def unpublished_effects(scene: Scene) -> Iterator[EntriesDropped]:
    """Tell of an Ingress or a load balancer before Ready pods that is reached nowhere any more.

    Critical where the actor has done so to others within the hour, and they are so still; or where
    it is a machine, and another gave the address: the two do not agree whose Service it is.
    """
    request, view = scene.request, scene.view
    resource = request.gvr.resource
    if request.subresource != "status" or resource not in GIVEN_TO:
        return
    had = sorted(addresses_given(request.old_body))
    row = view.find(request.key) if had and not addresses_given(request.new_body) else None
    if row is None or view.terminating(row) or not _leads(view, row):
        return
    if scene.written_by_another(request.key) or (resource == SERVICES and _told_to(scene)):
        return
    others = (one for one in view.rows(resource) if one != row)
    yield EntriesDropped(
        holder=scene.victim(row),
        field="status.loadBalancer.ingress",
        before=len(had),
        dropped=len(had),
        entries=tuple(had[: scene.limit]),
        readers=0,
        critical=_is_of_another(scene)
        or is_swept(scene, others, lambda one: _is_nowhere(scene, one), What.STATUS),
    )


def _is_of_another(scene: Scene) -> bool:
    """Whether a machine takes back an address that another is known to have given."""
    request, now = scene.request, scene.now
    if now is None or is_person(request.user.username):
        return False
    return given_by_another(request, scene.view, now)


def _leads(view: GraphView, row: int) -> bool:
    """Whether a route leads to a Service with a ready endpoint, or a load balancer has one."""
    facts = view.facts(row)
    if isinstance(facts, ServiceFacts):
        return facts.type == LOAD_BALANCER and view.serving_count(row) > 0
    if not isinstance(facts, RouteFacts):
        return False
    services = map(view.service, facts.services)
    return any(one is not None and view.serving_count(one) > 0 for one in services)


def _is_nowhere(scene: Scene, row: int) -> bool:
    """Whether a route or load balancer leads somewhere and says no address, though nobody asked."""
    view = scene.view
    match view.facts(row):
        case ServiceFacts(addresses=given) | RouteFacts(addresses=given) if given:
            return False
    return _leads(view, row) and not scene.written_by_another(view.key(row))


def _told_to(scene: Scene) -> bool:
    """Whether somebody else changed within the hour what the address of a Service comes from.

    That is named by an annotation of the Service, and is of the actor's own namespace: the pool.
    """
    request, view = scene.request, scene.view
    identity = request.user.username
    for note, name in annotations_of(request.old_body).items():
        for key in kept_beside(view, note, name, identity):
            if went(view, key) or scene.written_by_another(key):
                return True
    return False
