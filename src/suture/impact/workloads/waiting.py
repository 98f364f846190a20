"""Jobs that are suspended, and what keeps them says itself whether its work is to wait.

Beside `putback`, where the history tells who may suspend a job: here its keeper does. A set of jobs
has a `suspend` of its own, of which its operator makes that of each. Where it says yes, what is
suspended below it is what it asks for, however many at a time. Where it says no, it is to run: who
suspends a job of it takes it from its operator, which will not start it again.
WHY not its operator itself: it starts them one after the other, and lets them wait for each other.
A queue keeps a record of each job that was given to it, which the job owns; who has just said in
the status of this that the job lost its place suspends it next.
Source: batch/v1 `spec.suspend`; sets of jobs, whose queue suspends the set and never its jobs;
Kueue, `Workload`, whose condition `Evicted` comes before.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.names import JOBS
from suture.model.objects import CustomFacts
from suture.model.writes import TEN_MINUTES_S, number

RECORDS: Final = 64
"""LIMIT: objects of a job that are asked whether they are its record, 1 us each; beside its pods
one is."""


def told_to_wait(scene: Scene, resized: Resized) -> bool:
    """Whether a job is suspended as what controls it, or its record, says: its work is to wait."""
    return _says(scene, resized) is True or _is_recorded(scene, resized)


def _is_recorded(scene: Scene, resized: Resized) -> bool:
    """Whether the actor has just written the status of a record that a job owns."""
    view, row, now = scene.view, resized.row, scene.now
    if now is None or resized.after or view.resource(row) != JOBS:
        return False
    me = number(scene.actor.user.username)
    return any(
        is_custom(view.resource(one))
        and scene.stays(one)
        and view.history.writes.last(view.key(one), What.STATUS, now, TEN_MINUTES_S) == me
        for one in view.children_of(row)[:RECORDS]
    )


def told_to_run(scene: Scene, resized: Resized) -> bool:
    """Whether a job is suspended by another than the operator of what says that it is to run."""
    if _says(scene, resized) is not False:
        return False
    above = scene.view.controller(resized.row)
    return scene.stays(above) and not keeps(scene, scene.view.resource(above))


def _says(scene: Scene, resized: Resized) -> bool | None:
    """Return what the custom resource that controls a job says; None where none says anything."""
    view, row = scene.view, resized.row
    if resized.after or view.resource(row) != JOBS:
        return None
    above = view.controller(row)
    facts = view.facts(above) if above >= 0 and is_custom(view.resource(above)) else None
    return facts.suspend if isinstance(facts, CustomFacts) else None
