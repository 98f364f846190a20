"""Workloads that their operator stops or deletes, to bring up the version that was asked for.

Beside `paused`, where the write itself says that it means to bring a workload back: here it is the
order behind it. What cannot run in two versions at a time is stopped, migrated and started again,
and what is one host of several is stopped to be restarted. Told by what is recorded: within the
hour somebody else than the actor changed an image, a version or a restart in the spec of the custom
resource that controls the workload, and the actor runs that type. So nothing is believed of an
operator that stops by itself, nor of one that was itself upgraded.

What is lost if it does not start again: the one resource of which somebody asked for something.
Source: Keycloak operator (RecreateOnImageChange), AWX operator (migration), ClickHouse operator
(`spec.restart`); Flink operator (`upgradeMode: savepoint` deletes the cluster's Deployment).
"""

from __future__ import annotations

from suture.impact.causes.counters import ordered, ordered_by, taken_from
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.names import CLAIMS, DEPLOYMENTS
from suture.model.writes import HOUR_S


def stops_for_next(scene: Scene, resized: Resized) -> bool:
    """Whether an operator stops a workload, of which another version or a restart was asked for."""
    return not (resized.after or resized.asked) and _orders(scene, resized.row) > 0


def goes_for_next(scene: Scene, row: int) -> bool:
    """Whether an operator deletes its own Deployment, which it makes anew as was asked for.

    One for each order: who takes another is asked what for. WHY no set: its claims stay, and a set
    of the next size or template may not find them again.
    """
    view, now = scene.view, scene.now
    if now is None or view.resource(row) != DEPLOYMENTS or scene.change.direct != (row,):
        return False
    if CLAIMS in scene.kinds or not scene.tied(row):
        return False
    orders = _orders(scene, row)
    if not orders:
        return False
    taken = taken_from(view.uid(view.controller(row)), DEPLOYMENTS)
    return view.history.writes.counted(taken, now, HOUR_S) < orders


def _orders(scene: Scene, row: int) -> int:
    """Return how often others asked within the hour for another version of what the actor runs."""
    view, now = scene.view, scene.now
    parent = view.controller(row)
    if now is None or parent < 0 or view.gone(parent) or view.terminating(parent):
        return 0
    resource = view.resource(parent)
    if not is_custom(resource) or not keeps(scene, resource):
        return 0
    uid, counted = view.uid(parent), view.history.writes.counted
    asked = counted(ordered(uid), now, HOUR_S)
    return asked - counted(ordered_by(uid, scene.actor.user.username), now, HOUR_S)
