"""What a real API server posts is read as what was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

import pytest

from support.recorder import Seen, until
from support.scene import Scene
from suture.adapters.kube import KubeClient
from suture.model import names
from suture.model.names import Gvk, ObjectKey, Operation, Propagation
from suture.model.objects import PodFacts, WorkloadFacts
from suture.model.request import CollectionItem, One, Request
from suture.wire.admission import decode_review
from suture.wire.trim import Trimmer

pytestmark = pytest.mark.lab


def read(seen: Iterable[Seen]) -> list[Request]:
    """Return reviews as they are read."""
    return [decode_review(json.dumps(one.review, separators=(",", ":")).encode()) for one in seen]


def test_the_writes_of_a_day(scene: Scene) -> None:
    """Creates, scales, evictions, collections: each review names its object, life and manner."""
    pod = {"containers": [{"name": "c", "image": "none", "args": ["a && b > c"]}]}
    labels = {"app": "web"}
    deployments = scene.path("deployments", group="apps/v1")
    body = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    made = scene.admin.create(deployments, body)
    scene.admin.patch(f"{deployments}/web/scale", {"spec": {"replicas": 1}})
    scene.admin.patch(f"{deployments}/web/scale", {"spec": {"replicas": 0}})
    for name in ("one", "two"):
        scene.config_map(name)
    scene.admin.delete(scene.path("configmaps"), {"propagationPolicy": "Foreground"})
    scene.ready_pod("placed")
    scene.admin.create(
        scene.path("pods", "placed/eviction"),
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "placed", "namespace": scene.namespace},
            "deleteOptions": {"gracePeriodSeconds": 1},
        },
    )
    scene.gone(scene.path("pods", "placed"))

    (created,) = read(scene.seen("deployments", verb="CREATE"))
    assert created.key == ObjectKey(names.DEPLOYMENTS, scene.namespace, "web")
    assert created.new is not None
    assert isinstance(created.new.facts, WorkloadFacts)
    assert created.new.facts.replicas == 2

    scales = read(scene.seen("deployments/scale"))
    # WHY unique: an API server whose write met the controller's status asks again for the same.
    said = [(one.scale_from, one.scale_to) for one in scales]
    assert list(dict.fromkeys(said)) == [(2, 1), (1, 0)]
    assert {one.object_uid for one in scales} == {made["metadata"]["uid"]}
    assert {one.key.name for one in scales} == {"web"}

    collected = [
        one for one in read(scene.seen("configmaps", verb="DELETE")) if one.name in {"one", "two"}
    ]
    assert sorted(one.key.name for one in collected) == ["one", "two"]
    assert {one.extent for one in collected} == {CollectionItem()}
    assert {one.options.propagation for one in collected} == {Propagation.FOREGROUND}
    assert all(one.old is not None and one.old.uid for one in collected)

    eviction = read(scene.seen("pods/eviction"))[0]
    assert eviction.operation is Operation.CREATE
    assert eviction.key == ObjectKey(names.PODS, scene.namespace, "placed")
    assert eviction.options.grace_s == 1

    deletes = read(scene.seen("pods", verb="DELETE"))
    mine = [one for one in deletes if one.key.name == "placed"]
    assert all(one.extent == One() for one in mine)
    assert all(one.old is not None and isinstance(one.old.facts, PodFacts) for one in mine)

    # Whatever else was written meanwhile, by whomever, can be read too.
    everything = read(one for one in scene.recorder.seen if "request" in one.review)
    assert all(one.key.name for one in everything if one.operation is not Operation.CONNECT)


def test_a_namespace_has_one_key(scene: Scene) -> None:
    """The review of a Namespace names it twice; the model knows it under one key."""
    name = f"{scene.namespace}-more"
    scene.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
    scene.admin.delete(f"/api/v1/namespaces/{name}")

    def requests() -> list[Request]:
        found = read(scene.recorder.admissions(name, resource="namespaces"))
        return [one for one in found if one.key.name == name]

    until("both reviews", lambda: len(requests()) >= 2)
    assert {one.key for one in requests()} == {ObjectKey(names.NAMESPACES, "", name)}


def test_a_template_has_one_hash(scene: Scene) -> None:
    """The same template hashes the same in a review and in what the API server serves."""
    pod = {"containers": [{"name": "c", "image": "none", "args": ["<&>", "\u2028", "ä"]}]}
    labels = {"app": "hashed"}
    scene.admin.create(
        scene.path("deployments", group="apps/v1"),
        {
            "metadata": {"name": "hashed"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        },
    )
    (created,) = read(scene.seen("deployments", verb="CREATE"))

    async def served() -> bytes:
        async with KubeClient.from_kubeconfig(scene.plane.kubeconfig()) as client:
            path = scene.path("deployments", "hashed", group="apps/v1")
            return await client.get_raw(path)

    stored = Trimmer().trim(
        asyncio.run(served()), names.DEPLOYMENTS, Gvk("apps", "v1", "Deployment")
    )
    assert created.new is not None
    assert isinstance(created.new.facts, WorkloadFacts)
    assert isinstance(stored.facts, WorkloadFacts)
    assert created.new.facts.template_hash == stored.facts.template_hash
