"""What a made cluster keeps: claims, volumes, attachments, snapshots.

One of the families of kinds. Every pod of a StatefulSet has one claim, and all that belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from suture.lab.clusters.apps import App
from suture.lab.clusters.chance import dice
from suture.lab.clusters.ground import DRIVER, SSD, SSD_KEPT
from suture.lab.clusters.plan import Plan
from suture.lab.clusters.scribe import Scribe, Writer
from suture.lab.clusters.working import CLAIM_GB
from suture.model.names import (
    CLAIMS,
    SNAPSHOT_CLASSES,
    SNAPSHOT_CONTENTS,
    SNAPSHOTS,
    STATEFUL_SETS,
    VOLUME_ATTACHMENTS,
    VOLUMES,
    Resource,
)

KEPT = 0.3
"""The part of StatefulSets whose volumes outlive their claims."""

SNAPSHOT_CLASS = "nightly"
CAPACITY = {"storage": f"{CLAIM_GB}Gi"}


class Disk(NamedTuple):
    """The claim of a pod, its volume, and the node that this is attached to."""

    app: App
    claim: str
    volume: str
    node: int
    kept: bool

    @property
    def storage_class(self) -> str:
        """The class that the claim asks for."""
        return SSD_KEPT if self.kept else SSD


def _disks(plan: Plan) -> Iterator[Disk]:
    """Yield every disk, in the order of their claims' keys."""
    found = []
    for app in plan.apps:
        if app.controller == STATEFUL_SETS:
            kept = dice(plan.seed, "disks", app.namespace, app.name).random() < KEPT
            for pod in plan.pods_of(app):
                claim = f"data-{pod.name}"
                volume = f"pvc-{plan.uid(CLAIMS, app.namespace, claim)}"
                found.append(Disk(app, claim, volume, pod.node, kept))
    return iter(sorted(found, key=lambda one: (one.app.namespace, one.claim)))


def _claims(scribe: Scribe) -> Iterator[bytes]:
    for disk in _disks(scribe.plan):
        meta = scribe.meta(
            CLAIMS, disk.app.namespace, disk.claim,
            labels=disk.app.labels, finalizers=["kubernetes.io/pvc-protection"],
        )  # fmt: skip
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": CAPACITY},
            "storageClassName": disk.storage_class,
            "volumeName": disk.volume,
        }
        status = {"phase": "Bound", "capacity": CAPACITY}
        yield scribe.thing(CLAIMS, meta, spec=spec, status=status)


def _volumes(scribe: Scribe) -> Iterator[bytes]:
    for disk in sorted(_disks(scribe.plan), key=lambda one: one.volume):
        meta = scribe.meta(VOLUMES, "", disk.volume, finalizers=["kubernetes.io/pv-protection"])
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "capacity": CAPACITY,
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "namespace": disk.app.namespace,
                "name": disk.claim,
                "uid": scribe.plan.uid(CLAIMS, disk.app.namespace, disk.claim),
            },
            "csi": {"driver": DRIVER, "volumeHandle": disk.volume},
            "persistentVolumeReclaimPolicy": "Retain" if disk.kept else "Delete",
            "storageClassName": disk.storage_class,
        }
        yield scribe.thing(VOLUMES, meta, spec=spec, status={"phase": "Bound"})


def _attachments(scribe: Scribe) -> Iterator[bytes]:
    for disk in sorted(_disks(scribe.plan), key=lambda one: one.volume):
        meta = scribe.meta(VOLUME_ATTACHMENTS, "", f"csi-{disk.volume}")
        spec = {
            "attacher": DRIVER,
            "nodeName": scribe.plan.machines[disk.node].name,
            "source": {"persistentVolumeName": disk.volume},
        }
        yield scribe.thing(VOLUME_ATTACHMENTS, meta, spec=spec, status={"attached": True})


def _snapped(plan: Plan) -> list[Disk]:
    """Return the disks that have a snapshot: the first ones of each seed's own order."""
    disks = list(_disks(plan))
    chosen = dice(plan.seed, "snapshots").sample(disks, min(len(disks), plan.size.snapshots))
    return sorted(chosen, key=lambda one: (one.app.namespace, one.claim))


def _snapshots(scribe: Scribe) -> Iterator[bytes]:
    for disk in _snapped(scribe.plan):
        meta = scribe.meta(SNAPSHOTS, disk.app.namespace, disk.claim)
        source = {"persistentVolumeClaimName": disk.claim}
        status = {"boundVolumeSnapshotContentName": _content(disk), "readyToUse": True}
        spec = {"volumeSnapshotClassName": SNAPSHOT_CLASS, "source": source}
        yield scribe.thing(SNAPSHOTS, meta, spec=spec, status=status)


def _contents(scribe: Scribe) -> Iterator[bytes]:
    for disk in sorted(_snapped(scribe.plan), key=_content):
        meta = scribe.meta(SNAPSHOT_CONTENTS, "", _content(disk))
        snapshot = {"namespace": disk.app.namespace, "name": disk.claim}
        spec = {
            "deletionPolicy": "Retain" if disk.kept else "Delete",
            "driver": DRIVER,
            "source": {"volumeHandle": disk.volume},
            "volumeSnapshotClassName": SNAPSHOT_CLASS,
            "volumeSnapshotRef": snapshot,
        }
        yield scribe.thing(SNAPSHOT_CONTENTS, meta, spec=spec)


def _content(disk: Disk) -> str:
    return f"snapcontent-{disk.volume[4:]}"


def _classes(scribe: Scribe) -> Iterator[bytes]:
    meta = scribe.meta(SNAPSHOT_CLASSES, "", SNAPSHOT_CLASS)
    yield scribe.thing(SNAPSHOT_CLASSES, meta, driver=DRIVER, deletionPolicy="Delete")


WRITERS: Mapping[Resource, Writer] = {
    CLAIMS: _claims,
    VOLUMES: _volumes,
    VOLUME_ATTACHMENTS: _attachments,
    SNAPSHOTS: _snapshots,
    SNAPSHOT_CONTENTS: _contents,
    SNAPSHOT_CLASSES: _classes,
}
