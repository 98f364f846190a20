"""Which pods a template change replaces, how many at a time, and what leaves them alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.cluster import operator, owner, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import PodsRestarted
from suture.impact.estimate import estimate
from suture.impact.ground.unavailable import unavailable_of
from suture.impact.project import project
from suture.impact.rollout import pods_under
from suture.model.graph import GraphView
from suture.model.names import (
    DAEMON_SETS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts
from suture.model.podtemplate import Rollout

KINDS = {
    DEPLOYMENTS: "Deployment",
    STATEFUL_SETS: "StatefulSet",
    DAEMON_SETS: "DaemonSet",
    REPLICA_SETS: "ReplicaSet",
}


def template(image: str = "web:1", **annotations: str) -> Body:
    return {
        "metadata": {"labels": {"app": "web"}, "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


def made(resource: Resource, *, size: int = 4, status: Body | None = None, **spec: Any) -> Body:
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": size, "selector": selector, "template": template(), **spec}
    return body(KINDS[resource], "web", apiVersion="apps/v1", spec=spec, status=status or {})


def world(resource: Resource, deployed: Body, *, size: int = 4, ready: int = 4) -> GraphView:
    root = trimmed(resource, deployed)
    above: list[ClusterObject] = [root]
    if resource == DEPLOYMENTS:
        above.append(thing(REPLICA_SETS, "web-1", "prod", owners=[owner(root)]))
    pods = [
        thing(
            PODS,
            f"web-{number}",
            "prod",
            labels={"app": "web"},
            owners=[owner(above[-1])],
            facts=PodFacts(ready=number < ready, node="node-1"),
        )
        for number in range(size)
    ]
    return view_of(*above, *pods)


def restarts(view: GraphView, resource: Resource, old: Body, new: Body) -> list[PodsRestarted]:
    request = write(resource, old, new)
    impact = estimate(request, project(request, view), view, operator(), {"pods_restarted"})
    return [one for one in impact.effects if isinstance(one, PodsRestarted)]


def respec(old: Body, **spec: Any) -> Body:
    return changed(old, spec={**old["spec"], **spec})


ROLLING = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
}


def test_a_new_image_replaces_all_pods_some_at_a_time() -> None:
    """All pods of a Deployment follow its template, its strategy's share at a time."""
    old = made(DEPLOYMENTS, strategy=ROLLING)
    view = world(DEPLOYMENTS, old)

    (found,) = restarts(view, DEPLOYMENTS, old, respec(old, template=template("web:2")))

    assert (found.count, found.before, found.unavailable) == (4, 4, 1)
    assert (found.strategy, found.healthy, found.on_delete) == ("RollingUpdate", True, False)


def test_rollout_restart_is_a_template_change() -> None:
    """The annotation that `kubectl rollout restart` writes replaces all pods too."""
    old = made(DEPLOYMENTS, strategy={"type": "Recreate"})
    view = world(DEPLOYMENTS, old, ready=2)
    new = respec(old, template=template(**{"kubectl.kubernetes.io/restartedAt": "now"}))

    (found,) = restarts(view, DEPLOYMENTS, old, new)

    assert (found.count, found.unavailable, found.strategy) == (4, 4, "Recreate")
    assert not found.healthy


@pytest.mark.parametrize(
    ("resource", "spec"),
    [
        (DEPLOYMENTS, {"replicas": 9}),
        (DEPLOYMENTS, {"paused": True, "template": template("web:2")}),
        (DEPLOYMENTS, {"minReadySeconds": 5}),
        (REPLICA_SETS, {"template": template("web:2")}),
        (STATEFUL_SETS, {"updateStrategy": {"type": "OnDelete"}}),
    ],
)
def test_what_restarts_nothing(resource: Resource, spec: Body) -> None:
    """Another size, a paused Deployment, a ReplicaSet's template: no pod is replaced."""
    old = made(resource)
    view = world(resource, old)

    assert restarts(view, resource, old, respec(old, **spec)) == []


