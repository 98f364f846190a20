"""Front doors: who takes in what comes from outside, and the routes that a policy shuts to them.

Beside `networkpolicies`, which asks what every pod needs: that others of the namespace still come
in is no help to a route. Where a route is reached, as its status says, a Service of type
LoadBalancer stands, and behind that the pods that send its traffic on. Where none does, as those of
nodes have no Service, they are behind the Services of the release that keeps an Ingress' class.
Source: networking/v1 Ingress and NetworkPolicy; Gateway API, attached routes.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.effects import RouteBroken
from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene
from suture.impact.traffic.networkpolicies import Allows, lets_in, shut_to
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import INGRESSES, SERVICES
from suture.model.objects import LOAD_BALANCER, RouteFacts, ServiceFacts


def door_effects(scene: Scene) -> Iterator[RouteBroken]:
    """Yield the routes that stay to Services that let in none of their front doors any more."""
    doors = _Doors(scene.view)
    for row in shut_to(scene, doors.asking):
        for route in doors.routes(row):
            if doors.before(route):
                yield RouteBroken(
                    route=scene.victim(route),
                    service=scene.victim(row),
                    before=scene.view.serving_count(row),
                    service_removed=True,
                    shut=True,
                )


class _Doors:
    """The front doors of a cluster, looked for once they are asked about."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._at: dict[str, list[int]] | None = None

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
        view, at = self._view, self._balancers()
        found = [row for address in self._addresses(route) for row in at.get(address, ())]
        kinds = [
            kind
            for service in found or self._of_class(route)
            for kind in view.classes_selected(service)
            if view.running_alike(kind)[1]
        ]
        on_host = any(Asked(view).of(view.one_alike(kind)).host_network for kind in kinds)
        return [] if on_host else kinds

    def asking(self, service: int) -> Allows | None:
        """Say by which rules a front door of a Service is let in; None where it has none."""
        view = self._view
        kinds = {kind for route in self.routes(service) for kind in self.before(route)}
        if not kinds:
            return None
        return lambda rule: any(lets_in(view, rule, kind) for kind in kinds)

    def _addresses(self, route: int) -> Iterator[str]:
        """Yield where a route is reached: by itself, or by the Gateways that it is attached to."""
        view = self._view
        for one in (route, *(gateway for gateway, _ in view.targets(route, Edge.ATTACHED_TO))):
            facts = view.facts(one)
            if isinstance(facts, RouteFacts):
                yield from facts.addresses

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

    def _balancers(self) -> dict[str, list[int]]:
        """Return the Services that load balancers stand before, by address.

        WHY all are looked through, some milliseconds: this is asked of a policy that shuts
        something that a route leads to, and nobody else asks for a Service by its address.
        """
        if self._at is None:
            self._at = {}
            services = self._view.rows(SERVICES)
            numbers, shared = self._view.shared_facts(services)
            for row, number in zip(services, numbers, strict=True):
                facts = shared[number]
                if isinstance(facts, ServiceFacts) and facts.type == LOAD_BALANCER:
                    for address in facts.addresses:
                        self._at.setdefault(address, []).append(row)
        return self._at
