"""Policies of a mesh: routes whose front has no proxy, or is not among those who may ask."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import namespace, view_of, workload
from support.writes import Body, body, trimmed
from suture.impact.effects import RouteBroken
from suture.model.facts import NetworkPolicyFacts
from suture.model.names import (
    AUTHORIZATION_POLICIES,
    INGRESSES,
    NETWORK_POLICIES,
    PEER_AUTHENTICATIONS,
    SERVICES,
)
from suture.model.objects import ClusterObject

GIVEN: Body = {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}
PROXIED = {"security.istio.io/tlsMode": "istio"}
STRICT, PERMISSIVE = {"mtls": {"mode": "STRICT"}}, {"mtls": {"mode": "PERMISSIVE"}}
ROOT = "istio-system"


def balanced(name: str, space: str, kind: str, status: Body) -> ClusterObject:
    spec = {"type": kind, "selector": {"app": name}, "ports": [{"port": 80}]}
    return trimmed(SERVICES, body("Service", name, space, spec=spec, status=status))


def ingress() -> ClusterObject:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rules = [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]
    made = body("Ingress", "shop", "shop", spec={"rules": rules}, status=GIVEN)
    return trimmed(INGRESSES, {**made, "apiVersion": "networking.k8s.io/v1"})


def pods(name: str, space: str, **more: str) -> list[ClusterObject]:
    made = workload(name, space, replicas=2)
    return [replace(one, labels={**one.labels, **more}) for one in made]


def peers(spec: Body, space: str = ROOT, name: str = "default") -> ClusterObject:
    made = body("PeerAuthentication", name, space, spec=spec)
    return trimmed(PEER_AUTHENTICATIONS, {**made, "apiVersion": "security.istio.io/v1"})


def authorized(spec: Body, space: str = "shop", name: str = "who") -> ClusterObject:
    made = body("AuthorizationPolicy", name, space, spec=spec)
    return trimmed(AUTHORIZATION_POLICIES, {**made, "apiVersion": "security.istio.io/v1"})


def told(
    made: ClusterObject,
    *there: ClusterObject,
    front: dict[str, str] | None = None,
    web: dict[str, str] = PROXIED,
    before: ClusterObject | None = None,
) -> list[str]:
    world: list[Any] = [
        namespace("edge"), namespace("shop"), namespace(ROOT),
        balanced("front", "edge", "LoadBalancer", GIVEN), balanced("web", "shop", "ClusterIP", {}),
        pods("front", "edge", **(front or {})), pods("web", "shop", **web), ingress(),
        *([] if before is None else [before]), *there,
    ]  # fmt: skip
    found = effects(impact_of(update(before, made), view_of(*world)), RouteBroken)
    return [one.route.name for one in found]


@pytest.mark.parametrize("space", [ROOT, "shop"])
def test_mutual_tls_made_strict(space: str) -> None:
    """Of the mesh or of a namespace: the front in front of it has to speak it."""
    before = peers(PERMISSIVE, space)
    assert told(peers(STRICT, space), before=before) == ["shop"]
    assert told(peers(STRICT, space)) == ["shop"]
    assert told(peers(STRICT, space), before=before, front=PROXIED) == []
    assert told(peers(STRICT, space), before=before, front={"istio": "ingressgateway"}) == []
    assert told(peers(STRICT, space), before=before, web={}) == []


@pytest.mark.parametrize(
    "spec",
    [
        PERMISSIVE,
        {},
        {"mtls": {"mode": "UNSET"}},
        {**STRICT, "selector": {"matchLabels": {"app": "other"}}},
        {**STRICT, "portLevelMtls": {"8080": {"mode": "DISABLE"}}},
    ],
)
def test_what_leaves_a_namespace_open(spec: Body) -> None:
    assert told(peers(spec, "shop")) == []


def test_a_namespace_says_otherwise_than_the_mesh() -> None:
    assert told(peers(STRICT), peers(PERMISSIVE, "shop")) == []
    assert told(peers(STRICT, "shop"), peers(PERMISSIVE)) == ["shop"]
    chosen = {**STRICT, "selector": {"matchLabels": {"app": "web"}}}
    assert told(peers(chosen)) == [], "one that chooses pods is of its own namespace alone"


def test_policies_of_the_network_do_not_open_the_mesh() -> None:
    spec = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{}]}
    made = body("NetworkPolicy", "open", "shop", spec=spec)
    network = trimmed(NETWORK_POLICIES, {**made, "apiVersion": "networking.k8s.io/v1"})
    assert told(peers(STRICT), network) == ["shop"]


SPIFFE = "cluster.local/ns/{}/sa/default"


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, ["shop"]),
        ({"action": "DENY", "rules": [{}]}, ["shop"]),
        ({"rules": [{}]}, []),
        ({"rules": [{"from": [{"source": {"namespaces": ["shop"]}}]}]}, ["shop"]),
        ({"rules": [{"from": [{"source": {"namespaces": ["shop", "edge"]}}]}]}, []),
        ({"rules": [{"from": [{"source": {"principals": [SPIFFE.format("shop")]}}]}]}, ["shop"]),
        ({"rules": [{"from": [{"source": {"principals": [SPIFFE.format("edge")]}}]}]}, []),
        ({"rules": [{"from": [{"source": {"serviceAccounts": ["shop/default"]}}]}]}, ["shop"]),
        ({"rules": [{"from": [{"source": {"principals": ["*"]}}]}]}, []),
        ({"rules": [{"from": [{"source": {"ipBlocks": ["10.0.0.0/8"]}}]}]}, []),
        ({"rules": [{"to": [{"operation": {"methods": ["GET"]}}]}]}, []),
        ({"action": "DENY", "rules": [{"to": [{"operation": {"paths": ["/admin"]}}]}]}, []),
        ({"action": "AUDIT", "rules": []}, []),
        ({"targetRefs": [{"kind": "Gateway", "name": "web"}]}, []),
        ({"selector": {"matchLabels": {"app": "other"}}}, []),
    ],
)  # fmt: skip
def test_who_may_ask(spec: Body, found: list[str]) -> None:
    assert told(authorized(spec), front=PROXIED) == found


def test_who_may_ask_of_the_whole_mesh() -> None:
    assert told(authorized({}, ROOT), front=PROXIED) == ["shop", "front"]
    own = authorized({"rules": [{"from": [{"source": {"namespaces": ["edge"]}}]}]})
    assert told(authorized({}, ROOT), own, front=PROXIED) == ["front"]
    assert told(authorized({}, ROOT), own, authorized({"rules": [{}]}, "edge"), front=PROXIED) == []


def test_odd_policies_say_nothing() -> None:
    assert peers({"mtls": None}).facts is None
    assert authorized({"rules": [None]}).facts == authorized({"rules": [{}]}).facts
    assert isinstance(authorized({"rules": None}).facts, NetworkPolicyFacts)
