"""Addresses outside that a Service would give back while routes are reached at them.

Beside `hollow`, which says that an address is given back, whoever stands on it: here it is that of
what serves the routes of others, and the name of every host leads there.
Source: core/v1 ServiceStatus (the service controller gives a load balancer back when the type is
another, and the next one has another address); networking/v1 IngressStatus, which whoever serves
an Ingress writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import read_body
from suture.impact.ground.change import Rewritten
from suture.impact.scene import Scene, named
from suture.model.graph import GraphView
from suture.model.names import INGRESSES
from suture.model.objects import RouteFacts, ServiceFacts

LOAD_BALANCER: Final = "LoadBalancer"

ROUTES_ASKED: Final = 20_000
"""LIMIT: Ingresses that are asked where they are reached: 0.3 us each, 6 ms, for a write that comes
once in the life of a Service. Of more nothing is known."""


def addresses_left(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of the addresses of a load balancer that is given back; critical where routes say them.

    WHY not without a pod behind it: nothing is reached there any more.
    """
    old = made.before.facts if made.before is not None else None
    new, row = made.after.facts, made.row
    if row is None or not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    if not old.type == LOAD_BALANCER != new.type or not scene.view.serving_count(row):
        return
    given = _given(scene.request.old_body)
    reached = given & _reached(scene.view)
    if reached:
        yield EntriesDropped(
            holder=named(made.after.key, made.after.uid),
            field="status.loadBalancer.ingress",
            before=len(given),
            dropped=len(given),
            entries=(*sorted(reached), *sorted(given - reached))[: scene.limit],
            readers=0,
            critical=True,
        )


def _given(body: bytes) -> set[str]:
    """Return the addresses that a Service was given outside."""
    status = read_body(body).status
    balancer = status.load_balancer if status is not None else None
    given = (balancer.ingress if balancer is not None else None) or ()
    return {one.ip or one.hostname for one in given} - {""}


def _reached(view: GraphView) -> set[str]:
    """Return the addresses at which Ingresses that stay say that they are reached."""
    found: set[str] = set()
    for row in view.rows(INGRESSES)[:ROUTES_ASKED]:
        facts = view.facts(row)
        if isinstance(facts, RouteFacts) and facts.addresses and not view.terminating(row):
            found.update(facts.addresses)
    return found
