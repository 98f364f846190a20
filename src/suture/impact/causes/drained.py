"""Pods that have to move: their node is closed to new ones, or going.

Apart from `podloss`, so that what is remembered of evictions can ask it as well.
"""

from __future__ import annotations

from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.objects import NodeFacts
from suture.model.placement import REPELS


def drains(view: GraphView, pod: int, now: Now | None) -> bool:
    """Whether a pod is on a node that is closed to new ones, or going, so that it has to move."""
    node = view.node_of(pod)
    return node is not None and closes(view, node, now)


def closes(view: GraphView, node: int, now: Now | None) -> bool:
    """Whether a node is closed to new pods, not well, or going: by a mark, or by a taint lately."""
    if view.gone(node) or view.terminating(node):
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
