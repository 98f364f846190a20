"""Nodes that a taint sets apart: closed to the pods of others, and open to those it is meant for.

Told by who bears the taint, never by what it is called: all that runs there, or else a workload
whose template names its key, while the others have room elsewhere.
Source: Kubernetes documentation, "Taints and Tolerations", dedicated nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.ground.fit import Asked, Open, movable, unplaced
from suture.impact.nodes.closing import DRAINED_PERCENT, Closing
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, NODES, STATEFUL_SETS
from suture.model.objects import WorkloadFacts
from suture.model.placement import NO_SCHEDULE, Placement, Taint

OF_THE_CLUSTER: Final = "node.kubernetes.io/"
"""What the cluster itself says of a node that fails. SOURCE: Kubernetes, well-known taints. Who
bears it waits for the node to come back; the node is set apart for nobody."""


def only_closes(fresh: tuple[Taint, ...]) -> bool:
    """Whether somebody's taints keep new pods away from a node, and drive none from it."""
    return all(
        one.effect == NO_SCHEDULE and not one.key.startswith(OF_THE_CLUSTER) for one in fresh
    )


def sets_apart(scene: Scene, asked: Asked, row: int, fresh: tuple[Taint, ...]) -> bool:
    """Whether fresh taints keep others away from a node, and take no place that anybody needs.

    Where others run, no more than a fifth of the nodes close at a time, and all that is to leave
    them fits on those that stay: a taint moves no pod, but none comes back there either.
    """
    if not only_closes(fresh):
        return False
    there = movable(scene.view, row, asked)
    others = [pod for pod in there if not asked.of(pod).tolerates(fresh)]
    if not others:
        return bool(there)
    if not any(_names(one, fresh) for one in _templates(scene.view)):
        return False
    closing = Closing(scene, asked, [row])
    if (len(closing.rows) + 1) * 100 > scene.view.count(NODES) * DRAINED_PERCENT:
        return False
    leaving = [pod for one in closing.rows for pod in movable(scene.view, one, asked)]
    open_to_all = Open(scene.view, frozenset([row]) | closing.rows)
    return not unplaced(scene.view, asked, [*others, *leaving], open_to_all)


def _templates(view: GraphView) -> Iterator[Placement]:
    """Yield what the templates of workloads that want pods ask of a node; alike ones once."""
    for resource in (DEPLOYMENTS, STATEFUL_SETS):
        for facts in view.shared_facts(view.rows(resource))[1].values():
            if isinstance(facts, WorkloadFacts) and facts.replicas != 0:
                yield facts.placement


def _names(placement: Placement, taints: tuple[Taint, ...]) -> bool:
    """Whether a template bears taints by their keys. WHY: who bears all taints means none."""
    return all(
        any(one.key and one.tolerates(taint) for one in placement.tolerations) for taint in taints
    )
