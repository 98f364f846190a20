"""Jobs, sleepers and sizes that are put back by whoever let them run, woke them, made them grow.

Beside `paused`, where the write itself says that it means to bring a workload back: here it is the
history that does. A queue starts what waits, and puts it back when its place is needed; that is its
trade, however many at a time. Who suspends what others started stops it. So with what sleeps at
night: who woke it may put it to sleep again and note its size, all of it in the same minute. And
who makes a Deployment larger for an hour of load gives back what it took, and no more.
LIMIT: what was started before Suture was there, or is no longer remembered, counts as stopped; so
does the first night of a workload, and what an autoscaler sized since.
Source: batch/v1 `spec.suspend`: the pods go, and come when it is lifted.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Resized
from suture.impact.ordinary.paused import notes_size
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.names import DEPLOYMENTS, JOBS
from suture.model.writes import DAY_S, WEEK_S, number

AWAKE_S: Final = WEEK_S
"""LIMIT: how long it is believed that who started a job may put it back; few run for longer, and
nothing that sleeps at night is awake for so long."""


def puts_back(scene: Scene, resized: Resized) -> bool:
    """Whether the actor suspends a job that it was the last to start, or lets it sleep again."""
    view, now = scene.view, scene.now
    if now is None or resized.after:
        return False
    writes, key = view.history.writes, view.key(resized.row)
    started = writes.last(key, What.SCALED, now, AWAKE_S) == number(scene.actor.user.username)
    if not started or not writes.latest(key, What.SCALED):
        return False
    return view.resource(resized.row) == JOBS or notes_size(scene.request, resized)


def gives_back(scene: Scene, resized: Resized) -> bool:
    """Whether the actor sets a Deployment back to the size from which it made it larger itself.

    Within the day, and nobody has sized it since. WHY no set, and nothing that has an owner: of a
    set members go with their data, and an owner is asked how large it is to be.
    """
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    row = resized.row
    if now is None or not 0 < resized.after < resized.before or resized.asked:
        return False
    if view.resource(row) != DEPLOYMENTS or view.has_owner(row):
        return False
    writes, key = view.history.writes, view.key(row)
    if writes.last(key, What.SCALED, now, DAY_S) != number(identity):
        return False
    found = writes.least(key, What.SCALED, identity, now, DAY_S)
    return found is not None and found <= resized.after
