"""Applications that a person made by hand, all of them, and takes away in whatever order.

Beside `hands`, which lets the workload of such an application go first: who may take that may take
before it what it mounts, runs as and is reached by. Else the same file, deleted from its top, is
refused its first half and loses its second. Never of service accounts: what a machine made it may
have made for others, and one that repeats itself does so everywhere. Nor of what a release or
application keeps, which says itself what it drops.

What is lost if the rest stays after all: pods that run keep what they have, and one that starts
waits for what is gone. So such a user counts as one of the past, which is warned about, and only
`RETIRED` such objects may go within the hour.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import before_users
from suture.impact.causes.parents import maker_of
from suture.impact.causes.recent import MOUNTED
from suture.impact.ordinary.hands import (
    READERS,
    is_dropped,
    made_lately,
    owns,
    read_by_name,
    readers_of,
)
from suture.impact.rollout import classes_under
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.graph import GraphView
from suture.model.names import ROLE_BINDINGS, ROLES, SERVICES, WORKLOADS, Operation
from suture.model.writes import HOUR_S

RETIRED: Final = 12
"""LIMIT: what a person may take away within the hour before what names it: the accounts, Secrets
and ConfigMaps of one application, or of two; more of it is a sweep."""


PARTS: Final = MOUNTED | {SERVICES, ROLES, ROLE_BINDINGS}
"""What is a part of one application, and of no other: what is of the cluster others use unnamed."""


def goes_next(scene: Scene, row: int) -> bool:
    """Whether a user of what goes is taken away next: by its keeper's word, or by who made all."""
    return is_dropped(scene, row) or _is_retired(scene, row)


def _is_retired(scene: Scene, user: int) -> bool:
    """Whether a person who made all of an application by hand deletes a part that `user` names."""
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    if now is None or account_of(identity) is not None or len(scene.change.direct) != 1:
        return False
    # WHY one name: a collection says what goes by its labels, whoever made it and in one go.
    if scene.request.operation is not Operation.DELETE or not scene.request.name:
        return False
    if view.history.writes.counted(before_users(identity), now, HOUR_S) >= RETIRED:
        return False
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
        kinds = map(view.one_alike, view.classes_selected(service))
        parts.update(maker_of(view, pod) for pod in kinds if pod >= 0)
    if any(scene.marks(one) or not owns(scene, one) for one in parts):
        return False
    named = all(read_by_name(view, one) for one in services)
    return named or all(made_lately(scene, one) for one in parts)


def _services(view: GraphView, row: int) -> set[int]:
    """Return the Services by which an object is reached: itself, or those of a workload's pods."""
    resource = view.resource(row)
    if resource == SERVICES:
        return {row}
    if resource not in WORKLOADS:
        return set()
    pods = map(view.one_alike, classes_under(view, row))
    return {one for pod in pods if pod >= 0 for one in view.services_of(pod)}
