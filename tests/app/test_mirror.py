"""The model follows the cluster, and knows how well it does, whatever happens in between."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from support.fakecluster import LEASES, SECRETS, FakeCluster, api, broken, forbidden
from support.following import CRD, SPEED, WIDGETS, World, pod, populate, until
from support.observing import Told
from suture.app.liveread import REFRESH_OBJECTS
from suture.app.watches import Want
from suture.errors import UnavailableError
from suture.model import names
from suture.model.actor import UserInfo
from suture.model.names import Gvk, Gvr, ObjectKey, Operation
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts
from suture.model.request import Request
from suture.wire.discovery import StaleGroup


async def test_everything_wanted_is_listed_before_it_is_ready() -> None:
    """Ready means: every kind is in, read as closely as it is wanted and no closer."""
    world = World()
    populate(world.cluster)
    assert world.mirror.ready() == (False, {"discovery": "not asked yet"})
    async with world.running():
        assert world.behind() == set()
        web = world.at(names.PODS, "web-0", "shop")
        assert web is not None
        assert web.facts == PodFacts(ready=True, node="n1")
        secret = world.at(SECRETS, "key", "shop")
        assert secret is not None
        assert secret.facts is None
        asked = {(path, metadata_only) for _, path, metadata_only in world.cluster.asked}
        assert ("/api/v1/pods", False) in asked
        assert ("/api/v1/secrets", True) in asked
        assert ("/api/v1/secrets", False) not in asked
        assert not {path for path, _ in asked if "events" in path or "leases" in path}
        assert world.graph.freshness[names.PODS].listed
        assert world.graph.kinds["coordination.k8s.io", "Lease"] == LEASES
        assert world.mirror.stale([names.PODS, SECRETS, names.NAMESPACES]) == ()
        assert world.mirror.stale([LEASES]) == (LEASES,)


async def test_pods_are_asked_for_after_what_selects_and_owns_them() -> None:
    """So that each class of pods is linked once, as it comes."""
    world = World()
    populate(world.cluster)
    async with world.running():
        asked = [path for _, path, _ in world.cluster.asked]
        first = {path: asked.index(path) for path in set(asked)}
        assert first["/api/v1/pods"] == max(first.values())


async def test_writes_are_followed_and_told() -> None:
    """Each change of the cluster becomes one of the graph, and observers are told what it was."""
    world = World()
    populate(world.cluster)
    async with world.running():
        world.told.clear()
        world.cluster.write(names.PODS, "web-0", "shop", **pod(ready=False))
        world.cluster.delete(names.PODS, "web-1", "shop")
        world.cluster.write(names.SERVICES, "new", "shop", spec={})
        await until(lambda: not world.behind())
        told = {(what, thing.key.name) for what, thing in world.told.all}
        assert told == {("changed", "web-0"), ("ended", "web-1"), ("began", "new")}


async def test_a_quiet_kind_stays_fresh() -> None:
    """A watch that ends in order proves that nothing happened until then."""
    world = World()
    populate(world.cluster)
    async with world.running():
        for _ in range(20):
            await asyncio.sleep(1 / SPEED)
            assert world.mirror.stale([names.PODS, names.SERVICES, names.NAMESPACES]) == ()
        watches = [what for what, path, _ in world.cluster.asked if path == "/api/v1/pods"]
        assert watches.count("watch") >= 3
        assert watches.count("stream") == 1


async def test_a_compacted_version_is_listed_anew_while_serving() -> None:
    """What went in the dark is found gone; nothing that is there is told to have gone."""
    world = World()
    populate(world.cluster)
    async with world.running():
        world.cluster.faults.down = True
        world.cluster.hang_up()
        await asyncio.sleep(0.02)
        world.told.clear()
        world.cluster.delete(names.PODS, "web-3", "shop")
        world.cluster.delete(names.PODS, "web-4", "shop")
        world.cluster.write(names.PODS, "web-4", "shop", **pod())
        world.cluster.write(names.PODS, "web-9", "shop", **pod())
        world.cluster.compact()
        assert world.mirror.ready()[0]
        world.cluster.faults.down = False
        await until(lambda: not world.behind())
        assert sorted(world.told.names("ended")) == ["web-3", "web-4"]
        assert sorted(world.told.names("began")) == ["web-4", "web-9"]
        assert len(world.told) == 4


@pytest.mark.parametrize("seed", range(6))
async def test_a_storm_leaves_no_trace(seed: int) -> None:
    """Repeated, swapped and cut watches end in the same model as a quiet one."""
    cluster = FakeCluster(second_s=1 / SPEED, seed=seed)
    cluster.faults.no_streams = seed % 2 == 1
    world = World(cluster)
    populate(cluster)
    faults = cluster.faults
    async with world.running():
        faults.repeat, faults.swap, faults.cut = 0.2, 0.2, 0.1
        for number in range(120):
            name = f"web-{number % 11}"
            if number % 7 == 3 and ("shop", name) in cluster.objects["/api/v1/pods"]:
                cluster.delete(names.PODS, name, "shop")
            else:
                cluster.write(names.PODS, name, "shop", **pod(ready=bool(number % 2)))
            if number == 60:
                cluster.compact()
            if number % 5 == 0:
                await asyncio.sleep(0.003)
        faults.repeat = faults.swap = faults.cut = 0.0
        await until(lambda: not world.behind())


async def test_lost_events_are_found_by_a_live_read_or_the_next_list() -> None:
    """What a server never told is found where it matters at once, and everywhere in the end."""
    world = World()
    populate(world.cluster)
    async with world.running():
        world.cluster.faults.drop = 1.0
        world.cluster.faults.bookmarks = False
        world.cluster.delete(names.PODS, "web-0", "shop")
        world.cluster.delete(names.PODS, "web-1", "shop")
        await asyncio.sleep(0.03)
        world.cluster.faults.drop = 0.0
        world.cluster.forget_events(names.PODS)
        assert len(world.behind()) == 2
        await world.mirror.refresh([ObjectKey(names.PODS, "shop", "web-0")])
        assert len(world.behind()) == 1
        world.cluster.compact()
        await until(lambda: not world.behind())


async def test_a_frozen_watch_is_noticed_and_left() -> None:
    """Silence past the watch's own end makes its kind stale, then it is opened anew."""
    world = World()
    populate(world.cluster)
    async with world.running():
        path = world.cluster.path(names.PODS)
        world.cluster.faults.frozen.add(path)
        world.cluster.write(names.PODS, "late", "shop", **pod())
        await until(lambda: world.mirror.stale([names.PODS]) == (names.PODS,))
        assert world.mirror.stale([names.SERVICES]) == ()
        world.cluster.faults.frozen.clear()
        await until(lambda: not world.behind())
        await until(lambda: world.mirror.stale([names.PODS]) == ())


