"""What a person clears away of an application that was put to rest: workloads and their Services.

Beside `hands`, where a release or application says whose it is: here nothing does, as of what was
applied by hand. A tenant leaves so: it stops what it has, and clears it away days later, by name.
Nobody needs it who is there to be asked: the workload is to have no pods and has none, nothing that
stays names it, and nothing serves in its namespace any more. Never by a machine: of what it takes
for idle it does so everywhere. Nor by who stopped it within the hour: that may have been the slip.

What is lost if it was wanted after all: what `CLEARED` workloads were, until they are put back.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import cleared, put_down_in
from suture.impact.causes.resting import RESTABLE, rests
from suture.impact.ordinary.hands import readers_of
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.names import RESERVED, SERVICES, Operation

CLEARED: Final = 12
"""LIMIT: workloads at rest that a person may take away within the hour: an application with all its
parts, or two; more of them is a sweep."""

_PARTS: Final = frozenset({*RESTABLE, SERVICES})


def is_cleared_away(scene: Scene, row: int) -> bool:
    """Whether a person takes an object away by name that was put to rest with all around it."""
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    if now is None or not is_person(identity) or scene.change.direct != (row,):
        return False
    if scene.request.operation is not Operation.DELETE or view.resource(row) not in _PARTS:
        return False
    namespace = view.namespace(row)
    if namespace.startswith(RESERVED) or scene.counted(cleared(identity)) >= CLEARED:
        return False
    return (
        rests(view, row, now)
        and not scene.causes.wanted(row)
        and not scene.counted(put_down_in(identity, namespace))
        and not any(map(view.serving_alike, view.classes_in(namespace)))
        and readers_of(scene, row) == []
    )
