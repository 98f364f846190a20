"""A model that was saved goes on where it was, or is listed where that cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.cluster import START
from support.fakecluster import SECRETS, FakeCluster, api
from support.following import CRD, PACE, SPEED, WIDGETS, World, pod, populate, until
from suture.app.listing import Lister
from suture.app.warmstart import same_cluster
from suture.app.watches import Want
from suture.model import names
from suture.model.graph import Graph
from suture.model.names import Resource


async def saved() -> tuple[FakeCluster, Graph]:
    """Return a cluster, and the model that a mirror made of it before it ended."""
    world = World(FakeCluster(second_s=1 / SPEED))
    populate(world.cluster)
    widgets = api(WIDGETS, "Widget")
    world.cluster.apis[widgets.path()] = widgets
    world.cluster.write(names.CRDS, "widgets.example.com", **CRD)
    world.cluster.write(WIDGETS, "one", "shop")
    async with world.running():
        await until(lambda: not world.behind())
    for fresh in world.graph.freshness.values():
        fresh.heard_ns = 1
    return world.cluster, world.graph


def lists(world: World, *resources: Resource) -> int:
    """Return how often kinds were listed; all of them where none is named."""
    return sum(
        one.counts.get("relists", 0)
        for one in world.mirror.kinds()
        if not resources or one.resource in resources
    )


async def test_it_goes_on_with_watches_alone() -> None:
    """What happened meanwhile is told by them, and nothing is ready before it was."""
    cluster, graph = await saved()
    cluster.write(names.PODS, "new", "shop", **pod())
    cluster.delete(names.PODS, "web-1", "shop")
    cluster.write(WIDGETS, "two", "shop")
    world = World(cluster, graph=graph)
    assert not world.mirror.ready()[0]
    async with world.running():
        assert not world.behind()
        assert lists(world) == 0
        assert world.mirror.stale([names.PODS, names.SERVICES]) == ()


async def test_what_was_compacted_meanwhile_is_listed() -> None:
    """Nothing that went in the dark stays."""
    cluster, graph = await saved()
    cluster.delete(names.PODS, "web-1", "shop")
    cluster.compact()
    world = World(cluster, graph=graph)
    async with world.running():
        assert not world.behind()
        assert lists(world, names.PODS) == 1


async def test_a_kind_that_is_wanted_in_another_form_is_listed() -> None:
    """Metadata alone is no ground for a kind whose facts are wanted, or the reverse."""
    cluster, graph = await saved()
    world = World(cluster, graph=graph)
    world.mirror.watches.register("model", {names.PODS: Want(fresh=True)})
    async with world.running():
        web = world.at(names.PODS, "web-0", "shop")
        assert web is not None
        assert web.facts is None
        assert lists(world, names.PODS) == 1
        assert lists(world, SECRETS) == 0


async def test_a_kind_that_is_not_followed_goes() -> None:
    """Leases, which a list that is made once has: nobody would keep them as they are."""
    cluster, graph = await saved()
    found = (await Lister(cluster, lambda: START).run()).graph
    assert found.count(names.LEASES) == 1
    world = World(cluster, graph=found)
    async with world.running():
        await until(lambda: not found.count(names.LEASES))
        assert not world.behind()
    assert graph.count(names.LEASES) == 0


async def test_a_kind_that_is_served_no_more_goes() -> None:
    """Its definition went while nobody looked."""
    cluster, graph = await saved()
    cluster.delete(names.CRDS, "widgets.example.com")
    path = cluster.path(WIDGETS)
    del cluster.apis[path]
    del cluster.objects[path]
    world = World(cluster, graph=graph)
    async with world.running():
        await until(lambda: not world.behind())
        await until(lambda: WIDGETS not in graph.freshness)


@pytest.mark.parametrize(("uid", "same"), [("u-1", True), ("u-2", False), ("", False)])
async def test_the_cluster_is_known_by_a_namespace(uid: str, *, same: bool) -> None:
    """Versions of another cluster mean nothing here."""
    cluster = FakeCluster()
    found = cluster.write(names.NAMESPACES, "kube-system")
    found["metadata"]["uid"] = "u-1"
    assert await same_cluster(cluster, uid, PACE, lambda: 0.5) is same


async def test_without_an_answer_it_is_not_the_cluster() -> None:
    """Then the model is listed, which waits for the cluster anyway."""
    cluster = FakeCluster()
    cluster.faults.down = True
    quick = replace(PACE, last_wait_s=0.001)
    assert not await same_cluster(cluster, "u-1", quick, lambda: 0.5)
