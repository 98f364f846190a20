"""What a write makes of a workload's template: other pods, at once or not, of the same or not.

Apart from `rollout`, which asks the model which pods are replaced: here the two bodies say it.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Rewritten
from suture.model.edges import Edge
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, ObjectKey
from suture.model.objects import ClusterObject, WorkloadFacts
from suture.model.podtemplate import images_of, rollout_of
from suture.model.request import Request

FOLLOWING: Final = frozenset({DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS})
"""Workloads whose pods follow their template."""

ON_DELETE: Final = "OnDelete"
RECREATE: Final = "Recreate"

SETTINGS: Final = frozenset({Edge.CONFIG_MAP, Edge.SECRET})
"""What a template names that says how its pods are to run."""


def template_changed(before: ClusterObject | None, after: ClusterObject) -> bool:
    """Whether a workload stamps out other pods than before."""
    return (
        before is not None
        and isinstance(before.facts, WorkloadFacts)
        and isinstance(after.facts, WorkloadFacts)
        and before.facts.template_hash != after.facts.template_hash
    )


def rolls_out(request: Request, made: Rewritten) -> bool:
    """Whether a write has a workload replace its pods by those of another template, by itself."""
    if made.after.key.resource not in FOLLOWING or not template_changed(made.before, made.after):
        return False
    rollout = rollout_of(request.new_body)
    return not rollout.paused and rollout.strategy != ON_DELETE


def restarts(request: Request, made: Rewritten) -> bool:
    """Whether a write has a workload replace all its pods, by others that run the same.

    WHY the same: other images and other settings are deliveries, and of these there may be any
    number. Bodies that show no images tell nothing.
    LIMIT: what restarts part by part, by a partition, is not looked at.
    """
    before = made.before
    if before is None or not rolls_out(request, made):
        return False
    if isinstance(before.facts, WorkloadFacts) and before.facts.replicas == 0:
        return False
    if rollout_of(request.new_body).partition:
        return False
    images = images_of(request.new_body)
    return (
        bool(images)
        and images == images_of(request.old_body)
        and _settings(before) == _settings(made.after)
    )


def _settings(workload: ClusterObject) -> frozenset[ObjectKey]:
    """Return the ConfigMaps and Secrets that a template names."""
    return frozenset(one.target for one in workload.needs if one.edge in SETTINGS)
