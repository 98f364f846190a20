"""Pods that wait for a node while others close: what was drained found no other place.

Beside `capacity`, which asks of the pods on a node whether they fit elsewhere. A cordon moves
nobody, and those that a drain has moved are on no node any more: each node is empty when it goes,
and the budgets of their workloads see members that come back. That they are not placed tells that
the cluster is smaller than what runs on it, whatever was to be there instead.
Source: the scheduler, `PodScheduled` False with reason `Unschedulable`.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene
from suture.model.names import REPLICA_SETS, STATEFUL_SETS
from suture.model.objects import NodeFacts

WAITED_S: Final = 60
"""How long a pod must have waited: the scheduler places one within seconds where there is room."""

_LASTING: Final = frozenset({REPLICA_SETS, STATEFUL_SETS})
"""WHY no others: a Job's pods may be meant to wait for each other, a DaemonSet's are bound."""


def left_waiting(scene: Scene, asked: Asked, nodes: list[int], since_s: int) -> list[int]:
    """Return the pods that some nodes might run, and that have waited since others close.

    Not those that waited before: what they wait for is not these nodes.
    """
    view, now = scene.view, scene.now
    if now is None:
        return []
    offered = [
        (view.labels(node), facts.taints)
        for node in nodes
        if isinstance(facts := view.facts(node), NodeFacts)
    ]
    return [
        pod
        for pod in view.unscheduled()
        if WAITED_S <= now.utc_s - view.created(pod) <= since_s
        and _lasts(scene, pod)
        and any(
            asked.of(pod).tolerates(taints) and asked.of(pod).accepts(labels)
            for labels, taints in offered
        )
    ]


def _lasts(scene: Scene, pod: int) -> bool:
    """Whether a pod is one of several that are to run for good."""
    above = scene.view.controller(pod)
    return above >= 0 and scene.view.resource(above) in _LASTING
