"""What is predicted to go along with a delete is what the real controllers then remove."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import Any

import pytest

from suture.adapters.kube import KubeClient
from suture.app.mirror import Mirror
from suture.errors import NotFoundError, TooManyRequestsError
from suture.impact.project import project
from suture.lab.plane import Plane
from suture.model.actor import UserInfo
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CRDS,
    DEPLOYMENTS,
    NAMESPACES,
    Gvr,
    ObjectKey,
    Operation,
    Propagation,
    Resource,
)
from suture.model.objects import ClusterObject, PodState
from suture.model.request import DeleteOptions, Request
from suture.wire.trim import Trimmer

pytestmark = pytest.mark.lab

QUIET_S = 3.0
MOST_S = 60.0
GADGETS = Resource("prediction.test", "gadgets")

NOISE = {
    Resource("", "events"),
    Resource("events.k8s.io", "events"),
    # The API server's own record of a Service's address, by a field that is no edge of the model.
    Resource("networking.k8s.io", "ipaddresses"),
}
"""What is not compared: nothing that anybody wrote."""


class World:
    """A live model of the lab, and the cluster behind it."""

    heeds: AbstractSet[Resource] | None = None

    def __init__(self, client: KubeClient) -> None:
        self.client = client
        self.graph = Graph()
        self.changed_at = time.monotonic()
        self.mirror = Mirror(
            client,
            self.graph,
            Trimmer(),
            clock=lambda: Now(time.monotonic_ns(), time.time()),
            chance=random.random,
            observers=[self],
        )

    def began(self, thing: ClusterObject) -> None:
        """Note when it was."""
        self.changed_at = time.monotonic()

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Note when it was."""
        self.changed_at = time.monotonic()

    def restated(self, state: PodState) -> None:
        """Note when it was."""
        self.changed_at = time.monotonic()

    def ended(self, thing: ClusterObject) -> None:
        """Note when it was."""
        self.changed_at = time.monotonic()

    async def settled(self) -> None:
        """Wait until nothing has changed for a while, from now on."""
        self.changed_at = time.monotonic()
        deadline = time.monotonic() + MOST_S
        while time.monotonic() - self.changed_at < QUIET_S and time.monotonic() < deadline:
            await asyncio.sleep(0.2)

    def predicted(
        self, resource: Resource, namespace: str, name: str, how: Propagation
    ) -> set[str]:
        """Return the uids that a delete is predicted to take, its own object's included."""
        request = Request(
            uid="prediction",
            operation=Operation.DELETE,
            gvr=Gvr(resource.group, "v1", resource.plural),
            gvk=next(one.gvk for one in self.graph if one.key.resource == resource),
            namespace=namespace,
            name=name,
            user=UserInfo("test"),
            options=DeleteOptions(how),
        )
        view = GraphView(self.graph)
        return {view.at(row).uid for row in project(request, view).removed}

    def uids(self) -> dict[str, ObjectKey]:
        """Return every object that is there, by uid."""
        return {one.uid: one.key for one in self.graph if one.key.resource not in NOISE}

    def standing(self) -> dict[str, ObjectKey]:
        """Return every object that nobody has sent away yet, by uid.

        Namespaces of earlier tests take their time to go; what is in them is no news.
        """
        going = {one.key.name for one in self.graph if _ends(one, NAMESPACES)}
        return {
            one.uid: one.key
            for one in self.graph
            if one.key.resource not in NOISE
            and not one.terminating
            and one.key.namespace not in going
        }


