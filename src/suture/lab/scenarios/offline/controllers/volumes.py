"""Claims and volumes: bound by class, kept while a pod uses them, released afterwards.

Lives apart from pods because nothing of it is about running.
Source: the persistent volume binder; the pvc and pv protection controllers.
"""

from __future__ import annotations

from suture.lab.scenarios.offline.defaults import CLAIM_PROTECTION, VOLUME_PROTECTION
from suture.lab.scenarios.offline.lifecycle import PERSISTENT_VOLUMES, lift
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.facts import RELEASED
from suture.model.names import CLAIMS, PODS


class Volumes:
    """The binder and both protectors."""

    def __init__(self, store: Store) -> None:
        """Bind the claims of a store."""
        self._store = store
        self._unbound: dict[str, None] = {}
        self._held: dict[str, None] = {}
        self._released: list[Thing] = []
        self._forgetful: dict[str, None] = {}
        self._look_again = False

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note what waits for a volume, and what waits to go."""
        thing = after or before
        if thing is None:
            return
        if thing.key.resource == PODS:
            self._look_again |= after is None and bool(self._held)
        elif thing.key.resource in (CLAIMS, PERSISTENT_VOLUMES):
            self._look_again = True
            if after is not None and after.seen.terminating:
                self._held[after.uid] = None
            elif after is not None and after.key.resource == CLAIMS and not _bound(after):
                self._unbound[after.uid] = None
            elif after is not None and after.status.get("phase") == RELEASED:
                self._forgetful[after.uid] = None
            if after is None and before is not None and before.key.resource == CLAIMS:
                self._released.append(before)

    def _release(self, claim: Thing) -> None:
        volume = self._store.find(PERSISTENT_VOLUMES, "", str(claim.spec.get("volumeName", "")))
        if volume is not None:
            self._store.amend(volume, {"status": {"phase": RELEASED}})

    def _free(self, uid: str) -> None:
        """Offer a kept volume to others again, once somebody has taken its former claim off it.

        SOURCE: persistent volume controller `syncVolume` (of a volume without a `claimRef`).
        """
        volume = self._store.life(uid)
        if volume is not None and not volume.seen.terminating and not volume.spec.get("claimRef"):
            self._store.amend(volume, {"status": {"phase": "Available"}})

    def work(self) -> bool:
        """Bind what can be bound, let go what nobody uses."""
        if not self._look_again:
            return False
        self._look_again = False
        released, self._released = self._released, []
        for claim in released:
            self._release(claim)
        forgetful, self._forgetful = self._forgetful, {}
        for uid in forgetful:
            self._free(uid)
        unbound, self._unbound = self._unbound, {}
        for uid in unbound:
            waiting = self._store.life(uid)
            if waiting is not None and not waiting.seen.terminating and not self._bind(waiting):
                self._unbound[uid] = None
        held, self._held = self._held, {}
        for uid in held:
            thing = self._store.life(uid)
            if thing is not None and not self._let_go(thing):
                self._held[uid] = None
        return True

    def _bind(self, claim: Thing) -> bool:
        if _bound(claim):
            return True
        wanted = claim.spec.get("volumeName")
        for volume in self._store.all(PERSISTENT_VOLUMES):
            if volume.seen.terminating or volume.status.get("phase") != "Available":
                continue
            if wanted not in (None, "", volume.key.name) or not _fits(claim, volume):
                continue
            reference = {
                "kind": "PersistentVolumeClaim",
                "namespace": claim.key.namespace,
                "name": claim.key.name,
                "uid": claim.uid,
            }
            spec = {**volume.spec, "claimRef": reference}
            self._store.amend(volume, {"spec": spec, "status": {"phase": "Bound"}})
            bound = {**claim.spec, "volumeName": volume.key.name}
            self._store.amend(claim, {"spec": bound, "status": {"phase": "Bound"}})
            return True
        return False

    def _let_go(self, thing: Thing) -> bool:
        if thing.key.resource == CLAIMS:
            if any(_uses(pod, thing.key.name) for pod in self._pods(thing.key.namespace)):
                return False
            lift(self._store, thing, CLAIM_PROTECTION)
            return True
        if thing.status.get("phase") == "Bound":
            return False
        lift(self._store, thing, VOLUME_PROTECTION)
        return True

    def _pods(self, namespace: str) -> list[Thing]:
        return self._store.all(PODS, namespace)


def _bound(claim: Thing) -> bool:
    return claim.status.get("phase") == "Bound"


def _fits(claim: Thing, volume: Thing) -> bool:
    same = claim.spec.get("storageClassName", "") == volume.spec.get("storageClassName", "")
    return same and set(claim.spec.get("accessModes") or ()) <= set(
        volume.spec.get("accessModes") or ()
    )


def _uses(pod: Thing, claim: str) -> bool:
    return any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim
        for volume in pod.spec.get("volumes") or ()
    )
