"""Projections of pods, of what sends traffic to them, and of the nodes that they run on.

One of several, as a kind's neighbours change together. Pure.
Source: core/v1, discovery/v1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from suture.model.edges import Edge, Need
from suture.model.names import SERVICES, ObjectKey
from suture.model.objects import Facts, NodeFacts, PodFacts, ServiceFacts, SliceFacts
from suture.model.podneeds import DEFAULT_ACCOUNT, PodNeeds, PodRefs
from suture.model.quantities import Quantity, cpu_m, memory_mi, whole
from suture.model.selectors import Selector
from suture.wire.balancedshapes import BalancedStatus, addresses_of
from suture.wire.placementshapes import NodeTaint, taints
from suture.wire.shapes import Conditions, Count, Document, ManagedDocument, holds, named

SERVICE_LABEL = "kubernetes.io/service-name"
"""The label by which an EndpointSlice names its Service."""


class _MadeClaim(msgspec.Struct, rename="camel", gc=False):
    resource_claim_name: str | None = None


class PodStatus(msgspec.Struct, rename="camel", gc=False):
    """What is read of a pod's status."""

    phase: str = ""
    conditions: Conditions = None
    resource_claim_statuses: tuple[_MadeClaim, ...] | None = None

    @property
    def finished(self) -> bool:
        """Whether it will not run again."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def ready(self) -> bool:
        """Whether Services send it traffic."""
        # WHY not `holds`: of all objects read, nine tenths are pods, and most have five conditions.
        for condition in self.conditions or ():
            if condition.type == "Ready":
                return condition.status == "True"
        return False


class PodDocument(Document, gc=False):
    """A Pod."""

    spec: PodRefs | None = None
    status: PodStatus | None = None


def pod(doc: PodDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Pod adds to its metadata."""
    status, node = doc.status, doc.spec.node_name if doc.spec is not None else ""
    if status is None:
        return PodFacts(node=node)
    return PodFacts(status.ready, status.finished, node)


def pod_needs(doc: PodDocument, key: ObjectKey, _labels: Mapping[str, str]) -> Sequence[Need]:
    """Return what a Pod names, its node apart, which is a fact."""
    spec, status = doc.spec, doc.status
    if spec is None:
        return ()
    if not spec.service_account_name and not spec.node_name:
        # WHY not once it has a node: admission has filled it in by then, save on a static pod's
        # mirror, which has none.
        spec.service_account_name = DEFAULT_ACCOUNT
    spec.node_name = ""
    if status is None or not status.resource_claim_statuses:
        return PodNeeds.of_pod(spec, key.namespace, key.name)
    claims = tuple(one.resource_claim_name or "" for one in status.resource_claim_statuses)
    return PodNeeds.of_pod(spec, key.namespace, key.name, claims)


class _ServicePort(msgspec.Struct, gc=False):
    name: str | None = None
    port: Count = 0
    protocol: str = "TCP"


class _ServiceSpec(
    msgspec.Struct,
    rename={"cluster_ip": "clusterIP", "not_ready": "publishNotReadyAddresses"},
    gc=False,
):
    selector: dict[str, str] | None = None
    type: str = "ClusterIP"
    cluster_ip: str = ""
    not_ready: bool | None = None
    ports: tuple[_ServicePort, ...] | None = None


class ServiceDocument(ManagedDocument, gc=False):
    """A Service."""

    spec: _ServiceSpec | None = None
    status: BalancedStatus | None = None


def service(doc: ServiceDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Service adds to its metadata."""
    spec = doc.spec or _ServiceSpec()
    ports = spec.ports or ()
    # WHY: an empty selector of a Service selects nothing, and that of an ExternalName is ignored.
    selects = bool(spec.selector) and spec.type != "ExternalName"
    return ServiceFacts(
        Selector.of(spec.selector or {}) if selects else None,
        spec.type,
        spec.cluster_ip == "None",
        tuple(sorted([f"{one.port}/{one.protocol}" for one in ports])),
        addresses_of(doc.status),
        tuple(sorted([one.name for one in ports if one.name])),
        bool(spec.not_ready),
    )


class _EndpointConditions(msgspec.Struct, gc=False):
    ready: bool | None = None


class _Target(msgspec.Struct, gc=False):
    uid: str = ""


class _Endpoint(msgspec.Struct, rename="camel", gc=False):
    addresses: tuple[str, ...] | None = None
    conditions: _EndpointConditions | None = None
    target_ref: _Target | None = None


class SliceDocument(ManagedDocument, gc=False):
    """An EndpointSlice."""

    endpoints: tuple[_Endpoint, ...] | None = None


def endpoint_slice(doc: SliceDocument, _namespace: str, labels: Mapping[str, str]) -> Facts | None:
    """Return what an EndpointSlice adds to its metadata."""
    ready: list[str] = []
    not_ready: list[str] = []
    for endpoint in doc.endpoints or ():
        target = endpoint.target_ref.uid if endpoint.target_ref else ""
        if not target:
            target = endpoint.addresses[0] if endpoint.addresses else ""
        # SOURCE: discovery/v1 EndpointConditions: an absent `ready` is to be read as true.
        held_back = endpoint.conditions is not None and endpoint.conditions.ready is False
        (not_ready if held_back else ready).append(target)
    return SliceFacts(labels.get(SERVICE_LABEL, ""), tuple(ready), tuple(not_ready))


def slice_needs(_doc: SliceDocument, key: ObjectKey, labels: Mapping[str, str]) -> Sequence[Need]:
    """Return the Service that an EndpointSlice says it is of."""
    return named(Edge.SLICE_OF, SERVICES, key.namespace, labels.get(SERVICE_LABEL))


class _NodeSpec(msgspec.Struct, gc=False):
    unschedulable: bool = False
    taints: tuple[NodeTaint, ...] | None = None


class _Allocatable(msgspec.Struct, gc=False):
    cpu: Quantity = 0
    memory: Quantity = 0
    pods: Quantity = 0


class _NodeStatus(msgspec.Struct, gc=False):
    conditions: Conditions = None
    allocatable: _Allocatable | None = None


class NodeDocument(ManagedDocument, gc=False):
    """A Node."""

    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


def node(doc: NodeDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Node adds to its metadata."""
    spec, status = doc.spec or _NodeSpec(), doc.status or _NodeStatus()
    room = status.allocatable or _Allocatable()
    return NodeFacts(
        spec.unschedulable,
        holds(status.conditions, "Ready"),
        cpu_m(room.cpu, up=False),
        memory_mi(room.memory, up=False),
        whole(room.pods),
        taints(spec.taints),
    )
