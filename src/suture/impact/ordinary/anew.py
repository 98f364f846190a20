"""Sets that are made anew one after the other, because what cannot be changed in place has changed.

Beside `hands`, which lets go what was only tried: here a set that serves goes under a living custom
resource, and comes back. Told by what is recorded: somebody has written the custom resource lately;
it has several sets behind the same Services; and each that the actor took from it before is there
again, made by it, with all its pods Ready. So one goes at a time, and nothing is emptied; who takes
the next before that is asked what for.

What is lost if the set does not come back: its share of the endpoints, less than the others have;
every further one is refused. Not where claims go along, nor under a custom resource that is itself
new: its sets may be taken for those of one that was there before. Pure.
Source: apps/v1 StatefulSet: all but a few fields cannot be changed (`ValidateStatefulSetUpdate`).
"""

from __future__ import annotations

from suture.impact.causes.counters import taken_from
from suture.impact.causes.parents import SIBLINGS
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS
from suture.model.objects import WorkloadFacts
from suture.model.writes import HOUR_S


def is_made_anew(scene: Scene, row: int) -> bool:
    """Whether a StatefulSet goes alone to be made anew, those before it being back."""
    view, now = scene.view, scene.now
    parent = view.controller(row)
    if now is None or parent < 0 or view.resource(row) != STATEFUL_SETS:
        return False
    if scene.change.direct != (row,) or CLAIMS in scene.kinds:
        return False
    if not is_custom(view.resource(parent)) or not keeps(scene, view.resource(parent)):
        return False
    born = view.history.creation(view.uid(parent))
    if born is not None and now.ago_s(born.at_ns) < HOUR_S:
        return False
    if not view.history.writes.changed(view.key(parent), What.WROTE, now, HOUR_S):
        return False
    taken = view.history.writes.counted(taken_from(view.uid(parent), STATEFUL_SETS), now, HOUR_S)
    return taken <= _back(scene, parent, row, now) and _others_serve(scene)


def _back(scene: Scene, parent: int, row: int, now: Now) -> int:
    """Return how many other sets of a parent the actor made within the hour, all of them Ready."""
    view, since_ns = scene.view, now.mono_ns - HOUR_S * 10**9
    return sum(
        other != row
        and view.resource(other) == STATEFUL_SETS
        and not view.terminating(other)
        and (made := view.history.creation(view.uid(other))) is not None
        and made.identity == scene.actor.user.username
        and made.at_ns >= since_ns
        and isinstance(facts := view.facts(other), WorkloadFacts)
        and sum(view.running_alike(kind)[1] for kind in view.classes_owned(other))
        >= (facts.replicas or 0)
        for other in view.children_of(parent)[:SIBLINGS]
    )


def _others_serve(scene: Scene) -> bool:
    """Whether each Service that reaches what goes has as much beside it, and there is one."""
    pods = scene.kinds.get(PODS, ())
    reaching = {service for pod in pods for service in scene.causes.services_of(pod)}
    return bool(reaching) and all(
        scene.view.serving_count(service) >= 2 * len(pods) for service in reaching
    )