@asynccontextmanager
async def followed(plane: Plane) -> AsyncIterator[World]:
    """Follow the lab for the length of a block."""
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        world = World(client)
        task = asyncio.create_task(world.mirror.run())
        try:
            deadline = time.monotonic() + MOST_S
            while not world.mirror.ready()[0]:
                assert time.monotonic() < deadline, world.mirror.ready()[1]
                await asyncio.sleep(0.05)
            yield world
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def deployment(name: str, replicas: int) -> dict[str, Any]:
    """Return a Deployment whose pods KWOK makes Ready."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "none"}]},
            },
        },
    }


async def namespace_with_work(world: World, name: str) -> None:
    """Make a namespace with a Deployment of three, a Service and things that own each other."""
    client = world.client
    await client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    base = f"/api/v1/namespaces/{name}"
    await client.create(f"/apis/apps/v1/namespaces/{name}/deployments", deployment("web", 3))
    await client.create(
        f"{base}/services",
        {
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
        },
    )
    first = await client.create(f"{base}/configmaps", {"metadata": {"name": "first"}})
    second = await client.create(f"{base}/configmaps", {"metadata": {"name": "second"}})
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": one["metadata"]["name"],
         "uid": one["metadata"]["uid"]}
        for one in (first, second)
    ]  # fmt: skip
    for child, owners in (("one", references[:1]), ("both", references)):
        await client.create(
            f"{base}/configmaps", {"metadata": {"name": child, "ownerReferences": owners}}
        )


def _ends(thing: ClusterObject, resource: Resource) -> bool:
    return thing.key.resource == resource and thing.terminating


async def compare(
    world: World, path: str, resource: Resource, namespace: str, name: str, how: Propagation
) -> tuple[set[ObjectKey], set[ObjectKey]]:
    """Predict, delete, wait, and return what was predicted and what went."""
    await world.settled()
    before = world.standing()
    predicted = world.predicted(resource, namespace, name, how)
    await world.client.delete(path, propagation_policy=how)
    deadline = time.monotonic() + MOST_S
    while predicted & set(world.uids()) and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
    await world.settled()
    went = set(before) - set(world.uids())
    return {before[uid] for uid in predicted}, {before[uid] for uid in went}


async def test_cascades_are_what_the_controllers_do(plane: Plane) -> None:
    """A Deployment, an owner, an orphaning delete, a definition and a namespace, one by one."""
    async with followed(plane) as world:
        await namespace_with_work(world, "predicted")
        base = "/api/v1/namespaces/predicted"

        said, went = await compare(
            world, f"{base}/configmaps/first", Resource("", "configmaps"), "predicted", "first",
            Propagation.BACKGROUND,
        )  # fmt: skip
        assert said == went
        assert {key.name for key in went} == {"first", "one"}

        said, went = await compare(
            world, "/apis/apps/v1/namespaces/predicted/deployments/web", DEPLOYMENTS, "predicted",
            "web", Propagation.BACKGROUND,
        )  # fmt: skip
        assert said == went
        assert len(went) == 5

        await world.client.create(
            "/apis/apps/v1/namespaces/predicted/deployments", deployment("kept", 2)
        )
        said, went = await compare(
            world, "/apis/apps/v1/namespaces/predicted/deployments/kept", DEPLOYMENTS,
            "predicted", "kept", Propagation.ORPHAN,
        )  # fmt: skip
        assert said == went
        assert len(went) == 1

        said, went = await compare(
            world, "/api/v1/namespaces/predicted", NAMESPACES, "", "predicted",
            Propagation.BACKGROUND,
        )  # fmt: skip
        assert said == went
        assert {"both", "second", "kube-root-ca.crt", "web"} <= {key.name for key in went}


async def test_a_definition_takes_its_instances_everywhere(plane: Plane) -> None:
    """Instances go with no review of their own; the model knew them all, and their dependents."""
    async with followed(plane) as world:
        client = world.client
        for space in ("gadgets-a", "gadgets-b"):
            await client.create("/api/v1/namespaces", {"metadata": {"name": space}})
        await client.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())
        await served(client)
        await watched_by_collector(client)
        made = []
        for number in range(10):
            space = f"gadgets-{'ab'[number % 2]}"
            body = {
                "apiVersion": "prediction.test/v1",
                "kind": "Gadget",
                "metadata": {"name": f"g{number}"},
            }
            path = f"/apis/prediction.test/v1/namespaces/{space}/gadgets"
            made.append(await client.create(path, body))
        owner = made[0]["metadata"]
        reference = {
            "apiVersion": "prediction.test/v1", "kind": "Gadget", "name": owner["name"],
            "uid": owner["uid"],
        }  # fmt: skip
        await client.create(
            "/api/v1/namespaces/gadgets-a/configmaps",
            {"metadata": {"name": "of-a-gadget", "ownerReferences": [reference]}},
        )
        deadline = time.monotonic() + MOST_S
        while world.graph.count(GADGETS) < 10 and time.monotonic() < deadline:
            await asyncio.sleep(0.1)

        said, went = await compare(
            world, f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{GADGETS}", CRDS, "",
            str(GADGETS), Propagation.BACKGROUND,
        )  # fmt: skip

        assert said == went
        # The definition, its instances, the dependent of one, and the type's APIService.
        assert len(went) == 13


async def watched_by_collector(client: KubeClient) -> None:
    """Wait until the garbage collector follows the new type: it looks for types every 30 s."""
    space = "/api/v1/namespaces/gadgets-a/configmaps/probe"
    gadgets = "/apis/prediction.test/v1/namespaces/gadgets-a/gadgets"
    body = {"apiVersion": "prediction.test/v1", "kind": "Gadget", "metadata": {"name": "probe"}}
    owner = await client.create(gadgets, body)
    reference = {
        "apiVersion": "prediction.test/v1", "kind": "Gadget", "name": "probe",
        "uid": owner["metadata"]["uid"],
    }  # fmt: skip
    await client.create(
        "/api/v1/namespaces/gadgets-a/configmaps",
        {"metadata": {"name": "probe", "ownerReferences": [reference]}},
    )
    await client.delete(f"{gadgets}/probe")
    deadline = time.monotonic() + MOST_S
    while time.monotonic() < deadline:
        try:
            await client.get(space)
        except NotFoundError:
            return
        await asyncio.sleep(0.2)
    pytest.fail("the garbage collector does not follow the new type")


def definition() -> dict[str, Any]:
    """Return a definition of a type without rules."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": str(GADGETS)},
        "spec": {
            "group": GADGETS.group,
            "scope": "Namespaced",
            "names": {
                "plural": GADGETS.plural,
                "singular": "gadget",
                "kind": "Gadget",
                "listKind": "GadgetList",
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    }


async def served(client: KubeClient) -> None:
    """Wait until the new type can be listed."""
    deadline = time.monotonic() + MOST_S
    while time.monotonic() < deadline:
        try:
            await client.get("/apis/prediction.test/v1/gadgets")
        except (NotFoundError, TooManyRequestsError):
            await asyncio.sleep(0.1)
        else:
            return
    pytest.fail("the new type is not served")
