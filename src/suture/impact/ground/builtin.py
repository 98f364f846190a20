"""What is Kubernetes' own: its finalizers and who removes each, the accounts of its controllers.

Apart, since what reads them stands below.
Source: Kubernetes, the constants of the finalizers and the controllers that write them; rbac's
bootstrap policy.
"""

from __future__ import annotations

from typing import Final

from suture.model.actor import SERVICE_ACCOUNT
from suture.model.names import KUBE_SYSTEM
from suture.model.objects import ClusterObject

OF_SYSTEM: Final = f"{SERVICE_ACCOUNT}{KUBE_SYSTEM}:"
"""How the accounts of the control plane's own namespace begin."""

_API_SERVER: Final = "system:apiserver"

NAMESPACE_CONTENT: Final = "kubernetes"
"""It waits until a namespace is empty. SOURCE: core/v1 FinalizerKubernetes, in the spec."""

INSTANCES: Final = "customresourcecleanup.apiextensions.k8s.io"
"""It waits until a definition has no instances. SOURCE: apiextensions CustomResourceCleanup."""

BUILT_IN: Final[dict[str, tuple[str, ...]]] = {
    "foregroundDeletion": (f"{OF_SYSTEM}generic-garbage-collector",),
    "orphan": (f"{OF_SYSTEM}generic-garbage-collector",),
    NAMESPACE_CONTENT: (f"{OF_SYSTEM}namespace-controller",),
    "kubernetes.io/pvc-protection": (f"{OF_SYSTEM}pvc-protection-controller",),
    "kubernetes.io/pv-protection": (f"{OF_SYSTEM}pv-protection-controller",),
    "kubernetes.io/pv-controller": (f"{OF_SYSTEM}persistent-volume-binder",),
    "service.kubernetes.io/load-balancer-cleanup": (
        f"{OF_SYSTEM}service-controller",
        f"{OF_SYSTEM}cloud-controller-manager",
    ),
    "batch.kubernetes.io/job-tracking": (f"{OF_SYSTEM}job-controller",),
    "resource.kubernetes.io/delete-protection": (f"{OF_SYSTEM}resource-claim-controller",),
    INSTANCES: (_API_SERVER,),
}
"""Who removes which finalizer of Kubernetes' own, by identity."""

CONTROLLERS: Final = frozenset(
    f"{OF_SYSTEM}{name}"
    for name in (
        "attachdetach-controller", "bootstrap-signer", "certificate-controller",
        "cloud-controller-manager", "cloud-node-controller", "cloud-provider",
        "clusterrole-aggregation-controller", "cronjob-controller", "daemon-set-controller",
        "deployment-controller", "device-taint-eviction-controller", "disruption-controller",
        "endpoint-controller", "endpointslice-controller", "endpointslicemirroring-controller",
        "ephemeral-volume-controller", "expand-controller", "generic-garbage-collector",
        "horizontal-pod-autoscaler", "job-controller", "kube-controller-manager",
        "kube-scheduler", "leader-election-controller", "legacy-service-account-token-cleaner",
        "namespace-controller",
        "node-controller", "persistent-volume-binder", "pod-garbage-collector",
        "podcheckpoint-controller", "pv-protection-controller", "pvc-protection-controller",
        "replicaset-controller", "replication-controller", "resource-claim-controller",
        "resourcequota-controller", "root-ca-cert-publisher", "route-controller",
        "selinux-warning-controller", "service-account-controller", "service-cidrs-controller",
        "service-controller", "statefulset-controller", "storage-version-migrator-controller",
        "taint-eviction-controller", "token-cleaner", "ttl-after-finished-controller",
        "ttl-controller", "validatingadmissionpolicy-status-controller",
        "volumeattributesclass-protection-controller",
    )
)  # fmt: skip
"""Accounts under which the control plane itself works, outside of pods, by identity.

SOURCE: the bindings `system:controller:*` and `system::leader-locking-*` that the API server makes
(bootstrappolicy); Kubernetes documentation, "Cloud Controller Manager".
"""

BOOTSTRAPPED: Final = ("kubernetes.io/bootstrapping", "rbac-defaults")
"""The label of roles and bindings that the API server makes.

SOURCE: Kubernetes, using RBAC authorization.
"""

SCALERS: Final = frozenset(
    {f"{OF_SYSTEM}horizontal-pod-autoscaler", "system:kube-controller-manager"}
)
"""Who sets the sizes that a HorizontalPodAutoscaler decides, with an account of its own or without.

SOURCE: kube-controller-manager, `--use-service-account-credentials`.
"""


def is_bootstrapped(thing: ClusterObject) -> bool:
    """Whether the API server makes a role or binding, and makes it anew when it starts."""
    label, value = BOOTSTRAPPED
    return thing.labels.get(label) == value
