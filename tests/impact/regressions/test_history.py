"""What the differential found missing about sizes and templates: what goes with what they end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.cluster import (
    operator,
    owner,
    service,
    thing,
    view_of,
    workload,
)
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import PodsRestarted, ServiceEmptied
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    SECRETS,
    STATEFUL_SETS,
)
from suture.model.objects import ClusterObject, WorkloadFacts


def deployment(image: str, **spec: Any) -> Body:
    pods = {"containers": [{"name": "main", "image": image}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pods}
    selector = {"matchLabels": {"app": "web"}}
    whole = {"replicas": 2, "selector": selector, "template": template, **spec}
    return body("Deployment", "web", apiVersion="apps/v1", spec=whole)


def world(old: Body, *, ready: int = 2, of_old: int = 2) -> GraphView:
    """Return a Deployment with its ReplicaSet of today and older ones, the oldest called old-0."""
    root = trimmed(DEPLOYMENTS, old)
    _, today, *pods = workload("web", replicas=2, ready=ready)
    today = replace(today, owners=(owner(root),), created=100.0)
    before = [
        replace(
            thing(
                REPLICA_SETS,
                f"old-{number}",
                "prod",
                owners=[owner(root)],
                facts=WorkloadFacts(replicas=0),
            ),
            created=float(number + 1),
        )
        for number in range(of_old)
    ]
    return view_of(root, today, pods, before)


@pytest.mark.parametrize(
    ("limit", "ready", "paused", "gone"),
    [
        pytest.param(None, 2, False, [], id="ten-by-default"),
        pytest.param(2, 2, False, ["old-0"], id="the-oldest"),
        pytest.param(0, 2, False, ["old-0", "old-1", "web-1"], id="todays-too"),
        pytest.param(0, 1, False, [], id="a-rollout-that-may-not-end"),
        pytest.param(0, 2, True, [], id="paused"),
    ],
)
def test_replica_sets_beyond_the_history_go_with_a_new_template(
    limit: int | None, ready: int, *, paused: bool, gone: list[str]
) -> None:
    """Seed 2, case 126: a Deployment with a short history lost its old ReplicaSet to a rollout."""
    spec: Body = {} if limit is None else {"revisionHistoryLimit": limit}
    old = deployment("web:1", paused=paused, **spec)
    new = changed(old, spec=deployment("web:2", paused=paused, **spec)["spec"])
    view = world(old, ready=ready)

    change = project(write(DEPLOYMENTS, old, new), view)

    assert [view.key(row).name for row in change.cascaded] == gone


def test_what_an_old_replica_set_owns_goes_with_it() -> None:
    """Seed 702, case 435: a ConfigMap of the oldest ReplicaSet went, and a Secret of the ConfigMap.

    Whatever else owns it is gone, or no longer what the reference says. What another owns stays.
    """
    old = deployment("web:1", revisionHistoryLimit=1)
    new = changed(old, spec=deployment("web:2", revisionHistoryLimit=1)["spec"])
    view = world(old)
    everything = things_of(view)
    sets = {one.key.name: one for one in everything}
    absent = replace(owner(sets["old-1"]), uid="nobody", name="gone")
    settings = thing(CONFIG_MAPS, "settings", "prod", owners=[absent, owner(sets["old-0"])])
    token = thing(SECRETS, "token", "prod", owners=[owner(settings)])
    shared = thing(
        CONFIG_MAPS, "shared", "prod", owners=[owner(sets["old-0"]), owner(sets["web-1"])]
    )
    view = view_of(*everything, settings, token, shared)

    change = project(write(DEPLOYMENTS, old, new), view)

    assert [view.key(row).name for row in change.cascaded] == [
        "old-0",
        "old-1",
        "settings",
        "token",
    ]


def test_what_names_a_deployment_as_an_owner_is_not_of_its_history() -> None:
    """Seed 803, case 210: a ReplicaSet that a Deployment owned and did not control stayed."""
    old = deployment("web:1", revisionHistoryLimit=0)
    new = changed(old, spec=deployment("web:2", revisionHistoryLimit=0)["spec"])
    root, today, *pods = things_of(world(old, of_old=0))
    beside = replace(owner(root), controller=False)
    lone = thing(REPLICA_SETS, "lone", "prod", owners=[beside], facts=WorkloadFacts(replicas=0))
    view = view_of(root, today, pods, lone)

    change = project(write(DEPLOYMENTS, old, new), view)

    assert [view.key(row).name for row in change.cascaded] == ["web-1"]


def test_a_deployment_that_hangs_on_its_own_history_goes_with_it() -> None:
    """Seed 911, case 703: the ReplicaSet that the rollout ended was all that owned its Deployment.

    It goes with its pods, which nobody makes anew: they are lost, not restarted.
    """
    old = deployment("web:1", revisionHistoryLimit=0)
    _, today, *_ = things_of(world(old, of_old=0))
    old["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": today.key.name, "uid": today.uid}
    ]
    new = changed(old, spec=deployment("web:2", revisionHistoryLimit=0)["spec"])
    view = view_of(*things_of(world(old, of_old=0)), service("web"))
    request = write(DEPLOYMENTS, old, new)

    change = project(request, view)
    effects = estimate(request, change, view, operator()).effects

    assert [view.key(row).name for row in change.cascaded] == ["web-1", "web", "web-1-0", "web-1-1"]
    assert not [one for one in effects if isinstance(one, PodsRestarted)]
    assert [
        (one.before, one.self_healing) for one in effects if isinstance(one, ServiceEmptied)
    ] == [(2, False)]


@pytest.mark.parametrize(("wanted", "gone"), [(2, []), (0, ["web-1"])])
def test_a_rollout_without_its_pods_ends_no_history(wanted: int, gone: list[str]) -> None:
    """Seed 901, case 794: none of the pods that were wanted was there, and so it went on.

    Where none is wanted there is nothing to wait for.
    """
    old = deployment("web:1", revisionHistoryLimit=0, replicas=wanted)
    new = changed(old, spec={**deployment("web:2")["spec"], "revisionHistoryLimit": 0,
                             "replicas": wanted})  # fmt: skip
    root, today, *_ = things_of(world(old, of_old=0))
    view = view_of(root, today)

    change = project(write(DEPLOYMENTS, old, new), view)

    assert [view.key(row).name for row in change.cascaded] == gone


def things_of(view: GraphView) -> list[ClusterObject]:
    """Return the Deployment, its ReplicaSets and their pods."""
    kinds = (DEPLOYMENTS, REPLICA_SETS, PODS)
    return [view.at(row) for kind in kinds for row in view.rows(kind)]


def test_another_size_leaves_the_history_alone() -> None:
    """Only what rolls out is cleaned up after."""
    old = deployment("web:1", revisionHistoryLimit=0)
    new = changed(old, spec={**old["spec"], "replicas": 5})

    assert project(write(DEPLOYMENTS, old, new), world(old)).cascaded == ()


@pytest.mark.parametrize(
    ("policy", "size", "gone"),
    [
        pytest.param({"whenScaled": "Delete"}, 1, ["data-db-1", "data-db-2"], id="deleted"),
        pytest.param({"whenScaled": "Delete"}, 4, [], id="grown"),
        pytest.param({"whenDeleted": "Delete", "whenScaled": "Retain"}, 1, [], id="retained"),
        pytest.param(None, 1, [], id="retained-by-default"),
    ],
)
def test_claims_go_with_the_pods_that_a_stateful_set_lets_go(
    policy: Body | None, size: int, gone: list[str]
) -> None:
    """Seed 3, case 150: a StatefulSet that deletes claims when scaled was scaled from 3 to 2.

    A claim beyond the size that it has had is left from before, and stays.
    """
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "serviceName": "db"}
    if policy is not None:
        spec["persistentVolumeClaimRetentionPolicy"] = policy
    old = body("StatefulSet", "db", apiVersion="apps/v1", spec=spec)
    claims = [thing(CLAIMS, f"data-db-{number}", "prod") for number in range(5)]
    view = view_of(trimmed(STATEFUL_SETS, old), claims, thing(CLAIMS, "data-other-1", "prod"))
    new = changed(old, spec={**spec, "replicas": size})
    scaled = replace(write(STATEFUL_SETS, old, old, subresource="scale"), scale_to=size)

    for request in (write(STATEFUL_SETS, old, new), scaled):
        found = project(request, view).cascaded
        assert sorted(view.key(row).name for row in found) == gone


def test_what_a_pod_owns_goes_with_the_size_that_lets_it_go() -> None:
    """kubernetes-sigs/secrets-store-csi-driver#2051: a Secret for all was owned by one pod alone.

    A StatefulSet lets go of its last pods. What a pod that stays owns, too, stays.
    """
    root = thing(STATEFUL_SETS, "db", "prod", facts=WorkloadFacts(replicas=2))
    pods = [thing(PODS, f"db-{number}", "prod", owners=[owner(root)]) for number in range(2)]
    token = thing(SECRETS, "token", "prod", owners=[owner(pods[1], controller=False)])
    shared = thing(SECRETS, "shared", "prod", owners=[owner(one, controller=False) for one in pods])
    view = view_of(root, pods, token, shared)
    old = body("StatefulSet", "db", apiVersion="apps/v1")
    scaled = replace(write(STATEFUL_SETS, old, old, subresource="scale"), scale_to=1)

    assert [view.key(row).name for row in project(scaled, view).cascaded] == ["token"]


def test_pods_that_a_deployment_merely_owns_are_not_replaced() -> None:
    """Seed 3, case 555: two bare pods named a Deployment as their owner, and stayed."""
    old = deployment("web:1")
    new = changed(old, spec=deployment("web:2")["spec"])
    root = trimmed(DEPLOYMENTS, old)
    _, today, *pods = workload("web", replicas=2)
    bare = thing(PODS, "bare", "prod", owners=[owner(root, controller=False)])
    view = view_of(root, replace(today, owners=(owner(root),)), pods, bare)
    request = write(DEPLOYMENTS, old, new)

    impact = estimate(request, project(request, view), view, operator(), {"pods_restarted"})

    assert [one.count for one in impact.effects if isinstance(one, PodsRestarted)] == [2]
