"""Deployments, ReplicaSets and ReplicationControllers: so many alike pods, and rolling updates.

Source: the deployment controller's rolling arithmetic (NewRSNewReplicas,
reconcileOldReplicaSets), the replicaset controller's choice of whom to let go.
"""

from __future__ import annotations

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.controllers.pods import owned_by
from suture.lab.scenarios.offline.controllers.workloads import (
    Shop,
    active,
    digest,
    ready,
    share,
    template_of,
)
from suture.lab.scenarios.offline.lifecycle import end
from suture.lab.scenarios.offline.store import Thing
from suture.model.names import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from suture.model.selectors import Selector
from suture.wire.shapes import LabelSelector

HASH = "pod-template-hash"
HISTORY = 10
"""LIMIT: old ReplicaSets kept, the default of `revisionHistoryLimit`."""


def replica_set(shop: Shop, thing: Thing) -> bool:
    """Bring a ReplicaSet's or a ReplicationController's pods to their number."""
    selector = selector_of(thing)
    pods = []
    for pod in active(shop.controlled(thing, PODS)):
        if selector is None or selector.matches(pod.seen.labels):
            pods.append(pod)
        else:
            shop.store.amend(pod, {}, ownerReferences=None)
    pods += adopted(shop, thing, selector)
    wanted = int(thing.spec.get("replicas", 1))
    missing = wanted - len(pods)
    made = True
    for _ in range(missing):
        name = f"{thing.key.name}-{shop.store.suffix()}"
        if shop.pods.make(thing, name, template_of(thing), labels={}) is None:
            made = False
            break
    if missing < 0:
        # WHY in this order: those not Ready first, then the youngest.
        serving = {pod.uid for pod in ready(pods)}
        pods.sort(key=lambda pod: (pod.uid in serving, -_age(pod)))
        shop.let_go(pods[:-missing])
    now = active(shop.controlled(thing, PODS))
    up = len(ready(now))
    shop.report(thing, {"replicas": len(now), "readyReplicas": up, "availableReplicas": up})
    return made


def _age(pod: Thing) -> int:
    return int(pod.uid[-12:], 16)


def selector_of(thing: Thing) -> Selector | None:
    """Return what a workload selects, None where it says nothing of it."""
    given = thing.spec.get("selector")
    if given is None:
        return None
    if thing.key.resource != REPLICATION_CONTROLLERS:
        return msgspec.convert(given, LabelSelector).selector()
    return Selector.of(given)


def adopted(shop: Shop, thing: Thing, selector: Selector | None) -> list[Thing]:
    """Take over pods that fit and that no controller owns."""
    if selector is None or not selector.requirements:
        return []
    view = shop.store.view
    found = []
    for row in view.pods_selected(thing.key.namespace, selector):
        pod = shop.store.life(view.at(row).uid)
        if pod is None or pod.seen.terminating or any(one.controller for one in pod.seen.owners):
            continue
        references = [*(pod.metadata.get("ownerReferences") or ()), owned_by(thing)]
        taken = shop.store.amend(pod, {}, ownerReferences=references)
        if taken is not None:
            found += active([taken])
    return found


def deployment(shop: Shop, thing: Thing) -> bool:
    """Take a Deployment's rollout one step further."""
    sets = shop.controlled(thing, REPLICA_SETS)
    template = template_of(thing)
    mark = digest(template)
    new = next((one for one in sets if digest(_bare(one)) == mark), None)
    if new is None and not thing.spec.get("paused"):
        new = _new_set(shop, thing, mark, template)
        sets.append(new)
    old = [one for one in sets if new is None or one.uid != new.uid]
    wanted = int(thing.spec.get("replicas", 1))
    if new is None or thing.spec.get("paused"):
        _scale_in_proportion(shop, sets, wanted)
    elif (thing.spec.get("strategy") or {}).get("type") == "Recreate":
        _recreate(shop, new, old, wanted)
    else:
        _roll(shop, thing, new, old, wanted)
    _clean(shop, thing, old)
    _report(shop, thing, new)
    return True


