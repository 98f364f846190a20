"""What a made cluster stands on: namespaces, nodes, classes, definitions, webhooks, APIServices.

One of the families of kinds. Much of it stands in the lines as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from suture.lab.clusters.bodies import KINDS, Object
from suture.lab.clusters.lines import Verbatim
from suture.lab.clusters.schemas import with_schema
from suture.lab.clusters.scribe import Scribe, Writer
from suture.model.names import (
    API_SERVICES,
    CRDS,
    DRIVERS,
    INGRESS_CLASSES,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    NODES,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    STORAGE_CLASSES,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)

ENVELOPE = frozenset({"apiVersion", "kind", "metadata"})

SSD, SSD_KEPT, HDD = "ssd", "ssd-retain", "hdd"
"""The storage classes that claims name."""

DRIVER = "disk.csi.example.com"
"""What has the volumes of a made cluster."""

_CSI = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
_IN_LINES = {
    KINDS[resource].kind: resource
    for resource in (CRDS, API_SERVICES, VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS)
}
"""Kinds whose objects stand in the lines."""

NAMED: Mapping[Resource, Mapping[str, Object]] = {
    STORAGE_CLASSES: {
        HDD: {**_CSI, "reclaimPolicy": "Delete"},
        SSD: {**_CSI, "reclaimPolicy": "Delete"},
        SSD_KEPT: {**_CSI, "reclaimPolicy": "Retain"},
    },
    DRIVERS: {DRIVER: {"spec": {"attachRequired": True, "podInfoOnMount": False}}},
    PRIORITY_CLASSES: {
        "batch-low": {"value": -100},
        "business-critical": {"value": 100_000},
        "system-cluster-critical": {"value": 2_000_000_000},
        "system-node-critical": {"value": 2_000_001_000},
    },
    RUNTIME_CLASSES: {"gvisor": {"handler": "runsc"}, "kata": {"handler": "kata"}},
    INGRESS_CLASSES: {"nginx": {"spec": {"controller": "k8s.io/ingress-nginx"}}},
    VALIDATING_POLICIES: {
        "no-host-network": {
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["pods"],
                        }
                    ]
                },
                "validations": [{"expression": "!has(object.spec.hostNetwork)"}],
            }
        }
    },
    VALIDATING_POLICY_BINDINGS: {
        "no-host-network": {
            "spec": {"policyName": "no-host-network", "validationActions": ["Audit"]}
        }
    },
}
"""Cluster-wide objects of which every cluster has the same few."""

DEFAULT_CLASS = {SSD: {"storageclass.kubernetes.io/is-default-class": "true"}}


def _namespaces(scribe: Scribe) -> Iterator[bytes]:
    for space in scribe.plan.spaces:
        meta = scribe.meta(NAMESPACES, "", space.name, labels=space.labels)
        yield scribe.thing(
            NAMESPACES, meta, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"}
        )


def _nodes(scribe: Scribe) -> Iterator[bytes]:
    for machine in scribe.plan.machines:
        labels = {
            "kubernetes.io/hostname": machine.name,
            "node.kubernetes.io/instance-type": machine.pool.type,
            "topology.kubernetes.io/zone": machine.zone,
            **machine.pool.labels,
        }
        conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
        status: Object = {"conditions": conditions}
        if scribe.full:
            names = [f"registry.example/image-{number}:v1" for number in range(30)]
            status["images"] = [{"names": [name], "sizeBytes": 52_428_800} for name in names]
            status["capacity"] = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        spec = {"providerID": f"cloud:///{machine.zone}/{machine.name}"}
        meta = scribe.meta(NODES, "", machine.name, labels=labels)
        yield scribe.thing(NODES, meta, spec=spec, status=status)


def _verbatim(resource: Resource, scribe: Scribe) -> Iterator[bytes]:
    found = [
        line.object
        for line in scribe.plan.lines.of(Verbatim)
        if _IN_LINES[line.object["kind"]] == resource
    ]
    for thing in sorted(found, key=lambda one: str(one["metadata"]["name"])):
        own = thing["metadata"]
        meta = scribe.meta(resource, "", own["name"], annotations=own.get("annotations"))
        body = {key: part for key, part in thing.items() if key not in ENVELOPE}
        yield scribe.thing(resource, meta, **(with_schema(body) if resource == CRDS else body))


def _named(resource: Resource, scribe: Scribe) -> Iterator[bytes]:
    for name, body in sorted(NAMED[resource].items()):
        annotations = DEFAULT_CLASS.get(name)
        meta = scribe.meta(resource, "", name, annotations=annotations)
        yield scribe.thing(resource, meta, **body)


WRITERS: Mapping[Resource, Writer] = {
    NAMESPACES: _namespaces,
    NODES: _nodes,
    **{resource: partial(_verbatim, resource) for resource in _IN_LINES.values()},
    **{resource: partial(_named, resource) for resource in NAMED},
}
