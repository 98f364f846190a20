"""The replay server is an API server to who reads from it: lists, streams, what happens, and 410."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suture.adapters.kube import KubeClient, resource_path
from suture.app.follow import Pace
from suture.app.mirror import Mirror
from suture.app.watches import NEVER
from suture.errors import ApiError, ForbiddenError, GoneError, NotFoundError, UnavailableError
from suture.lab.clusters import Cluster
from suture.lab.clusters.bodies import LIST_VERSION
from suture.lab.clusters.size import TINY
from suture.lab.replay import Fault, Happening, ReplayServer
from suture.lab.replay.state import OrderError
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import NAMESPACES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.trim import Trimmer

PATH = resource_path("", "v1", "pods")
PACE = Pace(first_wait_s=0.01, last_wait_s=0.1)

LINES = msgspec.json.Decoder()

Object = dict[str, Any]


def clock() -> Now:
    return Now(time.monotonic_ns(), time.time())


@asynccontextmanager
async def client_of(server: ReplayServer) -> AsyncIterator[KubeClient]:
    async with KubeClient.from_kubeconfig(server.kubeconfig) as client:
        yield client


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def mirrored(server: ReplayServer) -> AsyncIterator[tuple[Graph, Mirror]]:
    graph = Graph()
    async with client_of(server) as client:
        mirror = Mirror(client, graph, Trimmer(), clock=clock, chance=lambda: 0.5, pace=PACE)
        task = asyncio.create_task(mirror.run())
        try:
            await until(lambda: mirror.ready()[0])
            yield graph, mirror
        finally:
            task.cancel()
            await asyncio.wait([task])


def things(graph: Graph, kinds: set[Resource]) -> dict[ObjectKey, ClusterObject]:
    return {one.key: one for resource in kinds for one in map(graph.at, graph.rows(resource))}


async def listed(server: ReplayServer, path: str = PATH, limit: int = 500) -> list[Object]:
    async with client_of(server) as client:
        return [
            item
            async for page in client.list_pages(path, limit)
            for item in msgspec.json.decode(page)["items"]
        ]


async def watched(
    server: ReplayServer, version: str | None, *, initial: bool = False, timeout_s: int = 1
) -> list[Object]:
    found: list[Object] = []
    async with client_of(server) as client:
        lines = client.watch_lines(PATH, version, initial, timeout_s=timeout_s)
        async with aclosing(lines):
            async for block in lines:
                found += LINES.decode_lines(block)
    return found


async def test_the_mirror_of_it_is_the_cluster(server: ReplayServer) -> None:
    """Discovery, lists and streams through the real client and mirror give the cluster's graph."""
    cluster = Cluster(TINY)
    wanted = cluster.graph(clock())
    async with mirrored(server) as (graph, mirror):
        assert set(mirror.staleness()) == set(cluster.kinds) - NEVER
        for resource in set(cluster.kinds) - NEVER:
            found, true = things(graph, {resource}), things(wanted, {resource})
            assert found == true, resource
        assert not mirror.counts().get((str(PODS), "regressions"))


async def test_lists_in_parts_of_any_size(server: ReplayServer) -> None:
    """However a list is cut, it has every object once, in the order of names."""
    for limit in (100, 499, 500, 5000):
        found = await listed(server, limit=limit)
        keys = [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in found]
        assert len(keys) == TINY.pods
        assert keys == sorted(set(keys))


async def test_lists_of_a_namespace(server: ReplayServer) -> None:
    """A namespace's list is what the whole has of it, in parts too; of an empty one it is empty."""
    for path in ("pods", "configmaps"):
        whole = await listed(server, f"/api/v1/{path}")
        for namespace in ("accounts", "monitoring", "kube-public", "nowhere"):
            wanted = [one for one in whole if one["metadata"]["namespace"] == namespace]
            assert await listed(server, f"/api/v1/namespaces/{namespace}/{path}", 7) == wanted


