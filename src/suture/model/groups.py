"""Which API groups are Kubernetes' own, and which somebody else's.

Groups below `k8s.io` are given to any project of the community, so that the ending tells little: an
operator of jobs, or one of machines, has its types there.
Source: kube-apiserver's groups (`k8s.io/api`, apiextensions, kube-aggregator); what the community
keeps as part of Kubernetes beside them has one of the endings below.
"""

from __future__ import annotations

from typing import Final

_COMMUNITY: Final = ".k8s.io"

_KUBERNETES: Final = frozenset(
    {
        "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
        "auditregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
        "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "imagepolicy.k8s.io", "metrics.k8s.io", "networking.k8s.io", "node.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "settings.k8s.io", "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)  # fmt: skip

_BELOW: Final = (
    ".apiserver.k8s.io", ".authorization.k8s.io", ".metrics.k8s.io", ".networking.k8s.io",
    ".storage.k8s.io",
)  # fmt: skip


def is_kubernetes(group: str) -> bool:
    """Whether a group is one of Kubernetes' own, the core one (an empty name) among them."""
    if "." not in group or not group.endswith(_COMMUNITY):
        return "." not in group
    return group in _KUBERNETES or group.endswith(_BELOW)
