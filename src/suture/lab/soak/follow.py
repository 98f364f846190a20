"""A mirror in company: is its graph what a fresh list of everything says.

The list is read by readers of its own, kind by kind, as closely as the mirror follows each.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from suture.adapters.kube import KubeClient
from suture.app.follow import Pace
from suture.app.mirror import Mirror
from suture.app.observer import Observer
from suture.errors import SutureError, UnavailableError
from suture.lab.soak.compare import check_indexes, differences
from suture.lab.soak.slowgraph import SlowGraph
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.objects import ClusterObject
from suture.wire.pages import Decoders
from suture.wire.trim import Trimmer

SAMPLED = 200
"""LIMIT: objects of which every query is asked in depth, each a walk over all: 4 s of 5,000."""

READY_S = 60.0
"""LIMIT: the first lists of a small cluster take 2 s."""

BETWEEN_S = 0.5


class Follower:
    """A client, and the mirror of its cluster, which may begin with the graph of a file."""

    def __init__(
        self,
        client: KubeClient,
        graph: Graph | None = None,
        *,
        observers: Sequence[Observer] = (),
        pace: Pace | None = None,
    ) -> None:
        self.client = client
        self.graph = Graph() if graph is None else graph
        self.trimmer = Trimmer()
        self.mirror = Mirror(
            client,
            self.graph,
            self.trimmer,
            clock=lambda: Now(time.monotonic_ns(), time.time()),
            chance=random.random,
            observers=observers,
            pace=pace,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow until the block ends. Errors: UnavailableError when it is not ready in time."""
        task = asyncio.create_task(self.mirror.run())
        try:
            deadline = time.monotonic() + READY_S
            while not self.mirror.ready()[0]:
                if task.done():
                    task.result()
                if time.monotonic() > deadline:
                    raise UnavailableError(f"the mirror is not ready after {READY_S:g} s")
                await asyncio.sleep(0.05)
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def listed(self) -> list[ClusterObject]:
        """Return everything that the mirror is to follow, listed anew."""
        found: list[ClusterObject] = []
        trimmer = Trimmer()
        for api in (await self.client.discover()).resources:
            want = self.mirror.watches.want(api)
            if want is None:
                continue
            decoders = Decoders(trimmer.reader(api.resource, api.gvk, full=want.full))
            pages = self.client.list_pages(api.path(), metadata_only=not want.full)
            async with aclosing(pages):
                async for page in pages:
                    found += decoders.page(page).objects
        return found

    async def differs(self, dice: random.Random | None = None) -> list[str]:
        """Return where graph and cluster differ now.

        Of some objects, which `dice` pick, every query is asked too.
        """
        slow = SlowGraph(await self.listed())
        about = dice.sample(list(slow), min(SAMPLED, len(slow))) if dice is not None else ()
        found = differences(self.graph, GraphView(self.graph), slow, about=about)
        ready, why = self.mirror.ready()
        if not ready:
            found.append(f"not ready: {dict(why)}")
        found += [f"odd: {where} {count}" for where, count in self.trimmer.odd.items()]
        return found

    async def equal(self, within_s: float, dice: random.Random | None = None) -> list[str]:
        """Wait until nothing differs, and return what still does when time is up.

        The cluster may go on by itself meanwhile: controllers come to an end some time.
        """
        deadline = time.monotonic() + within_s
        while True:
            try:
                found = await self.differs(dice)
            except SutureError as error:
                found = [f"cannot be listed: {error}"]
            if not found:
                check_indexes(self.graph)
                return []
            if time.monotonic() > deadline:
                return found
            await asyncio.sleep(BETWEEN_S)


@asynccontextmanager
async def following(kubeconfig: Path) -> AsyncIterator[Follower]:
    """Follow a cluster until the block ends. Errors: UnavailableError when it is not ready."""
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        follower = Follower(client)
        async with follower.running():
            yield follower
