"""ownerReferences that point to what cannot own: the collector takes the object for an orphan.

Judged when they are written: the harm comes with the collector's next round, or with its next
start, which may be weeks later.
Source: garbagecollector `attemptToDeleteItem` and `isDangling`: an owner is looked up by kind and
name in the dependent's own namespace, and is absent where its uid is another; an owner whose kind
is not known, or of a namespaced kind for a cluster-scoped dependent, is an error, and nothing is
deleted then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.explained import in_use
from suture.impact.effects import Confidence, OwnerInvalid, Victim
from suture.impact.ground.change import Change
from suture.impact.reach.inuse import used
from suture.impact.scene import Scene, named, victim_of
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, SECRETS
from suture.model.objects import ClusterObject, OwnerReference
from suture.model.targets import resource_of

OTHER_NAMESPACE: Final = "other-namespace"
NAMESPACED_OWNER: Final = "namespaced-owner"
UNKNOWN_UID: Final = "unknown-uid"
WRONG_KIND: Final = "wrong-kind"
UNKNOWN_KIND: Final = "unknown-kind"

READ_BY_ANYBODY: Final = frozenset({SECRETS, CONFIG_MAPS})
"""Types of data that gateways, controllers and people read through the API, as pods mount them."""

UNRESOLVED: Final = frozenset({NAMESPACED_OWNER, UNKNOWN_KIND})
"""What the collector stops at: as long as one owner is such, the object stays."""


def rewrites_owners(change: Change) -> bool:
    """Whether a change gives an object owners that it did not have."""
    made = change.rewritten
    if made is None or not made.after.owners:
        return False
    return made.before is None or made.before.owners != made.after.owners


def ownership_effects(scene: Scene) -> Iterable[OwnerInvalid]:
    """Return the new owners of an object that cannot own it."""
    made = scene.change.rewritten
    if made is None:
        return
    view, thing = scene.view, made.after
    known = frozenset(made.before.owners) if made.before is not None else frozenset()
    wrong = {
        reference: why
        for reference in thing.owners
        if reference not in known and (why := invalid(view, thing, reference))
    }
    if not wrong:
        return
    collected = all(_absent(view, thing, reference) for reference in thing.owners)
    for reference, why in wrong.items():
        yield OwnerInvalid(
            target=victim_of(thing),
            owner=_owner(view, reference),
            why=why,
            collected=collected,
            in_use=made.row is not None and _in_use(view, made.row, reference, why),
            # An owner made this moment may not have been heard of.
            confidence=Confidence.BOUNDED if why == UNKNOWN_UID else Confidence.EXACT,
        )


def _in_use(view: GraphView, row: int, reference: OwnerReference, why: str) -> bool:
    """Whether an object is in use, as far as that matters of one that gets such an owner.

    WHY less of an owner that was there and is gone: who hands an object to it wants both to go.
    Who else reads Secrets and ConfigMaps than pods is not known, and with an
    owner that was never here nobody means them to go.
    """
    if why != UNKNOWN_UID or view.history.removed(reference.uid) is not None:
        return in_use(view, row)
    if view.resource(row) in READ_BY_ANYBODY:
        return not view.terminating(row)
    return used(view, row)


def invalid(view: GraphView, thing: ClusterObject, reference: OwnerReference) -> str:
    """Say why an owner cannot own an object; empty where it can, or where that is not known."""
    row = view.find_uid(reference.uid)
    kind = view.kind(reference.gvk.group, reference.gvk.kind)
    if row is None:
        return _unknown(view, reference)
    if kind is None:
        return UNKNOWN_KIND
    key = view.key(row)
    if key.resource != kind:
        return WRONG_KIND
    if key.name != reference.name:
        return UNKNOWN_UID
    if key.namespace and not thing.key.namespace:
        return NAMESPACED_OWNER
    return OTHER_NAMESPACE if key.namespace not in {"", thing.key.namespace} else ""


def _unknown(view: GraphView, reference: OwnerReference) -> str:
    """Say whether an owner that the graph does not hold is known not to exist."""
    if view.history.removed(reference.uid) is not None:
        return UNKNOWN_UID
    # WHY: its creation was let through, and is on its way to us.
    if view.history.creation(reference.uid) is not None:
        return ""
    return UNKNOWN_UID if view.lists_kind(reference.gvk.group, reference.gvk.kind) else ""


def _absent(view: GraphView, thing: ClusterObject, reference: OwnerReference) -> bool:
    """Whether the collector finds that an owner does not exist."""
    why = invalid(view, thing, reference)
    return bool(why) and why not in UNRESOLVED


def _owner(view: GraphView, reference: OwnerReference) -> Victim:
    row = view.find_uid(reference.uid)
    if row is not None:
        return named(view.key(row), reference.uid)
    gvk = reference.gvk
    resource = view.kind(gvk.group, gvk.kind) or resource_of(gvk.group, gvk.kind)
    return Victim(resource.group, resource.plural, "", reference.name, reference.uid)
