"""A world at a desk: its rim in memory, its time told by the test, reviews in and answers out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from support.cluster import START, graph_of
from suture.adapters.memory import MemoryJournal
from suture.adapters.metrics import Metrics
from suture.app.admit import Lane, Rim, admit
from suture.app.slices import Slices
from suture.errors import UnavailableError
from suture.journal.entry import Entry, decision_id
from suture.judge import World
from suture.model.actor import Operators, Profile
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Request
from suture.policy.compile import PolicySet
from suture.wire.trim import Trimmer


class Watched:
    """A model whose freshness and live reads a test decides."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.stale_types: tuple[Resource, ...] = ()
        self.live: dict[ObjectKey, ClusterObject] = {}
        self.away = False
        self.lately = False
        """Whether everything was read a moment ago."""
        self.read: list[ObjectKey] = []

    def stale(self, resources: Iterable[Resource]) -> tuple[Resource, ...]:
        return tuple(one for one in resources if one in self.stale_types)

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        self.read.extend(keys)
        if self.away:
            raise UnavailableError("the API server is away")
        for found in self.live.values():
            self.graph.put(found)

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:
        return self.lately

    def saw(self, request: Request) -> None:
        """Nothing to learn: the graph of these tests has it all."""


class Desk:
    """A world, its rim, and how to ask it."""

    def __init__(
        self, pack: PolicySet, *things: ClusterObject | Iterable[ClusterObject], profile: Profile
    ) -> None:
        self.world = World(pack, graph=graph_of(*things), operators=Operators([profile]))
        self.model = Watched(self.world.graph)
        self.journal = MemoryJournal()
        self.metrics = Metrics()
        self.now = START
        self.rim = Rim(
            self.model,
            self.journal,
            self.metrics,
            self._clock,
            self._id,
            Trimmer(),
            Slices(self._clock),
        )
        self._count = 0

    def _clock(self) -> Now:
        self.now = self.now.plus_s(0.0001)
        return self.now

    def _id(self, now: Now) -> str:
        self._count += 1
        return decision_id(now, self._count)

    async def ask(self, body: bytes, lane: Lane = Lane.DESTRUCTIVE) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(await admit(body, lane, self.world, self.rim))
        found: dict[str, Any] = answer["response"]
        return found

    def doubts(self, code: str, lane: Lane = Lane.DESTRUCTIVE) -> float:
        value = self.metrics.registry.get_sample_value(
            "suture_doubts_total", {"lane": str(lane), "code": code}
        )
        return value or 0.0

    async def entry(self, answer: dict[str, Any]) -> Entry:
        """Return the journal's line of an answer."""
        (found,) = await self.journal.find(answer["auditAnnotations"]["decision-id"])
        return found
