"""Parts that many kinds of a made cluster share: metadata and owner references.

As the API server writes them, so that what is read of them, and what it costs to read them, is
what it would be. The full form is as large as in life; the lean one leaves out what `wire.trim`
skips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from suture.lab.clusters.plan import Plan
from suture.model import names
from suture.model.names import Gvk, Resource

Object = dict[str, Any]
"""Kubernetes JSON before it is bytes; past `wire` nobody sees one."""

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_NETWORK = "networking.k8s.io"
_STORAGE = "storage.k8s.io"

KINDS: Mapping[Resource, Gvk] = {
    names.NAMESPACES: Gvk("", "v1", "Namespace"),
    names.NODES: Gvk("", "v1", "Node"),
    names.PODS: Gvk("", "v1", "Pod"),
    names.SERVICES: Gvk("", "v1", "Service"),
    names.CONFIG_MAPS: Gvk("", "v1", "ConfigMap"),
    names.SECRETS: Gvk("", "v1", "Secret"),
    names.SERVICE_ACCOUNTS: Gvk("", "v1", "ServiceAccount"),
    names.CLAIMS: Gvk("", "v1", "PersistentVolumeClaim"),
    names.VOLUMES: Gvk("", "v1", "PersistentVolume"),
    names.DEPLOYMENTS: Gvk("apps", "v1", "Deployment"),
    names.REPLICA_SETS: Gvk("apps", "v1", "ReplicaSet"),
    names.STATEFUL_SETS: Gvk("apps", "v1", "StatefulSet"),
    names.DAEMON_SETS: Gvk("apps", "v1", "DaemonSet"),
    names.JOBS: Gvk("batch", "v1", "Job"),
    names.CRON_JOBS: Gvk("batch", "v1", "CronJob"),
    names.AUTOSCALERS: Gvk("autoscaling", "v2", "HorizontalPodAutoscaler"),
    names.DISRUPTION_BUDGETS: Gvk("policy", "v1", "PodDisruptionBudget"),
    names.ENDPOINT_SLICES: Gvk("discovery.k8s.io", "v1", "EndpointSlice"),
    names.INGRESSES: Gvk(_NETWORK, "v1", "Ingress"),
    names.INGRESS_CLASSES: Gvk(_NETWORK, "v1", "IngressClass"),
    names.NETWORK_POLICIES: Gvk(_NETWORK, "v1", "NetworkPolicy"),
    names.STORAGE_CLASSES: Gvk(_STORAGE, "v1", "StorageClass"),
    names.DRIVERS: Gvk(_STORAGE, "v1", "CSIDriver"),
    names.VOLUME_ATTACHMENTS: Gvk(_STORAGE, "v1", "VolumeAttachment"),
    names.PRIORITY_CLASSES: Gvk("scheduling.k8s.io", "v1", "PriorityClass"),
    names.RUNTIME_CLASSES: Gvk("node.k8s.io", "v1", "RuntimeClass"),
    names.LEASES: Gvk("coordination.k8s.io", "v1", "Lease"),
    names.ROLES: Gvk(_RBAC, "v1", "Role"),
    names.ROLE_BINDINGS: Gvk(_RBAC, "v1", "RoleBinding"),
    names.CLUSTER_ROLES: Gvk(_RBAC, "v1", "ClusterRole"),
    names.CLUSTER_ROLE_BINDINGS: Gvk(_RBAC, "v1", "ClusterRoleBinding"),
    names.CRDS: Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    names.API_SERVICES: Gvk("apiregistration.k8s.io", "v1", "APIService"),
    names.VALIDATING_WEBHOOKS: Gvk(_ADMISSION, "v1", "ValidatingWebhookConfiguration"),
    names.MUTATING_WEBHOOKS: Gvk(_ADMISSION, "v1", "MutatingWebhookConfiguration"),
    names.VALIDATING_POLICIES: Gvk(_ADMISSION, "v1", "ValidatingAdmissionPolicy"),
    names.VALIDATING_POLICY_BINDINGS: Gvk(_ADMISSION, "v1", "ValidatingAdmissionPolicyBinding"),
}
"""The built-in kinds of a made cluster, in the order in which a reader wants them."""

CLUSTER_SCOPED = frozenset(
    {
        names.NAMESPACES,
        names.NODES,
        names.VOLUMES,
        names.INGRESS_CLASSES,
        names.STORAGE_CLASSES,
        names.DRIVERS,
        names.VOLUME_ATTACHMENTS,
        names.PRIORITY_CLASSES,
        names.RUNTIME_CLASSES,
        names.CLUSTER_ROLES,
        names.CLUSTER_ROLE_BINDINGS,
        names.CRDS,
        names.API_SERVICES,
        names.VALIDATING_WEBHOOKS,
        names.MUTATING_WEBHOOKS,
        names.VALIDATING_POLICIES,
        names.VALIDATING_POLICY_BINDINGS,
    }
)
"""Those of them whose objects are in no namespace."""

NEWEST = 1_790_000_000
"""When the youngest object was made, in seconds since the epoch; a date, and no more."""

OLDEST_DAYS = 400

CONTROLLER = "kube-controller-manager"
"""Who wrote what no team did."""

FIRST_VERSION = 1_000_000_000
LIST_VERSION = FIRST_VERSION + 16**7
"""The resourceVersion of every list: no object was written later."""


def api_version(gvk: Gvk) -> str:
    """Return a type as objects write it."""
    return f"{gvk.group}/{gvk.version}" if gvk.group else gvk.version


def owner(plan: Plan, resource: Resource, namespace: str, name: str, gvk: Gvk) -> Object:
    """Return the reference of a dependent to its controller."""
    return {
        "apiVersion": api_version(gvk),
        "kind": gvk.kind,
        "name": name,
        "uid": plan.uid(resource, namespace, name),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def metadata(
    plan: Plan,
    resource: Resource,
    namespace: str,
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owners: Iterable[Object] = (),
    finalizers: Iterable[str] = (),
    manager: str = "",
    full: bool = True,
) -> Object:
    """Return ObjectMeta; what is empty is left out, as the API server does."""
    uid = plan.uid(resource, namespace, name)
    found: Object = {"name": name}
    if namespace:
        found["namespace"] = namespace
    found["uid"] = uid
    found["resourceVersion"] = str(version(uid))
    found["creationTimestamp"] = created(uid)
    if labels:
        found["labels"] = dict(labels)
    if annotations:
        found["annotations"] = dict(annotations)
    references = list(owners)
    if references:
        found["ownerReferences"] = references
    lifted = list(finalizers)
    if lifted:
        found["finalizers"] = lifted
    if full:
        found["managedFields"] = [managed(labels or {"app": ""}, manager=manager or CONTROLLER)]
    else:
        found["managedFields"] = [{"manager": manager or CONTROLLER}]
    return found


def version(uid: str) -> int:
    """Return the resourceVersion at which an object was written last."""
    return FIRST_VERSION + int(uid[:7], 16)


def created(uid: str) -> str:
    """Return the time at which an object was made."""
    age_s = int(uid[-8:], 16) % (OLDEST_DAYS * 86_400)
    return f"{datetime.fromtimestamp(NEWEST - age_s, UTC).isoformat()[:19]}Z"


def managed(
    labels: Mapping[str, str], *, manager: str = CONTROLLER, status: bool = False
) -> Object:
    """Return one entry of managedFields: noise that every object carries, and is charged for."""
    fields: Object = {
        "f:metadata": {"f:labels": {".": {}, **{f"f:{key}": {} for key in labels}}},
        "f:spec": {"f:replicas": {}, "f:selector": {}, "f:type": {}, "f:ports": {}},
    }
    return {
        "manager": "kubelet" if status else manager,
        "operation": "Update" if status else "Apply",
        "apiVersion": "v1",
        "time": "2026-08-11T09:12:44Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **({"subresource": "status"} if status else {}),
    }


def encoded(gvk: Gvk, meta: Object, **body: object) -> bytes:
    """Return an object as JSON."""
    return msgspec.json.encode(
        {"kind": gvk.kind, "apiVersion": api_version(gvk), "metadata": meta, **body}
    )
