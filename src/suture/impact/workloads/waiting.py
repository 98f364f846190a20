"""Jobs that are suspended, and what keeps them says itself whether its work is to wait.

Beside `putback`, where the history tells who may suspend a job: here its keeper does. A set of jobs
has a `suspend` of its own, of which its operator makes that of each. Where it says yes, what is
suspended below it is what it asks for, however many at a time. Where it says no, it is to run: who
suspends a job of it takes it from its operator, which will not start it again.
WHY not its operator itself: it starts them one after the other, and lets them wait for each other.
Source: batch/v1 `spec.suspend`; sets of jobs, whose queue suspends the set and never its jobs.
"""

from __future__ import annotations

from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.names import JOBS
from suture.model.objects import CustomFacts


def told_to_wait(scene: Scene, resized: Resized) -> bool:
    """Whether a job is suspended as what controls it says that its work is to wait."""
    return _says(scene, resized) is True


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
