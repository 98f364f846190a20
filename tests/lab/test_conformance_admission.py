"""What admission really shows a webhook: each test is a fact on which the design rests."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.recorder import Answer, Seen, until
from support.scene import (
    COLLECTOR,
    NAMESPACE_CONTROLLER,
    NODE_USER,
    Scene,
    by_url,
    refused,
    registered,
    webhook,
)
from suture.lab.identities import ADMIN
from suture.lab.plane import Plane

pytestmark = pytest.mark.lab

ALL = {"labelSelector": "all=yes"}
LABELS = {"labels": {"all": "yes"}}


def test_deletecollection_is_one_review_per_object_without_a_name(scene: Scene) -> None:
    """Fact 1: the name of an object in a collection is only in `oldObject`."""
    names = {f"one-{number}" for number in range(5)}
    for name in names:
        scene.config_map(name, **LABELS)
    scene.admin.delete(scene.path("configmaps"), **ALL)
    deletes = scene.seen("configmaps", verb="DELETE")
    assert {seen.object_name for seen in deletes} == names
    assert len(deletes) == len(names)
    assert not any(seen.request.get("name") for seen in deletes)


def test_a_deny_stops_a_collection_half_way(scene: Scene) -> None:
    """Fact 2: what came before the refused object is gone, the rest remains."""
    for number in range(6):
        scene.config_map(f"half-{number}", **LABELS)

    def third(seen: Seen) -> Answer | None:
        late = len(scene.seen("configmaps", verb="DELETE")) >= 3
        return Answer(allowed=False) if seen.verb == "DELETE" and late else None

    scene.decide(third)
    error = refused(lambda: scene.admin.delete(scene.path("configmaps"), **ALL))
    assert error.http_status == 403
    assert len(scene.admin.list(scene.path("configmaps"), **ALL)) == 4


def test_the_last_finalizer_deletes_by_update(scene: Scene) -> None:
    """Fact 3: an object with finalizers ends on an UPDATE; no DELETE review follows."""
    scene.config_map("held", finalizers=["suture.dev/test"])
    scene.admin.delete(scene.path("configmaps", "held"))
    assert scene.admin.exists(scene.path("configmaps", "held"))
    scene.admin.patch(scene.path("configmaps", "held"), {"metadata": {"finalizers": None}})
    assert not scene.admin.exists(scene.path("configmaps", "held"))
    operations = [seen.verb for seen in scene.seen("configmaps", object_name="held")]
    assert operations == ["CREATE", "DELETE", "UPDATE"]


def test_an_eviction_is_a_create_and_no_delete(scene: Scene) -> None:
    """Fact 4: the pod of an eviction goes without a DELETE review by who evicts."""
    scene.pod("unplaced", schedulerName="none")
    scene.ready_pod("placed")
    for name in ("unplaced", "placed"):
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": scene.namespace},
        }
        scene.admin.create(scene.path("pods", f"{name}/eviction"), body)
        scene.gone(scene.path("pods", name))
    evictions = scene.seen("pods/eviction")
    assert {(seen.verb, seen.request["kind"]["kind"]) for seen in evictions} == {
        ("CREATE", "Eviction")
    }
    deletes = scene.seen("pods", verb="DELETE")
    assert not [seen for seen in deletes if seen.object_name == "unplaced"]
    assert {seen.user for seen in deletes} <= {NODE_USER}


def test_deleting_a_crd_removes_its_instances_unseen(scene: Scene) -> None:
    """Fact 5: no review for any custom resource that goes with its definition."""
    group = f"{scene.namespace}.example.com"
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    scene.admin.create(
        crds,
        {
            "metadata": {"name": f"widgets.{group}"},
            "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [version]},
        },
    )
    widgets = scene.path("widgets", group=f"{group}/v1")
    # WHY: until its storage is there, a new resource answers 404 and then 429.
    until("the resource to be served", lambda: scene.admin.request("GET", widgets).is_success)
    kind = {"apiVersion": f"{group}/v1", "kind": "Widget"}
    for number in range(3):
        scene.admin.create(widgets, {**kind, "metadata": {"name": f"w-{number}"}})
    scene.admin.delete(f"{crds}/widgets.{group}")
    scene.gone(f"{crds}/widgets.{group}")
    assert len(scene.seen("widgets", verb="CREATE")) == 3
    assert not scene.seen("widgets", verb="DELETE")
    seen_crd = scene.recorder.found("/admit", resource="customresourcedefinitions", verb="DELETE")
    assert f"widgets.{group}" in {seen.object_name for seen in seen_crd}


def test_a_namespace_goes_by_its_controller(scene: Scene) -> None:
    """Fact 6: one DELETE by the caller, then collections by the namespace controller."""
    scene.config_map("inside")
    scene.admin.delete(f"/api/v1/namespaces/{scene.namespace}")
    until("the content to be deleted", lambda: scene.seen("configmaps", verb="DELETE"))
    first = [
        seen
        for seen in scene.recorder.found("/admit", resource="namespaces", verb="DELETE")
        if seen.object_name == scene.namespace
    ]
    assert [seen.user for seen in first] == [ADMIN.user]
    inside = scene.seen("configmaps", verb="DELETE")
    assert {seen.user for seen in inside} == {NAMESPACE_CONTROLLER}
    assert not any(seen.request.get("name") for seen in inside)


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_cascade_runs_under_the_collector(scene: Scene, policy: str) -> None:
    """Fact 7: dependents go by the collector's name, with the uid as precondition."""
    owner = scene.config_map("owner")
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    child = scene.config_map("child", ownerReferences=[reference])
    scene.admin.delete(scene.path("configmaps", "owner"), {"propagationPolicy": policy})
    scene.gone(scene.path("configmaps", "child"))
    scene.gone(scene.path("configmaps", "owner"))
    (delete,) = scene.seen("configmaps", verb="DELETE", object_name="child")
    assert delete.user == COLLECTOR
    preconditions = delete.request["options"]["preconditions"]
    assert preconditions["uid"] == child["metadata"]["uid"]
    updates = scene.seen("configmaps", verb="UPDATE", object_name="owner")
    lifted = [seen for seen in updates if "foregroundDeletion" in seen.old.get("finalizers", ())]
    assert bool(lifted) == (policy == "Foreground")
    assert {seen.user for seen in lifted} <= {COLLECTOR}


