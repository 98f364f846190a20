"""Names of types and objects, so that a kind, an endpoint and a life are never mixed up.

Pure values, made by the million: structs, compared and hashed by value.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

import msgspec

Namespace = NewType("Namespace", str)
"""A namespace's name; empty for cluster-scoped objects."""

Uid = NewType("Uid", str)
"""One life of one object; a re-created object of the same name has another."""

ResourceVersion = NewType("ResourceVersion", str)
"""Opaque; comparable within one type since Kubernetes 1.35, equality only before. Never a time."""


class Resource(msgspec.Struct, frozen=True, gc=False, order=True, cache_hash=True):
    """What is stored, whatever API version asks: group and plural, `deployments.apps`.

    The storage identity: a request for `apps/v1` and one for `apps/v1beta2` name the same thing.
    """

    group: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @classmethod
    def parse(cls, text: str) -> Resource:
        """Read `deployments.apps` or `services`; the inverse of `str`."""
        plural, _, group = text.partition(".")
        return cls(group, plural)


class Gvr(msgspec.Struct, frozen=True, gc=False):
    """An endpoint: group, version and plural, `apps/v1 deployments`."""

    group: str
    version: str
    plural: str

    @property
    def resource(self) -> Resource:
        """The storage identity behind this endpoint."""
        return Resource(self.group, self.plural)


class Gvk(msgspec.Struct, frozen=True, gc=False):
    """A type as objects name it: group, version and kind, `apps/v1 Deployment`."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, api_version: str, kind: str) -> Gvk:
        """Read the `apiVersion` and `kind` that an object or an ownerReference carries."""
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind)


class ObjectKey(msgspec.Struct, frozen=True, gc=False, order=True):
    """Where an object is found: type, namespace and name. Can be reused; a uid cannot."""

    resource: Resource
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.resource} {place}{self.name}"


class Operation(StrEnum):
    """What an AdmissionReview asks for."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class Propagation(StrEnum):
    """What a delete does to dependents; the request's choice, never ours."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


NAMESPACES = Resource("", "namespaces")
NODES = Resource("", "nodes")
PODS = Resource("", "pods")
SERVICES = Resource("", "services")
CONFIG_MAPS = Resource("", "configmaps")
SECRETS = Resource("", "secrets")
CLAIMS = Resource("", "persistentvolumeclaims")
REPLICATION_CONTROLLERS = Resource("", "replicationcontrollers")
DEPLOYMENTS = Resource("apps", "deployments")
REPLICA_SETS = Resource("apps", "replicasets")
STATEFUL_SETS = Resource("apps", "statefulsets")
DAEMON_SETS = Resource("apps", "daemonsets")
JOBS = Resource("batch", "jobs")
CRON_JOBS = Resource("batch", "cronjobs")
ENDPOINT_SLICES = Resource("discovery.k8s.io", "endpointslices")
INGRESSES = Resource("networking.k8s.io", "ingresses")
CRDS = Resource("apiextensions.k8s.io", "customresourcedefinitions")
API_SERVICES = Resource("apiregistration.k8s.io", "apiservices")
VALIDATING_WEBHOOKS = Resource("admissionregistration.k8s.io", "validatingwebhookconfigurations")
MUTATING_WEBHOOKS = Resource("admissionregistration.k8s.io", "mutatingwebhookconfigurations")
WEBHOOKS = (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS)

SERVICE_ACCOUNTS = Resource("", "serviceaccounts")
VOLUMES = Resource("", "persistentvolumes")
STORAGE_CLASSES = Resource("storage.k8s.io", "storageclasses")
DRIVERS = Resource("storage.k8s.io", "csidrivers")
VOLUME_ATTACHMENTS = Resource("storage.k8s.io", "volumeattachments")
SNAPSHOTS = Resource("snapshot.storage.k8s.io", "volumesnapshots")
SNAPSHOT_CONTENTS = Resource("snapshot.storage.k8s.io", "volumesnapshotcontents")
SNAPSHOT_CLASSES = Resource("snapshot.storage.k8s.io", "volumesnapshotclasses")
PRIORITY_CLASSES = Resource("scheduling.k8s.io", "priorityclasses")
RUNTIME_CLASSES = Resource("node.k8s.io", "runtimeclasses")
RESOURCE_CLAIMS = Resource("resource.k8s.io", "resourceclaims")
LEASES = Resource("coordination.k8s.io", "leases")
INGRESS_CLASSES = Resource("networking.k8s.io", "ingressclasses")
NETWORK_POLICIES = Resource("networking.k8s.io", "networkpolicies")
CILIUM_POLICIES = Resource("cilium.io", "ciliumnetworkpolicies")
CILIUM_CLUSTER_POLICIES = Resource("cilium.io", "ciliumclusterwidenetworkpolicies")
ADMIN_POLICIES = Resource("policy.networking.k8s.io", "adminnetworkpolicies")
BASELINE_POLICIES = Resource("policy.networking.k8s.io", "baselineadminnetworkpolicies")
CLUSTER_POLICIES = Resource("policy.networking.k8s.io", "clusternetworkpolicies")
CALICO_POLICIES = Resource("projectcalico.org", "networkpolicies")
CALICO_GLOBAL_POLICIES = Resource("projectcalico.org", "globalnetworkpolicies")
CALICO_STORED_POLICIES = Resource("crd.projectcalico.org", "networkpolicies")
CALICO_STORED_GLOBAL_POLICIES = Resource("crd.projectcalico.org", "globalnetworkpolicies")
PEER_AUTHENTICATIONS = Resource("security.istio.io", "peerauthentications")
AUTHORIZATION_POLICIES = Resource("security.istio.io", "authorizationpolicies")
MESH_ROOT = "istio-system"
"""The namespace whose policies are the mesh's own. SOURCE: Istio, the default of rootNamespace."""

