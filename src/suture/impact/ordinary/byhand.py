"""Applications that a person takes away in whatever order: made by hand, all of it, or put to rest.

Beside `hands`, which lets the workload of such an application go first: who may take that may take
before it what it mounts, runs as and is reached by. Else the same file, deleted from its top, is
refused its first half and loses its second. Never of service accounts: what a machine made it may
have made for others, and one that repeats itself does so everywhere. Nor of what a release or
application keeps, which says itself what it drops.

A workload that is to have no pods, has none, and that nobody else has a word in, is left already:
whoever made it, what it names is of no use before a person wakes it. So goes what was retired, its
settings before it. Not what an autoscaler wakes, nor what a resource keeps that is there.

What is lost if the rest stays after all: pods that run keep what they have, and one that starts
waits for what is gone. So such a user counts as one of the past, which is warned about, and only
`RETIRED` such objects may go within the hour.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import before_users, not_back
from suture.impact.causes.parents import maker_of
from suture.impact.causes.recent import MOUNTED
from suture.impact.causes.resting import RESTABLE, rests
from suture.impact.ground.readers import one_of_each, services_reaching
from suture.impact.ordinary.hands import (
    READERS,
    is_dropped,
    made_lately,
    owns,
    read_by_name,
    readers_of,
)
from suture.impact.ordinary.onefile import is_of_one_file
from suture.impact.rollout import classes_under
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import RBAC, SERVICES, WORKLOADS, Operation

RETIRED: Final = 12
"""LIMIT: what a person may take away within the hour before what names it: the accounts, Secrets
and ConfigMaps of one application, or of two, and so many bindings or roles of each kind; more of it
is a sweep."""

PARTS: Final = MOUNTED | RBAC | {SERVICES}
"""What is a part of one application: of rights in the whole cluster each pod at work by them is
asked, and what else is of the cluster others use unnamed."""


def goes_next(scene: Scene, row: int) -> bool:
    """Whether a user of what goes is taken away next: by its keeper's word, or by a person's."""
    if is_dropped(scene, row):
        return True
    return _by_name(scene) and (
        _is_left(scene, row) or _is_retired(scene, row) or is_of_one_file(scene, row)
    )


def _by_name(scene: Scene) -> bool:
    """Whether a person deletes one thing by its name, and not too many so.

    WHY one name: a collection says what goes by its labels, whoever made it and in one go.
    """
    identity = scene.actor.user.username
    if scene.now is None or account_of(identity) is not None or len(scene.change.direct) != 1:
        return False
    if scene.request.operation is not Operation.DELETE or not scene.request.name:
        return False
    resource = scene.view.resource(scene.change.direct[0])
    return all(
        scene.counted(one) < RETIRED
        for one in (before_users(identity), not_back(identity, resource))
    )


def _is_left(scene: Scene, user: int) -> bool:
    """Whether a workload is at rest, and stays so until a person wakes it."""
    view = scene.view
    return (
        view.resource(user) in RESTABLE
        and rests(view, user, scene.now)
        and not view.sources(user, Edge.SCALES)
        and not scene.causes.wanted(user)
        and view.resource(scene.change.direct[0]) in MOUNTED
    )


def _is_retired(scene: Scene, user: int) -> bool:
    """Whether a person who made all of an application by hand deletes a part that `user` names."""
    view = scene.view
    (target,) = scene.change.direct
    # WHY first: hardly anybody made both, and then nothing more is read.
    if view.resource(target) not in PARTS or not (owns(scene, target) and owns(scene, user)):
        return False
    services = _services(view, target) | _services(view, user)
    parts = {target, user, *services}
    for service in services:
        readers = readers_of(scene, service)
        if readers is None or len(parts) > READERS:
            return False
        parts.update(readers)
        pods = one_of_each(view, view.classes_selected(service))
        parts.update(maker_of(view, pod) for pod in pods)
    if any(scene.marks(one) or not owns(scene, one) for one in parts):
        return False
    named = all(read_by_name(view, one) for one in services)
    return named or all(made_lately(scene, one) for one in parts)


def _services(view: GraphView, row: int) -> set[int]:
    """Return the Services by which an object is reached: itself, or those of a workload's pods."""
    resource = view.resource(row)
    if resource == SERVICES:
        return {row}
    kinds = classes_under(view, row) if resource in WORKLOADS else []
    return set(services_reaching(view, kinds))
