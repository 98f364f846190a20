"""On a real control plane the model equals the cluster, also after what disturbs its watches."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from support.labmirror import following, settled, until
from suture.adapters.kube import KubeClient
from suture.errors import NotFoundError, SutureError
from suture.lab.plane import Plane
from suture.model import names
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import PodFacts

pytestmark = pytest.mark.lab

SPACE = "mirror-test"
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
SERVICES = f"/api/v1/namespaces/{SPACE}/services"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS = Resource("mirror.test", "gadgets")


async def namespace(client: KubeClient) -> None:
    """Make the test's namespace, unless it is there."""
    try:
        await client.get(f"/api/v1/namespaces/{SPACE}")
    except NotFoundError:
        await client.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})


def deployment(name: str, replicas: int) -> dict[str, Any]:
    """Return a Deployment of pods that need nothing."""
    pod = {"containers": [{"name": "c", "image": "none"}]}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        },
    }


async def storm(client: KubeClient, seed: int, writes: int) -> None:
    """Write this and that, some of it more than once."""
    dice = random.Random(seed)  # noqa: S311 a test's own chance, repeatable by its seed
    for _ in range(writes):
        name = f"it-{dice.randrange(12)}"
        wishes: list[tuple[str, dict[str, Any]]] = [
            (MAPS, {"metadata": {"name": name}, "data": {"n": str(dice.random())}}),
            (SERVICES, {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}),
            (DEPLOYMENTS, deployment(name, dice.randrange(4))),
        ]
        path, body = dice.choice(wishes)
        try:
            if dice.random() < 0.3:
                await client.delete(f"{path}/{name}")
            else:
                kind = {MAPS: "ConfigMap", SERVICES: "Service"}.get(path, "Deployment")
                version = "apps/v1" if path == DEPLOYMENTS else "v1"
                whole: dict[str, Any] = {"apiVersion": version, "kind": kind, **body}
                await client.patch(f"{path}/{name}", whole, type="apply", force=True)
        except SutureError:
            continue


async def test_the_model_equals_the_cluster_after_writes_and_a_restart(plane: Plane) -> None:
    """Every kind, every object, uid and version, whatever the API server went through."""
    async with following(plane) as followed:
        client = followed.client
        await namespace(client)
        await followed.agrees()
        await storm(client, seed=1, writes=80)
        await followed.agrees()
        restart = asyncio.create_task(asyncio.to_thread(plane.restart, "kube-apiserver"))
        await storm(client, seed=2, writes=40)
        await restart
        await settled(lambda: client.get("/api/v1/namespaces/default"))
        await storm(client, seed=3, writes=40)
        await followed.agrees()
        assert followed.mirror.ready() == (True, {})
        assert not followed.trimmer.odd
        counts = followed.mirror.counts()
        assert not [kind for kind, name in counts if name == "regressions"]


async def test_pods_carry_what_decisions_rest_on(plane: Plane) -> None:
    """A Deployment's pods become Ready in the model as they do in the cluster."""
    async with following(plane) as followed:
        await namespace(followed.client)
        await followed.client.create(DEPLOYMENTS, deployment("ready-made", 2))

        def ready() -> bool:
            pods = [one for one in followed.graph if one.labels.get("app") == "ready-made"]
            states = [one.facts for one in pods if isinstance(one.facts, PodFacts)]
            return [one.ready and one.node != "" for one in states] == [True, True]

        await until(ready, 30)


async def test_a_quiet_cluster_is_known_to_be_quiet(plane: Plane) -> None:
    """No kind that decisions rest on grows older than the bound, though nothing happens to it."""
    async with following(plane) as followed:
        fresh = [names.PODS, names.SERVICES, names.CLAIMS, names.CRDS, names.VALIDATING_WEBHOOKS]
        for _ in range(80):
            await asyncio.sleep(0.1)
            assert followed.mirror.stale(fresh) == ()


async def test_a_frozen_api_server_makes_the_model_stale_not_wrong(plane: Plane) -> None:
    """Within the bound the age tells; when the server goes on, so does the model."""
    async with following(plane) as followed:
        plane.pause("kube-apiserver")
        try:
            took_s = await until(lambda: followed.mirror.stale([names.PODS]) != (), 8)
        finally:
            plane.resume("kube-apiserver")
        assert took_s <= 5.5
        await until(lambda: followed.mirror.stale([names.PODS, names.SERVICES]) == (), 20)
        await followed.agrees()


async def test_a_new_kind_is_followed_within_a_second(plane: Plane) -> None:
    """From Established to its first instance in the model; with the definition all of it goes."""
    definition = {
        "metadata": {"name": "gadgets.mirror.test"},
        "spec": {
            "group": "mirror.test",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    gadget = {"apiVersion": "mirror.test/v1", "kind": "Gadget", "metadata": {"name": "one"}}
    path = f"/apis/mirror.test/v1/namespaces/{SPACE}/gadgets"
    async with following(plane) as followed:
        client = followed.client
        await namespace(client)
        await client.create(CRDS, definition)
        try:
            await settled(lambda: client.create(path, gadget))
            key = ObjectKey(GADGETS, SPACE, "one")
            took_s = await until(lambda: followed.at(key) is not None)
            assert took_s <= 1.0
            assert followed.at(key).gvk == Gvk("mirror.test", "v1", "Gadget")
        finally:
            await client.delete(f"{CRDS}/gadgets.mirror.test")
        await until(lambda: GADGETS not in followed.mirror.staleness(), 15)
        await until(lambda: followed.at(key) is None)
        await followed.agrees()


async def test_a_live_read_is_ahead_of_the_watch(plane: Plane) -> None:
    """What was written a moment ago is in the graph after a read, and found gone after a delete."""
    async with following(plane) as followed:
        client = followed.client
        await namespace(client)
        key = ObjectKey(names.SERVICES, SPACE, "read-me")
        body = {"metadata": {"name": "read-me"}, "spec": {"ports": [{"port": 80}]}}
        await client.create(SERVICES, body)
        await followed.mirror.refresh([key])
        assert followed.at(key) is not None
        await client.delete(f"{SERVICES}/read-me")
        await asyncio.sleep(0.6)
        await followed.mirror.refresh([key])
        assert followed.at(key) is None
        await followed.agrees()
