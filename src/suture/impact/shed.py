"""What goes with the pods that a StatefulSet no longer wants: their claims, and what they own.

Beside `updates`: of claims no reference says so before. The controller makes the pod the owner of
its claim as it lets go of it, and the collector does the rest. A StatefulSet lets go of its last
pods, so that it is known which go; of other workloads it is not.
Source: StatefulSet persistentVolumeClaimRetentionPolicy, whenScaled; `claimOwnerMatchesSetAndPod`;
the garbage collector.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import statefulset_of
from suture.impact.ground.cascade import closure
from suture.impact.ground.change import Resized
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS, ObjectKey
from suture.model.objects import WorkloadFacts

PODS_ASKED: Final = 64
"""LIMIT: pods that are let go of and looked up by name, 3 us each."""


def shed(view: GraphView, resized: Resized | None) -> tuple[int, ...]:
    """Return what goes with the pods that a StatefulSet lets go of for its size, but not these."""
    # WHY not asked for: the controller of what asks may keep them first, or copy them.
    if resized is None or resized.asked or resized.after >= resized.before:
        return ()
    if view.resource(resized.row) != STATEFUL_SETS:
        return ()
    claims = _claims(view, resized)
    going = [row for row in last_members(view, resized) if view.takes_along(row)]
    known = {*claims, *going}
    return claims + tuple(row for row in closure(view, going) if row not in known)


def last_members(view: GraphView, resized: Resized) -> list[int]:
    """Return the pods that a StatefulSet lets go of for its size, up to PODS_ASKED of them."""
    key, end = view.key(resized.row), min(resized.before, resized.after + PODS_ASKED)
    names = (f"{key.name}-{number}" for number in range(resized.after, end))
    pods = [view.find(ObjectKey(PODS, key.namespace, name)) for name in names]
    return [row for row in pods if row is not None and view.controller(row) == resized.row]


def _claims(view: GraphView, resized: Resized) -> tuple[int, ...]:
    facts = view.facts(resized.row)
    if not isinstance(facts, WorkloadFacts) or not facts.sheds_claims:
        return ()
    beyond = range(resized.after, resized.before)
    found = []
    for claim in view.rows(CLAIMS, view.namespace(resized.row)):
        kept_for = statefulset_of(view, view.key(claim))
        if kept_for is not None and kept_for[0] == resized.row and kept_for[1] in beyond:
            found.append(claim)
    return tuple(found)
