"""A workload that is put to sleep: whoever scales it to nothing notes down what it had.

Beside `parents`, where somebody above a workload wants it smaller: here the writer itself says that
it means to bring it back. Who owns the workload may have asked for it, by an annotation of the
writer's own under another name: its hours, for one; or a resource of its namespace plans it. Pure.
Source: tools that save at night write the former size into an annotation, each under its own name,
or go by a resource in the namespace that they put to sleep, and keep the sizes in a Secret.
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.causes.counters import put_down_in
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.names import RESERVED
from suture.model.request import Request

_KUBERNETES: Final = ("kubernetes.io", "k8s.io")
"""Whose annotations are about something else: a revision, a hash."""

_PLANS: Final = re.compile("sleep|hibernat|snooze|downtime|turndown")
"""What types of resources are called after that say when a namespace sleeps."""


def notes_size(request: Request, resized: Resized) -> bool:
    """Whether the write that takes a workload's size away keeps it in a new annotation."""
    return bool(_notes(request, resized))


def serves_asleep(scene: Scene, resized: Resized) -> bool:
    """Whether a workload is put to sleep whose Services may be empty: not one of the cluster's."""
    of_cluster = scene.view.namespace(resized.row).startswith(RESERVED)
    return not of_cluster and notes_size(scene.request, resized)


def is_paused(request: Request, resized: Resized) -> bool:
    """Whether a person scales a workload to nothing: its autoscaler lets it be until they are back.

    Source: Kubernetes documentation, "Implicit maintenance-mode deactivation".
    """
    return (
        resized.after == 0 and request.subresource == "scale" and is_person(request.user.username)
    )


def sleeps_as_told(request: Request, resized: Resized) -> bool:
    """Whether a workload bore an annotation of those by which its size is kept, of another name.

    WHY no word of it: each writer has its own, and whoever set one knows whose it is.
    LIMIT: one that the writer left there the day before is taken for its owner's.
    """
    noted = {name.partition("/")[0] for name in _notes(request, resized) if "/" in name}
    if not noted:
        return False
    kept = _notes_of_any(request)
    return any(
        name.partition("/")[0] in noted and name not in kept
        for name in annotations_of(request.old_body)
        if "/" in name
    )


def _notes(request: Request, resized: Resized) -> list[str]:
    """Return the new annotations that keep the size of a workload which is scaled to nothing."""
    if resized.after != 0 or not request.old_body or not request.new_body or request.subresource:
        return []
    before, after = annotations_of(request.old_body), annotations_of(request.new_body)
    size = str(resized.before)
    return [
        name
        for name, value in after.items()
        if value == size and before.get(name) != value and not _of_kubernetes(name)
    ]


def _notes_of_any(request: Request) -> set[str]:
    """Return the annotations that the write itself adds or changes."""
    before, after = annotations_of(request.old_body), annotations_of(request.new_body)
    return {name for name, value in after.items() if before.get(name) != value}


def _of_kubernetes(name: str) -> bool:
    domain = name.partition("/")[0]
    return any(domain == one or domain.endswith(f".{one}") for one in _KUBERNETES)


def sleeps_beside(scene: Scene, resized: Resized) -> bool:
    """Whether a workload is put to sleep in a namespace where the actor has put another to sleep.

    What is put to sleep is a namespace; how many of these may be within the hour is told by the
    first of each.
    """
    if resized.asked or not notes_size(scene.request, resized):
        return False
    return _put_others_down(scene, scene.view.namespace(resized.row))


def schedule_sleeps(scene: Scene) -> bool:
    """Whether a schedule is suspended where the actor puts workloads to sleep, and is noted too."""
    if all(map(_of_kubernetes, _notes_of_any(scene.request))):
        return False
    return _put_others_down(scene, scene.request.key.namespace)


def _put_others_down(scene: Scene, space: str) -> bool:
    """Whether the actor scaled a workload of a namespace to nothing within the hour."""
    here = put_down_in(scene.actor.user.username, space)
    return not space.startswith(RESERVED) and scene.counted(here) > 0


def sleeps_by_plan(scene: Scene, resized: Resized) -> bool:
    """Whether a resource in the namespace of a workload plans its sleep, and the actor runs such.

    WHY by its type's name alone: when that is each says in its own way, and whoever runs it knows.
    """
    if resized.after or resized.asked:
        return False
    view, space = scene.view, scene.view.namespace(resized.row)
    return any(
        not space.startswith(RESERVED)
        and any(not view.terminating(one) for one in view.rows(resource, space))
        and bool(keeps(scene, resource))
        for resource in view.resources()
        if is_custom(resource) and _PLANS.search(resource.plural)
    )