GATEWAYS = Resource("gateway.networking.k8s.io", "gateways")
GATEWAY_CLASSES = Resource("gateway.networking.k8s.io", "gatewayclasses")
REFERENCE_GRANTS = Resource("gateway.networking.k8s.io", "referencegrants")
HTTP_ROUTES = Resource("gateway.networking.k8s.io", "httproutes")
GRPC_ROUTES = Resource("gateway.networking.k8s.io", "grpcroutes")
TLS_ROUTES = Resource("gateway.networking.k8s.io", "tlsroutes")
TCP_ROUTES = Resource("gateway.networking.k8s.io", "tcproutes")
UDP_ROUTES = Resource("gateway.networking.k8s.io", "udproutes")
DISRUPTION_BUDGETS = Resource("policy", "poddisruptionbudgets")
AUTOSCALERS = Resource("autoscaling", "horizontalpodautoscalers")
SCALED_OBJECTS = Resource("keda.sh", "scaledobjects")
ROLES = Resource("rbac.authorization.k8s.io", "roles")
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "clusterroles")
ROLE_BINDINGS = Resource("rbac.authorization.k8s.io", "rolebindings")
CLUSTER_ROLE_BINDINGS = Resource("rbac.authorization.k8s.io", "clusterrolebindings")
BINDINGS = frozenset({ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS})
RBAC = BINDINGS | {ROLES, CLUSTER_ROLES}
"""What gives rights to those at work, who do not name it."""
VALIDATING_POLICIES = Resource("admissionregistration.k8s.io", "validatingadmissionpolicies")
VALIDATING_POLICY_BINDINGS = Resource(
    "admissionregistration.k8s.io", "validatingadmissionpolicybindings"
)
MUTATING_POLICIES = Resource("admissionregistration.k8s.io", "mutatingadmissionpolicies")
MUTATING_POLICY_BINDINGS = Resource(
    "admissionregistration.k8s.io", "mutatingadmissionpolicybindings"
)

KUBE_SYSTEM = "kube-system"
RESERVED = "kube-"
"""How namespaces begin that are kept for the cluster's own. SOURCE: Kubernetes, namespaces."""

WORKLOADS = frozenset({DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS})


def plural_of(kind: str) -> str:
    """Return a kind's name for several: `NetworkPolicies`, `Ingresses`, `Pods`."""
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind.endswith("Endpoints") else f"{kind}es"
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}s"
