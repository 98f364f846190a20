"""Ports of a Service that Ingresses of another hand lead to, and that it would have no more.

Beside `routes`, where the Service goes or is emptied: here it stays, with pods behind it, and each
host that leads to a port which is not there answers that the service is unavailable. Whoever keeps
both applies the Service first and the Ingress next, so that a port that moves would be refused on
its way: it is told of only where it is known that the two are kept apart, by release, application
or owner, and nothing ties the actor to the Ingress.
Source: networking/v1 IngressServiceBackend (`port.name` or `port.number`); ingress controllers
answer 503 for a port that the Service has not.
LIMIT: of Ingresses alone; routes of the Gateway API name ports by number, and are written by whom
a Service's owner lets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.change import Rewritten
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene, victim_of
from suture.model.edges import Edge
from suture.model.objects import RouteFacts, ServiceFacts

_TCP: Final = "/TCP"

INGRESSES_ASKED: Final = 256
"""LIMIT: Ingresses of one Service that are asked for the port they lead to, 2 us each."""


def ports_left(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of the ports by name and number that a Service loses and that Ingresses lead to."""
    old, new, row = made.facts_before, made.after.facts, made.row
    if row is None or not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    lost = _ports(old) - _ports(new)
    if not lost or not scene.view.serving_count(row):
        return
    led: set[str] = set()
    for route in scene.view.sources(row, Edge.ROUTES_TO)[:INGRESSES_ASKED]:
        if scene.stays(route) and _kept_apart(scene, row, route):
            led |= _led_to(scene, row, route)
    gone = sorted(led & lost)
    if gone:
        yield EntriesDropped(
            holder=victim_of(made.after),
            field="spec.ports",
            before=len(led & _ports(old)),
            dropped=len(gone),
            entries=tuple(gone[: scene.limit]),
            readers=0,
            critical=True,
        )


def _ports(facts: ServiceFacts) -> set[str]:
    """Return the ports of a Service by name and by number; those of UDP no Ingress leads to."""
    numbers = (one.removesuffix(_TCP) for one in facts.ports if one.endswith(_TCP))
    return {*facts.called, *numbers}


def _led_to(scene: Scene, service: int, route: int) -> set[str]:
    """Return the ports of a Service that an Ingress leads to."""
    facts = scene.view.facts(route)
    if not isinstance(facts, RouteFacts):
        return set()
    prefix = f"{scene.view.name(service)}:"
    return {one.removeprefix(prefix) for one in facts.ports if one.startswith(prefix)}


def _kept_apart(scene: Scene, service: int, route: int) -> bool:
    """Whether a Service and an Ingress are of two hands, and the actor's is not the second."""
    view = scene.view
    if scene.tied(route) or any(works_for(scene, one) for one in scene.marks(route)):
        return False
    mine = {*scene.marks(service), *(view.key(one.row) for one in view.owners(service))}
    its = {*scene.marks(route), *(view.key(one.row) for one in view.owners(route))}
    return mine.isdisjoint(its) and bool(mine or its)
