"""Addresses that a load balancer gives back: routes stand on them, or nobody does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, operator, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import EntriesDropped, Hollowed
from suture.model.names import GATEWAYS, HTTP_ROUTES, INGRESSES, SERVICES, ObjectKey
from suture.model.objects import ClusterObject

HERE, THERE = "192.0.2.1", "192.0.2.2"


def front(kind: str = "LoadBalancer", *addresses: str, **spec: object) -> Body:
    """Make the Service of an edge, with the addresses that it was given."""
    status = {"loadBalancer": {"ingress": [{"ip": one} for one in addresses or (HERE,)]}}
    spec = {"type": kind, "selector": {"app": "edge"}, **spec}
    return body("Service", "edge", spec=spec, status=status)


def route(*addresses: str, name: str = "web") -> ClusterObject:
    """Make an Ingress of somebody, reached at some addresses."""
    status = {"loadBalancer": {"ingress": [{"ip": one} for one in addresses]}}
    spec = {"rules": [{"host": "web.example.com"}]}
    made = body(
        "Ingress", name, "shop", apiVersion="networking.k8s.io/v1", spec=spec, status=status
    )
    return trimmed(INGRESSES, made)


def gateway(*addresses: str, attached: bool = True) -> list[ClusterObject]:
    """Make a Gateway that others serve by one proxy, and a route on it."""
    status = {"addresses": [{"type": "IPAddress", "value": one} for one in addresses]}
    spec: Body = {"gatewayClassName": "shared", "listeners": [{"name": "http", "port": 80}]}
    version = "gateway.networking.k8s.io/v1"
    made = body("Gateway", "web", "shop", apiVersion=version, spec=spec, status=status)
    refs = {"parentRefs": [{"name": "web" if attached else "other"}]}
    routed = body("HTTPRoute", "web", "shop", apiVersion=version, spec=refs)
    return [trimmed(GATEWAYS, made), trimmed(HTTP_ROUTES, routed)]


def told(old: Body, new: Body, *routes: ClusterObject, replicas: int = 3) -> list[EntriesDropped]:
    view = view_of(trimmed(SERVICES, old), workload("edge", replicas=replicas), routes)
    return effects(impact_of(write(SERVICES, old, new), view), EntriesDropped)


@pytest.mark.parametrize("kind", ["ClusterIP", "NodePort"])
def test_routes_stand_on_the_address(kind: str) -> None:
    """An upgrade sets the type back: every name of every route leads to the address."""
    (found,) = told(front(), front(kind), route(HERE), route(HERE, name="api"))

    assert (found.before, found.dropped, found.entries) == (1, 1, (HERE,))
    assert found.critical
    assert found.field == "status.loadBalancer.ingress"


def test_routes_of_a_gateway_are_reached_where_it_is() -> None:
    """A proxy that many Gateways share is owned by none of them."""
    (found,) = told(front(), front("ClusterIP"), *gateway(HERE))

    assert found.critical
    assert told(front(), front("ClusterIP"), *gateway(THERE)) == []
    assert told(front(), front("ClusterIP"), *gateway()) == []
    assert told(front(), front("ClusterIP"), *gateway(HERE, attached=False)) == []


def test_one_of_several_addresses_is_enough() -> None:
    """All are given back; those at which routes are reached are named first."""
    (found,) = told(front("LoadBalancer", "192.0.2.0", HERE), front("ClusterIP"), route(HERE))

    assert (found.dropped, found.entries) == (2, (HERE, "192.0.2.0"))


@pytest.mark.parametrize(
    ("old", "new", "reached", "replicas"),
    [
        pytest.param(front(), front("ClusterIP"), THERE, 3, id="routes have moved on"),
        pytest.param(front(), front(ports=[{"port": 443}]), HERE, 3, id="the type stays"),
        pytest.param(front("NodePort"), front("ClusterIP"), HERE, 3, id="was of another type"),
        pytest.param(front(), front("ClusterIP"), HERE, 0, id="no pod is behind it"),
        pytest.param(
            changed(front(), status={}), front("ClusterIP"), HERE, 3, id="was given none yet"
        ),
    ],
)
def test_nobody_stands_on_it(old: Body, new: Body, reached: str, replicas: int) -> None:
    assert told(old, new, route(reached), replicas=replicas) == []


def test_an_address_of_an_application_is_its_own() -> None:
    """It goes behind a route instead, and the budget of removals counts it."""
    old, new = front(), front("ClusterIP")
    view = view_of(trimmed(SERVICES, old), workload("edge"), route(THERE))
    impact = impact_of(write(SERVICES, old, new), view)

    assert effects(impact, EntriesDropped) == []
    assert [one.what for one in effects(impact, Hollowed)] == ["address"]


def test_a_route_that_is_going_stands_on_nothing() -> None:
    assert told(front(), front("ClusterIP"), replace(route(HERE), deleted=START.utc_s)) == []


AWS = "service.beta.kubernetes.io/aws-load-balancer-"


def sorted_as(**said: str) -> Body:
    """Make the Service of an edge, with annotations of a provider."""
    notes = {AWS + name: value for name, value in said.items()}
    made = front()
    return {**made, "metadata": {**made["metadata"], "annotations": notes}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"scheme": "internet-facing"}, {"scheme": "internal"}),
        ({}, {"internal": "true"}),
        ({"type": "nlb"}, {}),
        ({"type": "nlb"}, {"type": "nlb-ip"}),
    ],
)
def test_another_sort_of_load_balancer_is_another_one(
    old: dict[str, str], new: dict[str, str]
) -> None:
    """An upgrade turns it inside: the next has another address, or none from outside."""
    (found,) = told(sorted_as(**old), sorted_as(**new), route(HERE))
    assert (found.dropped, found.critical) == (1, True)
    assert told(sorted_as(**old), sorted_as(**new), route(THERE)) == []
    assert told(sorted_as(**old), sorted_as(**new), route(HERE), replicas=0) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "nlb"}, {"type": "nlb"}),
        ({}, {"internal": "false"}),
        ({}, {"scheme": "internet-facing"}),
        ({"healthcheck-path": "/"}, {"healthcheck-path": "/ready"}),
        ({"backend-protocol": "tcp"}, {}),
    ],
)
def test_what_says_nothing_of_the_sort(old: dict[str, str], new: dict[str, str]) -> None:
    assert told(sorted_as(**old), sorted_as(**new), route(HERE)) == []


def taken(
    old: Body, *routes: ClusterObject, replicas: int = 3, mine: bool = False
) -> list[EntriesDropped]:
    """Delete the Service of an edge."""
    view = view_of(trimmed(SERVICES, old), workload("edge", replicas=replicas), routes)
    if mine:
        me, uid = operator().user.username, old["metadata"]["uid"]
        key = ObjectKey(SERVICES, "prod", "edge")
        view.history.note_created(uid, me, me, key, START)
    return effects(impact_of(write(SERVICES, old, None), view), EntriesDropped)


def test_the_service_goes_itself() -> None:
    """It left a source, or its release is uninstalled: the next has another address."""
    (found,) = taken(front(), route(HERE))
    assert (found.dropped, found.entries, found.critical) == (1, (HERE,), True)
    assert found.holder.name == "edge"


@pytest.mark.parametrize(
    ("reached", "replicas", "mine"),
    [
        pytest.param(THERE, 3, False, id="routes have moved on"),
        pytest.param(HERE, 0, False, id="no pod is behind it"),
        pytest.param(HERE, 3, True, id="made today"),
    ],
)
def test_a_service_that_nobody_stands_on(reached: str, replicas: int, mine: bool) -> None:
    assert taken(front(), route(reached), replicas=replicas, mine=mine) == []
    assert taken(front("ClusterIP"), route(HERE)) == []
