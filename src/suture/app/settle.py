"""Confirms or takes back what was promised, by what was then observed.

Admitted is not persisted: another webhook may refuse, the write may conflict. So what admission
reserved is settled here once the watch shows the effect, and refunded when it is past the horizon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from suture.app.signals import Signals
from suture.app.successors import Successors, serves
from suture.impact.causes.explained import ALWAYS_COUNTED
from suture.impact.causes.turned import LEADING, remember_unread
from suture.judge import World
from suture.model.clock import Now
from suture.model.names import Resource
from suture.model.objects import ClusterObject, OwnerReference, PodState, controller_of


class Settler:
    """An observer of the model: gone, going, written, or newly there; told the time by wiring."""

    heeds: AbstractSet[Resource] | None = None

    def __init__(self, world: World, signals: Signals, clock: Callable[[], Now]) -> None:
        self._world = world
        self._signals = signals
        self._clock = clock
        self._successors = Successors()

    def began(self, thing: ClusterObject) -> None:
        """Give back what an operator lost and then made again itself."""
        creation = self._world.history.creation(thing.uid)
        if creation is not None:
            operator, now = creation.operator, self._clock()
            if self._world.ledger.recreated(operator, thing.key, now):
                self._signals.settled("recreated")
        self.changed(thing, terminates=thing.terminating)

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Settle what was reserved for its removal, or for a write of it."""
        if terminates:
            self._settle_removal(thing)
        if self._successors.owed and serves(thing):
            self._succeed(thing.uid, thing.owners)
        for intent in self._world.overlay.seen_written(thing.uid):
            if self._world.ledger.settle(intent, self._clock()):
                self._signals.settled("settled")

    def restated(self, state: PodState) -> None:
        """Give back what a pod cost in whose place this one is, where it is Ready now."""
        if self._successors.owed and state.ready:
            self._succeed(state.uid, (state.owner,))

    def ended(self, thing: ClusterObject) -> None:
        """Remember that it was there, and settle what was reserved for its removal."""
        now = self._clock()
        self._settle_removal(thing)
        self._world.history.note_removed(thing.uid, thing.key, now, owners=thing.owners)
        # WHY first: of all that ends, pods mostly, hardly anything leads the API server anywhere.
        if isinstance(thing.facts, LEADING):
            remember_unread(thing, self._world.view, now)

    def _settle_removal(self, thing: ClusterObject) -> None:
        for intent in self._world.overlay.seen(thing.uid):
            self._world.history.note_remover(thing.uid, intent.identity)
            if self._world.ledger.settle(intent, self._clock()):
                self._signals.settled("settled")
                self._successors.took(thing, intent.identity, self._clock())

    def _succeed(self, pod: str, owners: Sequence[OwnerReference]) -> None:
        """Give back what a pod cost that its operator made another for, which is Ready now."""
        creation, owner = self._world.history.creation(pod), controller_of(owners)
        if creation is None or owner is None:
            return
        gone = self._successors.follows(pod, owner.uid, creation)
        now = self._clock()
        if gone is not None and self._world.ledger.recreated(creation.operator, gone, now):
            self._signals.settled("recreated")

    def tick(self, now: Now) -> None:
        """Refund what did not happen within the horizon, and note how many objects there are."""
        for intent in self._world.overlay.due(now):
            self._world.overlay.expire(intent)
        for intent in self._world.ledger.due(now):
            if self._world.ledger.refund(intent, now):
                self._signals.settled("refunded")
        view = self._world.view
        for resource in ALWAYS_COUNTED:
            self._world.ledger.observe_population(str(resource), view.count(resource), now)
