"""Pods of one owner that are evicted over and over, more slowly than an hour tells.

Beside `churn`, which counts what happens within the hour: who moves a pod of the same small set
every few minutes, day and night, stays under what is told there. Counted are evictions from nodes
that take new pods, since nothing but the evictor wants such a pod elsewhere: drains, upgrades and
consolidations close a node before they empty it.
Source: descheduler and vertical autoscalers, which evict from nodes in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from suture.impact.causes.drained import drains
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import PODS, ObjectKey
from suture.model.objects import WorkloadFacts

LOOP_S: Final = 6 * 3600
"""How long evictions of one owner's pods are looked back on: a quarter of a day, in which nobody
moves each pod of a set of three seven times."""

ROUNDS: Final = 6
"""How often each pod has gone, on average, from which on the owner is told of. SOURCE: none; with
`maxEvicted` of churn-growth it is of sets of up to three."""


def note_evicted(view: GraphView, rows: Iterable[int], identity: str, now: Now) -> None:
    """Remember of which owners pods were evicted that had no reason to move."""
    for pod in rows:
        owner = view.controller(pod) if view.resource(pod) == PODS else -1
        if owner >= 0 and not drains(view, pod, now):
            # A number that no other eviction has.
            deed = Deed(What.EVICTED, identity, -now.mono_ns)
            view.history.writes.note(_place(view, owner), deed, now)


def evicted_again(view: GraphView, rows: Iterable[int], now: Now) -> Iterator[tuple[int, int]]:
    """Yield the owners whose pods have gone so for long, this time included: row, and how often."""
    for owner in dict.fromkeys(
        view.controller(pod)
        for pod in rows
        if view.resource(pod) == PODS and not drains(view, pod, now)
    ):
        if owner < 0 or view.terminating(owner):
            continue
        times = view.history.writes.written(_place(view, owner), What.EVICTED, now, LOOP_S) + 1
        facts = view.facts(owner)
        wanted = facts.replicas if isinstance(facts, WorkloadFacts) else None
        if wanted and times // wanted >= ROUNDS:
            yield owner, times


def _place(view: GraphView, owner: int) -> ObjectKey:
    """Return the name, which no pod can have, under which an owner's evictions are remembered."""
    return ObjectKey(PODS, view.namespace(owner), f"/{view.uid(owner)}")
