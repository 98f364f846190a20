"""Members that an operator restarts before those before are back: of one Service, or anywhere.

The pods of one workload restart in turn, and their controller waits. Where each member of a custom
resource has a workload of its own, of one pod, nobody waits but the operator; and one that starts
anew, or was upgraded, finds all of them to differ and writes them all. So the first may go, and the
next only when that is back. Not where something was asked for: other images or settings, or a
custom resource above them that was told anything within the hour.

What the next version of an operator writes into the pods of all that it keeps may be what none of
them starts with. Once a few of them are not back after minutes, it is not to be expected of the
next either: what it would lose it loses for good. So it is with whatever one actor writes into
workloads of anybody's, images and settings too, where none of those that it took down is back.
Source: Altinity's operator of ClickHouse, which keeps a StatefulSet for each host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from suture.impact.causes.counters import annotated, ordered, restarter, restarts_by
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.parents import SIBLINGS
from suture.impact.causes.resting import services_behind, services_led
from suture.impact.causes.rolled import is_whole, rolled, takes_down
from suture.impact.ground.change import Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import ready_of
from suture.impact.ground.stamps import restarts
from suture.impact.ground.unavailable import unavailable_of
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.names import WORKLOADS
from suture.model.objects import WorkloadFacts
from suture.model.podtemplate import rollout_of
from suture.model.writes import TEN_MINUTES_S

IN_VAIN: Final = 3
"""From how many workloads on that were restarted and are not back the next is not expected to."""

BACK_S: Final = 120
"""LIMIT: how long a restarted workload may take until all of its pods are Ready again; a slow one
is but asked to come again later."""

KEPT_ASKED: Final = 500
"""LIMIT: custom resources of one type whose workloads are looked at."""

STARTING_S: Final = 10
"""How long a member that was restarted is taken to be on its way down, though its pod is still
Ready: its controller takes it within a second, and no pod is back sooner."""


class Restarted(NamedTuple):
    """A Service that loses a member while others are away.

    `going` of its Ready endpoints go, the one that is asked for among them; `away` are gone.
    """

    service: int
    going: int
    away: int


def members_restarted(scene: Scene) -> Iterator[Restarted]:
    """Yield the Services that lose a member now, before those that were restarted are back."""
    made, now, view = scene.change.rewritten, scene.now, scene.view
    if made is None or made.row is None or now is None or made.row in scene.removed:
        return
    if not _is_member(scene, made.row) or not _goes_down(scene, made):
        return
    mine = ready_of(view, made.row)
    others = _restarted_lately(scene, made.row, now) if mine else []
    if not others or _was_told(scene, made.row):
        return
    for service in services_behind(view, made.row):
        going, away = mine, 0
        for other in others:
            if service in services_led(view, other):
                ready = ready_of(view, other)
                if not ready:
                    away += 1
                elif view.history.writes.changed(view.key(other), What.WROTE, now, STARTING_S):
                    going += ready
        if away or going > mine:
            yield Restarted(service, going, away)


def restarted_in_vain(scene: Scene) -> Iterator[Restarted]:
    """Yield the Services that lose pods by a restart like those from which others are not back."""
    made, now, view = scene.change.rewritten, scene.now, scene.view
    if made is None or made.row is None or now is None or made.row in scene.removed:
        return
    facts, ready = view.facts(made.row), ready_of(view, made.row)
    if not isinstance(facts, WorkloadFacts) or not ready:
        return
    if not (_others_kept_away(scene, made, made.row, now) or _none_is_back(scene, made, now)):
        return
    rollout = rollout_of(scene.request.new_body)
    going = min(ready, unavailable_of(rollout, made.after.key.resource, facts.replicas or 1))
    for service in services_behind(view, made.row):
        yield Restarted(service, going, 0)


def _others_kept_away(scene: Scene, made: Rewritten, row: int, now: Now) -> bool:
    """Whether several of those that an operator keeps, and restarted like this one, are away."""
    if scene.counted(restarts_by(scene.actor.user.username)) < IN_VAIN:
        return False
    if not _is_kept(scene, row) or not _goes_down(scene, made) or _was_told(scene, row):
        return False
    return sum(_is_away(scene, one, now) for one in _kept_alike(scene, row)) >= IN_VAIN


def _none_is_back(scene: Scene, made: Rewritten, now: Now) -> bool:
    """Whether a write takes a workload down, and of those that the actor took so none is back.

    Whatever it wrote into them. One that is back says that it can be done; of those that were
    written a moment ago nothing is known.
    """
    if not takes_down(scene.request, made):
        return False
    taken = rolled(scene.view, scene.request.user.username, now)
    awaited = [row for row, ago_s in taken.items() if row != made.row and ago_s >= BACK_S]
    return len(awaited) >= IN_VAIN and not any(is_whole(scene.view, row) for row in awaited)


def _kept_alike(scene: Scene, row: int) -> Iterator[int]:
    """Yield the other workloads of the type that custom resources of the same type keep."""
    view, resource = scene.view, scene.view.resource(row)
    for parent in view.rows(view.resource(view.controller(row)))[:KEPT_ASKED]:
        for one in view.staying(view.children_of(parent)[:SIBLINGS]):
            if one != row and view.resource(one) == resource:
                yield one


def _is_away(scene: Scene, row: int, now: Now) -> bool:
    """Whether the actor restarted a workload within ten minutes, and it is not back in time."""
    view, facts = scene.view, scene.view.facts(row)
    if not isinstance(facts, WorkloadFacts) or ready_of(view, row) >= (facts.replicas or 0):
        return False
    writes = view.history.writes
    lately = writes.changed(view.key(row), What.WROTE, now, BACK_S)
    return not lately and _was_restarted(scene, row, now)


def _is_kept(scene: Scene, row: int) -> bool:
    """Whether an operator asks, and a custom resource keeps a workload."""
    parent = scene.view.controller(row)
    return (
        parent >= 0
        and is_custom(scene.view.resource(parent))
        and not is_person(scene.actor.user.username)
    )


def _is_member(scene: Scene, row: int) -> bool:
    """Whether an operator asks, and a workload is one of one pod that a custom resource keeps."""
    facts = scene.view.facts(row)
    return isinstance(facts, WorkloadFacts) and facts.replicas == 1 and _is_kept(scene, row)


def _goes_down(scene: Scene, made: Rewritten) -> bool:
    """Whether a write takes a workload's pod before the next is there, and the next runs the same.

    WHY first how many: a Deployment mostly makes the next before.
    """
    rollout = rollout_of(scene.request.new_body)
    return unavailable_of(rollout, made.after.key.resource, 1) > 0 and restarts(scene.request, made)


def _restarted_lately(scene: Scene, row: int, now: Now) -> list[int]:
    """Return the other members that the actor restarted within ten minutes."""
    view = scene.view
    return [
        one
        for one in view.staying(view.children_of(view.controller(row))[:SIBLINGS])
        if one != row
        and view.resource(one) in WORKLOADS
        and isinstance(facts := view.facts(one), WorkloadFacts)
        and facts.replicas == 1
        and _was_restarted(scene, one, now)
    ]


def _was_restarted(scene: Scene, row: int, now: Now) -> bool:
    """Whether the actor restarted a workload within ten minutes."""
    by = restarter(scene.actor.user.username, scene.view.at(row))
    return scene.view.history.writes.counted(by, now, TEN_MINUTES_S) > 0


def _was_told(scene: Scene, row: int) -> bool:
    """Whether a custom resource above a workload was changed within the hour, or given an order."""
    view = scene.view
    return any(
        scene.changed(one)
        or scene.counted(ordered(view.uid(one)))
        or scene.counted(annotated(view.uid(one)))
        for one in view.controllers(row, CLIMBED)
        if one != row
    )
