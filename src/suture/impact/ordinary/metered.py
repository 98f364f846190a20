"""APIs by which autoscalers go: who reads metrics of a group, and which groups nobody else asks.

Source: autoscaling/v2 MetricSpec; HorizontalPodAutoscaler, "Support for metrics APIs".
"""

from __future__ import annotations

from typing import Final

from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts
from suture.model.names import AUTOSCALERS
from suture.model.objects import ApiServiceFacts, ClusterObject

FOR_AUTOSCALERS: Final = frozenset({"custom.metrics.k8s.io", "external.metrics.k8s.io"})
"""Groups that nobody else asks."""


def autoscalers_reading(scene: Scene, group: str) -> int:
    """Return how many autoscalers that stay, and have a workload, read metrics of a group."""
    view = scene.view
    return sum(
        isinstance(facts := view.facts(row), AutoscalerFacts)
        and group in facts.reads
        and scene.stays(row)
        and any(scene.stays(one) for one, there in view.targets(row, Edge.SCALES) if there)
        for row in view.rows(AUTOSCALERS)
    )


def is_unread(scene: Scene, registration: ClusterObject) -> bool:
    """Whether a registration is of an API that autoscalers alone ask, and none goes by it."""
    facts = registration.facts
    return (
        isinstance(facts, ApiServiceFacts)
        and facts.group in FOR_AUTOSCALERS
        and not autoscalers_reading(scene, facts.group)
    )
