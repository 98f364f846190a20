"""Which nodes would take a pod: by their labels, as the pod and its volumes ask for them.

Apart from `pods`, which has them run. What a pod asks is read as the model reads it.
Source: kube-scheduler's filters NodeAffinity, VolumeBinding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.lifecycle import PERSISTENT_VOLUMES
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.facts import VolumeFacts
from suture.model.names import CLAIMS
from suture.model.placement import ANYWHERE, HOSTNAME, Placement
from suture.wire.placementshapes import placement


class Placed:
    """Which pods are on which node, by what controls them.

    Noted when a pod is placed and not when it is told of: the next one is placed before that, and
    the scheduler has counted the first by then.
    """

    def __init__(self) -> None:
        self._where: dict[str, tuple[str, str]] = {}
        self._all: Counter[str] = Counter()
        self._alike: Counter[tuple[str, str]] = Counter()

    def note(self, uid: str, node: str, controller: str) -> None:
        """Note where a pod is, by the uids of it and of what controls it; no node: nowhere."""
        was = self._where.pop(uid, None)
        if was is not None:
            self._all[was[0]] -= 1
            self._alike[was] -= 1
        if node:
            self._where[uid] = node, controller
            self._all[node] += 1
            self._alike[node, controller] += 1

    def count(self, node: str) -> int:
        """Return how many pods are on a node."""
        return self._all[node]

    def emptiest(self, nodes: Iterable[str], controller: str) -> str:
        """Return the node with the fewest pods of a controller, of these that with the fewest.

        Empty where there is no node. SOURCE: the scheduler's scores, of which that for spreading
        the pods of a workload weighs most.
        """
        return min(
            nodes,
            key=lambda node: (self._alike[node, controller] if controller else 0,
                              self._all[node], node),
            default="",
        )  # fmt: skip


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


def volume_of(store: Store, claim: Thing) -> VolumeFacts | None:
    """Return what the volume of a claim says; None: it is not there."""
    volume = store.find(PERSISTENT_VOLUMES, "", str(claim.spec.get("volumeName", "")))
    facts = volume.seen.facts if volume is not None else None
    return facts if isinstance(facts, VolumeFacts) else None


def reaches(labels: Mapping[str, str], volume: VolumeFacts) -> bool:
    """Whether a volume can be reached from a node: one that it names, or by the node's labels."""
    for host in volume.hosts:
        label, _, name = host.rpartition("=")
        if labels.get(label or HOSTNAME) == name:
            return True
    return not volume.hosts and Placement(terms=volume.terms).accepts(labels)
