"""Claims that a StatefulSet lets go of together with the pods that it no longer wants.

Beside `updates`: no reference says so before. The controller makes the pod the owner of its claim
as it lets go of it, and the collector does the rest.
Source: StatefulSet persistentVolumeClaimRetentionPolicy, whenScaled; `claimOwnerMatchesSetAndPod`.
"""

from __future__ import annotations

from suture.impact.change import Resized
from suture.impact.parents import statefulset_of
from suture.model.graph import GraphView
from suture.model.names import CLAIMS
from suture.model.objects import WorkloadFacts


def claims_shed(view: GraphView, resized: Resized | None) -> tuple[int, ...]:
    """Return the claims that go with the pods that a StatefulSet lets go of for its size."""
    if resized is None or resized.after >= resized.before:
        return ()
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
