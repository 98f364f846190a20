"""Jobs that are put back into the queue by whoever let them run.

Beside `paused`, where the write itself says that it means to bring a workload back: here it is the
history that does. A queue starts what waits, and puts it back when its place is needed; that is its
trade, however many at a time. Who suspends what others started stops it.
LIMIT: what was started before Suture was there, or is no longer remembered, counts as stopped.
Source: batch/v1 `spec.suspend`: the pods go, and come when it is lifted.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Resized
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.names import JOBS
from suture.model.writes import number

WEEK_S: Final = 7 * 24 * 3600
"""LIMIT: how long it is believed that who started a job may put it back; few run for longer."""


def puts_back(scene: Scene, resized: Resized) -> bool:
    """Whether the actor suspends a job that it was the last to start."""
    view, now = scene.view, scene.now
    if now is None or resized.after or view.resource(resized.row) != JOBS:
        return False
    writes, key = view.history.writes, view.key(resized.row)
    started = writes.last(key, What.SCALED, now, WEEK_S) == number(scene.actor.user.username)
    return started and bool(writes.latest(key, What.SCALED))
