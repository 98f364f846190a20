"""A stream that stands still is known to, though it is open and ends when it should."""

from __future__ import annotations

import asyncio

from support.fakecluster import SECRETS
from support.following import SPEED, World, pod, populate, until
from suture.app.probe import PROVEN
from suture.model import names
from suture.model.names import Resource


def lag_s(world: World, resource: Resource) -> float | None:
    """Return the lag that is published of a kind."""
    return next(one.lag_s for one in world.mirror.kinds() if one.resource == resource)


def stalls(world: World, resource: Resource) -> int:
    """Return how often a kind's stream was cut for standing still."""
    return next(one.counts["stalls"] for one in world.mirror.kinds() if one.resource == resource)


async def proven(world: World, resource: Resource) -> None:
    """Wait until a kind has passed enough probes for a failed one to count."""
    passed = world.mirror._prober._passed
    await until(lambda: passed[resource] >= PROVEN)


async def test_the_lag_of_each_kind_is_measured() -> None:
    """Of those that decisions rest on; of the rest nothing is asked."""
    world = World()
    populate(world.cluster)
    async with world.running():
        await until(lambda: lag_s(world, names.PODS) is not None)
        found = lag_s(world, names.PODS)
        assert found is not None
        assert 0 <= found < 5
        probes = {path for what, path, _ in world.cluster.asked if what == "list"}
        assert "/api/v1/namespaces/kube-node-lease/pods" in probes
        assert not {path for path in probes if "secrets" in path}
        assert lag_s(world, SECRETS) is None


async def test_a_stream_that_stands_still_makes_its_kind_stale() -> None:
    """Its watches open, and end in time; only that nothing comes over them tells."""
    world = World()
    populate(world.cluster)
    async with world.running():
        await proven(world, names.PODS)
        await proven(world, names.SERVICES)
        world.cluster.faults.stuck.add(world.cluster.path(names.PODS))
        world.cluster.write(names.PODS, "unseen", "shop", **pod())
        await until(lambda: world.mirror.stale([names.PODS]) == (names.PODS,))
        await until(lambda: stalls(world, names.PODS) == 1)
        assert world.mirror.staleness()[names.PODS] > 5
        assert world.mirror.stale([names.SERVICES]) == ()
        assert world.mirror.ready()[0]
        world.cluster.faults.stuck.clear()
        await until(lambda: world.mirror.stale([names.PODS]) == ())
        assert not world.behind()


async def test_a_server_without_bookmarks_is_not_taken_for_stuck() -> None:
    """An old one has none for a quiet kind: what was never proven cannot fail."""
    world = World()
    world.cluster.faults.bookmarks = False
    populate(world.cluster)
    async with world.running():
        for _ in range(40):
            await asyncio.sleep(0.5 / SPEED)
            assert world.mirror.stale([names.PODS, names.SERVICES]) == ()
        assert stalls(world, names.PODS) == 0
