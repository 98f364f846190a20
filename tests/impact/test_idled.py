"""Services to which a route sends nothing any more, which nobody else asks: they may be left empty."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, owner, service, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import ServiceEmptied
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import INGRESSES, ObjectKey, Resource
from suture.model.objects import ClusterObject, RouteFacts, ServiceFacts, ServiceRef, WorkloadFacts
from suture.model.writes import HOUR_S

ROUTES = Resource("networking.mesh.example.com", "virtualservices")
ROUTE = thing(ROUTES, "web", "prod")
ROLLOUT = thing(Resource("delivery.example.com", "rollouts"), "web", "prod")
Item = dict[str, Any]


def hosts(stable: int, canary: int) -> list[Item]:
    return [
        {"destination": {"host": "stable"}, "weight": stable},
        {"destination": {"host": "canary.prod.svc.cluster.local"}, "weight": canary},
    ]


def backends(stable: int, canary: int) -> list[Item]:
    sent = {"stable": stable, "canary": canary}
    return [{"name": name, "port": 80, "weight": weight} for name, weight in sent.items()]


def pods_of(name: str, replicas: int) -> list[ClusterObject]:
    """Return a set of the rollout, with its pods: no Deployment is above them."""
    _, first, *pods = workload(name, replicas=replicas)
    return [msgspec.structs.replace(first, owners=(owner(ROLLOUT),)), *pods]


class Delivery:
    """A stable set and a canary of one resource, each with a Service, and what leads to both."""

    def __init__(self, *more: ClusterObject, stable: int = 3, canary: int = 2) -> None:
        needs = (Need(Edge.RULE, service("canary").key),)
        rollout = msgspec.structs.replace(ROLLOUT, needs=needs)
        sets = [*pods_of("stable", stable), *pods_of("canary", canary)]
        self.set = next(one for one in sets if one.key.name == "canary-1")
        both = [service("stable"), service("canary")]
        self.view = GraphView(graph_of(rollout, ROUTE, sets, both, more), History())
        self.now = START

    def weigh(self, old: list[Item] | None, new: list[Item], route: ClusterObject = ROUTE) -> None:
        """Write a route anew, or make it where there was none."""
        bodies = [
            b"" if one is None else msgspec.json.encode({"spec": {"http": [{"route": one}]}})
            for one in (old, new)
        ]
        request = update(None if old is None else route, route, bodies=(bodies[0], bodies[1]))
        remember(request, project(request, self.view), self.view, self.now)

    def emptied(self, after_s: float = 60) -> list[bool]:
        """Return of each Service that loses all its endpoints with the canary if that is meant."""
        facts = self.set.facts
        assert isinstance(facts, WorkloadFacts)
        none = msgspec.structs.replace(self.set, facts=msgspec.structs.replace(facts, replicas=0))
        impact = impact_of(update(self.set, none), self.view, now=self.now.plus_s(after_s))
        return [one.explained for one in effects(impact, ServiceEmptied)]


@pytest.mark.parametrize("items", [hosts, backends])
def test_a_canary_to_which_nothing_is_sent_any_more(items: Any) -> None:
    """All goes back to what runs, and then the next version goes; for an hour."""
    delivery = Delivery()
    delivery.weigh(items(50, 50), items(100, 0))
    assert delivery.emptied() == [True]
    assert delivery.emptied(HOUR_S + 60) == [False]


def test_a_canary_that_is_asked_still() -> None:
    """The incident: its pods go before its weight does."""
    assert Delivery().emptied() == [False]
    delivery = Delivery()
    delivery.weigh(hosts(50, 50), hosts(90, 10))
    assert delivery.emptied() == [False]


ANOTHER = thing(ROUTES, "other", "prod")
UNWEIGHED: list[Item] = [{"destination": {"host": "canary"}}]


@pytest.mark.parametrize(
    "again",
    [
        pytest.param((hosts(100, 0), hosts(90, 10)), id="by its weight"),
        pytest.param((hosts(100, 0), UNWEIGHED), id="without any"),
        pytest.param((None, hosts(50, 50), ANOTHER), id="by a new route"),
        pytest.param((hosts(100, 0), hosts(90, 10), ANOTHER), id="by another"),
    ],
)
def test_a_canary_that_is_asked_again(again: tuple[Any, ...]) -> None:
    delivery = Delivery()
    delivery.weigh(hosts(50, 50), hosts(100, 0))
    delivery.weigh(*again)
    assert delivery.emptied() == [False]


def test_what_another_route_leads_to_as_well() -> None:
    other = thing(INGRESSES, "other", "prod", facts=RouteFacts((ServiceRef("prod", "canary"),)))
    named = msgspec.structs.replace(other, needs=(Need(Edge.ROUTES_TO, service("canary").key),))
    delivery = Delivery(named)
    delivery.weigh(hosts(50, 50), hosts(100, 0))
    assert delivery.emptied() == [False]


@pytest.mark.parametrize(
    "item", [{"destination": {"host": "canary"}}, {"name": "canary", "port": 80}]
)
def test_what_is_led_there_without_a_weight(item: Item) -> None:
    """By a header, or as a mirror: all of that goes there."""
    delivery = Delivery()
    delivery.weigh([*hosts(50, 50), item], [*hosts(100, 0), item])
    assert delivery.emptied() == [False]


def test_what_is_asked_from_outside() -> None:
    """By a balancer of its own, of which no route says anything."""
    delivery = Delivery()
    row = delivery.view.find(service("canary").key)
    assert row is not None
    its = delivery.view.at(row)
    assert isinstance(its.facts, ServiceFacts)
    facts = msgspec.structs.replace(its.facts, type="LoadBalancer")
    things = [msgspec.structs.replace(its, facts=facts)]
    delivery = Delivery(*things)
    delivery.weigh(hosts(50, 50), hosts(100, 0))
    assert delivery.emptied() == [False]


def test_traffic_goes_where_fewer_answer() -> None:
    """Who turns to less than what is left has mistaken the one for the other."""
    delivery = Delivery(stable=1)
    delivery.weigh(hosts(50, 50), hosts(100, 0))
    assert delivery.emptied() == [False]


@pytest.mark.parametrize(
    "item",
    [
        {"weight": 0},
        {"weight": 0, "name": "nobody"},
        {"weight": 0, "name": 7},
        {"weight": "0", "name": "canary"},
        {"name": "canary"},
    ],
)
def test_what_says_nothing_of_the_canary(item: Item) -> None:
    """Items without a name or a number, and of Services that are not there."""
    delivery = Delivery()
    delivery.weigh(hosts(50, 50), [*hosts(100, 50), item])
    assert delivery.emptied() == [False]


def test_only_routes_are_read() -> None:
    """Weights of what is built in are of something else."""
    settings = thing(Resource("", "configmaps"), "web", "prod")
    delivery = Delivery(settings)
    delivery.weigh(hosts(50, 50), hosts(100, 0), settings)
    assert delivery.view.find(ObjectKey(ROUTES, "prod", "web")) is not None
    assert delivery.emptied() == [False]
