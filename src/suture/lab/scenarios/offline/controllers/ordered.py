"""StatefulSets, DaemonSets and Jobs: pods by number, by node, and until done.

Lives beside `replicas` as the kinds whose pods are not interchangeable. CronJobs are not
predicted: a schedule's minute is longer than most scenarios.
Source: the statefulset, daemonset and job controllers; ttl-after-finished.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from suture.lab.scenarios.offline.controllers.claims import claimed, hand_over
from suture.lab.scenarios.offline.controllers.replicas import adopted, selector_of
from suture.lab.scenarios.offline.controllers.workloads import (
    Shop,
    active,
    digest,
    ready,
    template_of,
)
from suture.lab.scenarios.offline.lifecycle import end
from suture.lab.scenarios.offline.store import Thing
from suture.model.names import PODS, Propagation

REVISION = "controller-revision-hash"
JOB_CONTROLLER = "kubernetes.io/job-controller"


def stateful_set(shop: Shop, thing: Thing) -> bool:
    """Take a StatefulSet one step further: up in order, down in reverse, updates from the end."""
    mark = f"{thing.key.name}-{digest(template_of(thing))}"
    if _seen_before(thing):
        mark = str(thing.status.get("updateRevision") or mark)
    wanted = int(thing.spec.get("replicas", 1))
    there = active(shop.controlled(thing, PODS)) + adopted(shop, thing, selector_of(thing))
    pods = {_ordinal(pod): pod for pod in there if _ordinal(pod) is not None}
    parallel = thing.spec.get("podManagementPolicy") == "Parallel"
    made = True
    for ordinal in range(wanted):
        if ordinal not in pods:
            made &= _numbered(shop, thing, ordinal, mark)
            if not (made or parallel):
                break
    kept = [pod for ordinal, pod in pods.items() if ordinal is not None and ordinal < wanted]
    surplus = [pod for ordinal, pod in pods.items() if ordinal is not None and ordinal >= wanted]
    hand_over(shop, thing, kept, surplus)
    shop.let_go(surplus)
    now = active(shop.controlled(thing, PODS))
    by_hand = (thing.spec.get("updateStrategy") or {}).get("type") == "OnDelete"
    outdated = [pod for pod in now if pod.seen.labels.get(REVISION) != mark]
    if made and outdated and not by_hand and len(ready(now)) >= wanted:
        shop.let_go([max(outdated, key=lambda pod: _ordinal(pod) or 0)])
    now = active(shop.controlled(thing, PODS))
    up = len(ready(now))
    updated = sum(pod.seen.labels.get(REVISION) == mark for pod in now)
    shop.report(
        thing,
        {
            "replicas": len(now),
            "readyReplicas": up,
            "availableReplicas": up,
            "updatedReplicas": updated,
            "updateRevision": mark,
        },
    )
    return made


def _seen_before(thing: Thing) -> bool:
    """Whether a controller has acted on this wish already, under a mark of its own."""
    return bool(thing.status.get("observedGeneration", 0) >= thing.metadata.get("generation", 1))


def _ordinal(pod: Thing) -> int | None:
    last = pod.key.name.rpartition("-")[2]
    return int(last) if last.isdecimal() else None


def _numbered(shop: Shop, thing: Thing, ordinal: int, mark: str) -> bool:
    name = f"{thing.key.name}-{ordinal}"
    template = template_of(thing)
    spec = dict(template.get("spec") or {})
    volumes = [*(spec.get("volumes") or ()), *claimed(shop, thing, name)]
    if volumes:
        spec["volumes"] = volumes
    labels = {
        REVISION: mark,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(ordinal),
    }
    return shop.pods.make(thing, name, {**template, "spec": spec}, labels=labels) is not None


def _mark_of(shop: Shop, thing: Thing) -> str:
    """Return the mark of a DaemonSet's wish: a real controller's as long as it is still that."""
    generation = thing.metadata.get("generation", 1)
    known = shop.marks.get(thing.uid)
    if known is not None and known[0] == generation:
        return known[1]
    mark = digest(template_of(thing))
    pods = active(shop.controlled(thing, PODS))
    if known is None and pods and _seen_before(thing):
        mark = Counter(str(pod.seen.labels.get(REVISION)) for pod in pods).most_common(1)[0][0]
    shop.marks[thing.uid] = (generation, mark)
    return mark


def daemon_set(shop: Shop, thing: Thing) -> bool:
    """Take a DaemonSet one step further: a pod on every node that takes it, updates one by one."""
    template = template_of(thing)
    mark = _mark_of(shop, thing)
    nodes = set(shop.pods.eligible(template.get("spec") or {}, daemon=True))
    there: dict[str, Thing] = {}
    pods = active(shop.controlled(thing, PODS))
    # WHY last: of two pods on one node the one that was there stays.
    pods += adopted(shop, thing, selector_of(thing))
    for pod in pods:
        node = str(pod.spec.get("nodeName", ""))
        if node not in nodes or node in there:
            end(shop.store, pod)
        else:
            there[node] = pod
    made = True
    for node in sorted(nodes - there.keys()):
        name = f"{thing.key.name}-{shop.store.suffix()}"
        labels = {REVISION: mark}
        made &= shop.pods.make(thing, name, template, labels=labels, node=node) is not None
    now = active(shop.controlled(thing, PODS))
    by_hand = (thing.spec.get("updateStrategy") or {}).get("type") == "OnDelete"
    outdated = [pod for pod in now if pod.seen.labels.get(REVISION) != mark]
    if made and outdated and not by_hand and len(ready(now)) >= len(nodes):
        shop.let_go(outdated[:1])
    now = active(shop.controlled(thing, PODS))
    up = len(ready(now))
    shop.report(
        thing,
        {
            "desiredNumberScheduled": len(nodes),
            "currentNumberScheduled": len(now),
            "numberReady": up,
            "numberAvailable": up,
            "updatedNumberScheduled": sum(pod.seen.labels.get(REVISION) == mark for pod in now),
        },
    )
    return made


def job(shop: Shop, thing: Thing) -> bool:
    """Take a Job one step further: pods until enough have succeeded, or too many failed.

    One that names another manager is left alone. Source: batch/v1 JobSpec, `managedBy`.
    """
    if thing.spec.get("managedBy", JOB_CONTROLLER) != JOB_CONTROLLER:
        return True
    pods = shop.controlled(thing, PODS)
    working = active(pods)
    succeeded = sum(pod.status.get("phase") == "Succeeded" for pod in pods)
    failed = sum(pod.status.get("phase") == "Failed" for pod in pods)
    wanted = int(thing.spec.get("completions") or 1)
    if any(one.get("status") == "True" for one in thing.status.get("conditions") or ()):
        return True
    made = True
    condition = ""
    if succeeded >= wanted:
        condition = "Complete"
    elif failed > int(thing.spec.get("backoffLimit", 6)):
        condition = "Failed"
    if condition or thing.spec.get("suspend"):
        shop.let_go(working)
        working = []
    else:
        parallel = int(thing.spec.get("parallelism", 1))
        for _ in range(min(parallel, wanted - succeeded) - len(working)):
            name = f"{thing.key.name}-{shop.store.suffix()}"
            pod = shop.pods.make(thing, name, template_of(thing), labels={})
            if pod is None:
                made = False
                break
            working.append(pod)
    status: dict[str, Any] = {"active": len(active(working))}
    status |= {"succeeded": succeeded, "failed": failed}
    if condition:
        status["conditions"] = [{"type": condition, "status": "True"}]
        _expire(shop, thing)
    shop.report(thing, status)
    return made


def _expire(shop: Shop, thing: Thing) -> None:
    after_s = thing.spec.get("ttlSecondsAfterFinished")
    if after_s is None:
        return

    def due() -> None:
        now = shop.live(thing)
        if now is not None:
            end(shop.store, now, Propagation.FOREGROUND)

    shop.later(float(after_s), due)
