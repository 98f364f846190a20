"""Templates that ask for what few nodes have, or none: pods that go and are placed nowhere again.

Beside `rollout`, which says which pods follow a template: here it is where they could run then.
Beside `fit`, which looks for room: here only what a node is counts, not who runs there now.
Source: the scheduler's filters NodeAffinity, TaintToleration and NodeResourcesFit (of an empty
node); the daemonset controller (a pod goes from a node that its template does not match any more).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from suture.impact.effects import Confidence, PlacementLost
from suture.impact.ground.change import Change
from suture.impact.ground.stamps import FOLLOWING, ON_DELETE
from suture.impact.ground.unavailable import unavailable_of
from suture.impact.nodes.agents import replaced_on_nodes
from suture.impact.rollout import ROLLING, classes_under, pods_under
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, NODES, ObjectKey
from suture.model.objects import NodeFacts, PodFacts, WorkloadFacts
from suture.model.placement import Placement
from suture.model.podtemplate import rollout_of

NODES_LOOKED_AT: Final = 4_000
"""LIMIT: nodes of which each is asked whether it would do: 2 µs each, 8 ms, for writes that come a
few times a day. More are taken to do: nobody is refused for a node that was not looked at."""

PODS_LOOKED_AT: Final = 4_000
"""LIMIT: pods of a DaemonSet whose node is asked, one a node."""

PASSING: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that tell the state of a node and pass. SOURCE: well-known labels, annotations, taints."""


def moves_pods(change: Change) -> bool:
    """Whether a change makes the pods of a workload ask for other nodes."""
    made = change.rewritten
    if made is None or made.before is None or made.after.key.resource not in FOLLOWING:
        return False
    old, new = made.before.facts, made.after.facts
    return (
        isinstance(old, WorkloadFacts)
        and isinstance(new, WorkloadFacts)
        and old.placement != new.placement
    )


def placement_effects(scene: Scene) -> Iterator[PlacementLost]:
    """Yield a workload whose pods follow a template to fewer nodes, or to none."""
    made = scene.change.rewritten
    if made is None or made.row is None or made.before is None:
        return
    old, new = made.before.facts, made.after.facts
    rollout = rollout_of(scene.request.new_body)
    if (
        rollout.paused
        or made.after.terminating
        or not isinstance(old, WorkloadFacts)
        or not isinstance(new, WorkloadFacts)
    ):
        return
    view, daemons = scene.view, made.after.key.resource == DAEMON_SETS
    running = sum(scene.running(kind)[0] for kind in classes_under(view, made.row))
    if not running or (daemons and replaced_on_nodes(scene, made.row)):
        return
    had, has, missing = _nodes(view, old.placement, new.placement)
    if daemons:
        gone = _left(view, made.row, new.placement)
    else:
        wanted = running if old.replicas is None else old.replicas
        down = unavailable_of(rollout, made.after.key.resource, wanted)
        gone = 0 if has else min(running, down)
    # WHY also without any that goes: a roll-out that surges waits for a place, and never ends.
    if had and (gone or not has):
        strategy = rollout.strategy or ROLLING
        yield PlacementLost(
            workload=scene.victim(made.row),
            running=running,
            gone=gone,
            nodes_before=had,
            nodes_after=has,
            on_delete=strategy == ON_DELETE,
            missing=missing if not has else "",
            confidence=Confidence.EXACT if rollout.strategy else Confidence.BOUNDED,
        )


def _nodes(view: GraphView, old: Placement, new: Placement) -> tuple[int, int, str]:
    """Return how many nodes would do for two templates, and what of the second stood in the way."""
    rows = view.rows(NODES)
    had = has = max(0, len(rows) - NODES_LOOKED_AT)
    ways = {"labels": 0, "taints": 0, "room": 0}
    for row in rows[:NODES_LOOKED_AT]:
        had += not _bar(view, row, old)
        bar = _bar(view, row, new)
        if bar:
            ways[bar] += 1
        else:
            has += 1
    return had, has, max(ways, key=lambda way: ways[way])


def _bar(view: GraphView, row: int, asked: Placement) -> str:
    """Return what of a node is not as a pod asks: its labels, taints or room; empty: it would do.

    WHY whether it is Ready or closed does not count: both pass.
    """
    facts = view.facts(row)
    if not asked.accepts(view.labels(row)):
        return "labels"
    if not isinstance(facts, NodeFacts):
        return ""
    if not asked.tolerates(one for one in facts.taints if not one.key.startswith(PASSING)):
        return "taints"
    # An amount of nothing was not seen.
    if (facts.cpu_m and asked.cpu_m > facts.cpu_m) or (
        facts.memory_mi and asked.memory_mi > facts.memory_mi
    ):
        return "room"
    return ""


def _left(view: GraphView, daemons: int, asked: Placement) -> int:
    """Return how many pods of a DaemonSet run on nodes that would not do any more."""
    gone = 0
    for pod in islice(pods_under(view, daemons), PODS_LOOKED_AT):
        facts = view.facts(pod)
        if view.finished(pod) or view.terminating(pod) or not isinstance(facts, PodFacts):
            continue
        node = view.find(ObjectKey(NODES, "", facts.node)) if facts.node else None
        gone += node is not None and bool(_bar(view, node, asked))
    return gone
