"""Data that an operator clears away once the custom resource goes that its database is.

Beside `storage`, where a claim goes itself: claims of a StatefulSet have no owner, so that nothing
of Kubernetes' own takes them along. Told by what is there, never by product: the request names a
custom resource that a finalizer holds, a StatefulSet goes with it, and running members of that use
bound claims whose volumes are not kept. Who gives a database up stops it first, or makes a copy.
Pure.
Source: operators that delete the claims of their members in a finalizer of their resource.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.parents import mounting, statefulset_of
from suture.impact.data.storage import DELETE, reclaim_of, snapshots_of
from suture.impact.effects import Confidence, DataLost
from suture.impact.ground.inventory import leaves_all
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import holder
from suture.impact.ordinary.hands import made_lately
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, STATEFUL_SETS, VOLUMES, ObjectKey
from suture.model.objects import ClaimFacts

CLAIMS_ASKED: Final = 256
"""LIMIT: claims of a namespace that are asked whose they are, 1 us each; where there are more,
nothing is told."""


def cleared_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield the volumes that the members use of what the request's own object is."""
    view = scene.view
    sets = scene.kinds.get(STATEFUL_SETS)
    if sets is None or len(scene.change.direct) != 1:
        return
    (row,) = scene.change.direct
    if not is_custom(view.resource(row)) or not holder(view, row) or leaves_all(view, row):
        return
    namespace = view.namespace(row)
    claims = view.rows(CLAIMS, namespace)
    if not namespace or len(claims) > CLAIMS_ASKED:
        return
    explained = scene.causes.explains(row) or made_lately(scene, row)
    for claim in claims:
        found = statefulset_of(view, view.key(claim))
        if found is None or found[0] not in sets or claim in scene.removed:
            continue
        volume, pods = _erased(view, claim), mounting(view, claim)
        if not volume or not any(map(view.serves, pods)):
            continue
        copies = snapshots_of(scene, claim)
        yield DataLost(
            holder=scene.victim(row),
            volume=volume,
            reclaim=DELETE,
            bound=True,
            mounted=len(pods),
            copies=copies,
            last_copy=not copies,
            # WHY: a copy is enough, though members still use the volume.
            direct=False,
            explained=explained,
            confidence=Confidence.BOUNDED,
        )


def _erased(view: GraphView, claim: int) -> str:
    """Return the bound volume of a claim that stays, if it is not kept; empty where it has none."""
    facts = view.facts(claim)
    if not isinstance(facts, ClaimFacts) or not facts.bound or view.terminating(claim):
        return ""
    held = view.find(ObjectKey(VOLUMES, "", facts.volume))
    return facts.volume if reclaim_of(view, held) == DELETE else ""
