"""Finalizers of Kubernetes' own, and who removes each. Apart, since what reads them stands below.

Source: Kubernetes, the constants of the finalizers and the controllers that write them.
"""

from __future__ import annotations

from typing import Final

from suture.model.actor import SERVICE_ACCOUNT

_KUBE: Final = f"{SERVICE_ACCOUNT}kube-system:"
_API_SERVER: Final = "system:apiserver"

NAMESPACE_CONTENT: Final = "kubernetes"
"""It waits until a namespace is empty. SOURCE: core/v1 FinalizerKubernetes, in the spec."""

INSTANCES: Final = "customresourcecleanup.apiextensions.k8s.io"
"""It waits until a definition has no instances. SOURCE: apiextensions CustomResourceCleanup."""

BUILT_IN: Final[dict[str, tuple[str, ...]]] = {
    "foregroundDeletion": (f"{_KUBE}generic-garbage-collector",),
    "orphan": (f"{_KUBE}generic-garbage-collector",),
    NAMESPACE_CONTENT: (f"{_KUBE}namespace-controller",),
    "kubernetes.io/pvc-protection": (f"{_KUBE}pvc-protection-controller",),
    "kubernetes.io/pv-protection": (f"{_KUBE}pv-protection-controller",),
    "kubernetes.io/pv-controller": (f"{_KUBE}persistent-volume-binder",),
    "service.kubernetes.io/load-balancer-cleanup": (
        f"{_KUBE}service-controller",
        f"{_KUBE}cloud-controller-manager",
    ),
    "batch.kubernetes.io/job-tracking": (f"{_KUBE}job-controller",),
    "resource.kubernetes.io/delete-protection": (f"{_KUBE}resource-claim-controller",),
    INSTANCES: (_API_SERVER,),
}
"""Who removes which finalizer of Kubernetes' own, by identity."""
