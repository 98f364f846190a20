"""What one actor does to one object after the other: how many others it left in the same state.

A single such write is a decision, of a person or of an upgrade; the same to several of a kind
within the hour is a sweep, whose first writes nobody could tell from a decision. Read from what the
model shows now, so that what was set back counts no more.
LIMIT: writes that are not destructive are remembered by the replica that answered them; of several
replicas each sees its part, and a sweep is told so much later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.writes import HOUR_S, number

OTHERS: Final = 2
"""Others in the same state from which on one more is of a sweep: two are set aside for a drain or a
repair, and set back."""

ROWS_ASKED: Final = 4_096
"""LIMIT: objects of a type that are asked who wrote them last, 2 us each; more are not seen."""


def is_swept(
    scene: Scene, rows: Iterable[int], left_so: Callable[[int], bool], what: What = What.WROTE
) -> bool:
    """Whether the actor wrote `OTHERS` of `rows` last, within the hour, and left them so."""
    now, writes = scene.now, scene.view.history.writes
    if now is None:
        return False
    me, found = number(scene.request.user.username), 0
    for row in islice(rows, ROWS_ASKED):
        last = writes.last(scene.view.key(row), what, now, HOUR_S) if scene.stays(row) else None
        if last == me and left_so(row):
            found += 1
            if found == OTHERS:
                return True
    return False
