"""Watches that are begun ahead say the same as any other, once somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from support.fakecluster import FakeCluster, api
from support.following import PACE, SPEED, WIDGETS, World, clock, pod, populate, until
from suture.app.begun import HELD, Begun, HeadStart
from suture.app.follow import SETTLED_S
from suture.app.mirror import Mirror
from suture.app.watches import Want, Watches
from suture.errors import ForbiddenError, UnavailableError
from suture.model import names
from suture.model.graph import Graph
from suture.wire.snapshot import KindCount
from suture.wire.trim import Trimmer


def head_start(cluster: FakeCluster, watches: Watches | None = None) -> HeadStart:
    return HeadStart(cluster, watches or Watches(), clock=clock, watch_s=1, settled_s=SETTLED_S)


def kinds(graph: Graph) -> list[KindCount]:
    """Return what a file says of each kind."""
    return [
        KindCount(
            resource=str(resource),
            objects=graph.count(resource),
            listed=fresh.listed,
            resource_version=fresh.resource_version,
            unknown=fresh.unknown,
        )
        for resource, fresh in graph.freshness.items()
    ]


async def followed() -> tuple[FakeCluster, Graph]:
    """Return a cluster, and the model that a mirror made of it."""
    world = World(FakeCluster(second_s=1 / SPEED))
    populate(world.cluster)
    async with world.running():
        await until(lambda: not world.behind())
    return world.cluster, world.graph


async def test_a_mirror_goes_on_with_what_was_begun() -> None:
    """Nothing that came before it asked is lost, and nothing is listed."""
    cluster, graph = await followed()
    cluster.delete(names.PODS, "web-1", "shop")
    ahead = head_start(cluster)
    cluster.asked.clear()
    await ahead.begin(kinds(graph))
    cluster.write(names.PODS, "new", "shop", **pod())
    await asyncio.sleep(2 / SPEED)
    begun = [path for what, path, _ in cluster.asked if what == "watch"]
    mirror = Mirror(
        cluster, graph, Trimmer(), clock=clock, chance=lambda: 0.5, pace=PACE, head_start=ahead
    )
    for fresh in graph.freshness.values():
        fresh.heard_ns = 1
    running = asyncio.create_task(mirror.run())
    try:
        await until(lambda: mirror.ready()[0])
        assert sorted(begun) == sorted(set(begun))
        names_there = {graph.key(row).name for row in graph.rows(names.PODS)}
        assert "new" in names_there
        assert "web-1" not in names_there
        assert not sum(one.counts.get("relists", 0) for one in mirror.kinds())
    finally:
        running.cancel()
        await asyncio.wait([running])
        await ahead.close()


async def test_only_the_very_watch_that_is_asked_for_is_handed_out() -> None:
    """Another version, another form, or the same again: it is watched anew."""
    cluster, graph = await followed()
    ahead = head_start(cluster)
    await ahead.begin(kinds(graph))
    version = graph.freshness[names.PODS].resource_version
    whole = Want(full=True, fresh=True)
    assert ahead.take(names.PODS, "1", whole) is None
    assert ahead.take(names.PODS, version, Want()) is None
    taken = ahead.take(names.PODS, version, whole)
    assert taken is not None
    assert ahead.take(names.PODS, version, whole) is None
    await taken.close()
    await ahead.close()


async def test_a_kind_is_watched_as_closely_as_it_was_saved() -> None:
    """Rules that only the model knows may have it read whole."""
    cluster = FakeCluster(second_s=1 / SPEED)
    widgets = api(WIDGETS, "Widget")
    cluster.apis[widgets.path()] = widgets
    ahead = head_start(cluster)
    saved = KindCount(
        resource=str(WIDGETS), objects=1, listed=True, resource_version="100", whole=True
    )
    await ahead.begin([saved])
    taken = ahead.take(WIDGETS, "100", Want(full=True))
    assert taken is not None
    await until(lambda: ("watch", widgets.path(), False) in cluster.asked)
    await taken.close()


async def test_without_an_answer_nothing_is_begun() -> None:
    """The mirror asks again, and waits as it does without a file."""
    cluster = FakeCluster()
    cluster.faults.down = True
    ahead = head_start(cluster)
    await ahead.begin([KindCount(resource="pods", listed=True, resource_version="100")])
    assert ahead.take(names.PODS, "100", Want(full=True)) is None


async def said(*blocks: bytes, error: Exception | None = None) -> AsyncGenerator[bytes, None]:
    for block in blocks:
        yield block
    if error is not None:
        raise error


async def test_an_error_is_raised_where_it_is_asked_for() -> None:
    """After all that came before it."""
    begun = Begun(said(b"1", b"2", error=ForbiddenError(403, "", "no")), clock=clock, settled_s=0)
    await asyncio.sleep(0.01)
    blocks = begun.blocks()
    assert [await anext(blocks), await anext(blocks)] == [b"1", b"2"]
    with pytest.raises(ForbiddenError):
        await anext(blocks)


async def test_a_watch_that_ends_as_it_begins_proves_nothing() -> None:
    """However much later somebody asks what it said."""
    begun = Begun(said(), clock=clock, settled_s=SETTLED_S)
    await asyncio.sleep(SETTLED_S * 2 / SPEED)
    with pytest.raises(UnavailableError):
        await anext(begun.blocks())
    in_order = Begun(said(b"1"), clock=clock, settled_s=0)
    assert [block async for block in in_order.blocks()] == [b"1"]


async def test_what_nobody_asks_for_is_read_no_further() -> None:
    """A server has more to say than there is room for."""
    given = 0

    async def endless() -> AsyncGenerator[bytes, None]:
        nonlocal given
        while True:
            given += 1
            yield b"x"

    begun = Begun(endless(), clock=clock, settled_s=0)
    await asyncio.sleep(0.01)
    assert given == HELD + 1
    blocks = begun.blocks()
    assert await anext(blocks) == b"x"
    await blocks.aclose()
    assert begun._reading.done()
