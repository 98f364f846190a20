"""Snapshots of which a backup is made that is done, and stays.

Beside `storage`, for which what a snapshot was taken of is a copy of it: here it is not, as of what
a backup is to bring back only the hour counts. The tool that makes backups takes its snapshots away
once what is behind them is kept without them; it does so before its backup is done, or as that is
given up. By a label that names the backup, in the namespace of the tool itself. Pure.
LIMIT: of who runs elsewhere than its backups are, nothing is known.
"""

from __future__ import annotations

from suture.impact.causes.labelled import kept_beside
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.graph import GraphView
from suture.model.objects import CustomFacts, Ended


def is_of_kept(scene: Scene, row: int) -> bool:
    """Whether a machine deletes a snapshot by its name whose backup is done, and stays."""
    view, identity = scene.view, scene.actor.user.username
    if scene.change.direct != (row,) or account_of(identity) is None:
        return False
    return any(
        one is not None and scene.stays(one) and _is_done(view, one)
        for label, name in view.labels(row).items()
        for one in map(view.find, kept_beside(view, label, name, identity))
    )


def _is_done(view: GraphView, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and facts.ended not in (Ended.NO, Ended.FAILED)
