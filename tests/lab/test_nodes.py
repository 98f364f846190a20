"""Nodes are Ready, and pods do what their annotations say, under a node's identity."""

from __future__ import annotations

import time

import pytest
import yaml

from support.recorder import until
from support.scene import NODE_USER, Scene, condition
from suture.lab import nodes
from suture.lab.rest import Object


def phase(scene: Scene, name: str) -> str:
    return str(scene.admin.get(scene.path("pods", name))["status"]["phase"])


@pytest.mark.lab
def test_nodes_are_ready_and_renew_their_leases(scene: Scene) -> None:
    """Each node has a Lease of its own, in a zone of its own."""
    found = scene.admin.list("/api/v1/nodes")
    assert {condition(node, "Ready") for node in found} == {"True"}
    assert not [node for node in found if node["spec"].get("taints")]
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in found}
    assert zones == {"zone-a", "zone-b", "zone-c"}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    names = {node["metadata"]["name"] for node in found}
    until(
        "a lease of each",
        lambda: names <= {lease["metadata"]["name"] for lease in scene.admin.list(leases)},
    )


@pytest.mark.lab
def test_nodes_can_be_added(scene: Scene) -> None:
    """More of them, Ready as the first ones, and their pods go with them by the controllers."""
    scene.plane.add_nodes(2, prefix=scene.namespace)

    def ready() -> bool:
        mine = [
            node
            for node in scene.admin.list("/api/v1/nodes")
            if node["metadata"]["name"].startswith(scene.namespace)
        ]
        return [condition(node, "Ready") for node in mine] == ["True", "True"]

    until("the new nodes", ready)
    for number in range(2):
        scene.admin.delete(f"/api/v1/nodes/{scene.namespace}-{number}")


@pytest.mark.lab
def test_pods_are_ready_at_once_after_a_delay_or_never(scene: Scene) -> None:
    """By annotation or by label; those that are never Ready run and have an address."""
    began = time.monotonic()
    scene.pod("at-once")
    scene.pod("delayed", metadata={"annotations": {nodes.READY_AFTER: "2s"}})
    scene.pod("by-label", metadata={"labels": {nodes.READY_AFTER: "2s"}})
    scene.pod("never", metadata={"annotations": {nodes.NEVER_READY: "true"}})
    until("the pod without wishes", lambda: scene.if_ready("at-once"))
    assert not scene.if_ready("delayed")
    assert not scene.if_ready("by-label")
    until("the delayed pods", lambda: scene.if_ready("delayed") and scene.if_ready("by-label"))
    assert time.monotonic() - began >= 2
    never = scene.admin.get(scene.path("pods", "never"))
    assert never["status"]["phase"] == "Running"
    assert condition(never, "Ready") == "False"
    assert never["status"]["podIP"].startswith("10.1")


@pytest.mark.lab
def test_pods_complete_and_die(scene: Scene) -> None:
    """With success, with failure, or again and again, as the restart policy has it."""
    for name, key, policy in (
        ("completes", nodes.COMPLETES_AFTER, "Never"),
        ("fails", nodes.DIES_AFTER, "Never"),
        ("crashes", nodes.DIES_AFTER, "Always"),
    ):
        scene.ready_pod(name, metadata={"annotations": {key: "1s"}}, restartPolicy=policy)
    until("the pod to complete", lambda: phase(scene, "completes") == "Succeeded")
    until("the pod to fail", lambda: phase(scene, "fails") == "Failed")
    until("the pod to crash", lambda: not scene.if_ready("crashes"))
    crashed = scene.admin.get(scene.path("pods", "crashes"))["status"]
    assert crashed["phase"] == "Running"
    waiting = crashed["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "CrashLoopBackOff"


@pytest.mark.lab
def test_a_job_is_done(scene: Scene) -> None:
    """Its pods complete by themselves."""
    template: Object = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    }
    jobs = scene.path("jobs", group="batch/v1")
    scene.admin.create(jobs, {"metadata": {"name": "once"}, "spec": {"template": template}})
    until(
        "the job to be complete",
        lambda: condition(scene.admin.get(f"{jobs}/once"), "Complete") == "True",
    )


@pytest.mark.lab
def test_terminating_pods_go(scene: Scene) -> None:
    """At once, or after the time that they ask for; a finalizer holds them."""
    scene.ready_pod("quick")
    scene.ready_pod("slow", metadata={"annotations": {nodes.TERMINATES_AFTER: "2s"}})
    scene.ready_pod("held", metadata={"finalizers": ["suture.dev/test"]})
    began = time.monotonic()
    for name in ("quick", "slow", "held"):
        scene.admin.delete(scene.path("pods", name))
    scene.gone(scene.path("pods", "quick"))
    assert "deletionTimestamp" in scene.admin.get(scene.path("pods", "slow"))["metadata"]
    scene.gone(scene.path("pods", "slow"))
    assert time.monotonic() - began >= 2
    scene.admin.patch(scene.path("pods", "held"), {"metadata": {"finalizers": None}})
    scene.gone(scene.path("pods", "held"))


@pytest.mark.lab
def test_pods_are_moved_by_their_node(scene: Scene) -> None:
    """Status and removal are written by a node's identity, in group system:nodes."""
    scene.ready_pod("watched")
    scene.admin.delete(scene.path("pods", "watched"))
    scene.gone(scene.path("pods", "watched"))
    by_node = [seen for seen in scene.seen() if seen.user == NODE_USER]
    assert {("pods/status", "UPDATE"), ("pods", "DELETE")} <= {
        (seen.resource, seen.verb) for seen in by_node
    }
    assert all("system:nodes" in seen.request["userInfo"]["groups"] for seen in by_node)


def test_stages_are_documents_with_names_of_their_own() -> None:
    """What KWOK reads is a stream of Stage objects."""
    documents = list(yaml.safe_load_all(nodes.stages()))
    assert {document["kind"] for document in documents} == {"Stage"}
    names = [document["metadata"]["name"] for document in documents]
    assert len(names) == len(set(names))


def test_several_nodes_are_spread_over_zones() -> None:
    """One zone after the other."""
    zones = [
        node["metadata"]["labels"]["topology.kubernetes.io/zone"]
        for node in nodes.several(4, prefix="n", zones=2)
    ]
    assert zones == ["zone-a", "zone-b", "zone-a", "zone-b"]
