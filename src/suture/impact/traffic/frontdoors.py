"""Front doors: who takes in what comes from outside, and the routes that a policy shuts to them.

Beside `networkpolicies`, which asks what every pod needs: that others of the namespace still come
in is no help to a route. Where a route is reached, as its status says, a Service of type
LoadBalancer stands, and behind that the pods that send its traffic on. Where none does, as those of
nodes have no Service, they are behind the Services of the release that keeps an Ingress' class.
Source: networking/v1 Ingress and NetworkPolicy; Gateway API, attached routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from suture.impact.effects import RouteBroken
from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene
from suture.impact.traffic.policyreach import Allows, Reach, for_anybody, is_for
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import GATEWAYS, INGRESSES, PEER_AUTHENTICATIONS, SERVICES
from suture.model.objects import LOAD_BALANCER, RouteFacts, ServiceFacts
from suture.model.traffic import TrafficRule

ROUTES_LOOKED_AT: Final = 2_000
"""LIMIT: Ingresses and Gateways that are looked through for those that a front serves, 0.5 ms."""

ROUTES_ASKED: Final = 64
"""LIMIT: routes of one front that are asked whether it still leads there; one is enough."""


def door_effects(scene: Scene, reaches: Sequence[Reach]) -> Iterator[RouteBroken]:
    """Yield the routes that stay between which and their Services a policy comes.

    Where the pods behind a Service let in none of the front doors any more, or these lead there no
    more; or where who asks a load balancer comes in nowhere behind it: it is its own route then.
    """
    doors = _Doors(scene.view)
    shut_in: dict[int, set[int]] = {}
    for reach in reaches:
        # WHY not: how a gateway is asked from outside it says itself, whatever holds in its mesh.
        if reach.of != PEER_AUTHENTICATIONS:
            for row in reach.shut_to(doors.asking_from_outside):
                yield _broken(scene, row, row)
        for row in reach.shut_to(doors.asking):
            for route in doors.routes(row):
                if doors.before(route):
                    yield _broken(scene, route, row)
        for kind, loses in reach.ways_out():
            for route in doors.served_by(kind):
                if any(map(loses, doors.leading(route))):
                    shut_in.setdefault(route, set()).add(kind)
    for route, kinds in shut_in.items():
        fronts = doors.before(route)
        if fronts and kinds.issuperset(fronts):
            yield from (_broken(scene, route, row) for row in doors.services(route))


def _broken(scene: Scene, route: int, service: int) -> RouteBroken:
    return RouteBroken(
        route=scene.victim(route),
        service=scene.victim(service),
        before=scene.view.serving_count(service),
        service_removed=True,
        shut=True,
    )


class _Doors:
    """The front doors of a cluster, and what is behind them."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._asked = Asked(view)

    def routes(self, service: int) -> list[int]:
        """Return the routes that lead to a Service and are not going."""
        view = self._view
        found = dict.fromkeys(view.sources(service, Edge.ROUTES_TO))
        return [route for route in found if not view.terminating(route)]

    def before(self, route: int) -> list[int]:
        """Return the classes of the pods that send a route's traffic on, all in the pod network.

        None where one runs in a node's network: no selector is for it, and who lets it in is not
        told by labels.
        """
        view = self._view
        found = [row for address in self._addresses(route) for row in self._balancers(address)]
        kinds = [
            kind
            for service in found or self._of_class(route)
            for kind in view.classes_selected(service)
            if view.running_alike(kind)[1]
        ]
        on_host = any(self._asked.of(view.one_alike(kind)).host_network for kind in kinds)
        return [] if on_host else kinds

    def asking(self, service: int) -> Allows | None:
        """Say by which rules a front door of a Service is let in; None where it has none."""
        kinds = {kind for route in self.routes(service) for kind in self.before(route)}
        if not kinds:
            return None
        return partial(self._is_for_some, sorted(kinds))

    def asking_from_outside(self, service: int) -> Allows | None:
        """Say by which rules who asks a load balancer is let in; None of another Service.

        WHY with an address alone: without one nobody can ask it yet.
        """
        facts = self._view.facts(service)
        if not isinstance(facts, ServiceFacts) or facts.type != LOAD_BALANCER:
            return None
        return for_anybody if facts.addresses else None

    def served_by(self, kind: int) -> list[int]:
        """Return routes whose traffic the pods of a class send on, behind a load balancer."""
        view = self._view
        own = {
            address
            for service in view.selecting_class(kind, SERVICES)
            if isinstance(facts := view.facts(service), ServiceFacts)
            and facts.type == LOAD_BALANCER
            for address in facts.addresses
        }
        if not own:
            return []
        at = [
            row
            for resource in (INGRESSES, GATEWAYS)
            for row in view.rows(resource)[:ROUTES_LOOKED_AT]
            if not own.isdisjoint(self._said(row))
        ]
        attached = [one for row in at for one in view.sources(row, Edge.ATTACHED_TO)]
        found = dict.fromkeys((*at, *attached))
        return [one for one in found if not view.terminating(one) and self.services(one)][
            :ROUTES_ASKED
        ]

    def services(self, route: int) -> list[int]:
        """Return the Services with ready endpoints that a route leads to."""
        view = self._view
        return [
            row
            for row, there in view.targets(route, Edge.ROUTES_TO)
            if there and view.serving_count(row)
        ]

    def leading(self, route: int) -> list[Allows]:
        """Say by which rules a front leads to each Service of a route."""
        view = self._view
        return [
            partial(self._is_for_some, view.classes_selected(row)) for row in self.services(route)
        ]

    def _is_for_some(self, kinds: Sequence[int], rule: TrafficRule) -> bool:
        return any(is_for(self._view, rule, kind) for kind in kinds)

    def _said(self, row: int) -> tuple[str, ...]:
        facts = self._view.facts(row)
        return facts.addresses if isinstance(facts, RouteFacts) else ()

    def _addresses(self, route: int) -> Iterator[str]:
        """Yield where a route is reached: by itself, or by the Gateways that it is attached to."""
        for one in (route, *self._view.there(route, Edge.ATTACHED_TO)):
            yield from self._said(one)

    def _of_class(self, route: int) -> list[int]:
        """Return the Services of whoever keeps the class of an Ingress.

        WHY not of a route's Gateway: what sends for that is often made apart from its class.
        """
        view = self._view
        if view.resource(route) != INGRESSES:
            return []
        return [
            row
            for of, _ in view.targets(route, Edge.CLASS)
            for manager, _ in view.targets(of, Edge.MANAGED_BY)
            for row in view.sources(manager, Edge.MANAGED_BY)
            if view.resource(row) == SERVICES
        ]

    def _balancers(self, address: str) -> list[int]:
        """Return the Services that load balancers stand before at an address."""
        view = self._view
        return [
            row
            for row in view.given(address)
            if isinstance(facts := view.facts(row), ServiceFacts) and facts.type == LOAD_BALANCER
        ]
