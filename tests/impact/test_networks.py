"""Policies of the cluster's administrator and of Calico: what they shut, and what stays open."""

from __future__ import annotations

from typing import Any

import pytest

from support.asking import effects, impact_of, update
from support.cluster import namespace, service, view_of, workload
from support.writes import Body, body, trimmed
from suture.impact.effects import ScopeWidened
from suture.impact.traffic.policyreach import CLASSES_ASKED
from suture.model.facts import NetworkPolicyFacts
from suture.model.names import (
    ADMIN_POLICIES,
    BASELINE_POLICIES,
    CALICO_GLOBAL_POLICIES,
    CALICO_POLICIES,
    CALICO_STORED_GLOBAL_POLICIES,
    NETWORK_POLICIES,
    Resource,
)
from suture.model.objects import ClusterObject

WORLD: list[ClusterObject | list[ClusterObject]] = [
    namespace("kube-system"), service("kube-dns", "kube-system", app="coredns"),
    workload("coredns", "kube-system", replicas=2), namespace("shop"), namespace("blog"),
    workload("web", "shop", replicas=2), workload("api", "blog"),
]  # fmt: skip

KINDS = {
    ADMIN_POLICIES: "AdminNetworkPolicy",
    BASELINE_POLICIES: "BaselineAdminNetworkPolicy",
    CALICO_POLICIES: "NetworkPolicy",
    CALICO_GLOBAL_POLICIES: "GlobalNetworkPolicy",
    CALICO_STORED_GLOBAL_POLICIES: "GlobalNetworkPolicy",
}
ALL: Body = {"namespaces": {}}
OTHERS: Body = {
    "namespaces": {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
        ]
    }
}
SYSTEM: Body = {"namespaces": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}


def admin(*egress: Body, kind: Resource = ADMIN_POLICIES, name: str = "deny") -> ClusterObject:
    spec = {"priority": 10, "subject": OTHERS, "egress": list(egress)}
    version = "policy.networking.k8s.io/v1alpha1"
    return trimmed(kind, body(KINDS[kind], name, "", apiVersion=version, spec=spec))


def calico(
    kind: Resource = CALICO_GLOBAL_POLICIES, space: str = "", name: str = "deny", **spec: Any
) -> ClusterObject:
    version = f"{kind.group}/v3"
    return trimmed(kind, body(KINDS[kind], name, space, apiVersion=version, spec=spec))


def shut(
    made: ClusterObject, *there: ClusterObject, before: ClusterObject | None = None
) -> list[tuple[str, tuple[str, ...], int]]:
    known = [] if before is None else [before]
    found = effects(impact_of(update(before, made), view_of(*WORLD, there, known)), ScopeWidened)
    return [(one.part, one.newly, one.owners) for one in found]


def denied(*peers: Body, **more: Any) -> Body:
    return {"action": "Deny", "to": list(peers), **more}


def allowed(*peers: Body, action: str = "Allow", **more: Any) -> Body:
    return {"action": action, "to": list(peers), **more}


NAMES = ("egress", ("dns",), 2)
BOTH = ("egress", ("dns", "service"), 2)
OUT: Body = {"networks": ["0.0.0.0/0"]}


@pytest.mark.parametrize("kind", [ADMIN_POLICIES, BASELINE_POLICIES])
def test_an_administrator_denies_everybody(kind: Resource) -> None:
    """All pods, and names are lost wherever it is of; all addresses, and the rest too."""
    assert shut(admin(denied(ALL), kind=kind)) == [NAMES]
    assert shut(admin(denied(OUT), kind=kind)) == [BOTH]


@pytest.mark.parametrize(
    "rules",
    [
        (denied(SYSTEM),),
        (denied(ALL, ports=[{"portNumber": {"protocol": "TCP", "port": 25}}]),),
        (denied({"networks": ["169.254.169.254/32"]}),),
        (allowed(ALL), denied(ALL)),
        (allowed(SYSTEM, ports=[{"portNumber": {"protocol": "UDP", "port": 53}}]), denied(ALL)),
        (allowed(ALL, action="Pass"), denied(ALL)),
        (allowed(ALL),),
    ],
)
def test_an_administrator_denies_a_part_or_allows_first(rules: tuple[Body, ...]) -> None:
    """Rules are read in order; names stay wherever one of them lets these through before."""
    assert [one for one in shut(admin(*rules)) if "dns" in one[1]] == []


