"""Kinds and objects are found by the names that people use, and doubt is told, not guessed away."""

from __future__ import annotations

import pytest

from suture.model.kindnames import (
    AmbiguousKindError,
    NoSuchObjectError,
    UnknownKindError,
    misnamed,
    resolve_kind,
    resolve_object,
    short_names,
)
from suture.model.names import DEPLOYMENTS, SERVICES, ObjectKey, Resource, plural_of
from suture.model.objects import CrdFacts

CERTIFICATES = Resource("cert-manager.io", "certificates")
KINDS = {
    ("", "Service"): SERVICES,
    ("serving.example.com", "Service"): Resource("serving.example.com", "services"),
    ("apps", "Deployment"): DEPLOYMENTS,
    ("networking.k8s.io", "Ingress"): Resource("networking.k8s.io", "ingresses"),
    ("cert-manager.io", "Certificate"): CERTIFICATES,
    ("one.example.com", "Gateway"): Resource("one.example.com", "gateways"),
    ("two.example.com", "Gateway"): Resource("two.example.com", "gateways"),
    ("cluster.x-k8s.io", "Machine"): Resource("cluster.x-k8s.io", "machines"),
    ("machines.example.com", "Machine"): Resource("machines.example.com", "machines"),
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("deploy", DEPLOYMENTS),
        ("deployment", DEPLOYMENTS),
        ("deployments", DEPLOYMENTS),
        ("Deployment", DEPLOYMENTS),
        ("deployments.apps", DEPLOYMENTS),
        ("deployments.v1.apps", DEPLOYMENTS),
        ("ing", Resource("networking.k8s.io", "ingresses")),
        ("ingress", Resource("networking.k8s.io", "ingresses")),
        ("svc", SERVICES),
        ("services.serving.example.com", Resource("serving.example.com", "services")),
        ("certificate.cert-manager.io", CERTIFICATES),
        ("gateways.two.example.com", Resource("two.example.com", "gateways")),
    ],
)
def test_kinds_as_kubectl_takes_them(text: str, found: Resource) -> None:
    """By short name, plural, singular or kind, with the group or without; a built-in one first."""
    assert resolve_kind(text, KINDS) == found


def test_a_definition_says_what_its_type_is_called_for_short() -> None:
    """As kubectl takes it; what a type is called by itself goes first, and doubt is told."""
    gateways = [resource for (_, kind), resource in KINDS.items() if kind == "Gateway"]
    short = short_names(
        [
            CrdFacts(CERTIFICATES, "Certificate", namespaced=True, short_names=("cert", "svc")),
            *(CrdFacts(one, "Gateway", namespaced=True, short_names=("gtw",)) for one in gateways),
            None,
        ]
    )

    assert resolve_kind("cert", KINDS, short) == CERTIFICATES
    assert resolve_kind("cert.v1.cert-manager.io", KINDS, short) == CERTIFICATES
    assert resolve_kind("svc", KINDS, short) == SERVICES
    assert resolve_kind("gtw.two.example.com", KINDS, short) == gateways[1]
    with pytest.raises(AmbiguousKindError):
        resolve_kind("gtw", KINDS, short)


def test_several_of_one_name_are_told() -> None:
    """None of them is picked by chance."""
    with pytest.raises(AmbiguousKindError, match=r"`gateways\.one\.example\.com`, `gateways\.two"):
        resolve_kind("gateway", KINDS)


def test_a_type_of_the_community_does_not_go_first() -> None:
    """Its group ends as those of Kubernetes do, and another's type may be meant."""
    with pytest.raises(AmbiguousKindError, match=r"cluster\.x-k8s\.io"):
        resolve_kind("machines", KINDS)


@pytest.mark.parametrize("group", ["cluster.x-k8s.io", "example.com"])
def test_a_type_of_somebody_elses_may_be_called_anything(group: str) -> None:
    """Of Kubernetes' own groups alone it is known what their types are called."""
    assert misnamed(group, "data") is None
    assert misnamed("apps", "deployment") == DEPLOYMENTS


def test_an_unknown_kind_names_what_is_near() -> None:
    """So that a slip of the hand is seen."""
    with pytest.raises(UnknownKindError, match=r"near it: `certificates\.cert-manager\.io`"):
        resolve_kind("certificat", KINDS)


def key(namespace: str, name: str) -> ObjectKey:
    return ObjectKey(SERVICES, namespace, name)


def test_an_object_of_one_namespace_needs_none() -> None:
    """Only where several have it does one have to be said."""
    keys = [key("shop", "web"), key("shop", "db"), key("desk", "web")]

    assert resolve_object(SERVICES, "db", None, keys) == key("shop", "db")
    assert resolve_object(SERVICES, "web", "desk", keys) == key("desk", "web")
    assert resolve_object(SERVICES, "desk/web", None, keys) == key("desk", "web")
    with pytest.raises(AmbiguousKindError, match="`desk`, `shop`: choose one with `-n NAMESPACE`"):
        resolve_object(SERVICES, "web", None, keys)


def test_a_cluster_scoped_object_is_in_every_namespace() -> None:
    """As kubectl has it: the flag does not matter."""
    nodes = Resource("", "nodes")
    one = ObjectKey(nodes, "", "node-1")

    assert resolve_object(nodes, "node-1", "shop", [one]) == one


def test_a_missing_object_names_what_is_near() -> None:
    """Names that begin alike, with their namespace."""
    with pytest.raises(NoSuchObjectError, match="`shop/web-api`"):
        resolve_object(SERVICES, "web-ap", "shop", [key("shop", "web-api"), key("shop", "db")])
    with pytest.raises(NoSuchObjectError, match="holds none of this kind"):
        resolve_object(SERVICES, "web", None, [])


def test_of_a_type_that_cannot_be_listed_nothing_is_claimed() -> None:
    """Whether there is such an object is unknown, and why; one that is held is found."""
    with pytest.raises(NoSuchObjectError, match="`shop` is there is unknown: 403 Forbidden"):
        resolve_object(SERVICES, "web", "shop", [], unknown="403 Forbidden")
    held = key("shop", "web")
    assert resolve_object(SERVICES, "web", "shop", [held], unknown="403 Forbidden") == held


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "Pods"),
        ("Ingress", "Ingresses"),
        ("NetworkPolicy", "NetworkPolicies"),
        ("Gateway", "Gateways"),
        ("Endpoints", "Endpoints"),
        ("StorageClass", "StorageClasses"),
    ],
)
def test_plurals(kind: str, plural: str) -> None:
    """As English has them."""
    assert plural_of(kind) == plural
