"""Projections of storage: claims, volumes, classes, attachments, snapshots.

One of several, as a kind's neighbours change together. Pure.
Source: core/v1, storage/v1, snapshot.storage.k8s.io/v1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from suture.model import names
from suture.model.edges import Edge, Need
from suture.model.facts import (
    AttachmentFacts,
    SnapshotContentFacts,
    SnapshotFacts,
    StorageClassFacts,
    VolumeFacts,
)
from suture.model.names import ObjectKey
from suture.model.objects import ClaimFacts, Facts
from suture.model.targets import resource_of
from suture.wire.placementshapes import VolumeAffinity, hosts_of, terms_of
from suture.wire.shapes import ManagedDocument, ServiceTarget, annotation, each_once, named

Place = ServiceTarget
"""A namespace and a name, as the fields that name objects elsewhere write them."""


class _DataSource(msgspec.Struct, rename="camel", gc=False):
    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class _ClaimSpec(msgspec.Struct, rename="camel", gc=False):
    volume_name: str = ""
    storage_class_name: str | None = None
    data_source: _DataSource | None = None
    data_source_ref: _DataSource | None = None


class _Phase(msgspec.Struct, gc=False):
    phase: str = ""


class ClaimDocument(ManagedDocument, gc=False):
    """A PersistentVolumeClaim."""

    spec: _ClaimSpec | None = None
    status: _Phase | None = None


def _bound(doc: ClaimDocument) -> bool:
    return doc.status is not None and doc.status.phase == "Bound"


def claim(doc: ClaimDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a PersistentVolumeClaim adds to its metadata."""
    return ClaimFacts(_bound(doc), doc.spec.volume_name if doc.spec else "")


def claim_needs(doc: ClaimDocument, key: ObjectKey, _labels: Mapping[str, str]) -> Sequence[Need]:
    """Return the volume, class and source that a claim names; once bound it needs the volume."""
    spec, bound = doc.spec or _ClaimSpec(), _bound(doc)
    sources = [
        need
        for one in (spec.data_source, spec.data_source_ref)
        if one is not None and one.kind
        for need in named(
            Edge.DATA_SOURCE,
            resource_of(one.api_group or "", one.kind),
            one.namespace or key.namespace,
            one.name,
            optional=bound,
        )
    ]
    return each_once(
        [
            *named(Edge.VOLUME, names.VOLUMES, "", spec.volume_name),
            *named(
                Edge.STORAGE_CLASS,
                names.STORAGE_CLASSES,
                "",
                spec.storage_class_name,
                optional=bound,
            ),
            *sources,
        ]
    )


class _Driver(msgspec.Struct, rename="camel", gc=False):
    driver: str = ""
    controller_expand_secret_ref: Place | None = None
    controller_publish_secret_ref: Place | None = None
    node_expand_secret_ref: Place | None = None
    node_publish_secret_ref: Place | None = None
    node_stage_secret_ref: Place | None = None


class _VolumeSpec(msgspec.Struct, rename="camel", gc=False):
    claim_ref: Place | None = None
    storage_class_name: str = ""
    persistent_volume_reclaim_policy: str = "Retain"
    csi: _Driver | None = None
    node_affinity: VolumeAffinity | None = None


class VolumeDocument(ManagedDocument, gc=False):
    """A PersistentVolume."""

    spec: _VolumeSpec | None = None
    status: _Phase | None = None


