"""Pods that a status says are not Ready: a loss of endpoints, unless something bears it out."""

from __future__ import annotations

from typing import Any

import pytest

from support.cluster import operator, service, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import Confidence, EndpointsLost, ServiceEmptied
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.names import NODES, PODS
from suture.model.objects import NodeFacts
from suture.model.request import Request

GATE = "target-health.example.com/web"


def pod(number: int = 0, conditions: dict[str, str] | None = None) -> Body:
    """Return a Ready pod with a gate, but for what `conditions` say."""
    said = {"Ready": "True", "ContainersReady": "True", GATE: "True", **(conditions or {})}
    return body(
        "Pod",
        f"web-{number}",
        metadata={"labels": {"app": "web"}},
        spec={"nodeName": "node-0", "readinessGates": [{"conditionType": GATE}]},
        status={
            "phase": "Running",
            "conditions": [{"type": type_, "status": status} for type_, status in said.items()],
        },
    )


def cluster(*, node_ready: bool = True, pods: int = 1) -> GraphView:
    node = thing(NODES, "node-0", "", facts=NodeFacts(ready=node_ready))
    return view_of(node, [trimmed(PODS, pod(number)) for number in range(pods)], service("web"))


def says(ready: str = "False", by: Actor | None = None) -> Request:
    new = pod(conditions={"Ready": ready})
    return write(PODS, pod(), new, by=by, subresource="status")


def losses(request: Request, view: GraphView) -> list[tuple[type, int, int, bool, Confidence]]:
    needs = {"endpoints_lost", "service_emptied"}
    impact = estimate(request, project(request, view), view, operator(), needs)
    return [
        (type(one), one.before, getattr(one, "after", 0), one.explained, one.confidence)
        for one in impact.effects
        if isinstance(one, EndpointsLost | ServiceEmptied)
    ]


def test_a_service_loses_the_pod_that_is_said_to_be_unready() -> None:
    """At most: its kubelet may say otherwise, and may not (kubernetes/kubernetes#82494)."""
    at_most = Confidence.BOUNDED
    assert losses(says(), cluster(pods=2)) == [(EndpointsLost, 2, 1, False, at_most)]
    assert losses(says("Unknown"), cluster()) == [
        (EndpointsLost, 1, 0, False, at_most),
        (ServiceEmptied, 1, 0, False, at_most),
    ]


@pytest.mark.parametrize(
    "false",
    [
        pytest.param("ContainersReady", id="its-containers-are-not"),
        pytest.param(GATE, id="a-gate-is-closed"),
    ],
)
def test_a_status_that_says_why_explains_it(false: str) -> None:
    """What the pod's own containers or gates say is the cause."""
    new = pod(conditions={"Ready": "False", false: "False"})
    request = write(PODS, pod(), new, subresource="status")
    assert losses(request, cluster(pods=2)) == [(EndpointsLost, 2, 1, True, Confidence.BOUNDED)]


def test_a_node_that_is_not_ready_explains_it() -> None:
    """Source: the node lifecycle controller marks the pods of a node whose kubelet is silent."""
    assert [one[3] for one in losses(says(), cluster(node_ready=False, pods=2))] == [True]


def test_a_kubelet_knows_of_its_own_pods() -> None:
    """Only of those: the kubelet of another node has nothing to say of them."""

    def said_by(name: str) -> list[bool]:
        found = losses(says(by=operator(name)), cluster(pods=2))
        return [one[3] for one in found]

    assert said_by("system:node:node-0") == [True]
    assert said_by("system:node:node-1") == [False]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"metadata": {"labels": {"app": "web"}}}, id="it-stays-ready"),
        pytest.param({"status": {"phase": "Succeeded"}}, id="it-has-finished"),
        pytest.param(
            {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {}}, id="it-goes"
        ),
        pytest.param({"metadata": {"uid": "another-life"}, "status": {}}, id="another-life"),
    ],
)
def test_other_writes_of_a_status_take_nothing(parts: dict[str, Any]) -> None:
    """A condition of another's, an end that its kubelet tells, a pod that is on its way out."""
    request = write(PODS, pod(), changed(pod(), **parts), subresource="status")
    assert losses(request, cluster()) == []


def test_a_pod_that_was_not_ready_is_nothing_lost() -> None:
    """Nothing serves less than before."""
    node = thing(NODES, "node-0", "", facts=NodeFacts(ready=True))
    view = view_of(node, trimmed(PODS, pod(conditions={"Ready": "False"})), service("web"))
    assert losses(says(), view) == []
