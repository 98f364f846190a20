"""Populations that run: Deployments, StatefulSets, DaemonSets, Jobs, CronJobs and bare pods.

Lives beside the other shapes as the family about pods and who keeps them. Pure.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from suture.lab import nodes
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.parts import Count, NodeLabels, Object, Spread

PodEnd = Literal["running", "succeeded", "failed", "never-ready"]
JobEnd = Literal["complete", "failed", "running"]

_PODS: dict[PodEnd, dict[str, str]] = {
    "running": {},
    "succeeded": {nodes.COMPLETES_AFTER: "0s"},
    "failed": {nodes.DIES_AFTER: "0s"},
    "never-ready": {nodes.NEVER_READY: "true"},
}


class Deployments(Spread, frozen=True, kw_only=True):
    """Deployments PREFIX-i without a Service."""

    replicas: Count = 1
    image: str = parts.IMAGE
    node_selector: NodeLabels = msgspec.field(default_factory=dict)

    def objects(self) -> list[Object]:
        """Return namespaces and Deployments."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            labels = self.common(name)
            pods = parts.template(labels, image=self.image, node_selector=self.node_selector)
            found.append(
                parts.workload("Deployment", space, name, labels, pods, replicas=self.replicas)
            )
        return found


class StatefulSets(Spread, frozen=True, kw_only=True):
    """StatefulSets PREFIX-i with a headless Service each, and a claim per pod when asked for."""

    prefix: str = "db"
    count: Count = 1
    replicas: Count = 3
    claims: Annotated[bool, Meta(description="One bound claim `data` per pod.")] = False
    storage_class: str = ""
    reclaim: Literal["Delete", "Retain"] = "Delete"
    pod_management: Literal["OrderedReady", "Parallel"] = "Parallel"

    def objects(self) -> list[Object]:
        """Return namespaces, volumes, Services and StatefulSets."""
        found = parts.spaces(self.places())
        storage = self.storage_class or f"{self.prefix}-disk"
        if self.claims:
            found.append(storage_class(storage, self.reclaim))
        for _, space, name in self.each():
            labels = self.common(name)
            more: Object = {"serviceName": name, "podManagementPolicy": self.pod_management}
            if self.claims:
                found += [
                    volume(f"{space}-{name}-{ordinal}", storage, self.reclaim)
                    for ordinal in range(self.replicas)
                ]
                more["volumeClaimTemplates"] = [
                    {"metadata": {"name": "data"}, "spec": claim_spec(storage)}
                ]
            found.append(
                parts.service(
                    space, name, labels, selector={"app": name}, more={"clusterIP": "None"}
                )
            )
            found.append(
                parts.workload(
                    "StatefulSet",
                    space,
                    name,
                    labels,
                    parts.template(labels),
                    replicas=self.replicas,
                    more=more,
                )
            )
        return found


class DaemonSets(Spread, frozen=True, kw_only=True):
    """DaemonSets PREFIX-i: one pod on every node, or on those that a node selector names."""

    prefix: str = "agent"
    count: Count = 1
    node_selector: NodeLabels = msgspec.field(default_factory=dict)

    def objects(self) -> list[Object]:
        """Return namespaces and DaemonSets."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            labels = self.common(name)
            pods = parts.template(labels, node_selector=self.node_selector)
            found.append(parts.workload("DaemonSet", space, name, labels, pods, replicas=None))
        return found


class Pods(Spread, frozen=True, kw_only=True):
    """Bare pods PREFIX-i: nothing brings them back."""

    prefix: str = "pod"
    end: Annotated[PodEnd, Meta(description="What becomes of them.")] = "running"
    node_selector: NodeLabels = msgspec.field(default_factory=dict)

    def objects(self) -> list[Object]:
        """Return namespaces and Pods."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            pods = parts.template(
                self.common(name),
                annotations=_PODS[self.end],
                node_selector=self.node_selector,
                restart="Never" if self.end in ("succeeded", "failed") else None,
            )
            found.append(parts.pod(space, name, pods))
        return found


class Jobs(Spread, frozen=True, kw_only=True):
    """Jobs PREFIX-i of one pod each; finished before the first step unless `end` is running."""

    prefix: str = "job"
    end: JobEnd = "complete"
    ttl: Annotated[
        int | None, Meta(description="ttlSecondsAfterFinished: the real controller deletes them.")
    ] = None

    def objects(self) -> list[Object]:
        """Return namespaces and Jobs."""
        found = parts.spaces(self.places())
        ends: dict[JobEnd, dict[str, str]] = {
            "complete": {nodes.COMPLETES_AFTER: "0s"},
            "failed": {nodes.DIES_AFTER: "0s"},
            "running": {nodes.COMPLETES_AFTER: "24h"},
        }
        for _, space, name in self.each():
            labels = self.common(name)
            pods = parts.template(labels, annotations=ends[self.end], restart="Never")
            spec: Object = {"template": pods, "backoffLimit": 0}
            if self.ttl is not None:
                spec["ttlSecondsAfterFinished"] = self.ttl
            found.append(parts.thing("batch/v1", "Job", name, space, labels, spec=spec))
        return found


class CronJobs(Spread, frozen=True, kw_only=True):
    """CronJobs PREFIX-i; suspended unless said otherwise."""

    prefix: str = "cron"
    schedule: str = "* * * * *"
    suspend: bool = True

    def objects(self) -> list[Object]:
        """Return namespaces and CronJobs."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            labels = self.common(name)
            job = {"spec": {"template": parts.template(labels, restart="Never")}}
            spec = {"schedule": self.schedule, "suspend": self.suspend, "jobTemplate": job}
            found.append(parts.thing("batch/v1", "CronJob", name, space, labels, spec=spec))
        return found


def storage_class(name: str, reclaim: str) -> Object:
    """Return a StorageClass that provisions nothing: its volumes are there already."""
    return parts.thing(
        "storage.k8s.io/v1",
        "StorageClass",
        name,
        provisioner="kubernetes.io/no-provisioner",
        reclaimPolicy=reclaim,
        volumeBindingMode="Immediate",
    )


def volume(name: str, storage: str, reclaim: str, *, size: str = "1Gi") -> Object:
    """Return a PersistentVolume for the real binder to bind."""
    return parts.thing(
        "v1",
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": reclaim,
            "storageClassName": storage,
            "hostPath": {"path": f"/lab/{name}"},
        },
    )


def claim_spec(storage: str, *, size: str = "1Gi") -> Object:
    """Return the spec of a claim on that class."""
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage,
        "resources": {"requests": {"storage": size}},
    }
