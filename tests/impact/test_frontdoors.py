"""Policies that shut routes to who sends their traffic on, while others still come in."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import namespace, thing, view_of, workload
from support.writes import Body, body, trimmed
from suture.impact.effects import RouteBroken
from suture.model.edges import Edge, Need
from suture.model.habits import RELEASES
from suture.model.names import (
    CILIUM_POLICIES,
    GATEWAYS,
    HTTP_ROUTES,
    INGRESS_CLASSES,
    INGRESSES,
    NETWORK_POLICIES,
    SERVICES,
    ObjectKey,
)
from suture.model.objects import ClusterObject, WorkloadFacts
from suture.model.placement import Placement

ADDRESS = "203.0.113.7"
GIVEN: Body = {"loadBalancer": {"ingress": [{"ip": ADDRESS}]}}
GROUP = "gateway.networking.k8s.io"
EDGE: Body = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "edge"}}}
BACKEND: Body = {"service": {"name": "web", "port": {"number": 80}}}


def front(kind: str = "LoadBalancer", status: Body = GIVEN) -> ClusterObject:
    spec = {"type": kind, "selector": {"app": "front"}, "ports": [{"port": 443}]}
    return trimmed(SERVICES, body("Service", "front", "edge", spec=spec, status=status))


def web() -> ClusterObject:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    return trimmed(SERVICES, body("Service", "web", "shop", spec=spec))


def ingress(status: Body = GIVEN, **spec: Any) -> ClusterObject:
    rules = [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}]
    made = body("Ingress", "shop", "shop", spec={"rules": rules, **spec}, status=status)
    return trimmed(INGRESSES, {**made, "apiVersion": "networking.k8s.io/v1"})


def attached() -> list[ClusterObject]:
    """Make a route of a Gateway, which says no address itself."""
    made = {"apiVersion": f"{GROUP}/v1"}
    status = {"addresses": [{"type": "IPAddress", "value": ADDRESS}]}
    spec = {
        "parentRefs": [{"name": "public", "namespace": "edge"}],
        "rules": [{"backendRefs": [{"name": "web", "port": 80}]}],
    }
    return [
        trimmed(GATEWAYS, {**body("Gateway", "public", "edge", status=status), **made}),
        trimmed(HTTP_ROUTES, {**body("HTTPRoute", "shop", "shop", spec=spec), **made}),
    ]


WORLD = [
    namespace("edge"), namespace("shop"), web(), front(), workload("web", "shop", replicas=2),
    workload("front", "edge", replicas=2), workload("other", "shop"),
]  # fmt: skip


def policy(*peers: Body, name: str = "shut", chosen: Body | None = None) -> ClusterObject:
    spec = {
        "podSelector": chosen or {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": list(peers)}] if peers else [],
    }
    made = body("NetworkPolicy", name, "shop", spec=spec)
    return trimmed(NETWORK_POLICIES, {**made, "apiVersion": "networking.k8s.io/v1"})


def shut_in(*to: Body, name: str = "out") -> ClusterObject:
    """Make a policy of the front's namespace, by which it leads nowhere else."""
    spec = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": list(to)}]}
    made = body("NetworkPolicy", name, "edge", spec=spec)
    return trimmed(NETWORK_POLICIES, {**made, "apiVersion": "networking.k8s.io/v1"})


SYSTEM: Body = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}
}
SHOP: Body = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}


def told(made: ClusterObject, *there: ClusterObject, world: Any = WORLD) -> list[tuple[str, int]]:
    found = effects(impact_of(update(None, made), view_of(*world, there)), RouteBroken)
    assert all(one.service_removed and one.shut and one.service.name == "web" for one in found)
    return [(one.route.name, one.before) for one in found]


@pytest.mark.parametrize("routes", [[ingress()], attached()], ids=["ingress", "gateway"])
def test_a_namespace_shut_to_all_but_itself(routes: list[ClusterObject]) -> None:
    assert told(policy({"podSelector": {}}), *routes) == [("shop", 2)]
    assert told(policy({"podSelector": {}}, EDGE), *routes) == []


@pytest.mark.parametrize(
    "made",
    [
        policy({"podSelector": {}}, chosen={"matchLabels": {"app": "other"}}),
        policy({"ipBlock": {"cidr": "10.0.0.0/8"}}),
        policy({"namespaceSelector": {}}),
        policy({**EDGE, "podSelector": {"matchLabels": {"app": "front"}}}),
    ],
    ids=["other-pods", "addresses", "everybody", "the-front-by-label"],
)
def test_policies_that_let_the_front_in(made: ClusterObject) -> None:
    assert told(made, ingress()) == []


def test_the_addresses_of_nodes_are_not_those_of_pods() -> None:
    nodes: list[Body] = [{"ipBlock": {"cidr": f"10.0.0.{number}/32"}} for number in (4, 5)]
    assert told(policy({"podSelector": {}}, *nodes), ingress()) == [("shop", 2)]


def test_who_is_let_in_by_another_policy_still_is() -> None:
    assert told(policy({"podSelector": {}}), ingress(), policy(EDGE, name="front")) == []


def test_what_was_shut_before_is_not_told() -> None:
    there = policy({"podSelector": {}}, name="before")
    assert told(policy({"podSelector": {}}), ingress(), there) == []


