"""Pods of custom resources that a person restarts by deleting them, as those before are back.

No controller of Kubernetes promises to bring such a pod back, and what their operator does is a
hope: the first count as lost. What was seen is none: of all that was taken within the hour from the
resources of the type, whoever took it, as many are Ready again under the same resource, made since
by somebody else. Then the next is a dip, as a StatefulSet's pod is, and is counted as one.

What is lost if it does not come back: one pod, and the one after it counts as lost again. Only one
by its name, and by a person: a machine that repeats itself is what the count is for. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import taken_from
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.graph import GraphView
from suture.model.names import PODS
from suture.model.writes import HOUR_S

RESOURCES_ASKED: Final = 256
"""LIMIT: custom resources of a type that are asked for what was taken from them, 1 us each; where
there are more it is not told."""


def comes_back(scene: Scene, pod: int) -> bool:
    """Whether a pod that a person deletes is made anew, as all those before it were."""
    view, now = scene.view, scene.now
    if now is None or scene.change.evicted or scene.change.direct != (pod,):
        return False
    parent, by = view.controller(pod), scene.actor.user.username
    if parent < 0 or not is_custom(view.resource(parent)) or not is_person(by):
        return False
    others = view.rows(view.resource(parent))
    if len(others) > RESOURCES_ASKED or view.terminating(parent):
        return False
    taken = {one: scene.counted(taken_from(view.uid(one), PODS)) for one in others}
    return (
        any(taken.values())
        and _has_back(scene, parent, taken[parent])
        and all(_has_back(scene, one, count) for one, count in taken.items() if count)
    )


def _has_back(scene: Scene, parent: int, taken: int) -> bool:
    """Whether all pods of a custom resource are Ready, and as many as were taken are new."""
    pods = _running(scene.view, parent)
    return all(map(scene.view.serves, pods)) and taken <= sum(_is_new(scene, one) for one in pods)


def _running(view: GraphView, parent: int) -> list[int]:
    """Return the pods of a custom resource that have not ended, and are not going."""
    return [
        pod
        for kind in view.classes_owned(parent)
        for pod in view.pods_alike(kind)
        if not view.finished(pod) and not view.terminating(pod)
    ]


def _is_new(scene: Scene, pod: int) -> bool:
    """Whether somebody else was seen to make a pod within the hour."""
    view, now = scene.view, scene.now
    maker = view.history.created_by(view.uid(pod))
    return (
        now is not None
        and view.created(pod) >= now.utc_s - HOUR_S
        and maker not in {"", scene.actor.user.username}
    )
