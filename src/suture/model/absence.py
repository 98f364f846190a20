"""What is needed and not there: missing, or nobody can say.

Apart from the boxes that show it because it is a question of what is known, and of whom. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.model.graph import GraphView
from suture.model.names import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    NAMESPACES,
    PRIORITY_CLASSES,
    SERVICE_ACCOUNTS,
    SERVICES,
    ObjectKey,
    Resource,
)

ARGO_APPLICATIONS = Resource("argoproj.io", "applications")
ARGO_PROJECTS = Resource("argoproj.io", "appprojects")
ARGO_NAMESPACE = "argocd"
"""Where Argo CD's manifests put it; an installation elsewhere does not say so on objects."""

SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease"})
"""The namespaces of the cluster itself."""

_MADE: Mapping[Resource, frozenset[str]] = {
    CLUSTER_ROLES: frozenset({"admin", "cluster-admin", "edit", "view"}),
    CONFIG_MAPS: frozenset({"kube-root-ca.crt"}),
    NAMESPACES: SYSTEM | {"default"},
    PRIORITY_CLASSES: frozenset({"system-cluster-critical", "system-node-critical"}),
    SERVICE_ACCOUNTS: frozenset({"default"}),
}
_API_SERVER = ObjectKey(SERVICES, "default", "kubernetes")
_SYSTEM_PREFIX = "system:"


def doubt(view: GraphView, key: ObjectKey) -> str:
    """Return why an object that is not there may exist nevertheless; empty where it is missing."""
    if not view.listed(key.resource):
        known = key.resource in view.resources()
        return view.unknown(key.resource) or (
            "not listed" if known else "no such type is known here"
        )
    if made_by_the_cluster(key) and not view.listed_by_a_cluster(key.resource):
        return "every cluster makes it by itself"
    if key.resource == ARGO_APPLICATIONS and not view.rows(ARGO_APPLICATIONS, key.namespace):
        return f"Argo CD may run elsewhere than in `{key.namespace}`"
    return ""


def made_by_the_cluster(key: ObjectKey) -> bool:
    """Whether a cluster has an object without anybody's manifest.

    LIMIT: of objects in its own namespaces all are taken for such, an addon's of a person too.
    Source: the API server's bootstrap of roles, priorities and namespaces; the controllers of
    service accounts and of the root certificate.
    """
    return (
        key.namespace in SYSTEM
        or key.name in _MADE.get(key.resource, ())
        or (key.resource == CLUSTER_ROLES and key.name.startswith(_SYSTEM_PREFIX))
        or key == _API_SERVER
    )
