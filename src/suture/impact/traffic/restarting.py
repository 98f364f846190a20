"""Members behind one Service that an operator restarts before the one before is back.

The pods of one workload restart in turn, and their controller waits. Where each member of a custom
resource has a workload of its own, of one pod, nobody waits but the operator; and one that starts
anew, or was upgraded, finds all of them to differ and writes them all. So the first may go, and the
next only when that is back. Not where something was asked for: other images or settings, or a
custom resource above them that was told anything within the hour.
Source: Altinity's operator of ClickHouse, which keeps a StatefulSet for each host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from suture.impact.causes.counters import annotated, ordered, restarter
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.parents import SIBLINGS
from suture.impact.causes.resting import services_behind, services_led
from suture.impact.ground.change import Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.stamps import restarts
from suture.impact.rollout import ready_of, unavailable_of
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.names import WORKLOADS
from suture.model.objects import WorkloadFacts
from suture.model.podtemplate import rollout_of
from suture.model.writes import TEN_MINUTES_S

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


def _is_member(scene: Scene, row: int) -> bool:
    """Whether an operator asks, and a workload is one of one pod that a custom resource keeps."""
    view, facts = scene.view, scene.view.facts(row)
    parent = view.controller(row)
    return (
        parent >= 0
        and isinstance(facts, WorkloadFacts)
        and facts.replicas == 1
        and is_custom(view.resource(parent))
        and not is_person(scene.actor.user.username)
    )


def _goes_down(scene: Scene, made: Rewritten) -> bool:
    """Whether a write takes a workload's pod before the next is there, and the next runs the same.

    WHY first how many: a Deployment mostly makes the next before.
    """
    rollout = rollout_of(scene.request.new_body)
    return unavailable_of(rollout, made.after.key.resource, 1) > 0 and restarts(scene.request, made)


def _restarted_lately(scene: Scene, row: int, now: Now) -> list[int]:
    """Return the other members that the actor restarted within ten minutes."""
    view, identity = scene.view, scene.actor.user.username
    counted = view.history.writes.counted
    return [
        one
        for one in view.staying(view.children_of(view.controller(row))[:SIBLINGS])
        if one != row
        and view.resource(one) in WORKLOADS
        and isinstance(facts := view.facts(one), WorkloadFacts)
        and facts.replicas == 1
        and counted(restarter(identity, view.at(one)), now, TEN_MINUTES_S) > 0
    ]


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
