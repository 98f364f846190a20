"""Nodes that close as one group, where all that runs on it has room on the others.

A pool that is given up, a rack or a zone that is worked on: its nodes are closed first, all of
them, lest what leaves one be placed on the next, and then drained one by one. Told by a label that
all of them bear and few others, never by what it is called. A person may close as much as half of a
cluster so, where the other half is a pool of its own: that of the next machines.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from suture.impact.ground.fit import Asked, Open, movable, unplaced
from suture.impact.nodes.closing import Closing
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.graph import GraphView
from suture.model.names import NODES

STAY_OPEN: Final = 2
"""How many other nodes stay open for each of a group. WHY so many: a zone is a third of a cluster,
and nodes that close by mistake soon have no label in common that fewer bear."""

GROUP_NODES: Final = 256
"""LIMIT: a larger group is not weighed: some 10,000 pods, each placed, in 10 ms."""


def closes_with_its_group(scene: Scene, asked: Asked, row: int) -> bool:
    """Whether a node closes beside others of one group, which the cluster can do without.

    The whole group is weighed, also what is open of it yet. Not where closed nodes are gone
    already: a cluster is not given up group by group within ten minutes.
    """
    view, closing = scene.view, Closing(scene, asked, [row])
    if not closing.rows or closing.gone or closing.lost:
        return False
    shared = set(view.labels(row).items())
    for other in closing.rows:
        shared.intersection_update(view.labels(other).items())
    by_hand = is_person(scene.actor.user.username)
    return any(_is_spared(view, asked, label, value, by_hand) for label, value in sorted(shared))


def _is_spared(view: GraphView, asked: Asked, label: str, value: str, by_hand: bool) -> bool:
    """Whether the nodes with a label are few, and all that runs there has room on the others."""
    nodes = view.rows(NODES)
    group = view.labelled(nodes, label, value)
    if len(group) > GROUP_NODES or 2 * len(group) > len(nodes):
        return False
    others = Open(view, frozenset(group))
    if len(others) < len(group) * STAY_OPEN and not (
        by_hand and _has_counterpart(view, others, label, len(group))
    ):
        return False
    pods = [pod for one in group for pod in movable(view, one, asked)]
    return not unplaced(view, asked, pods, others)


def _has_counterpart(view: GraphView, others: Open, label: str, size: int) -> bool:
    """Whether as many open nodes as a group has are of one other group by the same label."""
    values = Counter(view.labels(row).get(label) for _, row in others)
    del values[None]
    return any(count >= size for count in values.values())
