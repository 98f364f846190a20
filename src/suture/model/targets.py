"""Which type a reference means that names a kind: `Deployment` of `apps` are `deployments.apps`.

Objects refer to others by kind, the model keeps them by resource. Pure, and knows no cluster:
what is not in the table is guessed from the kind's name, as nearly all definitions have it.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.model import names
from suture.model.kindnames import SHORT, built_in, plural_of
from suture.model.names import Resource

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


def misnamed(group: str, name: str) -> Resource | None:
    """Return the type that is meant by a name that none has: of `apps` no type is `deployment`.

    None: some type may be called so. `*` is any. Only what is Kubernetes' own is known here;
    all of that has plurals in small letters that end in `s`, and in neither `ss` nor `us`.
    """
    plain = name.lower()
    singular = not plain.endswith("s") or plain.endswith(("ss", "us"))
    plural = SHORT.get(plain) or (plural_of(plain) if singular else plain)
    if name == "*" or not built_in(group) or (group == "*" and plural not in SHORT.values()):
        return None
    homes = {known.group for known in WELL_KNOWN.values() if known.plural == plural}
    home = homes.pop() if group == "" and homes and "" not in homes else group
    return Resource(home, plural) if (home, plural) != (group, name) else None


def group_of(api_version: str) -> str:
    """Return the group of an `apiVersion`: `apps/v1` is of `apps`, `v1` of the core's, empty."""
    return api_version.rpartition("/")[0]
