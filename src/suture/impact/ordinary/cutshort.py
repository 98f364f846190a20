"""Pods at work that an operator deletes by name, though nothing of what it goes by has changed.

A custom resource that says how many it wants, and keeps its pods itself (workers of a computation,
members that no Service reaches), is neither smaller nor another than before, and has not ended; all
of its pods are Ready, on nodes that are open. Or one that says no number, whose pods are runs: each
ends by itself, and what it has done is lost before. So nothing on record tells why one goes, and no
controller of Kubernetes' makes it again. Beside `disruption`, which knows of a budget that keeps
them, and `hands`, of the next one that is there already.

WHY all Ready: where one has failed, what runs together is started again together. WHY several, or a
run: what keeps a single pod makes it anew on many occasions. WHY no person, nor who is known not to
run the type: they have reasons that no field tells.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import annotated
from suture.impact.causes.drained import drains
from suture.impact.causes.parents import sizes_said
from suture.impact.causes.rerun import counts_another
from suture.impact.ground.bodies import ends_by_itself
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.graph import Lot
from suture.model.objects import CustomFacts, Ended

PODS_ASKED: Final = 256
"""LIMIT: pods of a class that are asked whether they have ended, 0.1 us each."""


def is_cut_short(scene: Scene, lot: Lot) -> bool:
    """Whether pods that a request names are at work, and nothing tells why their keeper ends them.

    Their keeper stays, and was neither written nor annotated within the hour.
    """
    view, now, pod = scene.view, scene.now, lot.first
    if not lot.serves or pod not in scene.direct or scene.change.evicted or now is None:
        return False
    parent = view.controller(pod)
    if parent < 0 or parent in scene.removed or not is_custom(view.resource(parent)):
        return False
    if account_of(scene.actor.user.username) is None:
        return False
    if keeps(scene, view.resource(parent)) is False:
        return False
    facts = view.facts(parent)
    if not isinstance(facts, CustomFacts) or facts.ended is not Ended.NO:
        return False
    return not (
        view.terminating(parent)
        or scene.written(parent)
        or scene.counted(annotated(view.uid(parent)))
        or counts_another(view, parent, now)
        or drains(view, pod, now)
    ) and _all_ready(scene, parent, _is_run(scene, pod))


def _is_run(scene: Scene, pod: int) -> bool:
    """Whether the pod that a request names ends by itself.

    LIMIT: of several nobody knows, as only there the spec is known.
    """
    return scene.change.direct == (pod,) and ends_by_itself(scene.request.old_body)


def _all_ready(scene: Scene, parent: int, run: bool) -> bool:
    """Whether several pods of a custom resource run, all of them Ready, and none has ended.

    No more than it wants, and the one that leads the others; of a `run` any, if it wants no number.
    """
    view, ready = scene.view, 0
    most = max(sizes_said(view, parent, sums=True), default=0)
    for kind in view.classes_owned(parent):
        running, serving, _ = view.running_alike(kind)
        if serving < running or any(map(view.finished, view.pods_alike(kind)[:PODS_ASKED])):
            return False
        ready += serving
    return 1 < ready <= most + 1 or (run and not most and ready > 0)
