"""Templates that ask for what few nodes have, or none: who goes, who waits, and who is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from support.cluster import START, operator, owner, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import PlacementLost
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, NODES, PODS, STATEFUL_SETS, Resource
from suture.model.objects import ClusterObject, NodeFacts, PodFacts
from suture.model.placement import NO_EXECUTE, Taint

KINDS = {DEPLOYMENTS: "Deployment", STATEFUL_SETS: "StatefulSet", DAEMON_SETS: "DaemonSet"}
LINUX = {"kubernetes.io/os": "linux"}
GPU = Taint("gpu", "yes")
RECREATE = {"strategy": {"type": "Recreate"}}
SIZE = 6


def made(resource: Resource, *, pod: Body | None = None, **spec: Any) -> Body:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod or {"nodeSelector": LINUX}}
    selector = {"matchLabels": {"app": "web"}}
    size = {} if resource == DAEMON_SETS else {"replicas": SIZE}
    spec = {**size, "selector": selector, "template": template, **spec}
    return body(KINDS[resource], "web", apiVersion="apps/v1", spec=spec)


def world(resource: Resource, deployed: Body) -> GraphView:
    """Six nodes with a pod each: two are large, one has a taint that the pods bear."""
    root = trimmed(resource, deployed)
    nodes = [
        thing(
            NODES, f"node-{one}", labels={**LINUX, "disk": "ssd" if one < 2 else "hdd"},
            facts=NodeFacts(
                ready=one != 3, unschedulable=one == 4, cpu_m=8000 if one < 2 else 2000,
                taints=(GPU,) if one == 5 else (Taint("node.kubernetes.io/not-ready"),),
            ),
        )
        for one in range(SIZE)
    ]  # fmt: skip
    pods = [
        thing(
            PODS, f"web-{one}", "prod", labels={"app": "web"}, owners=[owner(root)],
            facts=PodFacts(ready=True, node=f"node-{one}"),
        )
        for one in range(SIZE)
    ]  # fmt: skip
    return view_of(root, *nodes, *pods)


def lost(resource: Resource, pod: Body, **spec: Any) -> list[PlacementLost]:
    """Return what becomes of six pods that bore the taint, with another pod in the template."""
    bears = {"nodeSelector": LINUX, "tolerations": [{"operator": "Exists"}]}
    old = made(resource, pod=bears, **spec)
    new = changed(
        old, spec={**old["spec"], "template": made(resource, pod=pod)["spec"]["template"]}
    )
    request, view = write(resource, old, new), world(resource, old)
    impact = estimate(request, project(request, view), view, operator(), {"placement_lost"})
    return [one for one in impact.effects if isinstance(one, PlacementLost)]


BEARS = {"tolerations": [{"operator": "Exists"}]}


@pytest.mark.parametrize(
    ("pod", "gone", "nodes", "missing"),
    [
        ({"nodeSelector": {"kubernetes.io/os": "Linux"}, **BEARS}, 6, 0, "labels"),
        ({"nodeSelector": {"disk": "ssd"}, **BEARS}, 4, 2, ""),
        ({"nodeSelector": LINUX}, 1, 5, ""),
        (
            {"containers": [{"name": "main", "resources": {"requests": {"cpu": "9"}}}], **BEARS},
            6, 0, "room",
        ),
    ],
)  # fmt: skip
def test_a_daemon_set_leaves_the_nodes_that_would_not_do(
    pod: Body, gone: int, nodes: int, missing: str
) -> None:
    """By labels, by a taint that is no longer borne, by size; what a state taints passes."""
    (found,) = lost(DAEMON_SETS, pod, updateStrategy={"type": "RollingUpdate"})

    assert (found.running, found.gone) == (SIZE, gone)
    assert (found.nodes_before, found.nodes_after, found.missing) == (SIZE, nodes, missing)
    assert not found.on_delete


def test_a_daemon_set_that_goes_on_to_as_many_nodes_loses_nothing() -> None:
    """A selector that every node matches, and other tolerations of the same."""
    assert lost(DAEMON_SETS, {**BEARS}) == []
    borne = {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": ""}]}
    assert lost(DAEMON_SETS, {"nodeSelector": LINUX, **borne}) == []


def test_pods_of_other_workloads_go_as_their_strategy_says() -> None:
    """Down whole, all go and none is placed; with a surge none goes; with a node all are placed."""
    nowhere, somewhere = {"nodeSelector": {"pool": "new"}}, {"nodeSelector": {"disk": "ssd"}}

    (whole,) = lost(DEPLOYMENTS, nowhere, **RECREATE)
    (surging,) = lost(
        DEPLOYMENTS,
        nowhere,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
    )
    (ordered,) = lost(STATEFUL_SETS, nowhere)

    assert (whole.gone, surging.gone, ordered.gone) == (SIZE, 0, 1)
    assert whole.nodes_after == surging.nodes_after == 0
    assert lost(DEPLOYMENTS, somewhere, **RECREATE) == []


def test_what_does_not_follow_yet_is_told_so_or_not_told() -> None:
    """A pause holds all pods back, `OnDelete` until somebody deletes them."""
    nowhere = {"nodeSelector": {"pool": "new"}}

    assert lost(DEPLOYMENTS, nowhere, paused=True, **RECREATE) == []
    (found,) = lost(DAEMON_SETS, nowhere, updateStrategy={"type": "OnDelete"})
    assert found.on_delete


def test_a_node_that_drives_pods_away_would_not_do() -> None:
    """A taint that evicts counts as one that repels."""
    old = made(DAEMON_SETS, pod={**BEARS})
    root = trimmed(DAEMON_SETS, old)
    node = thing(NODES, "node-0", facts=NodeFacts(taints=(Taint("down", "", NO_EXECUTE),)))
    pod = thing(PODS, "web-0", "prod", owners=[owner(root)], facts=PodFacts(node="node-0"))
    new = changed(old, spec={**old["spec"], "template": {"spec": {"nodeSelector": {}}}})
    request, view = write(DAEMON_SETS, old, new), view_of(root, node, pod)
    impact = estimate(request, project(request, view), view, operator(), {"placement_lost"})

    (found,) = impact.effects
    assert isinstance(found, PlacementLost)
    assert (found.gone, found.missing) == (1, "taints")


def test_an_agent_leaves_nodes_that_a_newer_one_keeps() -> None:
    """It is told nowhere to run, which is how one network makes way for the next."""
    base = {
        "hostNetwork": True, "priorityClassName": "system-node-critical", **BEARS,
    }  # fmt: skip
    old = made(DAEMON_SETS, pod=base)
    new = changed(
        old,
        spec={
            **old["spec"],
            "template": {"spec": {**base, "nodeSelector": {"migration": "none"}}},
        },
    )
    late = {"metadata": {"creationTimestamp": "2023-11-14T22:00:00Z"}}
    later = changed(trimmed_body("next", base), **late)
    found = []
    for ready in (False, True):
        things = [world_of(old), world_of(later, ready=ready)]
        nodes = [thing(NODES, f"node-{one}", facts=NodeFacts(ready=True)) for one in range(SIZE)]
        view, request = view_of(nodes, *things), write(DAEMON_SETS, old, new)
        impact = estimate(
            request, project(request, view), view, operator(), {"placement_lost"}, now=START
        )
        found.append(len(impact.effects))
    assert found == [1, 0]


def trimmed_body(name: str, pod: Body) -> Body:
    """Make another DaemonSet beside the first."""
    one = made(DAEMON_SETS, pod=pod)
    return {**one, "metadata": {**one["metadata"], "name": name, "uid": f"uid-{name}"}}


def world_of(deployed: Body, *, ready: bool = True) -> list[ClusterObject]:
    """Make a DaemonSet with a pod on each of six nodes."""
    root = trimmed(DAEMON_SETS, deployed)
    return [
        root,
        *(
            thing(
                PODS, f"{root.key.name}-{one}", "prod", owners=[owner(root)],
                facts=PodFacts(ready=ready, node=f"node-{one}"),
            )
            for one in range(SIZE)
        ),
    ]  # fmt: skip