def volume(doc: VolumeDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a PersistentVolume adds to its metadata."""
    spec, status = doc.spec or _VolumeSpec(), doc.status or _Phase()
    hosts = hosts_of(spec.node_affinity)
    driver = spec.csi.driver if spec.csi is not None else ""
    # WHY not both: a volume of one node's own disk moves with that, whatever its labels say.
    terms = () if hosts else terms_of(spec.node_affinity)
    return VolumeFacts(spec.persistent_volume_reclaim_policy, status.phase, hosts, driver, terms)


def volume_needs(
    doc: VolumeDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the claim, class and driver's Secrets that a volume names."""
    spec = doc.spec or _VolumeSpec()
    bound = spec.claim_ref or Place()
    driver = spec.csi or _Driver()
    secrets = [
        need
        for ref in (
            driver.node_stage_secret_ref,
            driver.node_publish_secret_ref,
            driver.node_expand_secret_ref,
            driver.controller_publish_secret_ref,
            driver.controller_expand_secret_ref,
        )
        if ref is not None
        for need in named(Edge.SECRET, names.SECRETS, ref.namespace, ref.name)
    ]
    return each_once(
        [
            *named(Edge.BOUND_CLAIM, names.CLAIMS, bound.namespace, bound.name),
            *named(
                Edge.STORAGE_CLASS,
                names.STORAGE_CLASSES,
                "",
                spec.storage_class_name,
                optional=True,
            ),
            *secrets,
        ]
    )


_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_OF_KUBERNETES = "csi.storage.k8s.io/"
"""Parameters of Kubernetes' own: Secrets, and the type of a file system."""
_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_WORDS = 16
"""LIMIT: words of the parameters of a class that are kept, of 253 bytes at most."""


class StorageClassDocument(ManagedDocument, gc=False):
    """A StorageClass."""

    # SOURCE: storage/v1 defaulting: volumes of a class that does not say are deleted.
    reclaim_policy: str | None = None
    provisioner: str = ""
    parameters: dict[str, str] | None = None


def storage_class(
    doc: StorageClassDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a StorageClass adds to its metadata."""
    return StorageClassFacts(
        doc.reclaim_policy or "Delete",
        annotation(doc.metadata, _DEFAULT_CLASS) == "true",
        doc.provisioner,
        _words(doc.parameters or {}),
    )


def _words(parameters: Mapping[str, str]) -> tuple[str, ...]:
    found = {
        value
        for name, value in parameters.items()
        if not name.startswith(_OF_KUBERNETES) and _NAME.fullmatch(value) is not None
    }
    return tuple(sorted(found)[:_WORDS])


class _AttachedVolume(msgspec.Struct, rename="camel", gc=False):
    persistent_volume_name: str | None = None


class _AttachmentSpec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    source: _AttachedVolume | None = None


class _AttachmentStatus(msgspec.Struct, gc=False):
    attached: bool = False


class AttachmentDocument(ManagedDocument, gc=False):
    """A VolumeAttachment."""

    spec: _AttachmentSpec | None = None
    status: _AttachmentStatus | None = None


def attachment(
    doc: AttachmentDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a VolumeAttachment adds to its metadata."""
    return AttachmentFacts(doc.status is not None and doc.status.attached)


def attachment_needs(
    doc: AttachmentDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the volume and the node of an attachment."""
    spec = doc.spec or _AttachmentSpec()
    source = spec.source.persistent_volume_name if spec.source is not None else ""
    return (
        *named(Edge.VOLUME, names.VOLUMES, "", source),
        *named(Edge.ATTACHED_NODE, names.NODES, "", spec.node_name),
    )


class _SnapshotSource(msgspec.Struct, rename="camel", gc=False):
    persistent_volume_claim_name: str | None = None
    volume_snapshot_content_name: str | None = None


class _SnapshotSpec(msgspec.Struct, rename="camel", gc=False):
    source: _SnapshotSource | None = None
    volume_snapshot_class_name: str | None = None


class _SnapshotStatus(msgspec.Struct, rename="camel", gc=False):
    bound_volume_snapshot_content_name: str | None = None
    ready_to_use: bool | None = None


class SnapshotDocument(ManagedDocument, gc=False):
    """A VolumeSnapshot."""

    spec: _SnapshotSpec | None = None
    status: _SnapshotStatus | None = None


def snapshot(doc: SnapshotDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a VolumeSnapshot adds to its metadata."""
    return SnapshotFacts(doc.status is not None and bool(doc.status.ready_to_use))


def snapshot_needs(
    doc: SnapshotDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the source, content and class of a snapshot; once it is ready it needs the content."""
    spec, status = doc.spec or _SnapshotSpec(), doc.status or _SnapshotStatus()
    source, ready = spec.source or _SnapshotSource(), bool(status.ready_to_use)
    bound = status.bound_volume_snapshot_content_name
    return (
        *named(
            Edge.SNAPSHOT_SOURCE,
            names.CLAIMS,
            key.namespace,
            source.persistent_volume_claim_name,
            optional=ready,
        ),
        *named(
            Edge.SNAPSHOT_SOURCE, names.SNAPSHOT_CONTENTS, "", source.volume_snapshot_content_name
        ),
        *named(Edge.SNAPSHOT_CONTENT, names.SNAPSHOT_CONTENTS, "", bound),
        *named(
            Edge.CLASS,
            names.SNAPSHOT_CLASSES,
            "",
            spec.volume_snapshot_class_name,
            optional=ready,
        ),
    )


class _ContentSource(msgspec.Struct, rename="camel", gc=False):
    volume_handle: str = ""


class _ContentSpec(msgspec.Struct, rename="camel", gc=False):
    # WHY not a default of the API: it is required, and a volume said to stay must be said so.
    deletion_policy: str = "Delete"
    driver: str = ""
    source: _ContentSource | None = None
    volume_snapshot_ref: Place | None = None
    volume_snapshot_class_name: str | None = None


class SnapshotContentDocument(ManagedDocument, gc=False):
    """A VolumeSnapshotContent."""

    spec: _ContentSpec | None = None


def snapshot_content(
    doc: SnapshotContentDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a VolumeSnapshotContent adds to its metadata."""
    spec = doc.spec or _ContentSpec()
    handle = spec.source.volume_handle if spec.source is not None else ""
    return SnapshotContentFacts(spec.deletion_policy, f"{spec.driver}/{handle}" if handle else "")


def snapshot_content_needs(
    doc: SnapshotContentDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the snapshot and the class of a snapshot's content."""
    spec = doc.spec or _ContentSpec()
    bound = spec.volume_snapshot_ref or Place()
    return (
        *named(Edge.BOUND_SNAPSHOT, names.SNAPSHOTS, bound.namespace, bound.name),
        *named(
            Edge.CLASS, names.SNAPSHOT_CLASSES, "", spec.volume_snapshot_class_name, optional=True
        ),
    )
