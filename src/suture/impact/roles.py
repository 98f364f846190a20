"""The roles of members, which labels tell: whether a pod's change of labels is a change of role.

Apart from `selection`, which tells who is selected: a failover takes the label of the first member
away and gives it to the next, and for a moment nobody bears it.
"""

from __future__ import annotations

from typing import Final

from suture.impact.change import Rewritten
from suture.impact.keepers import is_own, keeps
from suture.impact.rollout import pods_under
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import PODS
from suture.model.writes import HOUR_S

MEMBERS_ASKED: Final = 16
"""LIMIT: members beside a pod that are asked whether they bear its new role; a set whose members
have roles has three or five."""


def moves_role(scene: Scene, made: Rewritten) -> bool:
    """Whether a pod's new labels give it another role among the members of its set.

    Its keeper may give it any. From others it is believed where the pod becomes what a Ready
    member beside it has been for an hour: each label that changes is left with that one's value.
    """
    if made.row is None or made.before is None or made.after.key.resource != PODS:
        return False
    return keeps_pod(scene, made.row) or _joins_others(scene, made.row, made)


def keeps_pod(scene: Scene, pod: int) -> bool:
    """Whether the actor keeps a pod: it made it, runs its kind of maker, or is a member beside it.

    Who keeps members moves their roles by label, one after the other: that is a failover.
    """
    if is_own(scene, pod):
        return True
    view, maker = scene.view, root_of(scene.view, pod)
    if keeps(scene, view.resource(maker)):
        return True
    beside = view.find_uid(scene.actor.pod_uid) if scene.actor.pod_uid else None
    return beside is not None and root_of(view, beside) == maker


def _joins_others(scene: Scene, pod: int, made: Rewritten) -> bool:
    before, after = (one.labels if one else {} for one in (made.before, made.after))
    changed = [key for key in {*before, *after} if before.get(key) != after.get(key)]
    # WHY a value: a label that is merely taken off is no role; the next loses it the same way.
    if scene.now is None or not all(key in after for key in changed):
        return False
    view, writes = scene.view, scene.view.history.writes
    maker = view.controller(pod)
    if maker < 0:
        return False
    beside = [one for one in pods_under(view, maker) if one != pod and view.serves(one)]
    return any(
        all(view.labels(one).get(key) == after[key] for key in changed)
        # WHY lately: who relabels all pods one by one leaves the last with what the others have.
        and not writes.written(view.key(one), What.WROTE, scene.now, HOUR_S)
        for one in beside[:MEMBERS_ASKED]
    )


def root_of(view: GraphView, row: int) -> int:
    """Return what stands behind an object: the last of its controllers, or itself."""
    seen = {row}
    while True:
        above = next((one.row for one in view.owners(row) if one.controller), None)
        if above is None or above in seen:
            return row
        seen.add(above)
        row = above
