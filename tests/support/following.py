"""A mirror of a cluster in memory, running, with time that runs faster than ours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from support.fakecluster import EVENTS, LEASES, SECRETS, FakeCluster
from support.observing import Told
from suture.app.follow import Pace
from suture.app.mirror import Mirror
from suture.model import names
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.trim import Trimmer

SPEED = 20
"""A second of the cluster and of the mirror's clock is 50 ms."""

PACE = Pace(
    slack_s=0.1,
    list_silence_s=1.0,
    first_wait_s=0.005,
    last_wait_s=0.05,
    look_s=0.005,
    audit_rest_s=3600,
)
"""Waits are real: the silence of a watch is its life in the cluster's seconds, and this slack.
Nothing is audited unless a test says so."""

WIDGETS = Resource("example.com", "widgets")
CRD: Mapping[str, Any] = {
    "spec": {
        "group": "example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True}],
    },
    "status": {"conditions": [{"type": "Established", "status": "True"}]},
}


def clock() -> Now:
    """Return a time that runs as fast as the cluster's."""
    return Now(time.monotonic_ns() * SPEED, 0.0)


class World:
    """A cluster, a graph that mirrors it, and what observers were told."""

    def __init__(
        self, cluster: FakeCluster | None = None, *, graph: Graph | None = None, pace: Pace = PACE
    ) -> None:
        self.cluster = cluster or FakeCluster(second_s=1 / SPEED)
        self.graph = graph or Graph()
        self.told = Told()
        self.mirror = Mirror(
            self.cluster,
            self.graph,
            Trimmer(),
            clock=clock,
            chance=lambda: 0.5,
            observers=[self.told],
            pace=pace,
        )

    @asynccontextmanager
    async def running(self, *, ready: bool = True) -> AsyncIterator[World]:
        """Run the mirror until the block ends."""
        task = asyncio.create_task(self.mirror.run())
        try:
            if ready:
                await until(lambda: self.mirror.ready()[0])
            yield self
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled(), task

    def at(self, resource: Resource, name: str, namespace: str = "") -> ClusterObject | None:
        """Return an object of the graph."""
        row = self.graph.row(ObjectKey(resource, namespace, name))
        return None if row is None else self.graph.at(row)

    def behind(self) -> set[tuple[Resource, str, str, str]]:
        """Return what differs between the graph and the cluster: key, uid and version."""
        unwatched = {EVENTS, LEASES}
        stored = {
            (one.resource, *key, body["metadata"]["uid"] + body["metadata"]["resourceVersion"])
            for path, one in self.cluster.apis.items()
            for key, body in self.cluster.objects[path].items()
            if one.resource not in unwatched
        }
        known = {
            (one.key.resource, one.key.namespace, one.key.name, one.uid + one.resource_version)
            for one in self.graph
        }
        return stored ^ known


async def until(true: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.002)


def pod(*, ready: bool = True) -> dict[str, Any]:
    """Return what a pod is beyond its metadata."""
    state = {"conditions": [{"type": "Ready", "status": str(ready)}], "phase": "Running"}
    return {"spec": {"nodeName": "n1"}, "status": state}


def populate(cluster: FakeCluster, pods: int = 7) -> None:
    """Write a few objects of each sort."""
    cluster.write(names.NAMESPACES, "shop")
    for number in range(pods):
        labels = {"app": "web"}
        cluster.write(names.PODS, f"web-{number}", "shop", metadata={"labels": labels}, **pod())
    cluster.write(names.SERVICES, "web", "shop", spec={"selector": {"app": "web"}})
    cluster.write(SECRETS, "key", "shop", data={"password": "aHVudGVyMg=="})
    cluster.write(EVENTS, "noise", "shop")
    cluster.write(LEASES, "noise", "shop")
