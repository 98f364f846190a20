"""Pods whose data is on the disks of certain nodes alone: they run there or nowhere.

Beside `capacity`, which asks whether pods fit elsewhere by what they ask for. A pod that was
evicted from such a node waits for it, so that the node looks empty when it is deleted. And data may
be in one zone: of a node that says another its pods could not be made anew.
Source: core/v1 PersistentVolumeSpec.nodeAffinity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from suture.impact.causes.parents import mounting, size_of, statefulset_of
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import VOLUMES
from suture.model.placement import HOSTNAME, Placement

VOLUMES_ASKED: Final = 100_000
"""LIMIT: volumes that are looked through, 50 ns each; of more, nobody is told to be rooted."""


def rooted(scene: Scene, nodes: list[int]) -> int:
    """Return how many pods that are to run mount what no other nodes than these have.

    Not one whose claim goes: its next pod gets another volume.
    """
    view = scene.view
    volumes = view.rows(VOLUMES)
    if len(volumes) > VOLUMES_ASKED:
        return 0
    labels = [{HOSTNAME: view.name(node), **view.labels(node)} for node in nodes]
    numbers, shared = view.shared_facts(volumes)
    here = {number for number, facts in shared.items() if _is_here(facts, labels)}
    if not here:
        return 0
    claims = {
        claim
        for volume, number in zip(volumes, numbers, strict=True)
        if number in here and scene.stays(volume)
        for claim in view.there(volume, Edge.BOUND_CLAIM)
        if scene.stays(claim)
    }
    return sum(_asking(scene, claim) for claim in claims)


def asked_by_volumes(view: GraphView, pod: int) -> Iterator[Placement]:
    """Yield what the volumes that a pod mounts ask of the labels of its node."""
    for claim in view.there(pod, Edge.CLAIM):
        for volume in view.there(claim, Edge.VOLUME):
            facts = view.facts(volume)
            if isinstance(facts, VolumeFacts) and facts.terms:
                yield Placement(terms=facts.terms)


def _asking(scene: Scene, claim: int) -> int:
    """Return how many pods run or wait with a claim, or are about to.

    WHY what its set wants: between the end of a member and the next there is no pod of it.
    """
    view = scene.view
    pods = sum(map(scene.stays, mounting(view, claim)))
    member = None if pods else statefulset_of(view, view.key(claim))
    if member is None:
        return pods
    made_by, ordinal = member
    return int(scene.stays(made_by) and ordinal < size_of(view, made_by))


def _is_here(facts: object, nodes: Sequence[Mapping[str, str]]) -> bool:
    """Whether a volume can be reached from some nodes, by name, and from these alone."""
    if not isinstance(facts, VolumeFacts) or not facts.hosts:
        return False
    return all(_has(host, nodes) for host in facts.hosts)


def _has(host: str, nodes: Sequence[Mapping[str, str]]) -> bool:
    label, _, name = host.rpartition("=")
    return any(labels.get(label or HOSTNAME) == name for labels in nodes)
