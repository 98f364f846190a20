"""Pods of one owner that are evicted or deleted over and over, more slowly than an hour tells.

Beside `churn`, which counts what happens within the hour: who moves a pod of the same small set
every few minutes, day and night, stays under what is told there. Counted are evictions from nodes
that take new pods, since nothing but the evictor wants such a pod elsewhere: drains, upgrades and
consolidations close a node before they empty it. And of what is deleted by an operator, pods that
serve while their owner stays as it was written: what it had to take over, each pod has taken over.
Pods that a custom resource owns itself are as many as it has, and it is the same one each time.
Source: descheduler and vertical autoscalers, which evict from nodes in use; operators that compare
a pod with what they would make, and never find it the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from suture.impact.causes.drained import drains
from suture.impact.ground.kinds import is_custom
from suture.model.actor import CONSEQUENCE_CONTROLLERS, account_of
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import PODS, ObjectKey
from suture.model.objects import WorkloadFacts

LOOP_S: Final = 6 * 3600
"""How long is looked back on what one owner lost: a quarter of a day, in which nobody moves each
pod of a set of three seven times."""

ROUNDS: Final = 6
"""How often each pod has gone, on average, from which on the owner is told of. SOURCE: none; with
`maxEvicted` of churn-growth it is of sets of up to three."""


def note_taken(view: GraphView, rows: Iterable[int], what: What, identity: str, now: Now) -> None:
    """Remember of which owners pods were evicted or deleted that had no reason to go."""
    for pod in rows:
        owner = view.controller(pod) if view.resource(pod) == PODS else -1
        if owner >= 0 and _may_repeat(view, pod, what, identity, now):
            deed = Deed.apart(what, identity, now)
            view.history.writes.note(_place(view, owner), deed, now)


def taken_again(
    view: GraphView, rows: Iterable[int], what: What, identity: str, now: Now
) -> Iterator[tuple[int, int]]:
    """Yield the owners whose pods have gone so for long, this time included: row, and how often."""
    writes = view.history.writes
    for owner, pod in {
        view.controller(pod): pod
        for pod in rows
        if view.resource(pod) == PODS and _may_repeat(view, pod, what, identity, now)
    }.items():
        if owner < 0 or view.terminating(owner):
            continue
        times = writes.written(_place(view, owner), what, now, LOOP_S) + 1
        if times < ROUNDS:
            continue
        members = _members(view, owner, pod, what, now)
        if not members or times // members < ROUNDS:
            continue
        if what is What.EVICTED or not writes.changed(view.key(owner), What.WROTE, now, LOOP_S):
            yield owner, times


def _members(view: GraphView, owner: int, pod: int, what: What, now: Now) -> int:
    """Return how many pods an owner is to have; 0 where they are no set that stays the same.

    WHY of a custom resource the same name each time: an operator that makes the pods itself calls
    a member as before, and of workers that come and go with the load each is called otherwise.
    """
    facts = view.facts(owner)
    if isinstance(facts, WorkloadFacts):
        return facts.replicas or 0
    again = view.history.writes.written(view.key(pod), what, now, LOOP_S) + 1
    if not is_custom(view.resource(owner)) or again < ROUNDS:
        return 0
    return sum(view.running_alike(kind)[0] for kind in view.classes_controlled(owner))


def _may_repeat(view: GraphView, pod: int, what: What, identity: str, now: Now) -> bool:
    """Whether that a pod goes may be of a loop: evicted for no node, or deleted while it serves.

    WHY by an operator: people who look for a fault delete the same pods all day, and know it. WHY
    not what has ended: nothing moves.
    """
    if view.finished(pod):
        return False
    if what is What.DELETED and not (
        account_of(identity) is not None
        and identity not in CONSEQUENCE_CONTROLLERS
        and view.serves(pod)
    ):
        return False
    return not drains(view, pod, now)


def _place(view: GraphView, owner: int) -> ObjectKey:
    """Return the name, which no pod can have, under which what an owner lost is remembered."""
    return ObjectKey(PODS, view.namespace(owner), f"/{view.uid(owner)}")
