"""What people marked to stay: by a label, which only a person takes off for good.

Beside `removal`, which counts it among what goes. Where a machine took the label off, the object
counts as marked until a person writes the label, or it is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from suture.model.graph import GraphView, Lot
from suture.model.request import Request

PROTECT: Final = "suture.dev/protect"
PROTECTED: Final = "true"
"""The label by which people say that an object is to stay, whoever would take it away."""


def protected(view: GraphView, rows: Sequence[int]) -> list[int]:
    """Return which of some objects, none of them a pod, are marked to stay."""
    marked = view.labelled(rows, PROTECT, PROTECTED)
    lifted = _lifted(view, rows)
    return list(dict.fromkeys((*marked, *lifted))) if lifted else marked


def protected_pods(view: GraphView, lots: Sequence[Lot]) -> list[int]:
    """Return of each of some lots of pods how many are marked to stay."""
    marked = frozenset(view.labelled([lot.kind for lot in lots], PROTECT, PROTECTED))
    return [lot.count if lot.kind in marked else len(_lifted(view, lot.pods)) for lot in lots]


def _lifted(view: GraphView, rows: Sequence[int]) -> list[int]:
    """Return the rows of objects from which a machine took the mark."""
    writes = view.history.writes
    return [row for row in rows if writes.is_lifted(view.uid(row))] if writes.any_lifted else []


def remember_mark(request: Request, view: GraphView, *, person: bool) -> None:
    """Remember that a machine takes a mark off; what a person writes of the mark takes that back.

    `person`: whether one asks.
    """
    old, new = request.old, request.new
    # WHY the same first: labels that are the same bytes are one mapping, mostly.
    if old is None or new is None or old.labels is new.labels:
        return
    before, after = old.labels.get(PROTECT), new.labels.get(PROTECT)
    if before == after:
        return
    if person:
        view.history.writes.note_unlifted(new.uid)
    elif before == PROTECTED:
        view.history.writes.note_lifted(new.uid)
