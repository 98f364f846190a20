"""What every pod of a node stands on: the agents by which the cluster itself keeps its nodes up.

Told by what a DaemonSet says of its pods, never by its name: the priority of node agents, the
network of the node itself, no taint that keeps them away, a namespace of the cluster's own.
Source: Kubernetes documentation, "Guaranteed Scheduling For Critical Add-On Pods" (without which
a cluster may stop working) and "Namespaces" (`kube-` is kept for the system's own).
"""

from __future__ import annotations

from typing import Final

from suture.impact.hands import made_lately
from suture.impact.parents import SIBLINGS
from suture.impact.recent import taken_from
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, PRIORITY_CLASSES, ObjectKey
from suture.model.objects import CustomFacts, WorkloadFacts
from suture.model.placement import NO_SCHEDULE, Placement
from suture.model.writes import HOUR_S

NODE_CRITICAL: Final = ObjectKey(PRIORITY_CLASSES, "", "system-node-critical")
"""The priority of what every pod of a node needs: network, proxies. SOURCE: Kubernetes' own."""

RESERVED: Final = "kube-"
"""How namespaces begin that are kept for the system's own."""

READY_PERCENT: Final = 50
"""Share of an agent's pods that are Ready, under which nodes do without it already."""

SUCCEEDED_PERCENT: Final = 90
"""Share of an agent's Ready pods that another has, to have taken its place: some node is always
being made or repaired."""

APART_S: Final = 30
"""What one installation applies comes within this time: of its agents none succeeds another."""

SUCCESSION_S: Final = 7 * 24 * 3600
"""How long an agent is new. LIMIT: what a new one does is not known; one that came to do
something else is taken for a successor for as long."""


def needed_by_nodes(scene: Scene, row: int) -> bool:
    """Whether nodes that stay need an agent that goes: most of its pods are Ready.

    Not where the actor made it within the day, nor where a newer one runs as widely.
    """
    view = scene.view
    if view.resource(row) != DAEMON_SETS or not view.namespace(row).startswith(RESERVED):
        return False
    facts = view.facts(row)
    if not isinstance(facts, WorkloadFacts) or not _keeps_nodes(facts.placement):
        return False
    if all(view.key(one) != NODE_CRITICAL for one, _ in view.targets(row, Edge.PRIORITY_CLASS)):
        return False
    running, ready = _pods(view, row)
    if not ready or ready * 100 < running * READY_PERCENT or made_lately(scene, row):
        return False
    return not any(
        _succeeds(scene, one, row, ready)
        for one in view.named_by(NODE_CRITICAL, Edge.PRIORITY_CLASS)
    )


def _keeps_nodes(placement: Placement) -> bool:
    """Whether pods use the network of their node, and no taint keeps them off it."""
    return placement.host_network and any(
        not one.key and one.any_value and one.effect in ("", NO_SCHEDULE)
        for one in placement.tolerations
    )


def _pods(view: GraphView, row: int) -> tuple[int, int]:
    """Return how many pods of a DaemonSet run, and how many of them are Ready."""
    counts = [view.running_alike(kind) for kind in view.classes_owned(row)]
    return sum(one[0] for one in counts), sum(one[1] for one in counts)


def _later(view: GraphView, new: int, old: int) -> bool:
    """Whether an agent came after another, and not with it; one that was seen to come did."""
    later = view.created(new) - view.created(old)
    seen, known = (view.history.creation(view.uid(row)) is not None for row in (new, old))
    return later >= (0 if seen and not known else APART_S)


def _succeeds(scene: Scene, new: int, old: int, ready: int) -> bool:
    """Whether an agent that stays was made lately, after another, and runs as widely."""
    view = scene.view
    if view.resource(new) != DAEMON_SETS or new in scene.removed or view.terminating(new):
        return False
    facts, made = view.facts(new), view.created(new)
    if not isinstance(facts, WorkloadFacts) or not _keeps_nodes(facts.placement):
        return False
    if not _later(view, new, old):
        return False
    if scene.now is not None and made < scene.now.utc_s - SUCCESSION_S:
        return False
    return _pods(view, new)[1] * 100 >= ready * SUCCEEDED_PERCENT


def succeeded(scene: Scene, row: int) -> bool:
    """Whether what keeps a DaemonSet was written, and has another by the actor run as widely since.

    Within the hour, under one custom resource, and one for one: what the actor took from it in that
    hour had successors too. Where nobody wrote the resource it still asks for what it had.
    """
    view, now = scene.view, scene.now
    parent = view.controller(row)
    if now is None or parent < 0 or not isinstance(view.facts(parent), CustomFacts):
        return False
    writes, uid = view.history.writes, view.uid(parent)
    if not writes.changed(view.key(parent), What.WROTE, now, HOUR_S):
        return False
    ready = _pods(view, row)[1]
    since, identity = now.utc_s - HOUR_S, scene.actor.user.username
    made = sum(
        view.resource(one) == DAEMON_SETS
        and one not in scene.removed
        and not (view.gone(one) or view.terminating(one))
        and view.controller(one) == parent
        and view.created(one) >= since
        and view.history.created_by(view.uid(one)) == identity
        and _pods(view, one)[1] * 100 >= ready * SUCCEEDED_PERCENT
        for one in view.children_of(parent)[:SIBLINGS]
    )
    return made > writes.counted(taken_from(uid, DAEMON_SETS), now, HOUR_S)
