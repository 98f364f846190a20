"""Ever more of the same under one owner that asks for no more: a loop that sees nothing of its own.

Who makes a child does not find it a moment later, and makes the next: by a list that is late, by a
label that it does not set, for every call that comes. Told of what stands for itself, and is there
still: pods that have not ended, credentials, settings. Not under what is of the day, nor what was
changed within the hour: that may ask for all of them. Nor under built-in workloads, which say how
many they want, pods and nodes. WHY of custom resources many more, and no others: work and machines
come in bursts, as they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import creator_like, pattern_of
from suture.impact.causes.parents import sizes_said
from suture.impact.effects import Churn, Confidence, Victim
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene, named
from suture.model.clock import Now
from suture.model.names import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.writes import DAY_S, HOUR_S, TEN_MINUTES_S

PILED: Final = frozenset({PODS, SECRETS, CONFIG_MAPS})
WINDOWS_S: Final = (TEN_MINUTES_S, HOUR_S)
FEW: Final = 10
"""From how many made within the hour on it is looked at whose they are."""

CUSTOM: Final = 10
"""As how many custom resources an owner is taken to have at least."""

BURST: Final = 20
"""How often as many of those there may be: requests for one certificate, runs of one check."""


def piled_up(scene: Scene, made: ClusterObject, now: Now) -> Iterator[Churn]:
    """Yield how often as many were made as an owner had, in each window that has more."""
    key, identity = made.key, scene.request.user.username
    if not made.owners or not (key.resource in PILED or _is_request(key)):
        return
    rows = (scene.view.find_uid(owner.uid) for owner in made.owners)
    # WHY first: most pods are of workloads, and nothing more is read of those.
    owners = [row for row in rows if row is not None and _says_nothing(scene, row)]
    if not owners:
        return
    counted, like = scene.view.history.writes.counted, creator_like(identity, key)
    lately = [counted(like, now, window_s) for window_s in WINDOWS_S]
    if lately[-1] < FEW:
        return
    alike = named(ObjectKey(key.resource, key.namespace, pattern_of(key.name)))
    for row in owners:
        if _was_there(scene, row, now):
            yield from _told(scene, row, key.resource, lately, alike)


def _told(
    scene: Scene, row: int, resource: Resource, lately: list[int], alike: Victim
) -> Iterator[Churn]:
    least, said = (1, 1) if resource in PILED else (CUSTOM, BURST)
    there = _there(scene, row, resource)
    before = max(least, there - lately[-1], *sizes_said(scene.view, row))
    for window_s, count in zip(WINDOWS_S, lately, strict=True):
        times = (min(count, there) + 1) // before
        if times > said:
            said = times
            yield Churn(
                target=alike, what="recreated", times=times, window_s=window_s, actors=1,
                confidence=Confidence.BOUNDED,
            )  # fmt: skip


def _is_request(key: ObjectKey) -> bool:
    """Whether an object may be asked of somebody: a machine lies in no namespace, or has a set."""
    return bool(key.namespace) and is_custom(key.resource)


def _says_nothing(scene: Scene, row: int) -> bool:
    """Whether an owner is of a kind that need not say how many it wants."""
    resource = scene.view.resource(row)
    return is_custom(resource) or resource == SERVICE_ACCOUNTS


def _was_there(scene: Scene, row: int, now: Now) -> bool:
    """Whether an owner was there before the day, and is as it was an hour ago."""
    creation = scene.view.history.creation(scene.view.uid(row))
    if creation is not None and now.ago_s(creation.at_ns) < DAY_S:
        return False
    return scene.stays(row) and not scene.changed(row)


def _there(scene: Scene, owner: int, resource: Resource) -> int:
    """Return how many children of a type an owner has; of pods those that have not ended."""
    view = scene.view
    if resource != PODS:
        return view.children_count(owner, resource)
    return sum(view.running_alike(kind)[0] for kind in view.classes_owned(owner))
