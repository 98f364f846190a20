"""The lab's own furniture: remembered before a scenario, put back after it.

Lives in the scenarios because an incident may delete what the lab itself needs (its nodes, cluster
DNS, roles), and the next scenario must find it. Real controllers put back what is theirs; this
puts back what nobody owns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suture.errors import ApiError
from suture.lab.scenarios.cluster import Cluster, Object, each, path_of, whole
from suture.lab.scenarios.observe import labels_of, owners_of, terminating
from suture.lab.scenarios.quiet import OWN_GROUPS, OWN_SPACE
from suture.lab.scenarios.world import MARK
from suture.wire.discovery import ApiResource

# What the API server or a controller writes by itself, and what is nobody's furniture.
_SKIPPED = frozenset(
    {
        "Event",
        "Lease",
        "Endpoints",
        "EndpointSlice",
        "IPAddress",
        "ServiceCIDR",
        "Pod",
        "CertificateSigningRequest",
        "ComponentStatus",
        "VolumeAttachment",
        "ControllerRevision",
    }
)
_SERVER_SIDE = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "generation",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


@dataclass(frozen=True)
class Inventory:
    """What stood in the lab before a scenario."""

    things: tuple[tuple[ApiResource, Object], ...]

    @classmethod
    async def take(cls, cluster: Cluster) -> Inventory:
        """Remember everything that nobody owns and no scenario made."""
        apis = [
            api
            for api in cluster.kinds.all
            if {"list", "create"} <= api.verbs and api.kind not in _SKIPPED
        ]
        spaces = await whole(cluster.client, cluster.kinds.find("namespaces"))
        passing = {s["metadata"]["name"] for s in spaces if terminating(s) or MARK in labels_of(s)}

        async def read(api: ApiResource) -> list[tuple[ApiResource, Object]]:
            return [
                (api, one)
                for one in await whole(cluster.client, api)
                if not owners_of(one)
                and not terminating(one)
                and MARK not in labels_of(one)
                and one["metadata"].get("namespace") not in passing
                and not (api.kind == "Namespace" and one["metadata"]["name"] in passing)
                and not _is_guard(api, one)
            ]

        found = await each(apis, read)
        return cls(tuple(pair for several in found for pair in several))

    async def put_back(self, cluster: Cluster) -> list[str]:
        """Create again what is gone, and open nodes that were closed; return what was done."""
        done: list[str] = []
        for api, things in _by_kind(self.things):
            live = {_place(one): one for one in await whole(cluster.client, api)}
            for thing in things:
                now = live.get(_place(thing))
                if now is None and await _create(cluster, api, thing):
                    done.append(f"{api.kind} {_place(thing)} created again")
                elif now is not None and api.kind == "Node" and _changed(thing, now):
                    await _reset_node(cluster, api, thing, now)
                    done.append(f"Node {_place(thing)} as before")
        return done


def _is_guard(api: ApiResource, thing: Object) -> bool:
    """Whether a thing belongs to Suture, which is installed anew for each run."""
    metadata = thing["metadata"]
    space = metadata["name"] if api.kind == "Namespace" else metadata.get("namespace")
    return space == OWN_SPACE or api.group.endswith(OWN_GROUPS) or "suture" in metadata["name"]


def _by_kind(
    things: Iterable[tuple[ApiResource, Object]],
) -> list[tuple[ApiResource, list[Object]]]:
    found: dict[tuple[str, str], tuple[ApiResource, list[Object]]] = {}
    for api, thing in things:
        found.setdefault((api.group, api.plural), (api, []))[1].append(thing)
    # WHY: namespaces first, what they hold after them.
    return sorted(found.values(), key=lambda pair: pair[0].kind != "Namespace")


def _place(thing: Object) -> str:
    metadata = thing["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


async def _create(cluster: Cluster, api: ApiResource, thing: Object) -> bool:
    metadata = {k: v for k, v in thing["metadata"].items() if k not in _SERVER_SIDE}
    body = {key: value for key, value in thing.items() if key != "status"}
    try:
        space = metadata.get("namespace", "")
        await cluster.client.create(path_of(api, space), {**body, "metadata": metadata})
    except ApiError:
        # WHY: its owner was faster, or its namespace is still going; the next run looks again.
        return False
    return True


def _changed(then: Object, now: Object) -> bool:
    return any(
        (then.get("spec") or {}).get(field) != (now.get("spec") or {}).get(field)
        for field in ("unschedulable", "taints")
    ) or labels_of(then) != labels_of(now)


async def _reset_node(cluster: Cluster, api: ApiResource, then: Object, now: Object) -> None:
    spec = then.get("spec") or {}
    gone = dict.fromkeys(set(labels_of(now)) - set(labels_of(then)))
    change = {
        "metadata": {"labels": {**gone, **labels_of(then)}},
        "spec": {"unschedulable": spec.get("unschedulable"), "taints": spec.get("taints")},
    }
    path = path_of(api, "", then["metadata"]["name"])
    await cluster.client.patch(path, change, type="merge")
