"""Claims of a set whose custom resource is being deleted or wants fewer, and has cleared it away.

Beside `data.cleared`, which weighs this data when the resource itself goes: what was let go then is
asked for only once. The claims of a StatefulSet have no owner, so that the name alone tells whose
they are; of a resource of the next life, which has a set of its own, nothing is told. Pure.
Source: StatefulSet controller (`<template>-<set>-<ordinal>`); operators that delete the claims of
their members in a finalizer of their resource, before or after the sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.causes.lowered import is_beyond
from suture.impact.causes.parents import mounting
from suture.impact.ground.claims import set_names
from suture.impact.ground.inventory import leaves_all
from suture.impact.ground.kinds import is_custom
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, STATEFUL_SETS, ObjectKey
from suture.model.objects import controller_of


def set_ends(view: GraphView, row: int) -> bool:
    """Whether a claim is of a StatefulSet that a custom resource controls which is being deleted.

    The set is there, if only until it goes with that, or was seen to go and none of its name has
    come since. Or it went since the resource wants fewer, and nobody uses the claim.
    WHY also what is about to go: a finalizer holds the resource, and with it its sets.
    """
    key = view.key(row)
    if key.resource != CLAIMS:
        return False
    for name, _ in set_names(key):
        found = view.seen(ObjectKey(STATEFUL_SETS, key.namespace, name))
        if found is not None and view.alive(found):
            return _goes(view, view.controller(found))
    return any(
        _goes(view, one) or (_wants_fewer(view, one, row) and not mounting(view, row))
        for one in _controllers_of_gone(view, key)
    )


def _wants_fewer(view: GraphView, parent: int, claim: int) -> bool:
    """Whether the set of a claim went since its resource wants fewer.

    Its label says which it was, or as many are left as are wanted: had more gone, nobody would know
    which of them was meant.
    """
    if is_beyond(view, parent, STATEFUL_SETS, claim):
        return True
    wanted = view.history.writes.sizes(view.uid(parent)).get(str(STATEFUL_SETS))
    if not wanted:
        return False
    left = view.among(view.staying(view.children_of(parent)), STATEFUL_SETS)
    return sum(not view.terminating(one) for one in left) >= wanted


def _controllers_of_gone(view: GraphView, claim: ObjectKey) -> Iterator[int]:
    """Yield what controlled the sets of a claim's name that were seen to go, where it is there."""
    for name, _ in set_names(claim):
        went = view.history.removed_at(ObjectKey(STATEFUL_SETS, claim.namespace, name))
        owner = controller_of(went.owners) if went is not None else None
        parent = view.find_uid(owner.uid) if owner is not None else None
        if parent is not None:
            yield parent


def _goes(view: GraphView, parent: int) -> bool:
    """Whether a parent is custom and going, and does not say itself that its data stays."""
    return (
        parent >= 0
        and is_custom(view.resource(parent))
        and view.terminating(parent)
        and not leaves_all(view, parent)
    )
