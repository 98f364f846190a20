"""Which type a kind is, where there is no cluster to ask: in files.

Discovery answers this of a live cluster. Here the answer is in the table of what Kubernetes itself
serves, or in a definition among the files, or it is a guess, and said to be one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from suture.model import names
from suture.model.names import Gvk, Resource
from suture.model.objects import CrdFacts
from suture.model.targets import resource_of
from suture.wire.kinds import SHAPES

CLUSTER_SCOPED: Mapping[str, frozenset[str]] = {
    group: frozenset(kinds.split())
    for group, kinds in {
        "": "ComponentStatus Namespace Node PersistentVolume",
        "admissionregistration.k8s.io": (
            "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
            "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
            "ValidatingWebhookConfiguration"
        ),
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "apps": "",
        "autoscaling": "",
        "batch": "",
        "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
        "coordination.k8s.io": "",
        "discovery.k8s.io": "",
        "events.k8s.io": "",
        "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
        "gateway.networking.k8s.io": "GatewayClass",
        "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
        "node.k8s.io": "RuntimeClass",
        "policy": "",
        "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
        "resource.k8s.io": "DeviceClass DeviceTaintRule ResourceSlice",
        "scheduling.k8s.io": "PriorityClass",
        "snapshot.storage.k8s.io": "VolumeSnapshotClass VolumeSnapshotContent",
        "storage.k8s.io": ("CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass"),
    }.items()
}
"""The groups that Kubernetes serves, and two that nearly every cluster has, with the kinds in them
that have no namespace. SOURCE: `kubectl api-resources`, columns APIVERSION and NAMESPACED, of 1.36;
gateway-api and external-snapshotter, their definitions."""


NAMED: Mapping[str, Resource] = {
    "Endpoints": Resource("", "endpoints"),
    "GatewayClass": names.GATEWAY_CLASSES,
    "IngressClass": names.INGRESS_CLASSES,
    "Namespace": names.NAMESPACES,
    "PriorityClass": names.PRIORITY_CLASSES,
    "ResourceClaim": names.RESOURCE_CLAIMS,
    "RuntimeClass": names.RUNTIME_CLASSES,
    "Secret": names.SECRETS,
    "VolumeSnapshotClass": names.SNAPSHOT_CLASSES,
}
"""Kinds that others name, and of which no more than their metadata is read."""


class Kind(msgspec.Struct, frozen=True):
    """A type as far as files tell. `guessed`: its plural, and whether it has a namespace."""

    resource: Resource
    namespaced: bool
    guessed: bool = False


class Kinds:
    """Answers which type a kind is; learns from the definitions that it is shown."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Kind] = {
            (resource.group, shape.kind): Kind(resource, _namespaced(resource.group, shape.kind))
            for resource, shape in SHAPES.items()
        }

    def learn(self, definition: CrdFacts) -> None:
        """Take what a CustomResourceDefinition says of the kind that it serves."""
        resource = definition.resource
        self._known[resource.group, definition.kind] = Kind(resource, definition.namespaced)

    def find(self, gvk: Gvk) -> Kind | None:
        """Return the type that a kind is; None where only a guess is left."""
        known = self._known.get((gvk.group, gvk.kind))
        if known is None and gvk.group in CLUSTER_SCOPED:
            known = Kind(resource_of(gvk.group, gvk.kind), _namespaced(gvk.group, gvk.kind))
            self._known[gvk.group, gvk.kind] = known
        return known

    def guess(self, gvk: Gvk, *, namespaced: bool) -> Kind:
        """Return the type that a kind is, or else most likely is, and remember it as that."""
        known = self.find(gvk)
        if known is None:
            known = Kind(resource_of(gvk.group, gvk.kind), namespaced, guessed=True)
            self._known[gvk.group, gvk.kind] = known
        return known


def built_in() -> Iterator[tuple[str, Resource]]:
    """Yield the kinds that every cluster serves and that others name or that are read closely."""
    yield from NAMED.items()
    for resource, shape in SHAPES.items():
        if resource.group in CLUSTER_SCOPED:
            yield shape.kind, resource


def _namespaced(group: str, kind: str) -> bool:
    return kind not in CLUSTER_SCOPED.get(group, ())
