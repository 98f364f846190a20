"""What a model holds and how well it is known, by kind: the values behind `suture model stats`.

Pure. The numbers come from a graph at hand or from a server's metrics; both are told here alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from suture.model.clock import Now
from suture.model.graph import Graph


class KindStats(msgspec.Struct, frozen=True):
    """One kind. `age_s` None: never heard of. `unknown`: why it cannot be known, else empty.

    `objects` None: the source does not count this kind.
    """

    kind: str
    objects: int | None
    listed: bool
    age_s: float | None
    unknown: str = ""


class ModelStats(msgspec.Struct, frozen=True):
    """A model in numbers, kinds with the most objects first.

    `memory` is bytes by part of the model where the source tells parts apart, else one part.
    """

    source: str
    objects: int
    memory: Mapping[str, int]
    kinds: tuple[KindStats, ...]

    @property
    def size_bytes(self) -> int:
        """What the whole model takes."""
        return sum(self.memory.values())

    @property
    def bytes_per_object(self) -> float:
        """What one object takes; 0 where there is none."""
        return self.size_bytes / self.objects if self.objects else 0.0


def stats_of(graph: Graph, source: str, memory: Mapping[str, int], now: Now) -> ModelStats:
    """Return the numbers of a graph at hand."""
    kinds = [
        KindStats(
            kind=str(resource),
            objects=graph.count(resource),
            listed=fresh.listed,
            age_s=(now.mono_ns - fresh.heard_ns) / 1e9 if fresh.heard_ns else None,
            unknown=fresh.unknown,
        )
        for resource, fresh in graph.freshness.items()
    ]
    return ModelStats(source, len(graph), memory, in_order(kinds))


def in_order(kinds: list[KindStats]) -> tuple[KindStats, ...]:
    """Return kinds with the most objects first, then by name."""
    return tuple(sorted(kinds, key=lambda one: (-(one.objects or 0), one.kind)))
