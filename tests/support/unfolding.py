"""A cluster in which updates follow each other: all of them are let through, and are seen."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from support.asking import update
from support.cluster import START, graph_of, operator
from suture.impact.causes.recent import remember
from suture.impact.effects import Impact
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import ObjectKey
from suture.model.objects import ClusterObject
from suture.model.request import Request

OTHER = operator("system:serviceaccount:ops:other")


class Unfolding:
    """Objects by their names, what was written of them, and the time."""

    def __init__(self, *things: ClusterObject | Iterable[ClusterObject]) -> None:
        self.things: dict[ObjectKey, ClusterObject] = {}
        for one in things:
            for thing in (one,) if isinstance(one, ClusterObject) else one:
                self.things[thing.key] = thing
        self.history, self.now = History(), START

    def write(
        self,
        after: ClusterObject,
        by: Actor | None = None,
        bodies: tuple[bytes, bytes] = (b"", b""),
    ) -> Impact:
        """Write an object anew, a minute after the last write; return what that was to do."""
        impact = self.ask(update(self.things[after.key], after, bodies=bodies), by)
        self.things[after.key] = after
        return impact

    def ask(self, request: Request, by: Actor | None = None) -> Impact:
        """Ask for anything a minute after the last write, and let it through."""
        self.now = self.now.plus_s(60)
        actor = by or operator()
        request = replace(request, user=actor.user)
        view = GraphView(graph_of(self.things.values()), self.history)
        change = project(request, view)
        impact = estimate(request, change, view, actor, now=self.now)
        remember(request, change, view, self.now)
        return impact
