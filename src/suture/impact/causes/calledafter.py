"""Parents that an object without owner is called after, by name and label, and that the actor runs.

Beside `labelled`, whose labels say of which group a parent is: here a bare label, as `app: orders`
on `orders-server`, or on `orders`. So it is believed of the operator of that type alone, which
knows what it made for whom, and of nothing that holds data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import removals
from suture.impact.ground.likeness import called_alike
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CRDS,
    DISRUPTION_BUDGETS,
    SERVICES,
    WORKLOADS,
    ObjectKey,
    Resource,
)
from suture.model.objects import CrdFacts
from suture.model.writes import HOUR_S

MADE_FOR: Final = frozenset({DISRUPTION_BUDGETS, SERVICES, *WORKLOADS})
"""What operators make for their own resources, find by name or label, and clear away after them."""

TYPES_ASKED: Final = 256
"""LIMIT: custom types of a cluster that are asked whether the actor runs them, 1 us each; in a
cluster of more the rest is not asked."""

FEW_ENDS: Final = 5
"""LIMIT: ends of a type within the hour that explain anything. With such a resource goes, as it
seems, nothing, so that nobody has weighed what its operator clears away: an end of more of them is
an error that was made once, and the workloads are what is left to refuse."""

_DEFINITIONS: Final = (CRDS,)


def called_after(view: GraphView, row: int, identity: str, now: Now) -> Iterator[ObjectKey]:
    """Yield what an object without owner is called after, of the types that `identity` runs.

    WHY no person's: people run no types, and are called after none.
    """
    if view.resource(row) not in MADE_FOR or is_person(identity):
        return
    name = f"{view.name(row)}-"
    stems = [one for one in set(view.labels(row).values()) if one and name.startswith(f"{one}-")]
    if not stems or view.targets(row, Edge.MANAGED_BY) or view.targets(row, Edge.PARENT):
        return
    history = view.history
    for resource, called in view.made_of(_DEFINITIONS, _kept_apart)[:TYPES_ASKED]:
        runs = identity in history.habits.keepers(resource) or called_alike(called, identity)
        if not runs or history.writes.counted(removals(resource), now, HOUR_S) > FEW_ENDS:
            continue
        for stem in stems:
            key = ObjectKey(resource, view.namespace(row), stem)
            if not _is_younger(view, row, key):
                yield key


def _is_younger(view: GraphView, row: int, key: ObjectKey) -> bool:
    """Whether an object was made after the end of what it is called after: it is another's."""
    gone, made = view.history.removed_at(key), view.history.creation(view.uid(row))
    return gone is not None and made is not None and made.at_ns > gone.at_ns


def _kept_apart(view: GraphView) -> list[tuple[Resource, str]]:
    """Return the custom types whose objects are in namespaces, each with what it is called."""
    found = (view.facts(row) for row in view.rows(CRDS))
    return [
        (facts.resource, str(facts.resource))
        for facts in found
        if isinstance(facts, CrdFacts) and facts.namespaced
    ]
