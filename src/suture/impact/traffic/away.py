"""Pods behind a Service that were just taken by name, and are not back: what is left is not all.

Beside `serving`, which says what a Service loses: a floor is a share of what it has when nobody
takes from it, and who takes one member after the other would else find a lower floor each time.
Source: ReplicaSet and StatefulSet controllers, which make a pod anew and wait for nobody.
"""

from __future__ import annotations

from suture.impact.causes.counters import taken_from
from suture.impact.causes.drained import drains
from suture.impact.scene import Scene
from suture.model.names import PODS, Operation
from suture.model.writes import TEN_MINUTES_S


def taken_and_away(scene: Scene, missing: int) -> int:
    """Return how many of `missing` Ready pods were taken within ten minutes.

    From the controllers of those that go now. WHY not by eviction, nor from a node that is closed:
    disruption budgets hold those, and how many nodes may be closed at a time.
    """
    view, now = scene.view, scene.now
    if missing <= 0 or now is None or scene.request.operation is not Operation.DELETE:
        return 0
    pods = [row for row in scene.change.direct if view.resource(row) == PODS]
    if not pods or any(drains(view, pod, now) for pod in pods):
        return 0
    makers = {maker for pod in pods if (maker := view.controller(pod)) >= 0}
    return min(
        missing,
        sum(
            view.history.writes.counted(taken_from(view.uid(one), PODS), now, TEN_MINUTES_S)
            for one in makers
        ),
    )
