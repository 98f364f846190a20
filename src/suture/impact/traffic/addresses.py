"""Addresses outside that a Service would give back while routes are reached at them.

Beside `hollow`, which says that an address is given back, whoever stands on it: here it is that of
what serves the routes of others, and the name of every host leads there.
Source: core/v1 ServiceStatus (the service controller gives a load balancer back when the type is
another, and the next one has another address); networking/v1 IngressStatus and Gateway API
GatewayStatus, which whoever serves an Ingress or a Gateway writes. Cloud providers make another
load balancer where an annotation asks for another sort: `aws-load-balancer-scheme`, `-type` and
`-internal`, `azure-load-balancer-internal`, `networking.gke.io/load-balancer-type`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from suture.impact.effects import EntriesDropped, Victim
from suture.impact.ground.bodies import addresses_given, annotations_of
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ordinary.hands import made_lately
from suture.impact.scene import Scene, victim_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import GATEWAYS, INGRESSES, SERVICES, Operation
from suture.model.objects import LOAD_BALANCER, RouteFacts, ServiceFacts
from suture.model.request import Request

_GIVEN: Final = b'"ingress"'
"""What stands in the body of a Service that was given an address."""

_SORTED: Final = b"load-balancer-"
_SORT: Final = re.compile(r"/[\w.-]*load-balancer-(?:scheme|type|internal)$")
"""Annotations that say which sort of load balancer a Service is to have."""

_UNSAID: Final = frozenset({"", "false", "internet-facing"})
"""What such an annotation says, in small letters, where it says no more than none would."""

ROUTES_ASKED: Final = 20_000
"""LIMIT: Ingresses that are asked where they are reached: 0.3 us each, 6 ms, for a write that comes
once in the life of a Service. Of more nothing is known."""


def addresses_left(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of the addresses of a load balancer that is given back; critical where routes say them.

    WHY not without a pod behind it: nothing is reached there any more.
    """
    old = made.facts_before
    new, row = made.after.facts, made.row
    if row is None or not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    if not old.type == LOAD_BALANCER != new.type or not scene.view.serving_count(row):
        return
    yield from _left(scene, victim_of(made.after))


def rewrites_service(change: Change) -> bool:
    """Whether a change may be of a Service that stays, were it of its annotations alone."""
    made = change.rewritten
    return change.empty or (made is not None and made.after.key.resource == SERVICES)


def resorts(request: Request) -> bool:
    """Whether an update may ask for another sort of load balancer.

    WHY by the bytes: the model reads no such annotation, and most Services have none.
    """
    return (
        request.key.resource == SERVICES
        and request.operation is Operation.UPDATE
        and not request.subresource
        and (_SORTED in request.new_body or _SORTED in request.old_body)
    )


def addresses_resorted(scene: Scene) -> Iterable[EntriesDropped]:
    """Tell of the same of one that is to be of another sort: the next has another address."""
    request, view = scene.request, scene.view
    row = view.find(request.key) if resorts(request) else None
    facts = view.facts(row) if row is not None else None
    if row is None or not isinstance(facts, ServiceFacts) or facts.type != LOAD_BALANCER:
        return
    if view.serving_count(row) and _sorts(request.old_body) != _sorts(request.new_body):
        yield from _left(scene, scene.victim(row))


def _sorts(body: bytes) -> dict[str, str]:
    """Return what the annotations of a Service say of the sort of its load balancer."""
    return {
        name: said.lower()
        for name, said in annotations_of(body).items()
        if _SORT.search(name) and said.lower() not in _UNSAID
    }


def addresses_removed(scene: Scene) -> Iterable[EntriesDropped]:
    """Tell of the same of a load balancer that goes itself, by its name.

    WHY by its name alone: where a namespace or application goes, its body is not in the review.
    """
    view, direct = scene.view, scene.change.direct
    if len(direct) != 1 or view.resource(direct[0]) != SERVICES:
        return
    # WHY first: few Services were given an address, and only of such facts are read.
    if _GIVEN not in scene.request.old_body:
        return
    row, facts = direct[0], view.facts(direct[0])
    if not isinstance(facts, ServiceFacts) or facts.type != LOAD_BALANCER:
        return
    if view.serving_count(row) and not (scene.causes.explains(row) or made_lately(scene, row)):
        yield from _left(scene, scene.victim(row))


def _left(scene: Scene, service: Victim) -> Iterable[EntriesDropped]:
    """Tell of the addresses of a Service, where routes that stay are reached at one of them."""
    given = addresses_given(scene.request.old_body)
    reached = given and given & _reached(scene)
    if reached:
        yield EntriesDropped(
            holder=service,
            field="status.loadBalancer.ingress",
            before=len(given),
            dropped=len(given),
            entries=(*sorted(reached), *sorted(given - reached))[: scene.limit],
            readers=0,
            critical=True,
        )


def _reached(scene: Scene) -> set[str]:
    """Return the addresses at which routes that stay say that they are reached.

    Of Ingresses their own; routes of the Gateway API are reached where the Gateway is that they
    are attached to.
    """
    view, found = scene.view, set[str]()
    for row in (*view.rows(INGRESSES)[:ROUTES_ASKED], *view.rows(GATEWAYS)[:ROUTES_ASKED]):
        facts = view.facts(row)
        if (
            isinstance(facts, RouteFacts)
            and facts.addresses
            and not view.terminating(row)
            and (view.resource(row) != GATEWAYS or _attached(view, row))
        ):
            found.update(facts.addresses)
    return found


def _attached(view: GraphView, gateway: int) -> bool:
    """Whether a route that stays is attached to a Gateway."""
    return any(not view.terminating(one) for one in view.sources(gateway, Edge.ATTACHED_TO))