def test_one_pod_delete_is_reviewed_again_by_its_node(scene: Scene) -> None:
    """Fact 8: the caller's review has no `deletionTimestamp`, the later ones have."""
    scene.ready_pod("going")
    scene.admin.delete(scene.path("pods", "going"))
    scene.gone(scene.path("pods", "going"))
    first, *later = scene.seen("pods", verb="DELETE")
    assert first.user == ADMIN.user
    assert "deletionTimestamp" not in first.old
    # WHY: two or three is usual; each conflict with the node's status writes adds one.
    assert later
    assert {seen.user for seen in later} == {NODE_USER}
    assert all("deletionTimestamp" in seen.old for seen in later)
    assert len({seen.old["uid"] for seen in (first, *later)}) == 1


def test_a_conflict_sends_the_review_again_under_a_new_uid(scene: Scene) -> None:
    """Fact 9: one intent may be reviewed several times, and no review uid comes twice."""
    scene.config_map("contested")
    scene.decide(lambda seen: Answer(delay_s=0.05) if seen.verb == "UPDATE" else None)
    path = scene.path("configmaps", "contested")

    def patch(number: int) -> object:
        return scene.admin.patch(path, {"data": {f"key-{number}": "x"}})

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(patch, range(5)))
    reviews = scene.seen("configmaps", verb="UPDATE", object_name="contested")
    assert len(reviews) > 5
    assert len({seen.request["uid"] for seen in reviews}) == len(reviews)


def test_a_create_that_fails_was_reviewed(scene: Scene) -> None:
    """Fact 10: admitted is not persisted."""
    scene.config_map("twice")
    error = refused(lambda: scene.config_map("twice"))
    assert error.reason == "AlreadyExists"
    assert len(scene.seen("configmaps", verb="CREATE", object_name="twice")) == 2


