"""Fields of built-in kinds that built-in edges read already, so that mining does not find them.

By how a path ends: the same pod template stands in a dozen kinds. Pure.
Source: the reference of edges, which names the field of each.
"""

from __future__ import annotations

from typing import Final

_ENDS: Final = frozenset(
    tuple("" if step == "[*]" else step for step in end.split("."))
    for end in (
        # Pods and their templates.
        "secretRef.name", "configMapRef.name", "secretKeyRef.name", "configMapKeyRef.name",
        "secretKeyRef.key", "configMapKeyRef.key", "secret.secretName", "secret.name",
        "configMap.name", "nodePublishSecretRef.name", "imagePullSecrets.[*].name",
        "persistentVolumeClaim.claimName", "serviceAccountName", "serviceAccount", "nodeName",
        "priorityClassName", "runtimeClassName", "resourceClaimName", "resourceClaimTemplateName",
        # Serving.
        "service.name", "serviceName", "backendRefs.[*].name", "backendRef.name",
        "parentRefs.[*].name", "parentRef.name", "targetRef.name", "ingressClassName",
        "gatewayClassName", "secretName", "certificateRefs.[*].name",
        # Storage.
        "volumeName", "storageClassName", "claimRef.name", "dataSource.name", "dataSourceRef.name",
        "source.persistentVolumeName", "persistentVolumeClaimName", "volumeSnapshotContentName",
        "boundVolumeSnapshotContentName", "volumeSnapshotClassName", "volumeSnapshotRef.name",
        # Scaling, access, policy, leases.
        "scaleTargetRef.name", "roleRef.name", "subjects.[*].name", "secrets.[*].name",
        "policyName", "paramRef.name", "holderIdentity",
    )
)  # fmt: skip

_LONGEST: Final = max(map(len, _ENDS))

_GROUPS: Final = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions"})


def covered(group: str, steps: tuple[str, ...]) -> bool:
    """Whether a built-in edge reads a field of a kind of this group."""
    if group not in _GROUPS and not group.endswith(".k8s.io"):
        return False
    return any(steps[-length:] in _ENDS for length in range(1, _LONGEST + 1))
