"""How many pods fewer a set may have while the next of the same custom resource comes up.

Beside `sizes`, which says how many pods are asked for: of two ReplicaSets that one custom
resource has at a time, the old one is made smaller before all of the new one is Ready, as a
Deployment does it. One that may have no pod too many makes room first: the next was just made, and
has no size yet. Pure.
Source: apps/v1 `RollingUpdateDeployment`: `maxUnavailable` is a quarter where nothing is said,
rounded down. LIMIT: what a custom resource says of it in a field of its own is not read.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import selects_apart, size_of
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import REPLICA_SETS
from suture.model.objects import CustomFacts
from suture.model.writes import TEN_MINUTES_S

QUARTER: Final = 4
"""One of so many may be away during a rollout. SOURCE: see above."""

SETS_ASKED: Final = 64
"""LIMIT: children of a custom resource that are asked whether they are the next set, 1 us each: it
keeps some ten sets of the past."""


def leeway(view: GraphView, parent: int, row: int, wants: int, now: Now | None) -> int:
    """Return how many pods less than its parent wants may be there, while a rollout is under way.

    Shapes: `wants` >= 0 pods, of the custom resource `parent` of a ReplicaSet `row`. None unless a
    set of the same, no older, that selects the same but for one value, wants pods too, or was made
    within minutes and is filled next.
    """
    if view.resource(row) != REPLICA_SETS or not isinstance(view.facts(parent), CustomFacts):
        return 0
    for other in view.children_of(parent)[:SETS_ASKED]:
        if (
            selects_apart(view, row, other)
            and (size_of(view, other) or _is_fresh(view, other, now))
            and view.created(other) >= view.created(row)
            and not view.terminating(other)
        ):
            return wants // QUARTER
    return 0


def _is_fresh(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a set was made within minutes: one that has been of no size for longer is past."""
    made = view.history.creation(view.uid(row))
    return now is not None and made is not None and now.ago_s(made.at_ns) <= TEN_MINUTES_S