def test_scale_is_an_update_and_then_pods_go(scene: Scene) -> None:
    """Fact 11: an UPDATE of kind Scale; the ReplicaSet controller deletes the pods."""
    labels = {"app": "scaled"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    scene.admin.create(
        scene.path("deployments", group="apps/v1"),
        {
            "metadata": {"name": "scaled"},
            "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
        },
    )
    pods = scene.path("pods")
    until(
        "two pods to be made", lambda: len(scene.admin.list(pods, labelSelector="app=scaled")) == 2
    )
    scale = scene.path("deployments", "scaled/scale", group="apps/v1")
    scene.admin.patch(scale, {"spec": {"replicas": 0}})
    until("the pods to go", lambda: not scene.admin.list(pods, labelSelector="app=scaled"))
    # WHY: the deployment controller writes the status meanwhile; each conflict asks again.
    update = scene.seen("deployments/scale")[-1]
    assert (update.verb, update.request["kind"]["kind"]) == ("UPDATE", "Scale")
    assert update.request["oldObject"]["spec"]["replicas"] == 2
    assert update.request["object"]["spec"].get("replicas", 0) == 0
    deleters = {seen.user for seen in scene.seen("pods", verb="DELETE")} - {NODE_USER}
    assert deleters == {"system:serviceaccount:kube-system:replicaset-controller"}


def test_a_token_request_is_a_create(scene: Scene) -> None:
    """Fact 12: asking for a token is CREATE of `serviceaccounts/token`."""
    scene.plane.tokens.create(scene.namespace, "default")
    (seen,) = scene.seen("serviceaccounts/token")
    assert (seen.verb, seen.request["kind"]["kind"]) == ("CREATE", "TokenRequest")


def test_a_dry_run_is_reviewed_as_such(scene: Scene) -> None:
    """Fact 13: deletes and collections too, and nothing is gone."""
    scene.config_map("tried", **LABELS)
    scene.admin.delete(scene.path("configmaps", "tried"), dryRun="All")
    scene.admin.delete(scene.path("configmaps"), **ALL, dryRun="All")
    assert [seen.request["dryRun"] for seen in scene.seen("configmaps", verb="DELETE")] == [
        True,
        True,
    ]
    assert scene.admin.exists(scene.path("configmaps", "tried"))


def test_impersonation_hides_who_impersonates(scene: Scene) -> None:
    """Fact 15: admission sees the impersonated user alone."""
    scene.admin.call(
        "POST",
        scene.path("configmaps"),
        body={"metadata": {"name": "by-another"}},
        headers={"Impersonate-User": "alice", "Impersonate-Group": "system:masters"},
    )
    (seen,) = scene.seen("configmaps", object_name="by-another")
    assert seen.user == "alice"
    assert ADMIN.user not in str(seen.request["userInfo"])


def test_a_bound_token_names_its_pod(scene: Scene) -> None:
    """Fact 16: pod name and uid are in the extras of a bound token, and of no other."""
    account = scene.account("worker")
    pod = scene.pod("worker-0", schedulerName="none", serviceAccountName=account.name)
    uid = pod["metadata"]["uid"]
    bound = scene.plane.tokens.create(account.namespace, account.name, pod=("worker-0", uid))
    for name, client in (
        ("bound", scene.plane.client(token=bound)),
        ("unbound", scene.plane.client(account)),
    ):
        client.create(scene.path("configmaps"), {"metadata": {"name": name}})
    (seen,) = scene.seen("configmaps", object_name="bound")
    extra = seen.request["userInfo"]["extra"]
    assert seen.user == account.user
    assert extra["authentication.kubernetes.io/pod-name"] == ["worker-0"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [uid]
    (seen,) = scene.seen("configmaps", object_name="unbound")
    assert set(seen.request["userInfo"]["extra"]) == {"authentication.kubernetes.io/credential-id"}


def test_a_reference_to_an_owner_that_is_not_there_deletes(scene: Scene) -> None:
    """Fact 17: the collector removes what names a missing owner."""
    missing = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "never-was",
        "uid": "00000000-0000-4000-8000-000000000000",
    }
    scene.config_map("orphan", ownerReferences=[missing])
    scene.gone(scene.path("configmaps", "orphan"))
    (seen,) = scene.seen("configmaps", verb="DELETE", object_name="orphan")
    assert seen.user == COLLECTOR


def test_generated_names_are_known_and_an_apply_is_a_create(scene: Scene) -> None:
    """Fact 18: `generateName` is resolved; a server-side apply that creates is a CREATE."""
    made = scene.admin.create(scene.path("configmaps"), {"metadata": {"generateName": "made-"}})
    (seen,) = scene.seen("configmaps", object_name=made["metadata"]["name"])
    assert seen.request["name"] == made["metadata"]["name"]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}}
    scene.admin.patch(scene.path("configmaps", "applied"), body, kind="apply")
    assert [seen.verb for seen in scene.seen("configmaps", object_name="applied")] == ["CREATE"]


def test_a_dead_webhook_costs_nothing_and_a_hung_one_its_timeout(
    scene: Scene, plane: Plane
) -> None:
    """Fact 19: under Fail both refuse; only the one that hangs makes the writer wait."""
    mine = f"request.namespace == '{scene.namespace}' && request.name == 'victim'"
    conditions = [{"name": "mine", "expression": mine}]

    def refusal(port: int) -> float:
        configuration = webhook(
            f"{scene.namespace}-{port}",
            by_url(plane, port, "/hangs"),
            failurePolicy="Fail",
            timeoutSeconds=1,
            matchConditions=conditions,
        )
        path = scene.path("configmaps", "victim")
        with registered(plane, configuration):
            until(
                "the webhook to refuse",
                lambda: (
                    scene.admin.request(
                        "PATCH",
                        path,
                        body={},
                        params={"dryRun": "All"},
                        headers={"content-type": "application/merge-patch+json"},
                    ).status_code
                    == 500
                ),
            )
            began = time.monotonic()
            error = refused(lambda: scene.admin.delete(path))
            took_s = time.monotonic() - began
        assert error.http_status == 500
        assert "failed calling webhook" in error.message
        return took_s

    scene.config_map("victim")
    assert refusal(plane.ports["spare-0"]) < 0.7
    scene.decisions["/hangs"] = lambda _seen: Answer(delay_s=1.5)
    try:
        assert 0.9 < refusal(scene.recorder.port) < 1.5
    finally:
        del scene.decisions["/hangs"]


def test_warnings_are_cut_at_4096_characters(scene: Scene) -> None:
    """Fact 20: what is longer in all does not reach the client whole."""
    long = tuple(f"{number}-" + "x" * 1000 for number in range(6))
    scene.decide(lambda seen: Answer(warnings=long) if seen.object_name == "warned" else None)
    answer = scene.admin.request(
        "POST", scene.path("configmaps"), body={"metadata": {"name": "warned"}}
    )
    shown = sum(len(text) for text in answer.headers.get_list("warning"))
    assert answer.is_success
    assert 0 < shown < 4500
