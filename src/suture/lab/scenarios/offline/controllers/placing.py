"""Which nodes would take a pod: by their labels, as the pod and its volumes ask for them.

Apart from `pods`, which has them run. What a pod asks is read as the model reads it.
Source: kube-scheduler's filters NodeAffinity, VolumeBinding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.lifecycle import PERSISTENT_VOLUMES
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.facts import VolumeFacts
from suture.model.names import CLAIMS
from suture.model.placement import ANYWHERE, HOSTNAME, Placement
from suture.wire.placementshapes import placement


def asked_of_nodes(spec: Object) -> Placement:
    """Return what a pod asks of the labels of its node."""
    if not (spec.get("nodeSelector") or (spec.get("affinity") or {}).get("nodeAffinity")):
        return ANYWHERE
    return placement(msgspec.Raw(msgspec.json.encode({"spec": spec})))


def claims_of(store: Store, space: str, spec: Object) -> Iterator[Thing | None]:
    """Yield the claims that a pod mounts; None: one that is not there."""
    for volume in spec.get("volumes") or ():
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim:
            yield store.find(CLAIMS, space, claim)


def hosts_of(store: Store, claim: Thing) -> tuple[str, ...]:
    """Return the only nodes from which a claim's volume can be reached; none: from any."""
    volume = store.find(PERSISTENT_VOLUMES, "", str(claim.spec.get("volumeName", "")))
    facts = volume.seen.facts if volume is not None else None
    return facts.hosts if isinstance(facts, VolumeFacts) else ()


def is_of_host(labels: Mapping[str, str], hosts: tuple[str, ...]) -> bool:
    """Whether a node is one of some, each named by its host name, or by another label."""
    for host in hosts:
        label, _, name = host.rpartition("=")
        if labels.get(label or HOSTNAME) == name:
            return True
    return not hosts
