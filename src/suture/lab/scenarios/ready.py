"""When a population is up: pods Ready, claims bound, Jobs ended as their manifests say.

Lives apart from `populate`, which makes objects: this waits for what real controllers make of
them. What never comes up is no error, since a stranger's world may be broken on purpose; it is
noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from suture.lab import nodes
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, each, path_of, whole
from suture.lab.scenarios.harm import named
from suture.lab.scenarios.owners import is_built_in
from suture.wire.discovery import ApiResource

# LIMIT: 2,000 pods are Ready 30 s after the last was created, on two idle cores; six times that.
READY_S = 180.0
# LIMIT: with nothing new for so long, nothing more will come: KWOK makes pods Ready at once, and
# the namespace controller keeps two cores busy for half a minute after a large scenario.
STALLED_S = 45.0
POLL_S = 0.5
NUDGED = "lab.suture.dev/nudged"
NOT_READY = "node.kubernetes.io/not-ready"

_WATCHED = (
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "DaemonSet",
    "Pod",
    "Job",
    "PersistentVolumeClaim",
    "Node",
)


async def until_ready(cluster: Cluster, made: Iterable[Object]) -> list[str]:
    """Wait until the population is up; return what is not when nothing moves any more."""
    waiting = {
        one["metadata"]["uid"]: one
        for one in made
        if one["kind"] in _WATCHED and is_built_in(one) and not _never(one)
    }
    apis = {one["kind"]: cluster.kinds.of(one) for one in waiting.values()}
    began = moved = now_s()
    last = ""
    while waiting:
        live = await _live(cluster, apis, waiting)
        waiting = {uid: one for uid, one in waiting.items() if not is_up(live.get(uid, one))}
        state = repr(sorted((uid, _progress(live.get(uid, one))) for uid, one in waiting.items()))
        now = now_s()
        if state != last:
            last, moved = state, now
        if now - began > READY_S or now - moved > STALLED_S:
            break
        if waiting:
            await asyncio.sleep(POLL_S)
    return [f"{one['kind']} {named(one)}" for one in waiting.values()]


async def nudge(cluster: Cluster, late: Iterable[str]) -> None:
    """Have controllers look again, now, at Deployments that are not up.

    WHY: a ReplicaSet whose pods were refused, by a webhook that was not there yet, is tried again
    ever more seldom, after a while once in a quarter of an hour; any change of it is looked at.
    """
    wanted = {one.partition(" ")[2] for one in late if one.startswith("Deployment ")}
    api = cluster.kinds.find("replicasets.apps")
    for one in await whole(cluster.client, api):
        owners: list[Object] = one["metadata"].get("ownerReferences") or [{}]
        namespace = one["metadata"]["namespace"]
        if f"{namespace}/{owners[0].get('name')}" in wanted:
            path = path_of(api, namespace, one["metadata"]["name"])
            stamp = {"metadata": {"annotations": {NUDGED: str(now_s())}}}
            await cluster.client.patch(path, stamp, type="merge")


async def _live(
    cluster: Cluster, apis: Mapping[str, ApiResource], waiting: Mapping[str, Object]
) -> dict[str, Object]:
    kinds = {one["kind"] for one in waiting.values()}

    async def read(kind: str) -> list[Object]:
        return await whole(cluster.client, apis[kind])

    found = await each(sorted(kinds), read)
    return {one["metadata"]["uid"]: one for several in found for one in several}


def _progress(thing: Object) -> int:
    status = thing.get("status") or {}
    return int(status.get("readyReplicas") or status.get("numberReady") or 0)


def is_up(thing: Mapping[str, Any]) -> bool:
    """Whether an object has come to what its spec asks for."""
    spec, status = thing.get("spec") or {}, thing.get("status") or {}
    match thing["kind"]:
        case "Deployment" | "StatefulSet" | "ReplicaSet":
            wanted = spec.get("replicas", 1)
            by_hand = (spec.get("updateStrategy") or {}).get("type") == "OnDelete"
            rolls = thing["kind"] != "ReplicaSet" and not by_hand
            return bool(
                status.get("observedGeneration", 0) >= thing["metadata"].get("generation", 0)
                and (status.get("readyReplicas") or 0) >= wanted
                and (not rolls or (status.get("updatedReplicas") or 0) >= wanted)
                and (status.get("replicas") or 0) <= wanted
            )
        case "DaemonSet":
            wanted = status.get("desiredNumberScheduled", 0)
            return bool(
                status.get("observedGeneration", 0) >= thing["metadata"].get("generation", 0)
                and status.get("numberReady", 0) >= wanted
                and status.get("updatedNumberScheduled", 0) >= wanted
            )
        case "Pod":
            return _ended(thing) or (has(thing, "Ready") and not _ends(thing))
        case "Job":
            template = spec.get("template") or {}
            if _runs_on(template):
                return bool(status.get("active"))
            return has(thing, "Complete") or has(thing, "Failed")
        case "PersistentVolumeClaim":
            return status.get("phase") == "Bound"
        case "Node":
            # WHY also the taint: the node lifecycle controller lifts it a moment later.
            barred = any(one.get("key") == NOT_READY for one in spec.get("taints") or ())
            return has(thing, "Ready") and not barred
        case _:
            return True


def has(thing: Mapping[str, Any], condition: str) -> bool:
    """Whether a status condition is True."""
    conditions = (thing.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == condition and c.get("status") == "True" for c in conditions)


def _asked(thing: Mapping[str, Any], key: str) -> str | None:
    metadata = thing.get("metadata") or {}
    for place in ("annotations", "labels"):
        found = (metadata.get(place) or {}).get(key)
        if found is not None:
            return str(found)
    return None


def _ends(pod: Mapping[str, Any]) -> bool:
    return bool(_asked(pod, nodes.COMPLETES_AFTER) or _asked(pod, nodes.DIES_AFTER))


def _ended(pod: Mapping[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _runs_on(template: Mapping[str, Any]) -> bool:
    """Whether a Job's pods are told to go on past any population's patience."""
    after = _asked(template, nodes.COMPLETES_AFTER)
    return after is not None and after.endswith("h")


def _never(thing: Mapping[str, Any]) -> bool:
    """Whether the manifest itself says that this never comes up."""
    spec = thing.get("spec") or {}
    template = thing if thing["kind"] in ("Pod", "Node") else spec.get("template") or {}
    return _asked(template, nodes.NEVER_READY) == "true" or bool(spec.get("suspend"))
