"""Workloads that their operator stops for a while, since somebody asked for another version.

Beside `paused`, where the write itself says that it means to bring a workload back: here it is the
order behind it. What cannot run in two versions at a time is stopped, migrated and started again,
and what is one host of several is stopped to be restarted. Told by what is recorded: within the
hour somebody else than the actor changed an image, a version or a restart in the spec of the custom
resource that controls the workload, and the actor runs that type. So nothing is believed of an
operator that stops by itself, nor of one that was itself upgraded.

What is lost if it does not start again: the one resource of which somebody asked for something.
Source: Keycloak operator (RecreateOnImageChange), AWX operator (migration), ClickHouse operator
(`spec.restart`).
"""

from __future__ import annotations

from suture.impact.causes.counters import ordered, ordered_by
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.writes import HOUR_S


def stops_for_next(scene: Scene, resized: Resized) -> bool:
    """Whether an operator stops a workload, of which another version or a restart was asked for."""
    view, now = scene.view, scene.now
    if now is None or resized.after or resized.asked:
        return False
    parent = view.controller(resized.row)
    if parent < 0 or view.gone(parent) or view.terminating(parent):
        return False
    resource = view.resource(parent)
    if not is_custom(resource) or not keeps(scene, resource):
        return False
    uid, counted = view.uid(parent), view.history.writes.counted
    asked = counted(ordered(uid), now, HOUR_S)
    return asked > counted(ordered_by(uid, scene.actor.user.username), now, HOUR_S)