async def test_lists_are_written_as_api_servers_write_them(server: ReplayServer) -> None:
    """Items of built-in kinds carry no type, those of custom kinds do, whose metadata comes last."""
    async with client_of(server) as client:
        pods = await client.get_raw(PATH)
        custom = await client.get_raw("/apis/cert-manager.io/v1/certificates")
        assert pods.startswith(b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion"')
        assert set(msgspec.json.decode(pods)["items"][0]) == {"metadata", "spec", "status"}
        assert custom.rstrip().endswith(b"}}")
        assert msgspec.json.decode(custom)["items"][0]["kind"] == "Certificate"
        partial = await client.get("/api/v1/secrets", metadata_only=True)
        assert partial["kind"] == "PartialObjectMetadataList"
        assert set(partial["items"][0]) == {"kind", "apiVersion", "metadata"}


async def test_one_object(server: ReplayServer) -> None:
    """Any object can be read alone, whole or its metadata; one that is not there is not found."""
    async with client_of(server) as client:
        for one in (await listed(server))[::97]:
            meta = one["metadata"]
            path = resource_path("", "v1", "pods", meta["namespace"], meta["name"])
            whole = await client.get(path)
            assert (whole["kind"], whole["metadata"]["uid"]) == ("Pod", meta["uid"])
            assert (await client.get(path, metadata_only=True))["metadata"] == meta
        namespace = await client.get("/api/v1/namespaces/kube-system")
        assert namespace["kind"] == "Namespace"
        with pytest.raises(NotFoundError):
            await client.get("/api/v1/namespaces/kube-system/pods/nobody")


async def test_a_stream_begins_with_everything(server: ReplayServer) -> None:
    """All that is there comes as events, ended by the bookmark that says so."""
    events = await watched(server, None, initial=True)
    assert [one["type"] for one in events] == ["ADDED"] * TINY.pods + ["BOOKMARK"]
    assert events[0]["object"]["kind"] == "Pod"
    end = events[-1]["object"]["metadata"]
    assert end["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert end["resourceVersion"] == str(LIST_VERSION)


async def test_new_pods_live_and_go(server: ReplayServer) -> None:
    """Each new pod is created, scheduled, Ready, told to go and gone, at rising versions."""
    server.churn(50, 1.0, lifetime_s=0.2)
    events = await watched(server, str(LIST_VERSION), timeout_s=5)
    lives: dict[str, list[Object]] = {}
    for event in events:
        if event["type"] != "BOOKMARK":
            lives.setdefault(event["object"]["metadata"]["uid"], []).append(event)
    assert len(lives) == 50
    for life in lives.values():
        assert [one["type"] for one in life] == ["ADDED", *["MODIFIED"] * 3, "DELETED"]
        created, scheduled, ready, going, gone = (one["object"] for one in life)
        assert "nodeName" not in created["spec"]
        assert scheduled["spec"]["nodeName"]
        assert {"type": "Ready", "status": "True"}.items() <= ready["status"]["conditions"][
            2
        ].items()
        assert "deletionTimestamp" in going["metadata"]
        assert created["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet"
        assert gone["metadata"]["name"] == created["metadata"]["name"]
    versions = [int(one["object"]["metadata"]["resourceVersion"]) for one in events]
    assert versions == sorted(versions)
    assert server.state().pods == TINY.pods


async def test_the_mirror_keeps_up(server: ReplayServer) -> None:
    """While pods come, change and go, and after, the model is what a fresh list says."""
    async with mirrored(server) as (graph, _):
        for kind in Happening:
            server.churn(400, 1.0, kind, lifetime_s=0.5, wait=True)
        fresh = Trimmer().reader(PODS, Cluster(TINY).kinds[PODS])
        wanted = {
            one.uid: one.resource_version
            for item in await listed(server)
            for one in [fresh.one(msgspec.json.encode(item))]
        }
        assert len(wanted) == server.state().pods < TINY.pods

        def same() -> bool:
            return {graph.uid(row): graph.version(row) for row in graph.rows(PODS)} == wanted

        await until(same)


async def test_a_list_while_pods_come_and_go(server: ReplayServer) -> None:
    """A list in small parts misses no pod that was there from its beginning to its end."""
    server.churn(200, 2.0, lifetime_s=30.0)
    await asyncio.sleep(1.5)
    async with client_of(server) as client:
        names: list[str] = []
        versions = set()
        async for page in client.list_pages(PATH, 50):
            document = msgspec.json.decode(page)
            versions.add(document["metadata"]["resourceVersion"])
            names += [one["metadata"]["uid"] for one in document["items"]]
    assert len(versions) == 1
    assert len(names) == len(set(names)) > TINY.pods + 200


async def test_resuming_where_it_ended(server: ReplayServer) -> None:
    """A watch from any version tells all that came after it, and nothing else."""
    server.churn(100, 0.5, lifetime_s=0.0, wait=True)
    whole = await watched(server, str(LIST_VERSION))
    versions = [one["object"]["metadata"]["resourceVersion"] for one in whole]
    assert len(versions) == 250
    rest = await watched(server, versions[99])
    assert [one["object"]["metadata"]["resourceVersion"] for one in rest] == versions[100:]


async def test_versions_that_are_gone(server: ReplayServer) -> None:
    """Before the pages there is no history, and after a compaction none before that."""
    too_old = await watched(server, str(LIST_VERSION - 1))
    assert [(one["type"], one["object"]["code"]) for one in too_old] == [("ERROR", 410)]
    async with client_of(server) as client:
        pages = client.list_pages(PATH, 100)
        await anext(pages)
        server.break_(Fault.GONE)
        with pytest.raises(GoneError):
            await anext(pages)
    assert (await watched(server, str(LIST_VERSION)))[0]["type"] == "ERROR"
    assert await watched(server, server.state().resource_version) == []


@pytest.mark.parametrize("fault", [Fault.DROP, Fault.REPEAT, Fault.REORDER])
async def test_events_that_go_wrong(server: ReplayServer, fault: Fault) -> None:
    """Events are dropped, repeated and put out of order, as many as asked for."""
    server.churn(100, 0.5, Happening.STATUS, wait=True)
    right = await watched(server, str(LIST_VERSION))
    server.break_(fault, "pods", count=10)
    wrong = await watched(server, str(LIST_VERSION))
    match fault:
        case Fault.DROP:
            assert wrong == right[10:]
        case Fault.REPEAT:
            assert [msgspec.json.encode(one) for one in wrong[:20:2]] == [
                msgspec.json.encode(one) for one in right[:10]
            ]
            assert len(wrong) == len(right) + 10
        case _:
            assert wrong == right[:10][::-1] + right[10:]
    assert await watched(server, str(LIST_VERSION)) == right


async def test_streams_are_cut(server: ReplayServer) -> None:
    """An open stream ends in the middle of a line."""
    async with client_of(server) as client:
        lines = client.watch_lines(PATH, str(LIST_VERSION), timeout_s=30)
        waiting = asyncio.ensure_future(anext(lines))
        await until(lambda: server.state().streams == 1)
        server.break_(Fault.CUT, "pods")
        with pytest.raises(UnavailableError):
            await waiting


async def test_streams_stall(server: ReplayServer) -> None:
    """Nothing is sent while it lasts, not even the end; then everything."""
    server.break_(Fault.STALL, "pods", seconds=2.0)
    server.churn(100, 0.2, lifetime_s=0.0)
    async with client_of(server) as client:
        with pytest.raises(UnavailableError):
            await client.get(PATH, timeout_s=0.5)
        await client.get("/api/v1/services")
    async with asyncio.timeout(20):
        events = await watched(server, str(LIST_VERSION), timeout_s=4)
    assert len([one for one in events if one["type"] != "BOOKMARK"]) == 100


async def test_the_mirror_heals(server: ReplayServer) -> None:
    """Cuts, compactions and repeats in the middle of it all leave the model right."""
    async with mirrored(server) as (graph, _):
        server.churn(200, 3.0, lifetime_s=0.5)
        for fault in (Fault.CUT, Fault.REPEAT, Fault.GONE, Fault.CUT):
            await asyncio.sleep(0.5)
            server.break_(fault, "pods", count=50)
        await asyncio.to_thread(server.settled)
        await until(lambda: graph.count(PODS) == TINY.pods)
        assert graph.count(SERVICES) == TINY.services


async def test_what_is_refused(server: ReplayServer) -> None:
    """Writes, selectors, strangers and unknown paths are answered as such."""
    async with client_of(server) as client:
        with pytest.raises(ForbiddenError):
            await client.create(PATH, {"kind": "Pod"})
        with pytest.raises(ApiError, match="selectors"):
            await client.get(PATH, query={"labelSelector": "a=b"})
        for path in ("/apis/apps/v2/deployments", "/api/v1/moons", "/moon"):
            with pytest.raises(NotFoundError):
                await client.get(path)
        async with client.with_token("somebody-else") as stranger:
            with pytest.raises(ApiError, match="401"):
                await stranger.get(PATH)


def test_orders_that_make_no_sense(server: ReplayServer) -> None:
    """Too much, too little and the unknown are refused, with what to do."""
    with pytest.raises(OrderError, match="pods_per_second"):
        server.churn(0, 1.0)
    with pytest.raises(OrderError, match="lifetime_s"):
        server.churn(10_000, 3000, lifetime_s=3000)
    with pytest.raises(OrderError, match="name one like `pods`"):
        server.break_(Fault.CUT, "moons")
    server.churn(10, 2.0)
    with pytest.raises(OrderError, match="already"):
        server.churn(10, 2.0)


def test_it_ends_with_its_owner(pages: Path) -> None:
    """Nothing is left of a server whose block has ended: no process, no file."""
    with ReplayServer(folder=pages) as server:
        pid, kubeconfig = server.pid, server.kubeconfig
        assert server.state().objects == server.index.objects
        assert kubeconfig.stat().st_mode & 0o777 == 0o600
    assert not Path(f"/proc/{pid}").exists()
    assert not kubeconfig.exists()


def test_it_ends_when_nobody_comes(pages: Path) -> None:
    """A server that nobody uses is gone after its time."""
    with ReplayServer(folder=pages, idle_s=0.2) as server:
        deadline = time.monotonic() + 20
        while Path(f"/proc/{server.pid}/status").read_text().find("State:\tZ") < 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_events_are_counted(server: ReplayServer) -> None:
    """The state tells what happened, so that who follows can be held against it."""
    state = server.churn(100, 0.2, lifetime_s=0.0, wait=True)
    assert Counter(state.events) == {"ADDED": 20, "MODIFIED": 60, "DELETED": 20}
    assert NAMESPACES in {one.resource for one in server.index.kinds}
