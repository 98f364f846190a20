"""Aggregated APIs that are withdrawn while autoscalers go by what is read from them.

Beside `admissionpath`, where the backend goes: here the registration does, by name or along, and
the calls fail alike. Of other callers nothing is known; an autoscaler says which API it reads.
Source: autoscaling/v2 MetricSpec; apiregistration/v1 APIService (a group is served as long as any
of its versions is).
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.admission.admissionpath import broken_path, uses_of
from suture.impact.effects import AdmissionPathBroken
from suture.impact.ground.bars import answering
from suture.impact.ordinary.metered import autoscalers_reading
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import API_SERVICES
from suture.model.objects import ApiServiceFacts


def withdrawn_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the aggregated APIs that answer, would be gone, and are gone by."""
    view = scene.view
    for row in scene.kinds.get(API_SERVICES, ()):
        source = view.at(row)
        facts = source.facts
        if not isinstance(facts, ApiServiceFacts) or source.terminating:
            continue
        reading = autoscalers_reading(scene, facts.group)
        if not reading or _served_otherwise(scene, facts.group):
            continue
        for use in uses_of(source):
            before = answering(view, use.service)
            if before:
                calls = f"{use.calls}, by which {reading} autoscalers go,"
                holder = scene.victim(row)
                yield broken_path(scene, use, None, source=holder, before=before, calls=calls)


def _served_otherwise(scene: Scene, group: str) -> bool:
    """Whether another registration of the group stays, and is answered for."""
    view = scene.view
    return any(scene.stays(row) and _answers(view, row, group) for row in view.rows(API_SERVICES))


def _answers(view: GraphView, row: int, group: str) -> bool:
    facts = view.facts(row)
    return (
        isinstance(facts, ApiServiceFacts)
        and facts.group == group
        and (facts.service is None or answering(view, facts.service) > 0)
    )
