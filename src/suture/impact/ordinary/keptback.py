"""What leads to a workload that the actor was refused to take away: it stays as long as that does.

Who tears an application down goes on with the next of its list where one thing is refused: most
tools do, and people as well. What is left then is a workload that runs and that nobody reaches. So
its Service is asked for by what was kept, within the hour, and whatever a budget has left. Of that
actor alone: another may know more. Where the workload goes after all, or something else has taken
the place of the Service, that is the cause for which the Service goes.
"""

from __future__ import annotations

from suture.impact.causes.counters import kept_back, kept_up
from suture.impact.causes.parents import maker_of
from suture.impact.scene import Scene
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import SERVICES, WORKLOADS, Operation
from suture.model.objects import CustomFacts, WorkloadFacts
from suture.model.request import Request


def remember_kept(request: Request, view: GraphView, now: Now) -> None:
    """Remember of a workload that an actor was refused to delete, or to scale to nothing."""
    if _stops(request) and not request.dry_run:
        view.history.writes.count(kept_up(request.user.username), now)
    if request.operation is not Operation.DELETE or request.dry_run or not request.object_uid:
        return
    if request.key.resource in WORKLOADS and not request.subresource:
        identity, writes = request.user.username, view.history.writes
        writes.count(kept_back(identity), now)
        writes.count(kept_back(identity, request.object_uid), now)


def _stops(request: Request) -> bool:
    """Whether a request asks for none of a workload, or of what keeps one."""
    if request.subresource == "scale":
        return request.scale_to == 0
    facts = request.new.facts if request.new is not None else None
    if request.operation is not Operation.UPDATE or request.subresource:
        return False
    return (isinstance(facts, WorkloadFacts) and facts.replicas == 0) or (
        isinstance(facts, CustomFacts) and facts.wanted == 0
    )


def leads_to_kept(scene: Scene, row: int) -> bool:
    """Whether a Service has a Ready pod of a workload that the actor was refused to delete."""
    view, identity = scene.view, scene.actor.user.username
    # WHY first: hardly anybody was refused anything, and then nothing more is read.
    if view.resource(row) != SERVICES or not scene.counted(kept_back(identity)):
        return False
    served = (kind for kind in view.classes_selected(row) if view.serving_alike(kind))
    makers = {maker_of(view, pod) for kind in served if (pod := view.one_alike(kind)) >= 0}
    return any(scene.counted(kept_back(identity, view.uid(one))) for one in makers)
