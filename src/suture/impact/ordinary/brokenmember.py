"""The claim of a member that is broken or was taken out, which a person gives up for another.

So a member whose data is damaged, or too far behind, is given an empty volume and copies all from
the others: its claim is deleted, then its pod. Told by what is there: a person names that claim
alone, its pods have not been Ready for ten minutes, or nothing names it any more, and every other
claim of the set is used by a Ready pod, or by that member too. Never by a machine: it takes a
member for broken that waits for a node, and does so to the next. But by an errand of a person, that
of a member which was taken out: so a disk that has failed is purged. Pure.

What is lost if the others hold other data: what that member alone had, and could not serve.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import SIBLINGS, mounting, statefulset_of
from suture.impact.ordinary.putdown import is_errand
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, Operation
from suture.model.writes import TEN_MINUTES_S

_CLAIMED: Final = frozenset({Edge.CLAIM})


def of_broken_member(scene: Scene, claim: int) -> bool:
    """Whether a person gives up the claim of a member that is broken or out, the only one."""
    view, now, request = scene.view, scene.now, scene.request
    if now is None or scene.change.direct != (claim,) or not request.name:
        return False
    # WHY alone: what goes along with it, or with which it goes, was not looked at by anybody.
    if request.operation is not Operation.DELETE:
        return False
    pods, since = mounting(view, claim), now.utc_s - TEN_MINUTES_S
    is_out = not pods and not view.uses(claim, _CLAIMED)
    if not is_person(scene.actor.user.username) and not (
        is_out and is_errand(scene, view.namespace(claim), now)
    ):
        return False
    if not (pods or is_out) or any(view.serves(pod) or view.created(pod) > since for pod in pods):
        return False
    beside = _beside(view, claim)
    if is_out:
        others = [one for one in beside if not _of_one_member(view, claim, one)]
    else:
        others = [one for one in beside if pods != mounting(view, one)]
    return 0 < len(others) <= SIBLINGS and all(_is_served(view, one) for one in others)


def _of_one_member(view: GraphView, claim: int, other: int) -> bool:
    """Whether nothing names either of two claims, and one is called as the other with a word more.

    So a member has one for its data and one for its log: `db-3` and `db-3-wal`.
    """
    shorter, longer = sorted((view.name(claim), view.name(other)), key=len)
    return longer.startswith(f"{shorter}-") and not view.uses(other, _CLAIMED)


def _beside(view: GraphView, claim: int) -> list[int]:
    """Return the other claims of the same template of a StatefulSet, or of the same parent."""
    key = view.key(claim)
    if statefulset_of(view, key) is None:
        parent = view.controller(claim)
        rows = view.staying(view.children_of(parent)) if parent >= 0 else []
        return [row for row in rows if row != claim and view.resource(row) == CLAIMS]
    stem = key.name.rpartition("-")[0]
    return [
        row
        for row in view.rows(CLAIMS, key.namespace)
        if row != claim and view.name(row).rpartition("-")[0] == stem
    ]


def _is_served(view: GraphView, claim: int) -> bool:
    """Whether a claim stays, and a Ready pod uses it."""
    return not view.terminating(claim) and any(map(view.serves, mounting(view, claim)))
