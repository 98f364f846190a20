"""Nodes that are members of the cluster's own store: a majority of them has to stay.

Beside `capacity`, which counts nodes and room: to the store each of three counts for a third,
whatever else runs there, and with its node a member leaves it. Only where they are labelled as its
members: the store of others runs elsewhere, or is let go of by other means than the node.
Source: etcd, runtime reconfiguration; K3s and RKE2, which take a member out of etcd when its node
is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from suture.impact.effects import QuorumLost
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import NODES
from suture.model.objects import NodeFacts

MEMBER: Final = "node-role.kubernetes.io/etcd"
"""SOURCE: K3s and RKE2; the role of Rancher's clusters, whatever its value."""

_MEMBER: Final = f'"{MEMBER}"'.encode()


def consensus_effects(scene: Scene) -> Iterator[QuorumLost]:
    """Yield how many members the cluster's store keeps, where nodes of it are deleted.

    A node that a finalizer keeps is a member until it is gone, and works no more.
    """
    view = scene.view
    going = _members(view, scene.kinds.get(NODES, ()))
    if not going:
        return
    members = _members(view, view.rows(NODES))
    ready = {row for row in members if _works(scene, row)}
    left = ready.difference(going)
    if len(left) < len(ready):
        yield QuorumLost(
            owner=scene.victim(going[0]),
            members=len(members),
            majority=len(members) // 2 + 1,
            before=len(ready),
            after=len(left),
            self_healing=False,
            explained=all(map(scene.causes.explains, going)),
        )


def _members(view: GraphView, nodes: Iterable[int]) -> list[int]:
    # WHY bytes: of 17,000 nodes three have the label.
    return [row for row in nodes if _MEMBER in view.label_bytes(row)]


def _works(scene: Scene, row: int) -> bool:
    facts = scene.view.facts(row)
    return isinstance(facts, NodeFacts) and facts.ready and not scene.view.terminating(row)
