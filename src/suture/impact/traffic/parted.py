"""Members of a set that a policy shuts from each other, though they stay Ready.

Beside `frontdoors`, which asks for those in front. That members call one another is told by the
Service that gives them their names: one that publishes them before they are Ready is there for them
to find each other, to become Ready. Each is then alone, and none has a majority.
Source: apps/v1 StatefulSet (`serviceName`); core/v1 Service (`publishNotReadyAddresses`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from suture.impact.effects import Confidence, QuorumLost
from suture.impact.ground.readers import ready_of
from suture.impact.scene import Scene
from suture.impact.traffic.policyreach import Allows, Reach, is_for
from suture.model.graph import GraphView
from suture.model.names import STATEFUL_SETS
from suture.model.objects import ServiceFacts, WorkloadFacts

FEW: Final = 3
"""Members from which on a set has a majority that one of them is not."""


def parted_effects(scene: Scene, reaches: Sequence[Reach]) -> Iterator[QuorumLost]:
    """Yield the sets of which no member lets in the others any more."""
    view = scene.view
    parted = (row for reach in reaches for row in reach.shut_to(lambda row: _members(view, row)))
    for service in parted:
        for of in _sets(view, service):
            yield QuorumLost(
                owner=scene.victim(of),
                members=(wanted := _size(view, of)),
                majority=wanted // 2 + 1,
                before=ready_of(view, of),
                after=1,
                self_healing=False,
                confidence=Confidence.BOUNDED,
            )


def _members(view: GraphView, service: int) -> Allows | None:
    """Say by which rules the members behind a Service let each other in; None where none do."""
    if not _sets(view, service):
        return None
    kinds = view.classes_selected(service)
    return lambda rule: any(is_for(view, rule, kind) for kind in kinds)


def _sets(view: GraphView, service: int) -> list[int]:
    """Return the sets of three and more whose members find each other by a Service."""
    facts = view.facts(service)
    if not isinstance(facts, ServiceFacts) or not (facts.headless and facts.not_ready):
        return []
    above = {view.controller(view.one_alike(kind)) for kind in view.classes_selected(service)}
    return [
        row
        for row in sorted(above)
        if row >= 0
        and view.resource(row) == STATEFUL_SETS
        and _governs(view, service, row)
        and _size(view, row) >= FEW
    ]


def _governs(view: GraphView, service: int, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, WorkloadFacts) and facts.service == view.name(service)


def _size(view: GraphView, row: int) -> int:
    facts = view.facts(row)
    return (facts.replicas or 0) if isinstance(facts, WorkloadFacts) else 0
