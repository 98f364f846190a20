"""Custom resources of a type that one actor sweeps away: a large part of what there is.

Of most types a budget counts none: they come and go as their operators see fit, and what they stand
for has rules of its own. One actor that takes most of a type within a minute is no such case.
What it made itself or keeps, has made others for, or what has ended, is its own.
"""

from __future__ import annotations

from typing import Final

from suture.impact.keepers import is_own, works_for
from suture.impact.over import says_ended
from suture.impact.recent import is_custom, remover
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import Resource
from suture.model.writes import HOUR_S, MINUTE_S

FREE_PERCENT: Final = 40
"""Share of a custom type that one actor may take within a minute before any of it counts."""

LEAST: Final = 10
"""Objects below which a type is too small for a share of it to say anything."""


def free_of(population: int) -> int:
    """Return how many objects of a custom type one actor may take within a minute uncounted."""
    return population * FREE_PERCENT // 100


def swept(scene: Scene, resource: Resource, left: list[int]) -> list[int]:
    """Return which objects that go without a cause a budget is to count, of those asked for.

    WHY not what goes along: a namespace, an owner or a definition that goes is weighed as such.
    """
    if not is_custom(resource) or scene.now is None:
        return []
    asked = [row for row in left if row in scene.direct]
    if not asked:
        return []
    view, identity = scene.view, scene.actor.user.username
    taken = view.history.writes.counted(remover(identity, resource), scene.now, MINUTE_S)
    # WHY of what there is now: nobody knows which of those that were taken are still on their way.
    beyond = taken + len(asked) - free_of(view.count(resource))
    if beyond <= 0 or view.count(resource) + taken < LEAST:
        return []
    found = [row for row in asked if not _is_its_own(scene, row)][:beyond]
    return found if found and _made(scene, resource) <= taken else []


def _made(scene: Scene, resource: Resource) -> int:
    """Return how many objects of a type the actor made within the hour, and that stay."""
    view, now = scene.view, scene.now
    if now is None:
        return 0
    since, identity = now.utc_s - HOUR_S, scene.actor.user.username
    return sum(
        view.created(row) >= since
        and not view.terminating(row)
        and row not in scene.removed
        and view.history.created_by(view.uid(row)) == identity
        for row in view.rows(resource)
    )


def _is_its_own(scene: Scene, row: int) -> bool:
    """Whether an object is the actor's to give up, or nobody's any more."""
    if is_own(scene, row) or says_ended(scene.view, row):
        return True
    marks = [scene.view.key(mark) for mark, _ in scene.view.targets(row, Edge.MANAGED_BY)]
    return any(works_for(scene, mark) for mark in marks)
