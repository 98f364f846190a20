"""What one object needs of another: the kinds of edges, and an edge as a value.

An edge runs from the object that needs to the object that is needed, by name: the needed one need
not exist, and that it does not is worth knowing. Owners, namespaces, definitions and selectors
are edges too; the graph draws those itself, from what it holds anyway.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import overload

import msgspec

from suture.model.names import ObjectKey, Resource
from suture.model.selectors import Selector


class Edge(StrEnum):
    """Why one object needs another. The reference has a page with a section for each."""

    OWNER = "owner"
    """A dependent, of the object that its ownerReference names, by uid."""
    NAMESPACE = "namespace"
    """A namespaced object, of its namespace."""
    DEFINITION = "definition"
    """A custom resource, of the CustomResourceDefinition that serves it."""
    SELECTS = "selects"
    """A Service, PodDisruptionBudget, NetworkPolicy or the like, of the pods that it selects."""
    SLICE_OF = "slice-of"
    """An EndpointSlice, of the Service whose endpoints it lists."""

    ROUTES_TO = "routes-to"
    """An Ingress or a route of the Gateway API, of the Service that it sends traffic to."""
    ATTACHED_TO = "attached-to"
    """A route, of the Gateway or Service that it is attached to."""
    CLASS = "class"
    """An Ingress, Gateway or the like, of the class that says who implements it."""
    CERTIFICATE = "certificate"
    """An Ingress or Gateway, of the Secret with its certificate."""

    CONFIG_MAP = "config-map"
    SECRET = "secret"  # noqa: S105 a kind, no secret
    SERVICE_ACCOUNT = "service-account"
    PULL_SECRET = "pull-secret"  # noqa: S105 a kind, no secret
    CLAIM = "claim"
    NODE = "node"
    PRIORITY_CLASS = "priority-class"
    RUNTIME_CLASS = "runtime-class"
    RESOURCE_CLAIM = "resource-claim"
    GOVERNING_SERVICE = "governing-service"
    """A StatefulSet, of the Service that gives its pods their names."""

    VOLUME = "volume"
    """A claim or an attachment, of its volume."""
    BOUND_CLAIM = "bound-claim"
    """A volume, of the claim that it is bound to."""
    STORAGE_CLASS = "storage-class"
    DRIVER = "driver"
    """A DaemonSet, of the driver of volumes that it registers on its nodes."""
    ATTACHED_NODE = "attached-node"
    """A VolumeAttachment, of the node that the volume is attached to."""
    SNAPSHOT_SOURCE = "snapshot-source"
    """A VolumeSnapshot, of the claim or content that it was taken from."""
    SNAPSHOT_CONTENT = "snapshot-content"
    """A VolumeSnapshot, of the content that holds it."""
    BOUND_SNAPSHOT = "bound-snapshot"
    """A VolumeSnapshotContent, of the snapshot that it is bound to."""
    DATA_SOURCE = "data-source"
    """A claim, of the claim or snapshot that it is filled from."""

    SCALES = "scales"
    """An autoscaler, of the workload whose size it sets."""

    WEBHOOK = "webhook"
    """A webhook configuration, of the Service behind it."""
    API_SERVICE = "api-service"
    """An APIService, of the Service that answers for it."""
    CONVERSION = "conversion"
    """A definition, of the Service that converts its instances."""
    PARAMETERS = "parameters"
    """A policy or its binding, of the object that its parameters are read from."""
    POLICY = "policy"
    """A policy's binding, of the policy."""

    ROLE = "role"
    """A binding, of the role that it grants."""
    SUBJECT = "subject"
    """A binding, of the service account that it grants to."""
    HOLDER = "holder"
    """A Lease, of the pod or node that holds it."""

    MANAGED_BY = "managed-by"
    """An object, of the GitOps application or release that keeps it as it is."""
    PARENT = "parent"
    """A child that a custom resource finds by label or name, of that custom resource."""
    RULE = "rule"
    """An object, of what a ReferenceRule says that one of its fields names."""
    LEADS_TO = "leads-to"
    """A custom resource, of the Service that it names with a port, and sends traffic to."""
    PROVIDER = "provider"
    """A custom resource, of the issuer, store, class or source that it names with its kind."""

    # WHY not an enum's own, which is a function of Python: each link that is drawn asks for it.
    __hash__ = str.__hash__


class Need(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """One object's need of another, by name.

    `key` is the entry of a ConfigMap or Secret that is read, empty where the whole is. `optional`:
    the object starts without it.
    """

    edge: Edge
    target: ObjectKey
    key: str = ""
    optional: bool = False


class Selection(msgspec.Struct, frozen=True, gc=False):
    """What an object selects by label.

    `namespace` empty and `everywhere` true: in all namespaces that `namespaces` matches.
    """

    resource: Resource
    namespace: str
    selector: Selector
    namespaces: Selector | None = None

    @property
    def everywhere(self) -> bool:
        """Whether it looks past its own namespace."""
        return self.namespaces is not None


class Needs(Sequence[Need]):
    """The needs of an object as the bytes that they are read from, read when first asked for.

    WHY: of 620,000 pods of the largest cluster known only one in five differs from its siblings
    in what it needs; the graph tells by the bytes, and reads them for that one alone.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @abstractmethod
    def read(self) -> tuple[Need, ...]:
        """Return the needs: how they are read is the reader's business."""

    def apart(self) -> tuple[Needs, tuple[Need, ...]]:
        """Return those that others may have too, as bytes, and those that are the object's own.

        Each is in one of both. WHY: what a Deployment, its ReplicaSets and their pods name alike is
        kept once, though a release manages the one and each of the others gets a token.
        """
        return self, ()

    def __len__(self) -> int:
        return len(self.read())

    @overload
    def __getitem__(self, at: int) -> Need: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Need, ...]: ...
    def __getitem__(self, at: int | slice) -> Need | tuple[Need, ...]:
        return self.read()[at]

    def __iter__(self) -> Iterator[Need]:
        return iter(self.read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Needs) and self.raw and self.raw == other.raw:
            return True
        return isinstance(other, Sequence) and self.read() == tuple(other)

    __hash__ = None  # type: ignore[assignment]


class Link(msgspec.Struct, frozen=True, gc=False):
    """One edge as the graph's view shows it, from either end.

    `row` is the object at the other end: of the needed one it may be a row that holds no object
    (`present` false), since a name can be referred to before or after its object lives.
    """

    edge: Edge
    row: int
    other: ObjectKey
    present: bool
    key: str = ""
    optional: bool = False
