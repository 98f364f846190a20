"""Pods behind a Service that were just taken by name, and are not back: what is left is not all.

Beside `serving`, which says what a Service loses: a floor is a share of what it has when nobody
takes from it, and who takes one member after the other would else find a lower floor each time.
Source: ReplicaSet and StatefulSet controllers, which make a pod anew and wait for nobody; what a
custom resource has of pods its operator makes anew, who is to wait for each.
"""

from __future__ import annotations

from suture.impact.causes.counters import taken_from
from suture.impact.causes.drained import drains
from suture.impact.causes.parents import sizes_said
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import one_of_each
from suture.impact.ordinary.hands import made_lately
from suture.impact.ordinary.stopping import orders_of
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import PODS, Operation
from suture.model.writes import TEN_MINUTES_S


def taken_and_away(scene: Scene, service: int, missing: int) -> int:
    """Return how many of `missing` Ready pods behind a Service were taken within ten minutes.

    From whatever controllers it reaches pods of: members may each have a set of one of their own.
    WHY not by eviction, nor from a node that is closed: disruption budgets hold those, and how many
    nodes may be closed at a time.
    """
    view, now = scene.view, scene.now
    if missing <= 0 or now is None or scene.request.operation is not Operation.DELETE:
        return 0
    pods = [row for row in scene.change.direct if view.resource(row) == PODS]
    if not pods or any(drains(view, pod, now) for pod in pods):
        return 0
    pods += one_of_each(view, view.classes_selected(service))
    makers = {maker for pod in pods if (maker := view.controller(pod)) >= 0}
    return min(
        missing,
        sum(
            view.history.writes.counted(taken_from(view.uid(one), PODS), now, TEN_MINUTES_S)
            for one in makers
        ),
    )


def members_away(scene: Scene, service: int) -> int:
    """Return how many pods of a custom resource were taken within ten minutes, and are not back.

    From the one whose pod goes now, all of whose pods the Service reaches. WHY not of what the
    actor made lately, nor where one has ended or another version was asked for: what is work is
    started anew as a whole, and what cannot run in two versions.
    """
    view, now = scene.view, scene.now
    if now is None or scene.change.evicted or len(scene.change.direct) != 1:
        return 0
    (pod,) = scene.change.direct
    parent = view.controller(pod)
    if view.resource(pod) != PODS or parent < 0 or not is_custom(view.resource(parent)):
        return 0
    taken = view.history.writes.counted(taken_from(view.uid(parent), PODS), now, TEN_MINUTES_S)
    if not taken or drains(view, pod, now) or made_lately(scene, pod) or orders_of(scene, pod):
        return 0
    kinds = [kind for kind in view.classes_owned(parent) if view.one_alike(kind) >= 0]
    if not set(view.classes_selected(service)).issuperset(kinds):
        return 0
    return max(0, taken - _back(scene, kinds)) if _fewer(view, parent, kinds) else 0


def _fewer(view: GraphView, parent: int, kinds: list[int]) -> bool:
    """Whether a custom resource may have fewer pods than it wants, none of which has ended."""
    pods = [pod for kind in kinds for pod in view.pods_alike(kind)]
    # WHY: what has as many as it says has lost none, whatever it had before.
    return len(pods) not in sizes_said(view, parent, sums=True) and not any(
        map(view.finished, pods)
    )


def _back(scene: Scene, kinds: list[int]) -> int:
    """Return how many Ready pods the actor has made within ten minutes."""
    view = scene.view
    return sum(
        view.serves(pod) and scene.made_young(pod, TEN_MINUTES_S)
        for kind in kinds
        for pod in view.pods_alike(kind)
    )
