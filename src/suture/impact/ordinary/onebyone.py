"""What a custom resource runs, which its operator takes one by one, each after the last is back.

Beside `setsanew`, where a set goes so: here a pod that a custom resource keeps itself, the only
one behind a Service of its own, as each broker has one, or of its role. Its operator restarts it by
deleting it, and no controller of Kubernetes promises to bring it back. Told by what is there: it
goes alone, by who runs the resource; all others of the resource are Ready; and of what was taken
from it within the hour as many are there again, made by the actor, or it has as many Ready as it
says that it wants. Of the other resources of the type the same holds, but for a few that are at it
at the same time.

So is a run: a custom resource called as the one that has it, below which is one pod alone. So a
virtual machine is restarted, whose instance is deleted and made anew.

What is lost if it does not come back: what one member answered for; the next is refused. Not
under a custom resource that is itself of this hour: its pods may be taken for those of one that was
there before. Pure.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from suture.impact.causes.counters import taken_from
from suture.impact.causes.parents import sizes_said
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import has_run
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import DISRUPTION_BUDGETS, PODS, Resource
from suture.model.writes import HOUR_S

AWAY: Final = 3
"""LIMIT: custom resources of a type that may lack a pod at a time, this one among them: an operator
works on several, and one that takes a pod from each is stopped at the fourth."""

RESOURCES_ASKED: Final = 256
"""LIMIT: custom resources of a type that are asked for what was taken from them, 1 us each; where
there are more it is not told."""


def goes_alone(scene: Scene, lost: Collection[int]) -> bool:
    """Whether what goes is one pod or run that its operator takes, those before being back."""
    view, now = scene.view, scene.now
    if now is None or scene.change.evicted or len(lost) != 1:
        return False
    (one,) = lost
    parent, kind = view.controller(one), view.resource(one)
    if parent < 0 or scene.change.direct != (one,) or not (kind == PODS or _is_run(scene, one)):
        return False
    if not has_run(scene, parent) or view.terminating(parent):
        return False
    others = view.rows(view.resource(parent))
    if len(others) > RESOURCES_ASKED or (kind == PODS and not _others_ready(view, parent, one)):
        return False

    def lacks(other: int) -> bool:
        taken = scene.counted(taken_from(view.uid(other), kind))
        if kind == PODS:
            return _lacks(scene, other, taken)
        return taken > 0 and _lacks_run(view, other, kind)

    return not lacks(parent) and sum(lacks(other) for other in others if other != parent) < AWAY


def _is_run(scene: Scene, row: int) -> bool:
    """Whether a custom resource is what the one runs that has it, and is called the same.

    What holds its pod against drains goes along.
    """
    view, resource = scene.view, scene.view.resource(row)
    return (
        is_custom(resource)
        and view.name(row) == view.name(view.controller(row))
        and set(scene.kinds) - {DISRUPTION_BUDGETS} == {resource, PODS}
        and sum(lot.count for lot in scene.lots if lot.running) == 1
    )


def _lacks_run(view: GraphView, parent: int, kind: Resource) -> bool:
    """Whether the run of a custom resource that was taken is not there again.

    Not of one that was told to stop: it wants none.
    """
    if "" in view.history.writes.left_out(view.uid(parent)):
        return False
    children = view.staying(view.children_of(parent))
    return not any(view.resource(one) == kind and not view.terminating(one) for one in children)


def _others_ready(view: GraphView, parent: int, pod: int) -> bool:
    """Whether all pods of a custom resource but one are Ready, those that have ended aside.

    Of its only pod it has to say itself that it wants one, or to have made it anew before, behind a
    Service of its own: else that may be an errand, which is not done again.
    """
    running = serving = 0
    for kind in view.classes_owned(parent):
        run, serve, _ = view.running_alike(kind)
        running, serving = running + run, serving + serve
    if serving < running or not view.serves(pod):
        return False
    return running > 1 or running in sizes_said(view, parent) or _is_kept_up(view, parent, pod)


def _is_kept_up(view: GraphView, parent: int, pod: int) -> bool:
    """Whether a custom resource leads a Service of its own to a pod that is not its first.

    WHY by their age: an errand is run when it is asked for. What is there an hour later and is
    younger than that was made anew, by whoever takes this one.
    """
    # WHY above 0: of what is not known to have begun nothing is younger.
    if not 0 < view.created(parent) < view.created(pod) - HOUR_S:
        return False
    return any(
        not view.terminating(service) and parent in view.owner_rows(service)
        for service in view.services_of(pod)
    )


def _lacks(scene: Scene, parent: int, taken: int) -> bool:
    """Whether of the pods that were taken from a custom resource one is not there again."""
    if not taken:
        return False
    view = scene.view
    kinds = view.classes_owned(parent)
    ready = [pod for kind in kinds for pod in view.pods_alike(kind) if view.serves(pod)]
    back = sum(map(scene.made_young, ready))
    return back < taken and len(ready) not in sizes_said(view, parent)
