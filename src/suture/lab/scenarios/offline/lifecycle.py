"""How an object's life ends: delete options, finalizers, and the last finalizer lifted.

Lives apart from `server` and the controllers because both end lives, by the same rules.
Source: apiserver registry store (BeforeDelete, deletionFinalizersForGarbageCollection).
"""

from __future__ import annotations

from suture.impact.ground.cascade import default_propagation
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.names import CRDS, NAMESPACES, PODS, Propagation, Resource

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"

PERSISTENT_VOLUMES = Resource("", "persistentvolumes")


def end(
    store: Store,
    thing: Thing,
    propagation: Propagation | None = None,
    grace_s: int | None = None,
) -> Thing | None:
    """Delete an object; return it where something keeps it visible, None where it is gone."""
    now = store.life(thing.uid)
    if now is None:
        return None
    finalizers = [one for one in now.seen.finalizers if one not in (FOREGROUND, ORPHAN)]
    match propagation or default_propagation(now.key.resource):
        case Propagation.FOREGROUND:
            finalizers.append(FOREGROUND)
        case Propagation.ORPHAN:
            finalizers.append(ORPHAN)
        case Propagation.BACKGROUND:
            pass
    if now.key.resource == CRDS and CLEANUP not in finalizers:
        finalizers.append(CLEANUP)
    change = {}
    if now.key.resource == NAMESPACES:
        change = {"status": {"phase": "Terminating"}}
    # WHY kept by grace: the kubelet confirms the end of a pod that runs.
    runs = now.key.resource == PODS and grace_s != 0 and bool(now.spec.get("nodeName"))
    if not (finalizers or runs or change):
        store.remove(now)
        return None
    stamp = now.metadata.get("deletionTimestamp") or store.stamp()
    return store.amend(now, change, deletionTimestamp=stamp, finalizers=finalizers or None)


def lift(store: Store, thing: Thing, *finalizers: str) -> None:
    """Take finalizers off; a life that nothing keeps any more ends."""
    now = store.life(thing.uid)
    if now is None:
        return
    left = [one for one in now.seen.finalizers if one not in finalizers]
    if now.seen.terminating and not left and not kept_otherwise(now):
        store.remove(now)
    elif len(left) < len(now.seen.finalizers):
        store.amend(now, {}, finalizers=left or None)


def kept_otherwise(thing: Thing) -> bool:
    """Whether something else than a finalizer keeps a deleted object: its content, or a kubelet."""
    if thing.key.resource == NAMESPACES:
        return True
    return thing.key.resource == PODS and bool(thing.spec.get("nodeName"))
