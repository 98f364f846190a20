"""What accounts for the removal of objects of one type alone, beside what is above them.

Each cause has a module of its own; here is which of them a type has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from suture.impact.causes.explained import given_up, has_later
from suture.impact.causes.parents import rolled_out, superseded
from suture.impact.causes.replaced import of_past_set, replacing
from suture.impact.causes.rerun import runs_anew
from suture.impact.causes.stranded import left_over
from suture.impact.causes.turned import left_behind, traffic_left
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    JOBS,
    REPLICA_SETS,
    SERVICES,
    SNAPSHOT_CONTENTS,
    STATEFUL_SETS,
    VOLUMES,
    Resource,
)


def cause_of_type(
    view: GraphView,
    resource: Resource,
    removed: Collection[int],
    now: Now | None,
    *,
    identity: str,
    renames: bool,
    few: bool,
) -> Callable[[int], object] | None:
    """Return what tells whether such a cause accounts for an object; None where a type has none.

    `identity`, `renames`, `few`: as `Causes` has them.
    """
    replace = replacing(resource) if renames else None
    if resource == SERVICES:
        return lambda row: (
            (replace is not None and replace(view, row, removed))
            or of_past_set(view, row, removed)
            or (few and traffic_left(view, row, removed, now))
        )
    if resource in (DEPLOYMENTS, STATEFUL_SETS) and replace is not None:
        return lambda row: (
            replace(view, row, removed) or (few and left_behind(view, row, removed, now))
        )
    if replace is not None:
        return lambda row: replace(view, row, removed)
    if resource == REPLICA_SETS:
        return lambda row: rolled_out(view, row)
    if resource == JOBS:
        return lambda row: runs_anew(view, row, identity, now)
    if resource == SNAPSHOT_CONTENTS:
        return lambda row: given_up(view, row) or (few and has_later(view, row, removed))
    if resource in (CLAIMS, VOLUMES):
        return lambda row: left_over(view, row, now)
    # WHY few: a generation takes little along, and what goes with a definition has no other.
    if is_custom(resource) and few:
        return lambda row: superseded(view, row, removed)
    return None
