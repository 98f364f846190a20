"""Into the graph, in slices: the one place that writes it while the cluster is followed.

Between two slices the event loop is free for reviews. What was read live, ahead of a watch, is
kept from being overwritten by the older news that the watch still has to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import assert_never

import msgspec
import structlog

from suture.app.observer import Observer
from suture.app.slices import SLICE_CHECK, Slices
from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.graph import Graph, Life, Put, Sweep
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.pages import Restated
from suture.wire.watch import Delta, Listed, Lost, Removal, Upsert

log = structlog.get_logger(__name__)

AHEAD = 4096
"""LIMIT: objects read live that a watch has not caught up with: it does so within seconds, and a
hundred reviews a second read 16 objects each at most."""


class State(msgspec.Struct, frozen=True, gc=False):
    """Which state of an object the graph has: what tells two apart without reading them back."""

    uid: str
    version: str


class Found(StrEnum):
    """What a live read was to the model."""

    SAME = "same"
    """What we have; or the watch has told more meanwhile, and knows better."""
    AHEAD = "ahead"
    """News that the watch has yet to tell."""
    MISSING = "missing"
    """There, and not in the model, though the watch went past it: its event was lost."""
    STALE = "stale"
    """In the model as it once was, though the watch went past the change."""
    EXTRA = "extra"
    """In the model, and gone."""


class _Ahead(msgspec.Struct, frozen=True, gc=False):
    """What a live read found: a version of a life, or that this life is over."""

    uid: str
    version: int
    gone: bool = False


class Intake:
    """Applies what was heard to the graph and tells observers; knows what was read ahead."""

    def __init__(
        self, graph: Graph, clock: Callable[[], Now], observers: Sequence[Observer] = ()
    ) -> None:
        self.graph = graph
        self.slices = Slices(clock)
        self._observers = list(observers)
        self._heeding: dict[Resource, list[Observer]] = {}
        """Who is told of a type's objects as they come and change, as far as it was asked for."""
        self._clock = clock
        self._ahead: dict[ObjectKey, _Ahead] = {}
        self._sweeps: dict[Resource, Sweep] = {}
        self._anew: set[Resource] = set()

    def join(self, observer: Observer) -> None:
        """Tell one more, after all others."""
        self._observers.append(observer)
        self._heeding.clear()

    # ---- from lists and watches

    def begin_list(self, resource: Resource) -> None:
        """Note that a complete list of a type is asked for: what it will not have is gone.

        The graph goes on with what it has until then; a list that never ends removes nothing.
        """
        self._sweeps[resource] = self.graph.sweep(resource)

    def take_anew(self, resource: Resource) -> None:
        """Have the next list of a type taken whole: it is read in another form than before."""
        self._anew.add(resource)

    async def take(self, resource: Resource, version: str, deltas: Iterable[Delta]) -> None:
        """Apply changes of one type, with pauses; `version` is that of the list among them.

        INVARIANT: one task at a time for each type, in the order of its stream.
        """
        slices, sweep = self.slices, self._sweeps.get(resource)
        for number, delta in enumerate(deltas):
            if number % SLICE_CHECK == 0 and slices.spent():
                await slices.breathe()
            # WHY not a case of the match: of a list's changes all but the last are this.
            if isinstance(delta, Upsert):
                self._upsert(delta.thing, sweep)
                continue
            match delta:
                case Restated():
                    self._restate(resource, delta, sweep)
                case Removal():
                    self._passed(delta)
                    self.remove(delta.key, delta.uid, delta.last)
                case Listed():
                    if sweep is not None:
                        await self._sweep(sweep, _number(version))
                    sweep = self._sweeps.pop(resource, None)
                    self._anew.discard(resource)
                    self.graph.note_listed(resource)
                case Lost():
                    return
                case _:
                    assert_never(delta)

    def _upsert(self, thing: ClusterObject, sweep: Sweep | None) -> None:
        """Take one object as it is now, unless a live read has seen later."""
        if self._ahead and self._is_old(thing):
            if sweep is not None:
                sweep.see(thing.uid)
            return
        row = self.put(thing)
        if sweep is not None:
            sweep.see_row(row)

    def _restate(self, resource: Resource, news: Restated, sweep: Sweep | None) -> None:
        """Take a pod's state where that is all that changed, else the whole of it."""
        state, graph = news.state, self.graph
        ahead = bool(self._ahead) and state.key in self._ahead
        if ahead or resource in self._anew or not graph.restate(state):
            thing = news.whole()
            if thing is not None:
                self._upsert(thing, sweep)
            return
        if sweep is not None:
            sweep.see_row(graph.row_put)
        for observer in self._heeding_of(resource):
            try:
                observer.restated(state)
            except Exception:  # one observer's defect must not stop the model
                log.exception("observer failed", key=state.key)

    async def clear(self, resource: Resource) -> None:
        """Take out everything of a type that the cluster serves no more."""
        self._sweeps.pop(resource, None)
        self._anew.discard(resource)
        await self._sweep(self.graph.sweep(resource), None)
        self.graph.forget(resource)

    async def _sweep(self, sweep: Sweep, version: int | None) -> None:
        """Take out what a complete list does not have."""
        slices = self.slices
        for part in sweep.parts():
            await slices.breathe()
            for number, (key, uid) in enumerate(part, 1):
                ahead = self._ahead.get(key)
                newer = ahead is not None and version is not None and ahead.version > version
                if not newer:
                    self.remove(key, uid)
                if number % SLICE_CHECK == 0 and slices.spent():
                    await slices.breathe()

    def put(self, thing: ClusterObject) -> int:
        """Add or change one object, and tell; nothing happens when it is what we have.

        Returns its row.
        """
        graph = self.graph
        if self._anew and thing.key.resource in self._anew:
            done: Put | None = graph.put(thing)
        else:
            done = graph.news(thing)
        row = graph.row_put
        if done is None:
            return row
        if done.ended is not None:
            self._tell_ended(done.ended)
        for observer in self._heeding_of(thing.key.resource):
            try:
                if done.life is Life.SAME:
                    observer.changed(thing, terminates=done.terminates)
                else:
                    observer.began(thing)
            except Exception:  # one observer's defect must not stop the model
                log.exception("observer failed", thing=thing)
        return row

    def _heeding_of(self, resource: Resource) -> list[Observer]:
        found = self._heeding.get(resource)
        if found is None:
            found = self._heeding[resource] = [
                one for one in self._observers if one.heeds is None or resource in one.heeds
            ]
        return found

    def remove(self, key: ObjectKey, uid: str, last: ClusterObject | None = None) -> None:
        """Take out one life of an object, and tell; nothing happens when it is not there.

        `last` is its last state, where that was told.
        """
        ended = self.graph.remove(key, uid, last)
        if ended is not None:
            self._tell_ended(ended)

    def _tell_ended(self, ended: ClusterObject) -> None:
        for observer in self._observers:
            try:
                observer.ended(ended)
            except Exception:  # one observer's defect must not stop the model
                log.exception("observer failed", ended=ended)

    def heard(self, resource: Resource, version: str) -> None:
        """Note that a type's stream is alive and has told all up to `version`."""
        self.graph.heard(resource, version, self._clock().mono_ns)

    def state(self, key: ObjectKey) -> State | None:
        """Return which state of an object the graph has; None where it has none."""
        graph = self.graph
        row = graph.row(key)
        return None if row is None else State(graph.uid(row), graph.version(row))

    # ---- from live reads and reviews

    def told_up_to(self, resource: Resource) -> int | None:
        """Return the version up to which a type's stream has told all; None where unknown."""
        fresh = self.graph.freshness.get(resource)
        return None if fresh is None else _number(fresh.resource_version)

    def live(
        self,
        key: ObjectKey,
        found: ClusterObject | None,
        known: State | None,
        told: int | None,
    ) -> Found:
        """Take what a live read found; None: there is no such object. Tell what that was.

        `known` and `told` are what we had, and were told, when the read began. Where the watch
        has brought news of the object meanwhile, the watch knows better.
        """
        if found is not None and self._is_ahead(found):
            same = known == State(found.uid, found.resource_version)
            self._take_ahead(found)
            return Found.SAME if same else Found.AHEAD
        if self.state(key) != known:
            return Found.SAME
        if found is None:
            if known is None:
                return Found.SAME
            self._note(key, _Ahead(known.uid, 0, gone=True))
            self.remove(key, known.uid)
            return Found.EXTRA
        if known == State(found.uid, found.resource_version):
            return Found.SAME
        # Not newer than the stream, yet not what we have: an event was lost. Where we had nothing,
        # and the stream went on meanwhile, the object may as well have gone since.
        if known is None and self.told_up_to(key.resource) != told:
            return Found.SAME
        self.put(found)
        return Found.MISSING if known is None else Found.STALE

    def saw(self, old: ClusterObject) -> None:
        """Take the state of an object that a review shows, where the watch is behind it."""
        if self._is_ahead(old):
            self._take_ahead(old)

    def _is_ahead(self, thing: ClusterObject) -> bool:
        version, told = _number(thing.resource_version), self.told_up_to(thing.key.resource)
        if version is None or told is None or version <= told:
            return False
        ahead = self._ahead.get(thing.key)
        if ahead is None:
            return True
        return ahead.uid != thing.uid if ahead.gone else version > ahead.version

    def _take_ahead(self, thing: ClusterObject) -> None:
        self._note(thing.key, _Ahead(thing.uid, _number(thing.resource_version) or 0))
        self.put(thing)

    def _note(self, key: ObjectKey, ahead: _Ahead) -> None:
        self._ahead[key] = ahead
        for one in oldest(self._ahead, AHEAD):
            del self._ahead[one]

    def _is_old(self, thing: ClusterObject) -> bool:
        """Whether a live read has seen later than this news of a watch."""
        ahead = self._ahead.get(thing.key)
        if ahead is None:
            return False
        if ahead.gone:
            old = thing.uid == ahead.uid
        else:
            version = _number(thing.resource_version)
            old = version is not None and version < ahead.version
        if not old:
            del self._ahead[thing.key]
        return old

    def _passed(self, removed: Removal) -> None:
        """Forget what was read ahead of a removal that the watch now tells."""
        ahead = self._ahead.get(removed.key)
        if ahead is None or ahead.uid != removed.uid:
            return
        version = _number(removed.resource_version)
        if ahead.gone or version is None or version >= ahead.version:
            del self._ahead[removed.key]


def _number(version: str) -> int | None:
    return int(version) if version.isdecimal() else None
