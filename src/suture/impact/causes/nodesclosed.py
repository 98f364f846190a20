"""What is remembered of nodes: who closed or opened them, took their labels, and how they ended.

Apart from `recent`, which remembers of every write and asks this of nodes. Pure but for what it
remembers.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import ended_dead, ended_in_use, unlabelled
from suture.impact.ground.fit import Asked, is_shut, movable
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.objects import ClusterObject, NodeFacts
from suture.model.placement import REPELS
from suture.model.request import Request
from suture.model.writes import HOUR_S

LABELS_NOTED: Final = 64
"""LIMIT: labels of a node that are remembered when it loses them: 2 us each; more are found on few
nodes."""


def remember_labels(
    before: ClusterObject, after: ClusterObject, identity: str, view: GraphView, now: Now
) -> None:
    """Remember which labels an actor takes off a node, and which it gives back."""
    writes = view.history.writes
    for label in sorted(before.labels.keys() - after.labels.keys())[:LABELS_NOTED]:
        writes.count(unlabelled(identity, label), now)
    for label in sorted(after.labels.keys() - before.labels.keys())[:LABELS_NOTED]:
        if writes.counted(unlabelled(identity, label), now, HOUR_S) > 0:
            writes.count(unlabelled(identity, label), now, -1)


def remember_closing(
    request: Request, old: NodeFacts, new: NodeFacts, view: GraphView, now: Now
) -> None:
    """Remember that a node was closed, and whether it was in use; or that it was opened."""
    writes = view.history.writes
    fresh = any(one.effect in REPELS and one not in old.taints for one in new.taints)
    if fresh or (new.unschedulable and not old.unschedulable):
        writes.note_closed(request.key.name, now)
        row = view.find(request.key)
        # WHY ready: one that is dead serves nobody, closed or not.
        if row is not None and old.ready and movable(view, row, Asked(view)):
            writes.note(request.key, Deed.apart(What.CLOSED, request.user.username, now), now)
    elif is_shut(old) and not (new.unschedulable or (is_shut(new) and not old.unschedulable)):
        # WHY with a taint left: a dedicated node has one for good.
        writes.note_opened(request.key.name)


def remember_node_end(view: GraphView, node: int, now: Now, *, goes: bool = True) -> None:
    """Remember that a node was taken away; where it `goes`, that it was dead, or closed in use."""
    writes, key = view.history.writes, view.key(node)
    # WHY closed before: one that died takes its pods along, and that is nobody's closing.
    closed = key.name in writes.closed(now, HOUR_S) and writes.written(
        key, What.CLOSED, now, HOUR_S
    )
    writes.note_closed(key.name, now)
    facts = view.facts(node)
    if goes and isinstance(facts, NodeFacts) and not facts.ready:
        for counter in (ended_dead(), ended_dead(key.name)):
            writes.count(counter, now)
    if goes and closed and movable(view, node, Asked(view)):
        writes.count(ended_in_use(key.name), now)
