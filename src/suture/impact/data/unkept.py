"""Volumes of running pods whose data was to stay, and is to be erased with their claims.

Beside `storage`, where a claim or volume goes: here none does, and what is written takes effect
with the next delete of a claim, which looks as harmless then as it was before.
Source: core/v1 `persistentVolumeReclaimPolicy` (the volume's own counts, not its class's).
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.causes.agreed import is_agreed
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.parents import mounting
from suture.impact.data.storage import DELETE
from suture.impact.effects import DataLost
from suture.impact.ground.change import Change
from suture.impact.ordinary.sweeps import is_swept
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.facts import RETAIN, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import VOLUMES
from suture.model.objects import Facts
from suture.model.writes import DAY_S, number


def is_let_go(change: Change) -> bool:
    """Whether a change has a volume erased that was to be kept."""
    made = change.rewritten
    return (
        made is not None
        and made.before is not None
        and made.after.key.resource == VOLUMES
        and _is(made.before.facts, RETAIN)
        and _is(made.after.facts, DELETE)
    )


def unkept_effects(scene: Scene) -> Iterator[DataLost]:
    """Tell of a volume in use that is to be erased, as others are by now through the same actor.

    WHY not of the first: whose data goes with a release that is given up is somebody's decision.
    WHY not what the actor wrote before: who moves a volume keeps it meanwhile, and sets it back.
    Nor of what a person has just asked for, in the custom resource whose pods use it.
    """
    made, view = scene.change.rewritten, scene.view
    if made is None or made.row is None or made.after.terminating or _moved_it(scene, made.row):
        return
    users = _using(view, made.row)
    others = (row for row in view.rows(VOLUMES) if row != made.row)
    if (
        users
        and not _is_asked_for(scene, users)
        and is_swept(scene, others, lambda row: _is_at_risk(view, row))
    ):
        yield DataLost(
            holder=scene.victim(made.row),
            volume=made.after.key.name,
            reclaim=DELETE,
            bound=True,
            mounted=len(users),
            copies=0,
            last_copy=False,
            reversible=True,
        )


def _moved_it(scene: Scene, row: int) -> bool:
    if scene.now is None:
        return False
    # WHY a day: so long a volume that was kept for a move is set back by the hand that moved it.
    last = scene.view.history.writes.last(scene.view.key(row), What.WROTE, scene.now, DAY_S)
    return last == number(scene.request.user.username)


def _is(facts: Facts | None, reclaim: str) -> bool:
    return isinstance(facts, VolumeFacts) and facts.reclaim == reclaim


def _is_at_risk(view: GraphView, row: int) -> bool:
    return _is(view.facts(row), DELETE) and bool(_using(view, row))


def _using(view: GraphView, volume: int) -> list[int]:
    """Return the pods that use a volume by the claim that is bound to it."""
    claims = view.there(volume, Edge.BOUND_CLAIM)
    return [pod for claim in claims for pod in mounting(view, claim)]


def _is_asked_for(scene: Scene, pods: list[int]) -> bool:
    """Whether a person said of what each of some pods is of that its data goes with it."""
    view = scene.view
    return all(
        any(is_agreed(view, above, scene.now) for above in view.controllers(pod, CLIMBED))
        for pod in pods
    )
