"""Parts of a release or application that have got another name or namespace, with their own pods.

Beside `causes.replaced`, where the next reaches the same pods: here it has others, so that nothing
but its keeper ties the two together. Told by what is recorded: the actor works for the keeper, made
as many parts of the type for it within the hour as it has taken from it, and one more, and each of
these serves as well as what goes. So nothing is believed of parts that never start, nor of a keeper
from which more goes than has come.

Of a part that is made in another namespace under the name that it had, no keeper has to tell: who
made the next takes the one before away.

What is lost if one stands in for another than its own: a part for each part that was made.
Source: Helm and Kustomize make what a chart or folder names, and then prune what it names no more.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import creator, part_taken
from suture.impact.causes.recent import PARTS
from suture.impact.ground.readers import ready_of
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import CRON_JOBS, NAMESPACES, SERVICES, ObjectKey
from suture.model.objects import ServiceFacts
from suture.model.writes import HOUR_S

KEPT_ASKED: Final = 1_024
"""LIMIT: objects of one keeper that are asked whether they were made lately, 0.5 us each."""

SPACES_ASKED: Final = 1_024
"""LIMIT: namespaces in which the next of a part is looked for, 0.3 us each."""


def is_renamed(scene: Scene, row: int) -> bool:
    """Whether the actor made another part in the place of one that goes alone, and that serves."""
    view = scene.view
    if scene.change.direct != (row,) or view.resource(row) not in PARTS:
        return False
    if view.resource(row) == SERVICES and any(
        referrer not in scene.removed for referrer in view.referrers(row)
    ):
        return False
    return is_moved(scene, row) or any(
        works_for(scene, view.key(keeper)) and _made(scene, row, keeper)
        for keeper, _ in view.targets(row, Edge.MANAGED_BY)
    )


def is_moved(scene: Scene, row: int) -> bool:
    """Whether the actor made the next of a part in another namespace within the hour, as good.

    One for one: where others of that name stand elsewhere, or the actor took another one, nobody
    knows which of them it is the next of. Not of what is kept for others than the actor.
    """
    view, now, resource = scene.view, scene.now, scene.view.resource(row)
    if now is None or resource not in PARTS:
        return False
    # WHY first: hardly anybody who deletes a part has made one within the hour.
    made = creator(scene.actor.user.username, resource)
    if not scene.counted(made):
        return False
    spaces = view.rows(NAMESPACES)
    if len(spaces) > SPACES_ASKED:
        return False
    if not all(works_for(scene, mark) for mark in scene.marks(row)):
        return False
    home, name, found = view.namespace(row), view.name(row), False
    for space in map(view.name, spaces):
        if space == home:
            continue
        key = ObjectKey(resource, space, name)
        one = view.find(key)
        if one is not None:
            goes = view.gone(one) or view.terminating(one)
            if goes or not (scene.made(one) and _as_good(view, one, row)):
                return False
            found = True
        elif (taken := view.history.removed_at(key)) is not None and (
            taken.by == scene.actor.user.username and now.ago_s(taken.at_ns) < HOUR_S
        ):
            return False
    return found


def _made(scene: Scene, row: int, keeper: int) -> bool:
    """Whether more parts as good were made for a keeper within the hour than were taken from it.

    In the namespace; one of the same name in another is the next of this one, and of no other.
    """
    view = scene.view
    kept = view.sources(keeper, Edge.MANAGED_BY)
    if len(kept) > KEPT_ASKED:
        return False
    home, name, made = view.namespace(row), view.name(row), 0
    for one in kept:
        moved = view.namespace(one) != home
        if (
            one == row
            or (moved and view.name(one) != name)
            or view.resource(one) != view.resource(row)
            or view.gone(one)
            or view.terminating(one)
        ):
            continue
        if scene.made(one) and _as_good(view, one, row):
            if moved:
                return True
            made += 1
    # WHY first whether any was: what was taken is counted for few keepers.
    if not made:
        return False
    return made > scene.counted(part_taken(view.key(keeper), view.resource(row)))


def _as_good(view: GraphView, new: int, old: int) -> bool:
    """Whether one part has as many ready pods as another, a Service on the same ports, and one.

    WHY no pods of a schedule: it has none between its hours, and the next is one once it is made.
    """
    if view.resource(new) == CRON_JOBS:
        return True
    if view.resource(new) != SERVICES:
        return ready_of(view, new) >= max(1, ready_of(view, old))
    its, mine = view.facts(new), view.facts(old)
    return (
        isinstance(its, ServiceFacts)
        and isinstance(mine, ServiceFacts)
        and (its.type, its.headless) == (mine.type, mine.headless)
        and set(mine.ports) <= set(its.ports)
        and view.serving_count(new) >= max(1, view.serving_count(old))
    )
