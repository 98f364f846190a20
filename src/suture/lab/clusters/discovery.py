"""What the API server of a made cluster says that it serves: the aggregated discovery documents.

Beside `pages`, which writes them with the lists; knows kinds, and nothing of their objects.
Source: apidiscovery.k8s.io/v2 APIGroupDiscoveryList.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from suture.lab.clusters.bodies import Object
from suture.lab.clusters.cluster import Cluster
from suture.model.names import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    Gvk,
    Resource,
)

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")

SUBRESOURCES: Mapping[Resource, tuple[str, ...]] = {
    NAMESPACES: ("finalize", "status"),
    NODES: ("proxy", "status"),
    PODS: ("attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status"),
    SERVICES: ("proxy", "status"),
    DEPLOYMENTS: ("scale", "status"),
    REPLICA_SETS: ("scale", "status"),
    STATEFUL_SETS: ("scale", "status"),
    DAEMON_SETS: ("status",),
    JOBS: ("status",),
    CRON_JOBS: ("status",),
}
"""Subresources of the kinds that have any which are asked for; custom kinds have `status`."""


def discovery_documents(cluster: Cluster) -> dict[Path, bytes]:
    """Return the answers of `/api` and `/apis`, each with the file that it is kept in."""
    groups: dict[str, dict[str, list[Object]]] = {}
    for resource, gvk in cluster.kinds.items():
        versions = groups.setdefault(gvk.group, {})
        namespaced = resource not in cluster.cluster_scoped
        versions.setdefault(gvk.version, []).append(_entry(resource, gvk, namespaced=namespaced))
    core = groups.pop("")
    return {
        Path("discovery", "api.json"): _list({"": core}),
        Path("discovery", "apis.json"): _list(groups),
    }


def _list(groups: Mapping[str, Mapping[str, list[Object]]]) -> bytes:
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {"version": version, "resources": resources, "freshness": "Current"}
                for version, resources in versions.items()
            ],
        }
        for group, versions in groups.items()
    ]
    envelope = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2"}
    return msgspec.json.encode({**envelope, "metadata": {}, "items": items})


def _entry(resource: Resource, gvk: Gvk, *, namespaced: bool) -> dict[str, Any]:
    kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    return {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if namespaced else "Cluster",
        "singularResource": gvk.kind.lower(),
        "verbs": VERBS,
        "subresources": [
            {"subresource": part, "responseKind": kind, "verbs": ("get", "patch", "update")}
            for part in SUBRESOURCES.get(resource, ("status",) if "." in resource.group else ())
        ],
    }
