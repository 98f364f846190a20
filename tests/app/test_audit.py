"""What a watch never told is found and put right, and nothing else is touched."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from support.fakecluster import SECRETS, FakeCluster
from support.following import PACE, SPEED, World, pod, populate, until
from suture.app.audit import RELIST_AT
from suture.model import names
from suture.model.names import Resource

AUDITED = replace(PACE, audit_rest_s=0.002)


def lose_events(world: World, resource: Resource) -> None:
    """Forget what was written and not told yet, as a server does that skips an event."""
    world.cluster.forget_events(resource)


async def quiet(world: World) -> None:
    """Wait until every kind was audited twice more."""
    before = {one.resource: one.counts["audits"] for one in world.mirror.kinds()}
    await until(
        lambda: all(
            one.counts["audits"] >= before[one.resource] + 2 for one in world.mirror.kinds()
        )
    )


async def test_a_sound_model_is_left_alone() -> None:
    """Audits of a cluster in which all goes well find nothing, however much is written."""
    world = World(pace=AUDITED)
    populate(world.cluster)
    async with world.running():
        for number in range(60):
            name = f"web-{number % 9}"
            if number % 5 == 4 and ("shop", name) in world.cluster.objects["/api/v1/pods"]:
                world.cluster.delete(names.PODS, name, "shop")
            else:
                world.cluster.write(names.PODS, name, "shop", **pod(ready=bool(number % 2)))
            await asyncio.sleep(0.004)
        await quiet(world)
        assert world.mirror.repairs() == {}
        assert not world.behind()


async def test_each_sort_of_loss_is_found_counted_and_told() -> None:
    """A creation, a change and a deletion that no watch ever told."""
    world = World(pace=AUDITED)
    populate(world.cluster)
    async with world.running():
        world.told.clear()
        world.cluster.write(names.PODS, "web-new", "shop", **pod())
        world.cluster.write(names.PODS, "web-0", "shop", **pod(ready=False))
        world.cluster.delete(names.PODS, "web-1", "shop")
        lose_events(world, names.PODS)
        await until(lambda: not world.behind())
        await quiet(world)
        assert world.mirror.repairs() == {
            (names.PODS, "missing"): 1,
            (names.PODS, "stale"): 1,
            (names.PODS, "extra"): 1,
        }
        assert {(what, thing.key.name) for what, thing in world.told.all} == {
            ("began", "web-new"),
            ("changed", "web-0"),
            ("ended", "web-1"),
        }


async def test_a_life_that_was_missed_is_replaced() -> None:
    """Deleted and created anew under the same name, and neither was told."""
    world = World(pace=AUDITED)
    populate(world.cluster)
    async with world.running():
        world.told.clear()
        world.cluster.delete(names.PODS, "web-1", "shop")
        world.cluster.write(names.PODS, "web-1", "shop", **pod())
        lose_events(world, names.PODS)
        await until(lambda: not world.behind())
        assert [what for what, _ in world.told.all] == ["ended", "began"]


async def test_secrets_are_audited_as_names() -> None:
    """Their values do not enter the process for an audit either."""
    world = World(pace=AUDITED)
    populate(world.cluster)
    async with world.running():
        world.cluster.write(SECRETS, "more", "shop", data={"password": "aHVudGVyMg=="})
        lose_events(world, SECRETS)
        await until(lambda: not world.behind())
        asked = {(path, bare) for _, path, bare in world.cluster.asked if "secrets" in path}
        assert {bare for _, bare in asked} == {True}


async def test_a_kind_that_is_mostly_wrong_is_listed_anew() -> None:
    """A thousand differences are not mended one by one."""
    world = World(FakeCluster(second_s=1 / SPEED), pace=AUDITED)
    populate(world.cluster)
    async with world.running():
        for number in range(3 * RELIST_AT):
            world.cluster.write(names.PODS, f"lost-{number}", "shop", **pod())
        lose_events(world, names.PODS)
        await until(lambda: not world.behind())
        assert world.mirror.repairs()[names.PODS, "relisted"] == 1
        assert world.mirror.repairs()[names.PODS, "missing"] == RELIST_AT


@pytest.mark.parametrize("fault", ["frozen", "stuck"])
async def test_what_a_watch_has_yet_to_tell_is_no_difference(fault: str) -> None:
    """Of a stream that is behind, the audit says nothing: it is late, and lost nothing."""
    world = World(pace=AUDITED)
    populate(world.cluster)
    path = world.cluster.path(names.PODS)
    async with world.running():
        getattr(world.cluster.faults, fault).add(path)
        await asyncio.sleep(0.2)
        for number in range(4):
            world.cluster.write(names.PODS, f"late-{number}", "shop", **pod())
            world.cluster.delete(names.PODS, f"web-{number}", "shop")
        await asyncio.sleep(0.3)
        getattr(world.cluster.faults, fault).clear()
        await until(lambda: not world.behind())
        await quiet(world)
        assert world.mirror.repairs() == {}