def _bare(one: Thing) -> Object:
    """Return a ReplicaSet's template as its Deployment has it: without the mark."""
    template = template_of(one)
    metadata = template.get("metadata") or {}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _new_set(shop: Shop, thing: Thing, mark: str, template: Object) -> Thing:
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), HASH: mark}
    selector = thing.spec.get("selector") or {}
    matched = {**(selector.get("matchLabels") or {}), HASH: mark}
    spec = {
        "replicas": 0,
        "selector": {**selector, "matchLabels": matched},
        "template": {**template, "metadata": {**metadata, "labels": labels}},
    }
    head = {
        "name": f"{thing.key.name}-{mark}",
        "namespace": thing.key.namespace,
        "uid": shop.store.new_uid(),
        "creationTimestamp": shop.store.stamp(),
        "generation": 1,
        "labels": labels,
        "ownerReferences": [owned_by(thing)],
    }
    body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": head, "spec": spec}
    return shop.store.put(shop.store.apis[REPLICA_SETS], body)


def _scale(shop: Shop, one: Thing, size: int) -> None:
    now = shop.live(one)
    if now is not None and now.spec.get("replicas", 1) != size:
        generation = now.metadata.get("generation", 1) + 1
        shop.store.amend(now, {"spec": {**now.spec, "replicas": size}}, generation=generation)


def _size(one: Thing) -> int:
    return int(one.spec.get("replicas", 1))


def _scale_in_proportion(shop: Shop, sets: list[Thing], wanted: int) -> None:
    """Resize what a paused rollout has; the largest set takes the difference."""
    if sets:
        largest = max(sets, key=_size)
        others = sum(_size(one) for one in sets) - _size(largest)
        _scale(shop, largest, max(0, wanted - others))


def _recreate(shop: Shop, new: Thing, old: list[Thing], wanted: int) -> None:
    for one in old:
        _scale(shop, one, 0)
    if not any(shop.controlled(one, PODS) for one in old):
        _scale(shop, new, wanted)


def _roll(shop: Shop, thing: Thing, new: Thing, old: list[Thing], wanted: int) -> None:
    limits = (thing.spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = share(limits.get("maxSurge", "25%"), wanted, up=True)
    missing = share(limits.get("maxUnavailable", "25%"), wanted, up=False)
    if not surge and not missing:
        missing = 1
    total = _size(new) + sum(_size(one) for one in old)
    if _size(new) > wanted:
        _scale(shop, new, wanted)
    elif _size(new) < wanted:
        _scale(shop, new, min(wanted, _size(new) + max(0, wanted + surge - total)))
    new_pods = active(shop.controlled(new, PODS))
    floor = wanted - missing
    unready_new = max(0, min(_size(new), wanted) - len(ready(new_pods)))
    spare = total - floor - unready_new
    for one in old:
        pods = active(shop.controlled(one, PODS))
        unhealthy = min(_size(one) - len(ready(pods)), max(0, spare))
        if unhealthy > 0:
            _scale(shop, one, _size(one) - unhealthy)
            spare -= unhealthy
    sets = [new, *old]
    up = sum(len(ready(active(shop.controlled(one, PODS)))) for one in sets)
    spare = min(max(0, spare), max(0, up - floor))
    for one in old:
        now = shop.live(one)
        if now is None:
            continue
        down = min(_size(now), spare)
        if down > 0:
            _scale(shop, now, _size(now) - down)
            spare -= down


def _clean(shop: Shop, thing: Thing, old: list[Thing]) -> None:
    kept = int(thing.spec.get("revisionHistoryLimit", HISTORY))
    empty = [
        now
        for one in old
        if (now := shop.live(one)) is not None and not _size(now) and not now.status.get("replicas")
    ]
    for one in empty[: max(0, len(empty) - kept)]:
        end(shop.store, one)


def _report(shop: Shop, thing: Thing, new: Thing | None) -> None:
    sets = shop.controlled(thing, REPLICA_SETS)
    pods = [pod for one in sets for pod in active(shop.controlled(one, PODS))]
    updated = active(shop.controlled(new, PODS)) if new is not None else []
    up = len(ready(pods))
    shop.report(
        thing,
        {
            "replicas": len(pods),
            "updatedReplicas": len(updated),
            "readyReplicas": up,
            "availableReplicas": up,
        },
    )
