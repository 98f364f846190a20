"""Addresses that routes say no more: one that is withdrawn, or one after the other."""

from __future__ import annotations

import pytest

from support.asking import effects
from support.cluster import service, workload
from support.unfolding import OTHER, Unfolding
from support.writes import Body, body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.actor import Actor
from suture.model.names import INGRESSES

HERE, THERE = "192.0.2.1", "192.0.2.2"


def route(at: int, *addresses: str) -> Body:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rule = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    return body(
        "Ingress", f"route-{at}", apiVersion="networking.k8s.io/v1", spec={"rules": [rule]},
        status={"loadBalancer": {"ingress": [{"ip": one} for one in addresses]}},
    )  # fmt: skip


class Routes(Unfolding):
    """Six Ingresses of one Service, reached at an address."""

    def __init__(self, replicas: int = 2) -> None:
        routes = [trimmed(INGRESSES, route(at, HERE)) for at in range(6)]
        self.bodies = [route(at, HERE) for at in range(6)]
        super().__init__(routes, workload("web", replicas=replicas), service("web"))

    def publish(self, at: int, *addresses: str, by: Actor | None = None) -> list[bool]:
        """Write where a route is reached, and return whether what is lost is critical."""
        new = route(at, *addresses)
        impact = self.ask(write(INGRESSES, self.bodies[at], new, subresource="status"), by)
        self.bodies[at] = new
        self.things[trimmed(INGRESSES, new).key] = trimmed(INGRESSES, new)
        return [one.critical for one in effects(impact, EntriesDropped)]


def test_who_withdraws_one_route_after_the_other_is_told_at_the_third() -> None:
    """Names of hosts are kept by what routes say: all of them would be taken away."""
    routes = Routes()
    assert [routes.publish(at) for at in range(4)] == [[False], [False], [True], [True]]


def test_routes_that_move_are_reached_elsewhere() -> None:
    """An edge that gets another address writes it into all of its routes, however many."""
    routes = Routes()
    assert [routes.publish(at, THERE) for at in range(6)] == [[]] * 6
    assert [routes.publish(at) + routes.publish(at, HERE) for at in range(6)] == [[False]] * 6


@pytest.mark.parametrize("replicas", [0])
def test_a_route_that_leads_nowhere_may_be_withdrawn(replicas: int) -> None:
    """Nobody is behind it."""
    routes = Routes(replicas)
    assert [routes.publish(at) for at in range(6)] == [[]] * 6


def test_each_actor_and_each_hour_is_another() -> None:
    """Two edges that each withdraw one are no sweep; nor is what was an hour ago."""
    routes = Routes()
    routes.publish(0)
    routes.publish(1, by=OTHER)
    assert routes.publish(2) == [False]
    routes.now = routes.now.plus_s(4000)
    assert routes.publish(3) == [False]
