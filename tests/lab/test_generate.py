"""A made cluster is taken by a real API server, kind by kind, and comes to life there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice

import msgspec
import pytest

from suture.adapters.kube import KubeClient, resource_path
from suture.lab.assets import Assets
from suture.lab.clusters import Cluster
from suture.lab.clusters.plan import BALANCERS, DATABASES
from suture.lab.clusters.settling import (
    LEFT_OUT,
    MADE_BY_CONTROLLERS,
    Settled,
    Settler,
    as_written,
    in_order,
)
from suture.lab.clusters.size import TINY
from suture.lab.plane import Plane
from suture.model.names import CRON_JOBS, JOBS, NAMESPACES, PODS, SERVICES, STATEFUL_SETS, Resource

pytestmark = pytest.mark.lab

LIVING_S = 120.0
"""For 900 pods to be there and Ready, on a machine that does other things too."""

SAMPLES = 5


@pytest.fixture(scope="module")
def lab(lab_assets: Assets) -> Iterator[Plane]:
    """Return a control plane without nodes: the cluster brings its own."""
    with Plane.up("generate", binaries=lab_assets, nodes=0) as plane:
        yield plane


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster(TINY)


@pytest.fixture(scope="module")
def settled(lab: Plane, cluster: Cluster) -> Settled:
    async def run() -> Settled:
        async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
            return await Settler(cluster, client, lambda _resource, _count: None).settle()

    return asyncio.run(run())


async def names(client: KubeClient, cluster: Cluster, resource: Resource) -> set[tuple[str, str]]:
    """Return namespace and name of every object of a kind that the API server has."""
    gvk = cluster.kinds[resource]
    path = resource_path(gvk.group, gvk.version, resource.plural)
    found = set()
    async for page in client.list_pages(path, metadata_only=True):
        for one in msgspec.json.decode(page)["items"]:
            found.add((one["metadata"].get("namespace", ""), one["metadata"]["name"]))
    return found


def test_nothing_is_refused(settled: Settled) -> None:
    """The API server takes every object as it was made."""
    assert settled.problems == []
    assert settled.refused == 0


async def test_it_is_read_back(lab: Plane, cluster: Cluster, settled: Settled) -> None:
    """Whatever was written is there afterwards, under its own name."""
    async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
        for resource in in_order(cluster.kinds):
            made = {(one.key.namespace, one.key.name) for one in cluster.objects(resource)}
            assert made <= await names(client, cluster, resource), resource


async def test_the_rest_would_be_taken_too(lab: Plane, cluster: Cluster, settled: Settled) -> None:
    """What is left to controllers, and what nobody would answer for, passes a dry run."""
    async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
        for resource in MADE_BY_CONTROLLERS | LEFT_OUT:
            gvk = cluster.kinds[resource]
            for body in islice(cluster.documents(resource), SAMPLES):
                thing = as_written(resource, msgspec.json.decode(body), {})
                thing["metadata"]["name"] = f"{thing['metadata']['name'][:50]}.try.example.com"
                if gvk.kind == "APIService":
                    thing["metadata"]["name"] = f"v1.{gvk.kind.lower()}.example.com"
                    thing["spec"] |= {"group": f"{gvk.kind.lower()}.example.com", "version": "v1"}
                path = resource_path(
                    gvk.group, gvk.version, resource.plural, thing["metadata"].get("namespace")
                )
                assert await client.create(path, thing, dry_run=True)


async def test_owners_are_the_real_ones(lab: Plane, cluster: Cluster, settled: Settled) -> None:
    """Owner references carry the uids that the API server gave."""
    async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
        real: set[str] = set()
        for resource in (BALANCERS, DATABASES, CRON_JOBS):
            gvk = cluster.kinds[resource]
            path = resource_path(gvk.group, gvk.version, resource.plural)
            real |= {one["metadata"]["uid"] for one in (await client.get(path))["items"]}
        for resource, wanted in ((SERVICES, TINY.balanced), (STATEFUL_SETS, 3), (JOBS, TINY.jobs)):
            gvk = cluster.kinds[resource]
            path = resource_path(gvk.group, gvk.version, resource.plural)
            owners = [
                owner["uid"]
                for one in (await client.get(path))["items"]
                for owner in one["metadata"].get("ownerReferences", ())
            ]
            assert len(owners) == wanted
            assert set(owners) <= real


async def test_it_comes_to_life(lab: Plane, cluster: Cluster, settled: Settled) -> None:
    """Controllers make exactly the pods that the cluster has, on its own nodes."""
    async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
        async with asyncio.timeout(LIVING_S):
            while len(await names(client, cluster, PODS)) < TINY.pods:
                await asyncio.sleep(0.5)
        assert len(await names(client, cluster, PODS)) == TINY.pods


async def test_again_it_is_all_there(lab: Plane, cluster: Cluster, settled: Settled) -> None:
    """Writing it once more changes nothing, so that an attempt that was cut short can go on."""
    async with KubeClient.from_kubeconfig(lab.kubeconfig()) as client:
        again = await Settler(cluster, client, lambda _resource, _count: None).settle()
    assert (again.created, again.refused) == ({}, 0)
    assert again.there[str(NAMESPACES)] == TINY.namespaces
