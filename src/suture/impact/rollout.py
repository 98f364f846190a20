"""Template changes and the pods that they replace: which, how many at a time, and which stay.

Beside `serving` because a rollout takes no endpoint by itself: how many it may take at a time is
what its strategy says, and whether it ever ends is what nobody knows before.
Source: deployment controller (a paused one does not follow; `ResolveFenceposts`: unavailable
rounded down, surge up, never both zero), statefulset controller (from the highest ordinal down to
the partition, one at a time unless it says otherwise), daemonset controller (unavailable rounded
up; none where it surges); a ReplicaSet, ReplicationController, Job or CronJob changes only the
pods that it makes from then on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import Confidence, PodsRestarted
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.stamps import FOLLOWING, ON_DELETE, template_changed
from suture.impact.ground.unavailable import unavailable_of
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import REPLICA_SETS, STATEFUL_SETS
from suture.model.objects import ClusterObject, WorkloadFacts
from suture.model.podtemplate import Rollout, rollout_of

ROLLING: Final = "RollingUpdate"


def rewrites_workload(change: Change) -> bool:
    """Whether a change rewrites a workload whose pods follow its template."""
    made = change.rewritten
    return made is not None and made.before is not None and made.after.key.resource in FOLLOWING


def restart_effects(scene: Scene) -> Iterable[PodsRestarted]:
    """Return the pods that a template change replaces, unless the workload goes with the change."""
    made = scene.change.rewritten
    if made is None or made.before is None or made.row is None or made.row in scene.removed:
        return
    old, new = rollout_of(scene.request.old_body), rollout_of(scene.request.new_body)
    resource = made.after.key.resource
    if not _follows(made.before, made.after, old, new) or new.paused:
        return
    running = serving = 0
    for kind in classes_under(scene.view, made.row):
        counts = scene.running(kind)
        running, serving = running + counts[0], serving + counts[1]
    following = _following(scene.view, made, old, new, running)
    if not following:
        return
    wanted = _wanted(made.before, running)
    strategy = new.strategy or ROLLING
    yield PodsRestarted(
        workload=scene.victim(made.row),
        count=following,
        before=running,
        unavailable=min(following, unavailable_of(new, resource, wanted)),
        strategy=strategy,
        healthy=serving >= wanted,
        on_delete=strategy == ON_DELETE,
        confidence=Confidence.EXACT if new.strategy else Confidence.BOUNDED,
    )


def _follows(before: ClusterObject, after: ClusterObject, old: Rollout, new: Rollout) -> bool:
    """Whether pods are replaced: another template, or one that they were kept from following."""
    if template_changed(before, after):
        return True
    released = (
        (old.paused and not new.paused)
        or new.partition < old.partition
        or (old.strategy == ON_DELETE and new.strategy != ON_DELETE)
    )
    return released and new.pending


def _following(view: GraphView, made: Rewritten, old: Rollout, new: Rollout, running: int) -> int:
    """Return how many of a workload's running pods are replaced."""
    if made.row is None or made.after.key.resource != STATEFUL_SETS or new.strategy == ON_DELETE:
        return running
    # Without another template only those follow that the old partition kept back.
    below = None
    if not template_changed(made.before, made.after) and old.strategy != ON_DELETE:
        below = old.partition
    if below is None and not new.partition:
        return running
    ordinals = [_ordinal(view, pod) for pod in pods_under(view, made.row) if _runs(view, pod)]
    return sum(one >= new.partition and (below is None or one < below) for one in ordinals)


def _ordinal(view: GraphView, pod: int) -> int:
    """Return the number at the end of a pod's name; a pod without one is behind all partitions."""
    number = view.name(pod).rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _wanted(before: ClusterObject, running: int) -> int:
    facts = before.facts
    if not isinstance(facts, WorkloadFacts):
        return running
    return facts.status_replicas or running if facts.replicas is None else facts.replicas


def _runs(view: GraphView, pod: int) -> bool:
    return not (view.finished(pod) or view.terminating(pod))


def classes_under(view: GraphView, workload: int) -> list[int]:
    """Return the classes of the pods that a workload controls, itself or by its ReplicaSets."""
    found = view.classes_controlled(workload)
    for one in sets_of(view, workload):
        found += view.classes_controlled(one)
    return found


def sets_of(view: GraphView, workload: int) -> list[int]:
    """Return the ReplicaSets that a workload controls, those of its history too.

    WHY not those that it merely owns: of these it replaces no pod, and takes none away.
    """
    return [
        one
        for one in view.owned_but_pods(workload)
        if view.resource(one) == REPLICA_SETS
        and view.controller(one) == workload
        and not view.gone(one)
    ]


def pods_under(view: GraphView, workload: int) -> Iterable[int]:
    """Walk the pods that a workload controls and that are not gone, through its ReplicaSets."""
    for kind in classes_under(view, workload):
        yield from view.pods_alike(kind)
