"""A replica without its servers: the model, kept by the real mirror, and the real admit path.

What `suture.wiring` makes for `suture serve`, as far as benchmarks of the model need it; they sit
below it and cannot ask it.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import structlog

from suture.adapters.allocator import give_back, in_large_pages
from suture.adapters.collector import Collector
from suture.adapters.files import load_policies
from suture.adapters.memory import MemoryJournal
from suture.app.admit import Rim
from suture.app.begun import HeadStart
from suture.app.mirror import Mirror
from suture.app.ports import Cluster
from suture.app.rules import Rules
from suture.app.settle import Settler
from suture.app.slices import Slices
from suture.app.watches import Watches
from suture.bench.scene import clock
from suture.errors import UnavailableError
from suture.journal.entry import decision_id
from suture.judge import World
from suture.lab.incident import ACCOUNT, OPERATOR
from suture.model.actor import Operators, Profile, Stage
from suture.model.graph import Graph
from suture.policy.compile import PolicySet
from suture.verdict import Verdict
from suture.wire.discovery import Discovery
from suture.wire.trim import Trimmer

log = structlog.get_logger(__name__)

READY_S = 1_200.0
"""LIMIT: until the model is ready: two million objects take a minute of one core."""

LOOK_S = 0.05
"""Between two looks at whether it is."""


class Told:
    """Counts what is told of decisions."""

    def __init__(self) -> None:
        self.decisions = 0
        self.doubts = 0

    def decided(self, lane: str, verdict: Verdict, seconds: float) -> None:  # noqa: ARG002 counts
        """Count an answer."""
        self.decisions += 1

    def doubted(self, lane: str, code: str) -> None:  # noqa: ARG002 counts
        """Count a doubt."""
        self.doubts += 1

    def broke_glass(self) -> None:
        """Pass by what nobody does here."""

    def settled(self, outcome: str) -> None:
        """Pass by what is settled."""


class Moment:
    """When something was: by the clock on the wall, and in CPU time of the process."""

    def __init__(self) -> None:
        self.wall_s = time.perf_counter()
        self.cpu_s = time.process_time()


class Noting:
    """An API server's client that notes when the first object was asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.first: Moment | None = None

    def _note(self) -> None:
        if self.first is None:
            self.first = Moment()

    async def discover(self) -> Discovery:
        """Return every kind that is served."""
        return await self._cluster.discover()

    def list_pages(
        self, path: str, limit: int, *, metadata_only: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list, page by page."""
        self._note()
        return self._cluster.list_pages(path, limit, metadata_only=metadata_only)

    def watch_lines(
        self,
        path: str,
        resource_version: str | None,
        send_initial_events: bool,
        *,
        timeout_s: int,
        metadata_only: bool,
    ) -> AsyncGenerator[bytes, None]:
        """Yield watch events as blocks of whole lines."""
        self._note()
        return self._cluster.watch_lines(
            path,
            resource_version,
            send_initial_events,
            timeout_s=timeout_s,
            metadata_only=metadata_only,
        )

    async def get_raw(self, path: str, *, accept: str, timeout_s: float) -> bytes:
        """Return one object."""
        return await self._cluster.get_raw(path, accept=accept, timeout_s=timeout_s)


class Replica:
    """World, mirror and rim over a cluster and a graph, which may be of a snapshot.

    Its operator is warned and not refused: what comes before a refusal is a live read, and the
    replay server, which searches a page of 500 objects for each, would be what is measured.
    """

    def __init__(
        self,
        cluster: Cluster,
        graph: Graph,
        *,
        policies: PolicySet | None = None,
        head_start: HeadStart | None = None,
    ) -> None:
        self.told = Told()
        self.world = World(
            policies or load_policies(),
            graph=graph,
            operators=Operators([Profile(OPERATOR, users=(ACCOUNT.username,), stage=Stage.WARN)]),
        )
        trimmer, watches = Trimmer(), Watches()
        rules = Rules(trimmer, watches, graph)
        rules.load(graph)
        self.mirror = Mirror(
            cluster,
            graph,
            trimmer,
            clock=clock,
            chance=random.random,
            observers=[Settler(self.world, self.told, clock), rules],
            watches=watches,
            head_start=head_start,
        )
        ids = itertools.count()
        self.rim = Rim(
            model=self.mirror,
            journal=MemoryJournal(),
            signals=self.told,
            clock=clock,
            decision_id=lambda now: decision_id(now, next(ids)),
            trimmer=trimmer,
            turns=Slices(clock),
        )
        self.pauses_s: list[float] = []
        self.collector = Collector(self.pauses_s.append)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the model, with the collector out of the way as `suture serve` has it."""
        self.collector.start()
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self.mirror.run()),
                tasks.create_task(self.collector.run(self.mirror.breathe)),
            ]
            try:
                yield
            finally:
                for one in running:
                    one.cancel()

    async def ready(self) -> Moment:
        """Wait until decisions can rest on the model. Errors: UnavailableError."""
        deadline = time.monotonic() + READY_S
        while not (found := self.mirror.ready())[0]:
            if time.monotonic() > deadline:
                raise UnavailableError(f"the model is not ready: {found[1]}")
            await asyncio.sleep(LOOK_S)
        return Moment()

    def freeze(self) -> None:
        """Do what `suture serve` does once the model is ready."""
        self.world.graph.reserve()
        self.collector.freeze()
        give_back()
        in_large_pages()
