"""Addresses that routes and load balancers say no more: one is withdrawn, or one after the other."""

from __future__ import annotations

import pytest

from support.asking import effects
from support.cluster import operator, service, thing, workload
from support.unfolding import OTHER, Unfolding
from support.writes import Body, body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.names import CRDS, INGRESSES, SERVICES, Resource
from suture.model.objects import CrdFacts

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


POOLS = Resource("pools.example.io", "addresspools")
POOL = thing(POOLS, "public", "balancers")
BALANCER = operator("system:serviceaccount:balancers:controller")


def front(at: int, *addresses: str, kind: str = "LoadBalancer") -> Body:
    """Make the Service of an edge whose address is of the pool `public`."""
    made = body(
        "Service", f"edge-{at}", spec={"type": kind, "selector": {"app": "web"}},
        status={"loadBalancer": {"ingress": [{"ip": one} for one in addresses]}},
    )  # fmt: skip
    made["metadata"] |= {"annotations": {"pools.example.io/allocated-from": "public"}}
    return made


class Fronts(Unfolding):
    """Six load balancers before the same pods, each with an address of a pool."""

    def __init__(self, replicas: int = 2, kind: str = "LoadBalancer") -> None:
        self.kind = kind
        self.bodies = [front(at, HERE, kind=kind) for at in range(6)]
        defined = thing(CRDS, str(POOLS), facts=CrdFacts(POOLS, "AddressPool", namespaced=True))
        edges = [trimmed(SERVICES, one) for one in self.bodies]
        super().__init__(edges, workload("web", replicas=replicas), defined, POOL)

    def publish(self, at: int, *addresses: str, by: Actor = BALANCER) -> list[bool]:
        """Write which address a Service was given, and return whether what is lost is critical."""
        new = front(at, *addresses, kind=self.kind)
        impact = self.ask(write(SERVICES, self.bodies[at], new, subresource="status"), by)
        self.bodies[at] = new
        self.things[trimmed(SERVICES, new).key] = trimmed(SERVICES, new)
        return [one.critical for one in effects(impact, EntriesDropped)]


def test_who_takes_one_address_after_the_other_back_is_told_at_the_third() -> None:
    """Its pools were not read yet: nobody from outside reaches what is Ready behind them."""
    fronts = Fronts()
    assert [fronts.publish(at) for at in range(4)] == [[False], [False], [True], [True]]


def test_an_address_that_another_gave_is_told_at_the_first() -> None:
    """Two keep one status: who gives none to a Service clears what the other one gave it."""
    fronts = Fronts()
    assert [fronts.publish(at, THERE, by=OTHER) for at in range(2)] == [[]] * 2
    assert [fronts.publish(at) for at in range(3)] == [[True], [True], [True]]


@pytest.mark.parametrize("by", [OTHER, operator("ann@example.com")])
def test_who_gave_an_address_takes_it_back_and_so_does_a_person(by: Actor) -> None:
    """The twin: it is its own, or somebody looked; one alone is withdrawn."""
    fronts = Fronts()
    fronts.publish(0, THERE, by=OTHER)
    assert fronts.publish(0, by=by) == [False]


def test_who_gives_the_next_address_may_take_it_back() -> None:
    """A Service that was handed over is the next one's; what only notes a condition is not."""
    fronts = Fronts()
    fronts.publish(0, THERE, by=OTHER)
    fronts.publish(0, HERE)
    fronts.publish(0, HERE, by=OTHER)
    assert fronts.publish(0) == [False]


def test_load_balancers_that_get_other_addresses_lose_none() -> None:
    """Another pool, and what was taken back and given again counts no more."""
    fronts = Fronts()
    assert [fronts.publish(at, THERE) for at in range(6)] == [[]] * 6
    assert [fronts.publish(at) + fronts.publish(at, HERE) for at in range(6)] == [[False]] * 6


@pytest.mark.parametrize(("replicas", "kind"), [(0, "LoadBalancer"), (2, "ClusterIP")])
def test_what_serves_nobody_outside_may_give_its_address_back(replicas: int, kind: str) -> None:
    """Without a Ready pod, or told to be of another type."""
    fronts = Fronts(replicas, kind)
    assert [fronts.publish(at) for at in range(6)] == [[]] * 6


def test_addresses_of_a_pool_that_somebody_took_away_go_with_it() -> None:
    """The twin: the pool of the annotation is gone, or was written by another within the hour."""
    fronts = Fronts()
    fronts.things.pop(POOL.key)
    fronts.history.note_removed(POOL.uid, POOL.key, fronts.now)
    assert [fronts.publish(at) for at in range(4)] == [[]] * 4
    fronts = Fronts()
    deed = Deed(What.WROTE, OTHER.user.username, 1)
    fronts.history.writes.note(POOL.key, deed, fronts.now)
    assert [fronts.publish(at) for at in range(4)] == [[]] * 4


def test_an_address_is_given_back_as_somebody_asked_of_its_service() -> None:
    """Whoever wrote the Service within the hour may have asked for another address."""
    fronts = Fronts()
    for at in range(3):
        key = trimmed(SERVICES, front(at)).key
        fronts.history.writes.note(key, Deed(What.WROTE, OTHER.user.username, 1), fronts.now)
    assert [fronts.publish(at) for at in range(4)] == [[], [], [], [False]]


def test_a_route_that_somebody_wrote_may_be_anothers_by_now() -> None:
    """It was given another class: who served it clears its address, and the next writes its own."""
    routes = Routes()
    for at in range(4):
        key = trimmed(INGRESSES, route(at)).key
        routes.history.writes.note(key, Deed(What.WROTE, OTHER.user.username, 1), routes.now)
    assert [routes.publish(at) for at in range(4)] == [[]] * 4
    assert [routes.publish(at) for at in (4, 5)] == [[False], [False]]
