"""The last snapshot of a claim that it could be filled from, while those after it have failed.

Beside `storage`, for which the claim itself is a copy: as of a backup, only the hour counts. Who
keeps the newest few and does not ask which of them are any good deletes the good ones first, as
they are the oldest. One that is not ready within the hour is not about to be. Pure.
Source: snapshot.storage.k8s.io VolumeSnapshotStatus (`readyToUse`).
"""

from __future__ import annotations

from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.facts import SnapshotFacts
from suture.model.graph import GraphView
from suture.model.names import SNAPSHOTS
from suture.model.writes import HOUR_S


def is_last_good(scene: Scene, row: int) -> bool:
    """Whether a machine deletes a good snapshot by its name, and a later one has failed.

    Of the other snapshots of its claim, which stays, none is good.
    """
    view, now = scene.view, scene.now
    if now is None or scene.change.direct != (row,) or not _is_good(view, row):
        return False
    if account_of(scene.actor.user.username) is None:
        return False
    others = {
        one
        for source in view.there(row, Edge.SNAPSHOT_SOURCE)
        for one in view.sources(source, Edge.SNAPSHOT_SOURCE)
        if one != row and view.resource(one) == SNAPSHOTS and scene.stays(one)
    }
    if any(_is_good(view, one) for one in others):
        return False
    made = view.created(row)
    return any(made < view.created(one) <= now.utc_s - HOUR_S for one in others)


def _is_good(view: GraphView, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, SnapshotFacts) and facts.ready
