"""Harm is counted by uid, as the rule says, and probes count what they say."""

from __future__ import annotations

from typing import Any

import pytest

from suture.lab.scenarios.choosing import Meant
from suture.lab.scenarios.harm import losses, ready_of
from suture.lab.scenarios.observe import Observation
from suture.lab.scenarios.probes import PROBES

Thing = dict[str, Any]
SLICES = "endpointslices.discovery.k8s.io"


def thing(uid: str, name: str = "", **more: Any) -> Thing:
    """Return an object in namespace `a`, named after its uid unless said otherwise."""
    metadata = {"uid": uid, "name": name or uid, "namespace": "a", **more.pop("metadata", {})}
    return {"metadata": metadata, **more}


def pod(uid: str, *, ready: bool = True, owner: str = "", **more: Any) -> Thing:
    """Return a pod."""
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    metadata = {"ownerReferences": [{"uid": owner}]} if owner else {}
    return thing(uid, metadata={**metadata, **more.pop("metadata", {})}, status=status, **more)


def piece(service: str, *ready: bool) -> Thing:
    """Return an EndpointSlice of a Service."""
    return thing(
        f"slice-{service}",
        metadata={"labels": {"kubernetes.io/service-name": service}},
        endpoints=[{"conditions": {"ready": one}} for one in ready],
    )


def seen(**resources: list[Thing]) -> Observation:
    """Return an observation; resources by plural, slices and workloads by short words."""
    names = {"slices": SLICES, "deployments": "deployments.apps", "replicasets": "replicasets.apps"}
    return Observation(
        {
            names.get(resource, resource): {one["metadata"]["uid"]: one for one in things}
            for resource, things in resources.items()
        }
    )


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        pytest.param(seen(services=[thing("s")]), seen(services=[thing("s")]), 0, id="there"),
        pytest.param(seen(services=[thing("s")]), seen(services=[]), 1, id="gone"),
        pytest.param(
            seen(services=[thing("s")]), seen(services=[thing("s2", "s")]), 1, id="made-again"
        ),
        pytest.param(
            seen(services=[thing("s")]),
            seen(services=[thing("s", metadata=GOING)]),
            1,
            id="terminating",
        ),
        pytest.param(
            seen(services=[thing("s")], slices=[piece("s", True)]),
            seen(services=[thing("s")], slices=[piece("s", False)]),
            1,
            id="without-endpoints",
        ),
        pytest.param(
            seen(services=[thing("s")], slices=[piece("s", True, True)]),
            seen(services=[thing("s")], slices=[piece("s", True, False)]),
            0,
            id="fewer-endpoints",
        ),
        pytest.param(
            seen(services=[thing("s")]), seen(services=[thing("s")], slices=[]), 0, id="idle-before"
        ),
    ],
)
def test_what_is_lost(before: Observation, after: Observation, lost: int) -> None:
    """Gone, terminating, or without the ready endpoint that it had; by uid."""
    [loss] = losses(["services"], [], before, after).values()

    assert (loss.population, loss.lost) == (1, lost)


def test_a_workload_without_its_pods_is_lost() -> None:
    """Readiness goes up the chain of owners, however long."""
    before = seen(
        deployments=[thing("d")],
        replicasets=[thing("r", metadata={"ownerReferences": [{"uid": "d"}]})],
        pods=[pod("p", owner="r")],
        namespaces=[{"metadata": {"uid": "n", "name": "a"}}],
    )
    after = seen(
        deployments=[thing("d")],
        replicasets=[thing("r", metadata={"ownerReferences": [{"uid": "d"}]})],
        pods=[pod("p", ready=False, owner="r")],
    )

    assert ready_of(before) == {"p": 1, "r": 1, "d": 1, "n": 1}
    found = losses(["deployments.apps", "pods"], [], before, after)
    assert found["deployments.apps"].unready == 1
    assert found["pods"].unready == 1


def test_what_was_terminating_before_is_no_harm() -> None:
    """Neither in the population nor among the lost."""
    before = seen(services=[thing("s", metadata=GOING), thing("t")])
    [loss] = losses(["services"], [], before, seen(services=[])).values()

    assert (loss.population, loss.lost) == (1, 1)


@pytest.mark.parametrize(
    ("meant", "lost"),
    [
        (Meant(resource="services"), 0),
        (Meant(resource="Service"), 3),
        (Meant(resource="pods"), 3),
        (Meant(names="old-*"), 1),
        (Meant(names=("old-{0..1}",)), 1),
        (Meant(namespaces="b"), 3),
        (Meant(select="app=x"), 2),
        (Meant(labels={"app": "x"}), 2),
        (Meant(resource="services", names="old-0", select="app=x"), 2),
    ],
)
def test_what_is_meant_to_go(meant: Meant, lost: int) -> None:
    """All that is given must fit; globs and ranges in names, selectors on labels."""
    before = seen(
        services=[
            thing("old-0", metadata={"labels": {"app": "x"}}),
            thing("old-1"),
            thing("new"),
        ]
    )
    found = losses(["services"], [meant], before, seen(services=[]))["services"]

    assert found.lost == lost
    assert found.population == lost


