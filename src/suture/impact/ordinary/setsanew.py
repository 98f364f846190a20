"""Sets that are made anew one after the other, because what cannot be changed in place has changed.

Beside `hands`, which lets go what was only tried: here a set that serves goes under a living custom
resource, and comes back. Told by what is recorded: somebody has written the custom resource lately,
or the actor has taken another of its sets within the hour, as the last of a series that began so;
it has several sets behind the same Services, or members that no Service reaches, each a workload of
its own; and each that the actor took from it before is there again, made by it, with all its pods
Ready. So one goes at a time, and nothing is emptied; who takes the next before that is asked what
for.

What is lost if the set does not come back: its share of the endpoints, less than the others have,
or one member of three and more; every further one is refused. Not where claims go along, nor under
a custom resource that is itself new: its sets may be taken for those of one that was there before;
nor one that left a part out and has it again: that may be what the actor has not seen yet. Pure.

A set whose claims the actor made larger goes so as well, whoever keeps it: how large they are to be
cannot be changed in it. Its pods stay, without it, until its keeper makes it again.
Source: apps/v1 StatefulSet: all but a few fields cannot be changed (`ValidateStatefulSetUpdate`).
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import back_again, taken_from
from suture.impact.causes.parents import SIBLINGS, selects_apart
from suture.impact.ground.readers import ready_of
from suture.impact.ordinary.keepers import has_run
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, DEPLOYMENTS, PODS, STATEFUL_SETS
from suture.model.objects import WorkloadFacts

OTHERS: Final = 2
"""LIMIT: members beside one that no Service reaches: what is copied is copied to two others."""

MEMBERS: Final = 64
"""LIMIT: pods of a set that are asked whether their claims were changed, 2 us each."""


def is_made_anew(scene: Scene, row: int) -> bool:
    """Whether a set or a Deployment goes alone to be made anew, those before it being back."""
    view = scene.view
    parent, resource = view.controller(row), view.resource(row)
    if parent < 0 or resource not in (STATEFUL_SETS, DEPLOYMENTS):
        return False
    if scene.change.direct != (row,) or CLAIMS in scene.kinds:
        return False
    taken = scene.counted(taken_from(view.uid(parent), resource))
    # WHY one before it: where data has to settle first, a series takes longer than an hour.
    if not has_run(scene, parent) or not (taken or scene.changed(parent)):
        return False
    # WHY: a part that is there again has not changed; who takes it away has seen it left out.
    if scene.counted(back_again(view.uid(parent))):
        return False
    return taken <= _back(scene, parent, row) and _others_serve(scene, parent, row)


def grows(scene: Scene, row: int) -> bool:
    """Whether a set goes alone and leaves its pods, the actor having just changed all their claims.

    WHY changed is larger: all else of a claim that is bound is fixed. WHY by the actor: who takes
    sets away because somebody else is at work on them, has taken them for something else.
    Source: core/v1 PersistentVolumeClaim, of which only the request for storage may be raised
    (`ValidatePersistentVolumeClaimUpdate`).
    """
    view = scene.view
    if view.resource(row) != STATEFUL_SETS or not scene.change.orphaned:
        return False
    if scene.change.direct != (row,) or scene.change.cascaded:
        return False
    pods = [pod for kind in view.classes_owned(row) for pod in view.pods_alike(kind)][:MEMBERS]
    claims = [claim for pod in pods for claim in view.there(pod, Edge.CLAIM)]
    return bool(claims) and all(
        scene.changed(claim) and not scene.written_by_another(view.key(claim)) for claim in claims
    )


def _back(scene: Scene, parent: int, row: int) -> int:
    """Return how many other sets of a parent the actor made within the hour, all of them Ready."""
    view = scene.view
    return sum(
        other != row
        and view.resource(other) == view.resource(row)
        and not view.terminating(other)
        and scene.made(other)
        and _is_ready(view, other)
        for other in view.children_of(parent)[:SIBLINGS]
    )


def _others_serve(scene: Scene, parent: int, row: int) -> bool:
    """Whether each Service that reaches what goes has as much beside it.

    Where none does, whether it is a member, a Deployment of which two others and more select alike
    but for one value, and all of these are Ready.
    """
    view = scene.view
    pods = scene.kinds.get(PODS, ())
    reaching = {service for pod in pods for service in scene.causes.services_of(pod)}
    if reaching:
        return all(view.serving_count(service) >= 2 * len(pods) for service in reaching)
    children = view.children_of(parent)[:SIBLINGS]
    others = [other for other in children if selects_apart(view, row, other)]
    return (
        view.resource(row) == DEPLOYMENTS
        and len(others) >= OTHERS
        and all(_is_ready(view, other) for other in others)
    )


def _is_ready(view: GraphView, workload: int) -> bool:
    """Whether a workload has all the pods that it wants, Ready, and stays."""
    facts = view.facts(workload)
    if not isinstance(facts, WorkloadFacts) or view.terminating(workload) or view.gone(workload):
        return False
    return ready_of(view, workload) >= (facts.replicas or 0)
