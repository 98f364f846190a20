"""Snapshots of which a backup is made: one that is done and stays, or one whose time is over.

Beside `storage`, for which what a snapshot was taken of is a copy of it: here it is not, as of what
a backup is to bring back only the hour counts. The tool that makes backups takes its snapshots away
once what is behind them is kept without them; it does so before its backup is done, or as that is
given up. By a label that names the backup, in the namespace of the tool itself. Pure.
LIMIT: of who runs elsewhere than its backups are, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.causes.counters import expired
from suture.impact.causes.labelled import kept_beside
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.graph import GraphView
from suture.model.objects import CustomFacts, Ended


def is_of_kept(scene: Scene, row: int) -> bool:
    """Whether a machine deletes a snapshot by its name whose backup is done, and stays."""
    return any(scene.stays(one) and _is_done(scene.view, one) for one in _backups(scene, row))


def is_of_expired(scene: Scene, row: int) -> bool:
    """Whether a machine deletes a snapshot whose backup was given up once its time was over."""
    view = scene.view
    return any(scene.counted(expired(view.uid(one))) > 0 for one in _backups(scene, row))


def _backups(scene: Scene, row: int) -> Iterator[int]:
    """Yield the backups that the labels of a snapshot name, which a machine deletes by its name."""
    view, identity = scene.view, scene.actor.user.username
    if scene.change.direct != (row,) or account_of(identity) is None:
        return
    for label, name in view.labels(row).items():
        for key in kept_beside(view, label, name, identity):
            if (one := view.find(key)) is not None:
                yield one


def _is_done(view: GraphView, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and facts.ended not in (Ended.NO, Ended.FAILED)
