"""A mirror of a real control plane, and what is compared with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from support.observing import Told
from suture.adapters.kube import KubeClient
from suture.app.follow import Pace
from suture.errors import SutureError
from suture.lab.plane import Plane
from suture.lab.soak.follow import Follower
from suture.model.graph import Graph
from suture.model.names import ObjectKey


class Followed(Follower):
    """The mirror of a real cluster, with an observer that keeps what it was told."""

    def __init__(self, client: KubeClient, graph: Graph | None, pace: Pace | None) -> None:
        self.told = Told()
        super().__init__(client, graph, observers=[self.told], pace=pace)

    def at(self, key: ObjectKey) -> Any:
        """Return an object of the graph; None where it is not there."""
        row = self.graph.row(key)
        return None if row is None else self.graph.at(row)

    async def agrees(self, within_s: float = 20.0) -> None:
        """Wait until graph and cluster are the same."""
        found = await self.equal(within_s)
        assert not found, found[:10]


@asynccontextmanager
async def following(
    plane: Plane,
    *,
    kubeconfig: Path | None = None,
    graph: Graph | None = None,
    pace: Pace | None = None,
) -> AsyncIterator[Followed]:
    """Follow the cluster until the block ends."""
    async with KubeClient.from_kubeconfig(kubeconfig or plane.kubeconfig()) as client:
        followed = Followed(client, graph, pace)
        async with followed.running():
            yield followed


async def until(true: Callable[[], bool], within_s: float = 60.0) -> float:
    """Wait until something is true; return how long it took, in seconds."""
    began = time.monotonic()
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.005)
    return time.monotonic() - began


async def settled(attempt: Callable[[], Awaitable[Any]]) -> Any:
    """Make an attempt until the API server takes it."""
    for _ in range(100):
        try:
            return await attempt()
        except SutureError:
            await asyncio.sleep(0.1)
    return await attempt()