async def test_a_kind_that_may_not_be_read_is_unknown_and_blocks_nobody() -> None:
    """It says why; when rights come, it becomes known by itself."""
    world = World()
    populate(world.cluster)
    path = world.cluster.path(names.SERVICES)
    world.cluster.faults.refused[path] = forbidden()
    async with world.running():
        assert "403 Forbidden" in world.graph.freshness[names.SERVICES].unknown
        assert world.mirror.stale([names.SERVICES]) == (names.SERVICES,)
        assert world.mirror.staleness()[names.SERVICES] == float("inf")
        del world.cluster.faults.refused[path]
        await until(lambda: not world.behind())
        assert world.graph.freshness[names.SERVICES].unknown == ""
        assert world.graph.freshness[names.SERVICES].listed


async def test_a_backend_that_is_away_for_long_makes_its_kind_unknown() -> None:
    """An aggregated API without its server must not keep everybody from being ready."""
    world = World()
    populate(world.cluster)
    path = world.cluster.path(names.CONFIG_MAPS)
    world.cluster.faults.refused[path] = broken()
    async with world.running():
        assert "503" in world.graph.freshness[names.CONFIG_MAPS].unknown


async def test_without_streams_lists_are_paged() -> None:
    """A server that declines streams is asked for pages, and not for streams again."""
    world = World()
    world.cluster.faults.no_streams = True
    populate(world.cluster, pods=1200)
    async with world.running():
        assert world.behind() == set()
        world.cluster.faults.down = True
        world.cluster.hang_up()
        await asyncio.sleep(0.02)
        world.cluster.compact()
        world.cluster.write(names.PODS, "more", "shop", **pod())
        world.cluster.faults.down = False
        await until(lambda: not world.behind())
        pods = [what for what, path, _ in world.cluster.asked if path == "/api/v1/pods"]
        assert pods.count("stream") == 1
        assert pods.count("list") >= 2


async def test_a_definition_brings_its_kind_and_takes_it_away() -> None:
    """Instances of a new definition are in within a moment; with the definition they go."""
    world = World()
    populate(world.cluster)
    async with world.running():
        widgets = api(WIDGETS, "Widget")
        young = {**CRD, "status": {}}
        world.cluster.write(names.CRDS, "widgets.example.com", **young)
        await asyncio.sleep(0.02)
        assert WIDGETS not in world.mirror.staleness()
        world.cluster.apis[widgets.path()] = widgets
        world.cluster.write(WIDGETS, "one", "shop")
        world.cluster.write(names.CRDS, "widgets.example.com", **CRD)
        await until(lambda: world.at(WIDGETS, "one", "shop") is not None)
        one = world.at(WIDGETS, "one", "shop")
        assert one is not None
        assert one.gvk == Gvk("example.com", "v1", "Widget")
        world.cluster.write(WIDGETS, "two", "shop")
        await until(lambda: world.at(WIDGETS, "two", "shop") is not None)
        del world.cluster.apis[widgets.path()]
        # Its instances are never said to be deleted: their watch just ends.
        del world.cluster.objects[widgets.path()]
        world.cluster.delete(names.CRDS, "widgets.example.com")
        await until(lambda: not world.behind())
        await until(lambda: WIDGETS not in world.graph.freshness)
        assert ("example.com", "Widget") not in world.graph.kinds


