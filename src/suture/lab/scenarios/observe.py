"""What is on the cluster at one moment, as far as harm is measured by it.

Lives apart from `harm` and `probes`, which compare two such moments and ask nobody: on the lab an
observation is listed, offline it is made of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from suture.errors import ApiError, InputError
from suture.lab.scenarios.cluster import Cluster, Object, each, path_of, whole
from suture.wire.discovery import ApiResource

READY = "Ready"
CREATOR = "system:serviceaccount:kube-system:replicaset-controller"
"""Who creates pods in life: the probe asks under its name, so that identities that a webhook
leaves out are left out here too."""

# LIMIT: namespaces in which the creation of a pod is tried: 250 dry runs take a second.
MOST_TRIED = 250


@dataclass(frozen=True)
class Observation:
    """Objects by resource and uid, and the namespaces in which no pod can be created.

    `made` are the uids of what guilty writes created before this moment, `written` is how many
    guilty writes were admitted and stored before it.
    """

    objects: Mapping[str, Mapping[str, Object]] = field(default_factory=dict)
    blocked: Mapping[str, str] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    written: int = 0

    def of(self, resource: str) -> Mapping[str, Object]:
        """Return the objects of a resource by uid."""
        return self.objects.get(resource, {})


async def observe(
    cluster: Cluster, resources: Iterable[str], *, try_pods: bool = False
) -> Observation:
    """List every resource, and try to create pods where there are any when asked to."""
    apis = {name: _find(cluster, name) for name in dict.fromkeys(resources)}

    async def read(item: tuple[str, ApiResource | None]) -> tuple[str, dict[str, Object]]:
        name, api = item
        found = [] if api is None else await whole(cluster.client, api)
        return name, {one["metadata"]["uid"]: one for one in found}

    objects = dict(await each(apis.items(), read))
    blocked = await _blocked(cluster) if try_pods else {}
    return Observation(objects, blocked)


def _find(cluster: Cluster, name: str) -> ApiResource | None:
    # WHY None: a kind whose CRD is gone has no objects left, which is what is to be measured.
    try:
        return cluster.kinds.find(name)
    except InputError:
        return None


async def _blocked(cluster: Cluster) -> dict[str, str]:
    """Return the namespaces where the creation of a pod fails now, each with the reason."""
    spaces = await whole(cluster.client, cluster.kinds.find("namespaces"))
    names = [s["metadata"]["name"] for s in spaces if not terminating(s)][:MOST_TRIED]
    client = cluster.client.impersonating(
        CREATOR, ["system:serviceaccounts", "system:authenticated"]
    )
    pods = cluster.kinds.find("pods")
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "suture-probe-"},
        "spec": {
            "automountServiceAccountToken": False,
            # WHY: namespaces under the strictest pod security are asked too.
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "probe",
                    "image": "registry.example/probe:1",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }

    async def attempt(name: str) -> tuple[str, str]:
        try:
            await client.create(path_of(pods, name), body, dry_run=True)
        except ApiError as error:
            return name, "" if error.status == 404 else error.message
        return name, ""

    return {name: reason for name, reason in await each(names, attempt) if reason}


def terminating(thing: Object) -> bool:
    """Whether a delete of the object was accepted."""
    return "deletionTimestamp" in thing["metadata"]


def labels_of(thing: Object) -> Mapping[str, str]:
    """Return the object's labels."""
    found: Mapping[str, str] = thing["metadata"].get("labels") or {}
    return found


def is_ready(pod: Object) -> bool:
    """Whether a pod is Ready and stays."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return not terminating(pod) and any(
        c.get("type") == READY and c.get("status") == "True" for c in conditions
    )


def is_finished(pod: Object) -> bool:
    """Whether a pod has ended by itself."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def owners_of(thing: Object) -> list[str]:
    """Return the uids of the object's owners."""
    owners = thing["metadata"].get("ownerReferences") or ()
    return [one["uid"] for one in owners if one.get("uid")]
