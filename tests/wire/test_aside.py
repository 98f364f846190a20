"""What stands aside in an object and names others all the same: filters, triggers, absent types."""

from __future__ import annotations

from typing import Any

import pytest

from support.writes import body, trimmed
from suture.model.edges import Edge
from suture.model.facts import NetworkPolicyFacts
from suture.model.names import Resource

GATEWAY = "gateway.networking.k8s.io"


def aside(kind: str, name: str) -> dict[str, Any]:
    """Return a filter that asks a Service."""
    return {"type": kind[0].upper() + kind[1:], kind: {"backendRef": {"name": name, "port": 80}}}


def test_whom_the_filters_of_a_route_ask() -> None:
    """Of a rule and of one of its backends; a mirror is not waited for, an authority is."""
    backend = {"name": "web", "port": 80, "filters": [aside("requestMirror", "copy")]}
    rule = {"backendRefs": [backend], "filters": [aside("externalAuth", "authority")]}
    route = body("HTTPRoute", "front", apiVersion=f"{GATEWAY}/v1", spec={"rules": [rule]})
    found = trimmed(Resource(GATEWAY, "httproutes"), route)
    assert [(one.target.name, one.optional) for one in found.needs] == [
        ("web", False),
        ("copy", True),
        ("authority", False),
    ]


@pytest.mark.parametrize(
    ("given", "plural", "namespace"),
    [
        ({"name": "login"}, "triggerauthentications", "prod"),
        (
            {"name": "login", "kind": "ClusterTriggerAuthentication"},
            "clustertriggerauthentications",
            "",
        ),
    ],
)
def test_what_a_trigger_is_let_in_by(given: dict[str, str], plural: str, namespace: str) -> None:
    """Named once, however many triggers name it."""
    triggers = [{"type": "kafka", "authenticationRef": given}, {"type": "cron"}]
    spec = {"scaleTargetRef": {"name": "web"}, "triggers": [*triggers, *triggers]}
    scaler = body("ScaledObject", "web", apiVersion="keda.sh/v1alpha1", spec=spec)
    found = trimmed(Resource("keda.sh", "scaledobjects"), scaler)
    (login,) = [one.target for one in found.needs if one.edge is Edge.PROVIDER]
    assert (login.resource.plural, login.namespace, login.name) == (plural, namespace, "login")


RULES = [{"action": "Allow"}]


@pytest.mark.parametrize(
    ("rules", "about"),
    [
        ({}, (True, False)),
        ({"ingress": RULES}, (True, False)),
        ({"egress": RULES}, (False, True)),
        ({"ingress": RULES, "egress": RULES}, (True, True)),
        ({"egress": RULES, "types": ["Ingress"]}, (True, False)),
    ],
)
def test_which_ways_a_policy_without_types_is_about(
    rules: dict[str, Any], about: tuple[bool, bool]
) -> None:
    """As Calico fills them in: the ways that it has rules for, ingress where it has none."""
    policy = body("NetworkPolicy", "web", apiVersion="crd.projectcalico.org/v1", spec=rules)
    facts = trimmed(Resource("crd.projectcalico.org", "networkpolicies"), policy).facts
    assert isinstance(facts, NetworkPolicyFacts)
    assert (facts.ingress, facts.egress) == about