def test_what_is_allowed_after_everybody_was_denied_is_not() -> None:
    assert shut(admin(denied(ALL), allowed(ALL))) == [NAMES]


def test_policies_of_another_kind_allow_beside() -> None:
    """One that closes nothing and allows, and a NetworkPolicy of a namespace for its own pods."""
    dns = admin(allowed(ALL, action="Allow"), name="allow")
    own = trimmed(
        NETWORK_POLICIES,
        body("NetworkPolicy", "open", "shop", apiVersion="networking.k8s.io/v1",
             spec={"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]}),
    )  # fmt: skip

    assert shut(admin(denied(ALL)), dns) == []
    assert shut(admin(denied(ALL)), own) == [("egress", ("dns",), 1)]


NAMED = "projectcalico.org/namespace != 'kube-system'"
TO_DNS: Body = {
    "action": "Allow", "protocol": "UDP",
    "destination": {"namespaceSelector": "projectcalico.org/name == 'kube-system'", "ports": [53]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "lost"),
    [
        ({"selector": NAMED, "types": ["Egress"]}, True),
        ({"namespaceSelector": "kubernetes.io/metadata.name in {'shop', 'blog'}",
          "types": ["Egress"], "egress": [{"action": "Deny"}, {"action": "Allow"}]}, True),
        ({"selector": f"has(app) && {NAMED}", "types": ["Egress"]}, True),
        ({"selector": NAMED, "types": ["Egress"], "egress": [TO_DNS]}, False),
        ({"selector": NAMED, "types": ["Egress"], "egress": [
            {"action": "Deny", "destination": {"nets": ["169.254.169.254/32"]}},
            {"action": "Allow"}]}, False),
        ({"selector": "app == 'nobody'", "types": ["Egress"]}, False),
        ({"selector": "app == 'web' || app == 'api'", "types": ["Egress"]}, False),
        ({"selector": "all()", "types": ["Egress"], "applyOnForward": True}, False),
    ],
)  # fmt: skip
def test_calico_closes_what_no_rule_opens(spec: Body, lost: bool) -> None:
    """By types alone; a selector that is no conjunction, and one of hosts, are not read."""
    assert any("dns" in one[1] for one in shut(calico(**spec))) is lost


def test_a_policy_is_told_of_once_however_it_is_listed() -> None:
    """As stored and as served: what the other one said before does not count beside."""
    spec: Body = {"selector": NAMED, "types": ["Egress"]}
    opened: Body = {**spec, "egress": [{"action": "Allow"}]}
    stored = calico(CALICO_STORED_GLOBAL_POLICIES, **opened)
    served = calico(**opened)

    assert shut(calico(**spec), stored, before=served) == [BOTH]
    assert shut(calico(**opened), stored, before=served) == []


def test_calico_in_a_namespace() -> None:
    """Only its pods; peers without a namespace are of its own."""
    one = calico(CALICO_POLICIES, "shop", selector="all()", types=["Ingress", "Egress"])
    assert shut(one) == [("egress", ("dns", "service"), 1)]

    rule = {"action": "Allow", "source": {"selector": "app == 'web'"}}
    inner = calico(CALICO_POLICIES, "shop", types=["Ingress"], ingress=[rule])
    assert isinstance(inner.facts, NetworkPolicyFacts)
    (peer,) = inner.facts.peers
    assert (peer.namespace, peer.everywhere) == ("shop", False)


def test_of_very_many_sorts_of_pods_not_each_is_asked() -> None:
    """What so many have in common says it of the rest: nobody waits until all were asked."""
    many = [one for number in range(CLASSES_ASKED) for one in workload(f"w{number}", "shop")]
    made = calico(CALICO_POLICIES, "shop", selector="all()", types=["Egress"])
    ((part, newly, owners),) = shut(made, *many)
    assert (part, "dns" in newly, owners) == ("egress", True, CLASSES_ASKED)
