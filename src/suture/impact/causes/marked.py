"""Which of many alike is to go: those that somebody marked, while others of the same parent stay.

Beside `surplus` and `lowered`, by which a parent lets go of whichever of its children is asked
first. Who makes a set smaller for the sake of one member says by an annotation which it means, and
a controller that looks at the number alone may take another, which is at work.
Source: Cluster API `DeleteMachineAnnotation` ("given top priority on all delete policies"), and
what autoscalers write before they lower a number. LIMIT: of what was marked more than an hour ago,
or before Suture was there, nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.ground.bodies import annotations_of
from suture.model.clock import Now
from suture.model.difference import numbers_changed
from suture.model.graph import GraphView
from suture.model.names import Resource
from suture.model.request import Request
from suture.model.writes import HOUR_S, Writes

LEVELS: Final = 2
"""LIMIT: parents above a member: its set, and what has several sets for one number."""


def remember_mark(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a custom resource was marked to be deleted, or that the mark was taken off.

    WHY not where it is known: a write that came too late is reviewed once more, and is one mark.
    """
    resource, row = request.gvr.resource, view.find(request.key)
    marked = _is_marked(annotations_of(request.new_body), resource)
    if row is None or marked == _is_marked(annotations_of(request.old_body), resource):
        return
    if marked != _bears_mark(view, row, now):
        _count(view, row, now, 1 if marked else -1)


def forget_mark(view: GraphView, row: int, now: Now) -> None:
    """Take back that an object that goes was marked."""
    if _bears_mark(view, row, now):
        _count(view, row, now, -1)


def remember_scale(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a custom resource was made smaller by its scale."""
    row = view.find(request.key)
    numbers = numbers_changed(request.old_body, request.new_body) if row is not None else ()
    if row is not None and any(after < before for before, after in numbers):
        note_lowered(view, row, now)


def note_lowered(view: GraphView, row: int, now: Now) -> None:
    """Remember that a number of a parent was lowered, after some of those below it were marked."""
    writes, uid = view.history.writes, view.uid(row)
    if _counted(writes, _below(uid), now):
        writes.count(_lowered(uid), now)


def others_marked(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether an object was not marked to go, and others were that stay.

    Within the hour, and of a parent whose number was lowered for them: of one that was marked for a
    later day a rollout knows nothing.
    """
    if now is None:
        return False
    writes = view.history.writes
    parents = map(view.uid, view.controllers(row, LEVELS))
    return any(
        _counted(writes, _below(uid), now) and _counted(writes, _lowered(uid), now)
        for uid in parents
    ) and not _bears_mark(view, row, now)


def _is_marked(annotations: Iterable[str], resource: Resource) -> bool:
    """Whether names of annotations say that an object of a type is to be deleted."""
    kind = resource.plural.removesuffix("s")
    return any(one.endswith((f"delete-{kind}", "/delete-me")) for one in annotations)


def _count(view: GraphView, row: int, now: Now, by: int) -> None:
    """Count marks of an object, and of what is below each of those above it."""
    writes = view.history.writes
    writes.count(_own(view.uid(row)), now, by)
    for parent in view.controllers(row, LEVELS):
        writes.count(_below(view.uid(parent)), now, by)


def _bears_mark(view: GraphView, row: int, now: Now) -> bool:
    """Whether somebody marked an object within the hour, so that it goes first."""
    return _counted(view.history.writes, _own(view.uid(row)), now)


def _own(uid: str) -> str:
    return f"to-go/{uid}"


def _below(uid: str) -> str:
    return f"to-go-below/{uid}"


def _lowered(uid: str) -> str:
    return f"lowered-for/{uid}"


def _counted(writes: Writes, holder: str, now: Now) -> bool:
    return writes.counted(holder, now, HOUR_S) > 0