def test_a_partition_keeps_the_lower_ordinals() -> None:
    """Of a StatefulSet those at or above the partition restart, one at a time."""
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}
    old = made(STATEFUL_SETS, updateStrategy=rolling)
    view = world(STATEFUL_SETS, old)

    (found,) = restarts(view, STATEFUL_SETS, old, respec(old, template=template("web:2")))

    assert (found.count, found.before, found.unavailable) == (1, 4, 1)


def test_a_lower_partition_releases_what_it_kept_back() -> None:
    """With a rollout pending, the pods between the new partition and the old one follow."""
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}
    status = {"replicas": 4, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"}
    old = made(STATEFUL_SETS, updateStrategy=rolling, status=status)
    view = world(STATEFUL_SETS, old)
    lower = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}

    (found,) = restarts(view, STATEFUL_SETS, old, respec(old, updateStrategy=lower))

    assert found.count == 2


def test_on_delete_waits_for_somebody() -> None:
    """Pods of an OnDelete workload follow only when somebody deletes them, and that is said."""
    old = made(DAEMON_SETS, updateStrategy={"type": "OnDelete"})
    view = world(DAEMON_SETS, old)

    (found,) = restarts(view, DAEMON_SETS, old, respec(old, template=template("web:2")))

    assert found.on_delete
    assert found.count == 4


def test_resuming_a_paused_deployment_lets_it_follow() -> None:
    """A template that changed while it was paused restarts the pods when the pause ends."""
    status = {"replicas": 4, "updatedReplicas": 0}
    old = made(DEPLOYMENTS, paused=True, strategy=ROLLING, status=status)
    view = world(DEPLOYMENTS, old)
    settled = made(DEPLOYMENTS, paused=True, status={"replicas": 4, "updatedReplicas": 4})

    assert len(restarts(view, DEPLOYMENTS, old, respec(old, paused=False))) == 1
    assert restarts(view, DEPLOYMENTS, settled, respec(settled, paused=False)) == []


@pytest.mark.parametrize(
    ("resource", "rollout", "wanted", "down"),
    [
        (DEPLOYMENTS, Rollout(strategy="RollingUpdate"), 10, 2),
        (DEPLOYMENTS, Rollout(max_unavailable=0, max_surge=1), 10, 0),
        (DEPLOYMENTS, Rollout(max_unavailable="5%", max_surge=0), 10, 1),
        (DEPLOYMENTS, Rollout(max_unavailable="100%", max_surge=0), 10, 10),
        (DAEMON_SETS, Rollout(max_unavailable="10%"), 15, 2),
        (DAEMON_SETS, Rollout(max_unavailable=0, max_surge=1), 15, 0),
        (STATEFUL_SETS, Rollout(), 5, 1),
        (STATEFUL_SETS, Rollout(max_unavailable=2), 5, 2),
        (STATEFUL_SETS, Rollout(strategy="OnDelete"), 5, 5),
    ],
)
def test_unavailable_as_the_controllers_round(
    resource: Resource, rollout: Rollout, wanted: int, down: int
) -> None:
    """Shares are rounded as each controller rounds them, and a rollout never stands still."""
    assert unavailable_of(rollout, resource, wanted) == down


def test_sets_that_own_each_other_are_walked_once() -> None:
    first = thing(REPLICA_SETS, "first", "prod")
    second = thing(REPLICA_SETS, "second", "prod", owners=[owner(first)])
    first = replace(first, owners=(owner(second), owner(first)))
    pods = [
        thing(PODS, f"{made.key.name}-1", "prod", owners=[owner(made)], facts=PodFacts(ready=True))
        for made in (first, second)
    ]
    view = view_of(first, second, *pods)
    row = view.find(first.key)
    assert row is not None
    assert {view.name(pod) for pod in pods_under(view, row)} == {"first-1", "second-1"}