@pytest.mark.parametrize(
    ("route", "door"),
    [
        (ingress({}), front()),
        (ingress(), front(status={})),
        (ingress(), front("ClusterIP")),
        (ingress({"loadBalancer": {"ingress": [{"ip": "203.0.113.8"}]}}), front()),
    ],
    ids=["route-without-address", "no-address-given", "no-balancer", "another-address"],
)
def test_routes_of_which_nobody_says_who_serves_them(
    route: ClusterObject, door: ClusterObject
) -> None:
    world = [one for one in WORLD if one != front()]
    assert told(policy({"podSelector": {}}), route, world=[*world, door]) == []


@pytest.mark.parametrize("release", ["front", "other"])
def test_a_front_without_a_balancer_is_of_the_release_that_keeps_the_class(release: str) -> None:
    """As where routes are reached at their nodes: their addresses are no Service's."""
    route = ingress({"loadBalancer": {"ingress": [{"ip": "10.0.0.4"}]}}, ingressClassName="own")
    kept = Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "edge", "front"))
    of = replace(kept, target=replace(kept.target, name=release))
    own = thing(INGRESS_CLASSES, "own")
    door = replace(front("ClusterIP", {}), needs=(kept,))
    world = [one for one in WORLD if one != front()]
    made = told(policy({"podSelector": {}}), route, replace(own, needs=(of,)), world=[*world, door])
    assert made == ([("shop", 2)] if release == "front" else [])


def test_a_front_in_the_nodes_network_is_not_told_by_labels() -> None:
    """From which address a node asks, and whether that is let in, is the network's affair."""
    pods = [
        replace(one, facts=replace(one.facts, placement=Placement(host_network=True)))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in workload("front", "edge", replicas=2)
    ]
    world = [one for one in WORLD if not isinstance(one, list) or one[0].key.name != "front"]
    assert told(policy({"podSelector": {}}), ingress(), world=[*world, pods]) == []
    assert told(shut_in(SYSTEM), ingress(), world=[*world, pods]) == []


def test_a_part_of_the_pods_is_still_reached() -> None:
    labels = {"app": "web", "track": "canary"}
    canary = [replace(one, labels=labels) for one in workload("canary", "shop")]
    chosen = {"matchLabels": {"track": "canary"}}
    made = policy({"podSelector": {}}, chosen=chosen)
    assert told(made, ingress(), world=[*WORLD, canary]) == []
    assert told(policy({"podSelector": {}}), ingress(), world=[*WORLD, canary]) == [("shop", 3)]


@pytest.mark.parametrize("routes", [[ingress()], attached()], ids=["ingress", "gateway"])
def test_the_front_leads_there_no_more(routes: list[ClusterObject]) -> None:
    """It may ask for names, and for nobody behind it."""
    assert told(shut_in(SYSTEM), *routes) == [("shop", 2)]
    assert told(shut_in(SYSTEM, SHOP), *routes) == []
    assert told(shut_in(SYSTEM), *routes, shut_in(SHOP, name="beside")) == []
    assert told(shut_in({"ipBlock": {"cidr": "10.0.0.0/8"}}), *routes) == []


def test_a_namespace_that_no_front_is_in_may_be_shut_in() -> None:
    world = [one for one in WORLD if one != front()]
    assert told(shut_in(SYSTEM), ingress(), world=world) == []


def test_the_policies_of_cilium() -> None:
    peers = [{"matchLabels": {"app": "other"}}]
    spec = {"endpointSelector": {}, "ingress": [{"fromEndpoints": peers}]}
    made = body("CiliumNetworkPolicy", "shut", "shop", spec=spec)
    shut = trimmed(CILIUM_POLICIES, {**made, "apiVersion": "cilium.io/v2"})
    assert told(shut, ingress()) == [("shop", 2)]


ANYWHERE: Body = {"ipBlock": {"cidr": "0.0.0.0/0"}}
"""Whoever comes from outside, as a rule may name them."""


def guarding(*peers: Body) -> ClusterObject:
    """Make a policy that says who comes in to the front itself."""
    spec = {"podSelector": {}, "policyTypes": ["Ingress"]}
    made = body("NetworkPolicy", "in", "edge", spec={**spec, "ingress": [{"from": list(peers)}]})
    return trimmed(NETWORK_POLICIES, {**made, "apiVersion": "networking.k8s.io/v1"})


@pytest.mark.parametrize(
    ("made", "there", "shut"),
    [
        pytest.param(guarding(SHOP), [front()], True, id="pods alone come in"),
        pytest.param(guarding(SHOP, ANYWHERE), [front()], False, id="whoever comes from outside"),
        pytest.param(guarding(SHOP), [front("ClusterIP", {})], False, id="no balancer"),
        pytest.param(guarding(SHOP), [front(status={})], False, id="it has no address yet"),
    ],
)
def test_a_balancer_that_nobody_from_outside_reaches(
    made: ClusterObject, there: list[ClusterObject], *, shut: bool
) -> None:
    """It is its own route: no other leads there."""
    pods = workload("front", "edge", replicas=2)
    view = view_of(namespace("edge"), namespace("shop"), pods, there)
    found = effects(impact_of(update(None, made), view), RouteBroken)
    assert [(one.route.name, one.service.name, one.shut) for one in found] == (
        [("front", "front", True)] if shut else []
    )


def test_a_balancer_that_another_policy_leaves_open() -> None:
    pods = workload("front", "edge", replicas=2)
    view = view_of(namespace("edge"), pods, front(), guarding(ANYWHERE))
    other = replace(guarding(SHOP), key=replace(guarding(SHOP).key, name="more"), uid="more")
    assert effects(impact_of(update(None, other), view), RouteBroken) == []