async def test_a_definition_that_comes_again_is_followed_again() -> None:
    """Deleting and creating a definition at once must not leave its kind unwatched."""
    world = World()
    populate(world.cluster)
    widgets = api(WIDGETS, "Widget")
    world.cluster.apis[widgets.path()] = widgets
    world.cluster.write(names.CRDS, "widgets.example.com", **CRD)
    world.cluster.write(WIDGETS, "one", "shop")
    async with world.running():
        assert world.at(WIDGETS, "one", "shop") is not None
        world.cluster.delete(WIDGETS, "one", "shop")
        world.cluster.delete(names.CRDS, "widgets.example.com")
        world.cluster.write(names.CRDS, "widgets.example.com", **CRD)
        world.cluster.write(WIDGETS, "two", "shop")
        await until(lambda: not world.behind() and world.at(WIDGETS, "two", "shop") is not None)
        assert world.graph.freshness[WIDGETS].listed


async def test_a_kind_of_a_stale_group_is_kept() -> None:
    """A backend that does not answer discovery is away, which is not the same as gone."""
    world = World()
    populate(world.cluster)
    widgets = api(WIDGETS, "Widget")
    world.cluster.apis[widgets.path()] = widgets
    world.cluster.write(WIDGETS, "one", "shop")
    async with world.running():
        del world.cluster.apis[widgets.path()]
        world.cluster.stale = (StaleGroup("example.com", "v1"),)
        world.mirror.look_again()
        await asyncio.sleep(0.05)
        assert world.at(WIDGETS, "one", "shop") is not None
        world.cluster.stale = ()
        world.mirror.look_again()
        await until(lambda: world.at(WIDGETS, "one", "shop") is None)


async def test_a_registrar_can_ask_for_more_at_run_time() -> None:
    """A kind that somebody wants whole is followed anew, whole."""
    world = World()
    populate(world.cluster)
    async with world.running():
        world.mirror.watches.register("test", {SECRETS: Want(full=True)})
        await until(lambda: ("stream", "/api/v1/secrets", False) in world.cluster.asked)
        assert world.at(SECRETS, "key", "shop") is not None
        world.mirror.watches.withdraw("test")
        asked = len(world.cluster.asked)
        await until(lambda: ("stream", "/api/v1/secrets", True) in world.cluster.asked[asked:])
        assert world.behind() == set()


async def test_readiness_is_lost_when_nothing_is_heard_and_comes_back() -> None:
    """Serving on a model that nobody feeds would be worse than not serving."""
    world = World()
    populate(world.cluster)
    async with world.running():
        world.cluster.faults.down = True
        world.cluster.hang_up()
        await until(lambda: not world.mirror.ready()[0])
        assert "silent" in world.mirror.ready()[1]
        world.cluster.faults.down = False
        await until(lambda: world.mirror.ready() == (True, {}))


async def test_a_cluster_that_is_down_at_first_is_waited_for() -> None:
    """The reason names what is missing; nothing gives up."""
    world = World()
    populate(world.cluster)
    world.cluster.faults.down = True
    async with world.running(ready=False):
        await until(lambda: "refused" in world.mirror.ready()[1].get("discovery", ""))
        world.cluster.faults.down = False
        await until(lambda: world.mirror.ready()[0])
        assert world.behind() == set()


async def test_not_ready_names_what_is_missing() -> None:
    """A kind that is neither listed nor refused is named."""
    world = World()
    populate(world.cluster)
    path = world.cluster.path(names.SERVICES)
    world.cluster.faults.refused[path] = broken()
    async with world.running(ready=False):
        await until(lambda: "services" in world.mirror.ready()[1].get("listing", ""))
        await until(lambda: world.mirror.ready()[0])


async def test_an_observer_that_fails_stops_nobody() -> None:
    """A defect in one room must not blind the others."""
    world = World()
    populate(world.cluster)

    class Failing(Told):
        def began(self, thing: ClusterObject) -> None:
            raise RuntimeError(thing.key.name)

    told = Told()
    world.mirror._intake.join(Failing())
    world.mirror._intake.join(told)
    async with world.running():
        world.cluster.write(names.PODS, "new", "shop", **pod())
        await until(lambda: not world.behind())
        assert world.told.names("began")[-1] == told.names("began")[-1] == "new"