@pytest.mark.parametrize(
    ("name", "before", "after", "wanted"),
    [
        (
            "nodes_cordoned",
            seen(nodes=[thing("n"), thing("m")]),
            seen(nodes=[thing("n", spec={"unschedulable": True}), thing("m", spec={})]),
            1,
        ),
        (
            "nodes_cordoned",
            seen(nodes=[thing("n")]),
            seen(
                nodes=[
                    thing(
                        "n",
                        spec={
                            "taints": [
                                {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
                            ]
                        },
                    )
                ]
            ),
            0,
        ),
        ("nodes_lost", seen(nodes=[thing("n")]), seen(nodes=[]), 1),
        (
            "node_labels_lost",
            seen(nodes=[thing("n", metadata={"labels": {"a": "1", "b": "1"}})]),
            seen(nodes=[thing("n", metadata={"labels": {"a": "2"}})]),
            1,
        ),
        (
            "pods_restarted",
            seen(pods=[pod("p", owner="r")], replicasets=[thing("r")]),
            seen(pods=[pod("q", owner="r")], replicasets=[thing("r")]),
            1,
        ),
        (
            "pods_lost",
            seen(pods=[pod("p", owner="r"), pod("bare")], replicasets=[thing("r")]),
            seen(pods=[]),
            2,
        ),
        ("pods_not_ready", seen(pods=[pod("p")]), seen(pods=[pod("p", ready=False)]), 1),
        ("pods_added", seen(pods=[pod("p")]), seen(pods=[pod("p"), pod("q"), pod("r")]), 2),
        (
            "services_emptied",
            seen(services=[thing("s")], slices=[piece("s", True)]),
            seen(services=[thing("s")], slices=[piece("s")]),
            1,
        ),
        (
            "replicas_lost",
            seen(deployments=[thing("d", spec={"replicas": 10})]),
            seen(deployments=[thing("d", spec={"replicas": 3})]),
            7,
        ),
        (
            "keys_lost",
            seen(configmaps=[thing("c", data={"a": "", "b": ""})]),
            seen(configmaps=[thing("c", data={"b": "", "d": ""})]),
            1,
        ),
        (
            "objects_stuck",
            seen(configmaps=[thing("c")]),
            seen(configmaps=[thing("c", metadata=GOING)]),
            1,
        ),
    ],
)
def test_probes(name: str, before: Observation, after: Observation, wanted: int) -> None:
    """Each counts between two moments."""
    assert PROBES[name].measure(before, after) == wanted
    assert PROBES[name].measure(before, before) == 0


def test_pods_that_cannot_be_created() -> None:
    """Namespaces that are blocked now and were not before."""
    before, after = Observation({}, {"old": "why"}), Observation({}, {"old": "why", "new": "why"})

    assert PROBES["pod_creation_blocked"].measure(before, after) == 1


def dns(*, ready: bool, policies: list[Thing]) -> Observation:
    """Return a cluster with DNS, a pod in namespace `a`, and policies there."""
    service = thing(
        "s", "kube-dns", metadata={"namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}}
    )
    part = piece("kube-dns", ready)
    part["metadata"]["namespace"] = "kube-system"
    found = seen(
        pods=[pod("p", metadata={"labels": {"app": "x"}})], services=[service], slices=[part]
    )
    return Observation(
        {
            **found.objects,
            "networkpolicies.networking.k8s.io": {one["metadata"]["uid"]: one for one in policies},
        }
    )


DENY = thing("deny", spec={"podSelector": {}, "policyTypes": ["Egress"]})
ALLOW = thing(
    "allow",
    spec={
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [
            {
                "to": [
                    {
                        "namespaceSelector": {
                            "matchLabels": {"kubernetes.io/metadata.name": "kube-system"}
                        }
                    }
                ],
                "ports": [{"port": 53, "protocol": "UDP"}],
            }
        ],
    },
)


def gate(peer: dict[str, Any], port: int = 53) -> Thing:
    """Return an ingress policy before the pods of DNS, with one rule."""
    ports = [{"port": port, "protocol": "UDP"}]
    spec = {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [peer], "ports": ports}],
    }
    return thing("gate", metadata={"namespace": "kube-system"}, spec=spec)


OURS: Thing = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "platform"}}}
THEIRS: Thing = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}}
SAME: Thing = {"podSelector": {}}


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (dns(ready=True, policies=[]), 0),
        (dns(ready=False, policies=[]), 1),
        (dns(ready=True, policies=[DENY]), 1),
        (dns(ready=True, policies=[DENY, ALLOW]), 0),
        (dns(ready=True, policies=[gate(OURS)]), 1),
        (dns(ready=True, policies=[gate(SAME)]), 1),
        (dns(ready=True, policies=[gate(THEIRS, port=9153)]), 1),
        (dns(ready=True, policies=[gate(THEIRS)]), 0),
        (dns(ready=True, policies=[gate({"ipBlock": {"cidr": "0.0.0.0/0"}})]), 0),
    ],
)
def test_dns_that_cannot_be_asked(after: Observation, wanted: int) -> None:
    """Without an endpoint nobody can; behind policies, there or before DNS, whom they let."""
    before = dns(ready=True, policies=[])

    assert PROBES["dns_unreachable"].measure(before, after) == wanted
