"""A member of several that does not run, and that its operator stops to put another in its place.

Beside `hands`, where the member goes once the next is Ready: here it is stopped first, so that the
two do not fight for what only one can have. Told by what is there: each member is a workload of one
pod of one custom resource; this one's pod is old and not Ready, and all others are. Nothing that
serves is lost, and the next member that is stopped in that way finds one missing.

So is a set of which no member is Ready, where a person sets its size by hand, or its operator does,
the first that it cuts down within the hour: what has lost its majority for good is stopped whole,
and begun again with one. Its claims are another matter. WHY the first: a machine finds none Ready
in every set that waits for the same thing. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import cut_down
from suture.impact.causes.parents import SIBLINGS
from suture.impact.ground.change import Resized
from suture.impact.ordinary.keepers import runs
from suture.impact.rollout import pods_under
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.graph import GraphView
from suture.model.objects import WorkloadFacts
from suture.model.writes import TEN_MINUTES_S

OTHERS: Final = 2
"""How many other members have to be Ready at least: with this one they were three."""


def fails_alone(scene: Scene, resized: Resized) -> bool:
    """Whether a workload of one pod, which is not Ready, is stopped while all beside it are."""
    view, row, now = scene.view, resized.row, scene.now
    if now is None or (resized.before, resized.after) != (1, 0) or resized.asked:
        return False
    parent = view.controller(row)
    if not runs(scene, parent):
        return False
    pods = list(pods_under(view, row))
    old_s = now.utc_s - TEN_MINUTES_S
    if not pods or any(view.serves(pod) or view.created(pod) > old_s for pod in pods):
        return False
    beside = [
        other
        for other in view.children_of(parent)[:SIBLINGS]
        if other != row and _is_alike(view, row, other)
    ]
    return len(beside) >= OTHERS and all(
        any(map(view.serves, pods_under(view, one))) for one in beside
    )


def fails_whole(scene: Scene, resized: Resized) -> bool:
    """Whether a workload is stopped none of whose pods is Ready, all of them old.

    By hand, or by the operator of what controls it, which has cut down no other within the hour.
    """
    view, now, row = scene.view, scene.now, resized.row
    if now is None or resized.asked:
        return False
    identity = scene.actor.user.username
    if is_person(identity):
        may = scene.request.subresource == "scale"
    else:
        # WHY several: of members of one pod each, others may be missing for another reason.
        may = (
            resized.before > 1
            and runs(scene, view.controller(row))
            and not scene.counted(cut_down(identity))
        )
    pods, old_s = list(pods_under(view, row)) if may else [], now.utc_s - TEN_MINUTES_S
    return bool(pods) and not any(view.serves(pod) or view.created(pod) > old_s for pod in pods)


def _is_alike(view: GraphView, row: int, other: int) -> bool:
    """Whether a workload is a member as another is: one pod, and the same selector but for values.

    WHY by keys: each member has a number or a letter of its own in one or two labels.
    """
    mine, its = view.facts(row), view.facts(other)
    return (
        view.resource(other) == view.resource(row)
        and not view.terminating(other)
        and isinstance(mine, WorkloadFacts)
        and isinstance(its, WorkloadFacts)
        and its.replicas == 1
        and mine.selector is not None
        and its.selector is not None
        and [one.key for one in mine.selector.requirements]
        == [one.key for one in its.selector.requirements]
        and set(view.labels(row)) == set(view.labels(other))
    )