class TestLiveReads:
    """A few objects, read past the watch, before somebody is refused."""

    async def test_a_read_is_ahead_of_the_watch_and_stays_so(self) -> None:
        """Older news that the watch still has to tell does not undo what was read."""
        world = World()
        populate(world.cluster)
        async with world.running():
            path = world.cluster.path(names.PODS)
            world.cluster.faults.frozen.add(path)
            world.cluster.write(names.PODS, "web-0", "shop", **pod(ready=True))
            world.cluster.write(names.PODS, "web-0", "shop", **pod(ready=False))
            world.cluster.delete(names.PODS, "web-1", "shop")
            world.told.clear()
            keys = [ObjectKey(names.PODS, "shop", f"web-{number}") for number in range(3)]
            await world.mirror.refresh(keys)
            web = world.at(names.PODS, "web-0", "shop")
            assert web is not None
            assert web.facts == PodFacts(ready=False, node="n1")
            assert world.at(names.PODS, "web-1", "shop") is None
            assert len(world.told) == 2
            world.cluster.faults.frozen.clear()
            await until(lambda: world.mirror.stale([names.PODS]) == ())
            assert len(world.told) == 2, world.told.all
            await until(lambda: not world.mirror._intake._ahead)
            assert len(world.told) == 2, world.told.all
            assert world.behind() == set()

    async def test_a_kind_that_is_read_as_metadata_is_read_live_as_metadata(self) -> None:
        """Secret values never enter the process."""
        world = World()
        populate(world.cluster)
        async with world.running():
            await world.mirror.refresh([ObjectKey(SECRETS, "shop", "key")])
            assert ("get", "/api/v1/namespaces/shop/secrets/key", True) in world.cluster.asked

    async def test_the_same_object_is_not_read_again_at_once(self) -> None:
        """An operator that is refused in a loop is no load on the API server."""
        world = World()
        populate(world.cluster)
        key = ObjectKey(names.PODS, "shop", "web-0")
        async with world.running():
            assert not world.mirror.just_read([key])
            for _ in range(5):
                await world.mirror.refresh([key, key])
                assert world.mirror.just_read([key])
            assert not world.mirror.just_read([key, ObjectKey(names.PODS, "shop", "web-1")])
            reads = [path for what, path, _ in world.cluster.asked if what == "get"]
            assert len(reads) == 1
            await asyncio.sleep(0.6 / SPEED)
            assert not world.mirror.just_read([key])
            await world.mirror.refresh([key])
            reads = [path for what, path, _ in world.cluster.asked if what == "get"]
            assert len(reads) == 2

    @pytest.mark.parametrize(
        "keys",
        [
            [ObjectKey(names.SERVICES, "shop", "web")],
            [ObjectKey(LEASES, "shop", "noise")],
            [ObjectKey(names.PODS, "shop", "")],
            [ObjectKey(names.PODS, "shop", f"p{n}") for n in range(REFRESH_OBJECTS + 1)],
        ],
        ids=["refused", "unwatched", "nameless", "too-many"],
    )
    async def test_what_cannot_be_read_is_said(self, keys: list[ObjectKey]) -> None:
        """Whoever asked must not take silence for a confirmation."""
        world = World()
        populate(world.cluster)
        async with world.running():
            refused = "/api/v1/namespaces/shop/services/web"
            world.cluster.faults.refused[refused] = forbidden()
            with pytest.raises(UnavailableError):
                await world.mirror.refresh(keys)


class TestReviews:
    """Each review shows the object before it: free news for a model that is behind."""

    def review(self, old: ClusterObject, subresource: str = "") -> Request:
        """Return a delete of an object in a given state."""
        return Request(
            uid="r",
            operation=Operation.DELETE,
            gvr=Gvr(old.key.resource.group, "v1", old.key.resource.plural),
            gvk=old.gvk,
            subresource=subresource,
            namespace=old.key.namespace,
            name=old.key.name,
            user=UserInfo("u"),
            old=old,
        )

    async def test_newer_is_taken_older_is_not(self) -> None:
        """The version tells, and what the watch has passed is never taken back."""
        world = World()
        populate(world.cluster)
        async with world.running():
            web = world.at(names.SERVICES, "web", "shop")
            assert web is not None
            newer = msgspec.structs.replace(
                web, resource_version="99999", facts=ServiceFacts(), needs=()
            )
            ghost = msgspec.structs.replace(
                web, key=ObjectKey(names.SERVICES, "shop", "ghost"), uid="g", resource_version="3"
            )
            world.mirror.saw(self.review(newer, "status"))
            world.mirror.saw(self.review(ghost))
            assert world.at(names.SERVICES, "web", "shop") == web
            assert world.at(names.SERVICES, "ghost", "shop") is None
            world.mirror.saw(self.review(newer))
            assert world.at(names.SERVICES, "web", "shop") == newer
