"""Workloads that their operator stops or deletes, to bring up the version that was asked for.

Beside `paused`, where the write itself says that it means to bring a workload back: here it is the
order behind it. What cannot run in two versions at a time is stopped, migrated and started again,
and what is one host of several is stopped to be restarted. Told by what is recorded: within the
hour somebody else than the actor changed an image, a version or a restart in the spec of the custom
resource that controls the workload, and the actor runs that type. So nothing is believed of an
operator that stops by itself, nor of one that was itself upgraded. What it deletes may be its own
Deployment, the only pod of the resource, or a generation of runs: a custom resource below which
are pods, and what they read, alone, which no Service reaches and which mount no data.

What is lost if it does not start again: the one resource of which somebody asked for something.
Source: Keycloak operator (RecreateOnImageChange), AWX operator (migration), ClickHouse operator
(`spec.restart`); Flink operator (`upgradeMode: savepoint` deletes the cluster's Deployment);
controllers of CI runners (another template: the next set is made, the former one deleted).
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import ordered, ordered_by, taken_from
from suture.impact.causes.parents import sizes_said
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import runs
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import CLAIMS, CONFIG_MAPS, DEPLOYMENTS, PODS, SECRETS

SEVERAL: Final = 2
"""Of so many pods, that a custom resource says it wants, the only one is no whole."""

READ: Final = frozenset({PODS, SECRETS, CONFIG_MAPS})
"""What is below a run: its pod, and what that reads."""


def stops_for_next(scene: Scene, resized: Resized) -> bool:
    """Whether an operator stops a workload, of which another version or a restart was asked for."""
    return not (resized.after or resized.asked) and orders_of(scene, resized.row) > 0


def goes_for_next(scene: Scene, row: int) -> bool:
    """Whether an operator deletes its own, which it makes anew as was asked for.

    One for each order: who takes another is asked what for. WHY no set: its claims stay, and a set
    of the next size or template may not find them again.
    """
    view = scene.view
    if scene.change.direct != (row,) or CLAIMS in scene.kinds:
        return False
    # WHY orders first: what nothing keeps has none, and no parent to be asked about.
    orders = orders_of(scene, row)
    if not orders or not _is_made_anew(scene, row):
        return False
    taken = taken_from(view.uid(view.controller(row)), view.resource(row))
    return scene.counted(taken) < orders


def _is_made_anew(scene: Scene, row: int) -> bool:
    """Whether an object is of those that an operator cannot change, and makes anew as a whole."""
    view, resource = scene.view, scene.view.resource(row)
    if resource == DEPLOYMENTS:
        # WHY where nobody knows: it was there before Suture was, and its controller is what runs.
        return not view.history.created_by(view.uid(row)) or scene.tied(row)
    if resource == PODS:
        parent = view.controller(row)
        running = sum(view.running_alike(kind)[0] for kind in view.classes_owned(parent))
        # WHY: of several that are to be it may be the last.
        return running == 1 and max(sizes_said(view, parent), default=0) < SEVERAL
    # WHY pods: where nothing runs below it, it is no run, and may stand for anything.
    if PODS not in scene.kinds or not all(is_custom(one) or one in READ for one in scene.kinds):
        return False
    return not any(_is_needed(scene, lot.first) for lot in scene.lots)


def _is_needed(scene: Scene, pod: int) -> bool:
    """Whether a Service reaches a pod, or it mounts data: then it is a member, and no run."""
    return bool(scene.causes.services_of(pod) or scene.view.targets(pod, Edge.CLAIM))


def orders_of(scene: Scene, row: int) -> int:
    """Return how often others asked within the hour for another version of what the actor runs."""
    view = scene.view
    parent = view.controller(row)
    if parent < 0 or view.gone(parent) or view.terminating(parent):
        return 0
    if not runs(scene, parent):
        return 0
    uid = view.uid(parent)
    asked = scene.counted(ordered(uid))
    return asked - scene.counted(ordered_by(uid, scene.actor.user.username))
