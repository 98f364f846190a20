"""Which workload needs a look, and what every kind of them shares.

Lives apart from the kinds themselves (`replicas`, `ordered`), each of which is a function from one
workload to its next step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from math import ceil, floor
from typing import Any

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.observe import is_finished, is_ready
from suture.lab.scenarios.offline.controllers.pods import Pods
from suture.lab.scenarios.offline.controllers.running import Later
from suture.lab.scenarios.offline.lifecycle import end
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.names import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NODES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Resource,
)

KINDS = frozenset(
    {DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS, DAEMON_SETS, JOBS}
)


class Shop(msgspec.Struct, frozen=True):
    """What every workload's controller works with."""

    store: Store
    pods: Pods
    later: Later
    marks: dict[str, tuple[int, str]] = {}
    """By DaemonSet: the generation last seen, and the mark of its pods."""

    def live(self, thing: Thing) -> Thing | None:
        """Return an object as it is now, None where it is gone or going."""
        now = self.store.life(thing.uid)
        return None if now is None or now.seen.terminating else now

    def controlled(self, owner: Thing, resource: Resource) -> list[Thing]:
        """Return what an owner controls of a kind, what is going left out."""
        return [
            one
            for one in self.store.children(owner.uid)
            if one.key.resource == resource
            and not one.seen.terminating
            and any(ref.controller and ref.uid == owner.uid for ref in one.seen.owners)
        ]

    def let_go(self, pods: list[Thing]) -> None:
        """Delete pods."""
        for pod in pods:
            end(self.store, pod)

    def report(self, thing: Thing, status: Mapping[str, Any]) -> None:
        """Write a workload's status where it differs."""
        now = self.store.life(thing.uid)
        if now is None:
            return
        observed = {"observedGeneration": now.metadata.get("generation", 1)}
        self.store.amend(now, {"status": {**now.status, **status, **observed}})


Reconcile = Callable[[Shop, Thing], bool]
"""Takes a workload one step further; False where something stood in the way."""


class Workloads:
    """Looks at every workload of which something changed."""

    def __init__(self, shop: Shop, kinds: Mapping[Resource, Reconcile]) -> None:
        """Reconcile by kind."""
        self._shop = shop
        self._kinds = kinds
        self._due: dict[str, None] = {}
        self._stuck: dict[str, None] = {}

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note the workload that changed, or whose dependent did."""
        thing = after or before
        if thing is None:
            return
        resource = thing.key.resource
        if resource in self._kinds and after is not None:
            self._due[after.uid] = None
        if resource in self._kinds or resource == PODS:
            for one in (before, after):
                if one is not None:
                    self._due |= dict.fromkeys(ref.uid for ref in one.seen.owners)
            if resource == PODS and after is not None and not after.seen.owners:
                # WHY: a pod that is nobody's is whosever selector it fits.
                sets = self._shop.store.all(DAEMON_SETS, after.key.namespace)
                self._due |= dict.fromkeys(one.uid for one in sets)
        elif resource == NODES:
            self._due |= dict.fromkeys(one.uid for one in self._shop.store.all(DAEMON_SETS))
        else:
            # WHY: whatever stood in the way (a webhook, a claim, a namespace) may be another now.
            self._due |= self._stuck

    def work(self) -> bool:
        """Take each a step further."""
        due, self._due = self._due, {}
        for uid in due:
            thing = self._shop.store.life(uid)
            if thing is None or thing.key.resource not in self._kinds or thing.seen.terminating:
                self._stuck.pop(uid, None)
                continue
            if self._kinds[thing.key.resource](self._shop, thing):
                self._stuck.pop(uid, None)
            else:
                self._stuck[uid] = None
        return bool(due)


def digest(template: Any) -> str:
    """Return letters that are equal for equal pod templates, as names and labels carry them."""
    text = msgspec.json.encode(template, order="deterministic")
    return blake2b(text, digest_size=5).hexdigest()


def ready(pods: list[Thing]) -> list[Thing]:
    """Return the pods that are Ready."""
    return [pod for pod in pods if is_ready(pod.body)]


def active(pods: list[Thing]) -> list[Thing]:
    """Return the pods that have not ended."""
    return [pod for pod in pods if not is_finished(pod.body)]


def share(value: Any, whole: int, *, up: bool) -> int:
    """Return a number or a percentage of `whole`, rounded up or down."""
    if isinstance(value, str) and value.endswith("%"):
        exact = float(value[:-1]) * whole / 100
        return ceil(exact) if up else floor(exact)
    return int(value)


def template_of(thing: Thing) -> Object:
    """Return a workload's pod template."""
    found: Object = thing.spec.get("template") or {}
    return found
