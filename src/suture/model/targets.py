"""Which type a reference means that names a kind: `Deployment` of `apps` are `deployments.apps`.

Objects refer to others by kind, the model keeps them by resource. Pure, and knows no cluster:
what is not in the table is guessed from the kind's name, as nearly all definitions have it.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.model import names
from suture.model.names import Resource, plural_of

WELL_KNOWN: Mapping[tuple[str, str], Resource] = {
    ("", "ConfigMap"): names.CONFIG_MAPS,
    ("", "Endpoints"): Resource("", "endpoints"),
    ("", "Node"): names.NODES,
    ("", "PersistentVolumeClaim"): names.CLAIMS,
    ("", "Pod"): names.PODS,
    ("", "ReplicationController"): names.REPLICATION_CONTROLLERS,
    ("", "Secret"): names.SECRETS,
    ("", "Service"): names.SERVICES,
    ("", "ServiceAccount"): names.SERVICE_ACCOUNTS,
    ("apps", "DaemonSet"): names.DAEMON_SETS,
    ("apps", "Deployment"): names.DEPLOYMENTS,
    ("apps", "ReplicaSet"): names.REPLICA_SETS,
    ("apps", "StatefulSet"): names.STATEFUL_SETS,
    ("batch", "CronJob"): names.CRON_JOBS,
    ("batch", "Job"): names.JOBS,
    ("gateway.networking.k8s.io", "Gateway"): names.GATEWAYS,
    ("rbac.authorization.k8s.io", "ClusterRole"): names.CLUSTER_ROLES,
    ("rbac.authorization.k8s.io", "Role"): names.ROLES,
    ("snapshot.storage.k8s.io", "VolumeSnapshot"): names.SNAPSHOTS,
}


def resource_of(group: str, kind: str) -> Resource:
    """Return the type that a kind is served as; for one outside the table, most likely.

    LIMIT: a definition may name its plural as it likes. Where one did, the guess leads to a name
    under which nothing is found; it never leads to another type's object.
    """
    known = WELL_KNOWN.get((group, kind))
    return known if known is not None else Resource(group, plural_of(kind).lower())


def group_of(api_version: str) -> str:
    """Return the group of an `apiVersion`: `apps/v1` is of `apps`, `v1` of the core's, empty."""
    return api_version.rpartition("/")[0]
