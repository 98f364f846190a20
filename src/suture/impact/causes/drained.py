"""Pods that have to move: their node is closed to new ones, or going.

Apart from `podloss`, so that what is remembered of evictions can ask it as well.
"""

from __future__ import annotations

from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import NODES
from suture.model.objects import NodeFacts, WorkloadFacts
from suture.model.placement import REPELS


def drains(view: GraphView, pod: int, now: Now | None) -> bool:
    """Whether a pod is on a node that is closed to new ones, or going, so that it has to move."""
    node = view.node_of(pod)
    return node is not None and (closes(view, node, now) or _repels(view, node, pod))


def _repels(view: GraphView, node: int, pod: int) -> bool:
    """Whether a node bears a taint that a pod's workload does not tolerate, however long it has.

    So a pool is closed at once and drained for hours. WHY only a workload's: of what other keepers
    ask of a node nothing is read, and one that is dedicated to them has its taint for good.
    """
    facts, keeper = view.facts(node), view.controller(pod)
    if keeper < 0 or not isinstance(facts, NodeFacts):
        return False
    taints = [one for one in facts.taints if one.effect in REPELS]
    made = view.facts(keeper) if taints else None
    return isinstance(made, WorkloadFacts) and not made.placement.tolerates(taints)


def closes(view: GraphView, node: int, now: Now | None) -> bool:
    """Whether a node is closed to new pods, not well, or going: by a mark, or by a taint lately.

    Or whether it is not there any more: the pods that name it run nowhere, whatever they last said.
    Source: pod garbage collector `gcOrphaned` (40 s after the node).
    """
    if view.gone(node) or view.terminating(node):
        return True
    if view.listed(NODES) and not view.alive(node):
        return True
    facts = view.facts(node)
    if not isinstance(facts, NodeFacts):
        return False
    if facts.unschedulable or not facts.ready:
        return True
    if now is None or not any(one.effect in REPELS for one in facts.taints):
        return False
    # WHY not every taint: a dedicated node has one for good, which its pods tolerate.
    return view.name(node) in view.history.writes.closed(now)
