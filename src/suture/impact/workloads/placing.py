"""Templates that ask for what few nodes have, or none: pods that go and are placed nowhere again.

Beside `rollout`, which says which pods follow a template: here it is where they could run then.
Beside `fit`, which looks for room: here only what a node is counts, not who runs there now.
Source: the scheduler's filters NodeAffinity, TaintToleration and NodeResourcesFit (of an empty
node); the daemonset controller (a pod goes from a node that its template does not match any more).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from suture.model.names import DAEMON_SETS, NODES
from suture.model.objects import Facts, NodeFacts, WorkloadFacts
from suture.model.placement import Placement
from suture.model.podtemplate import rollout_of

NODES_LOOKED_AT: Final = 4_000
"""LIMIT: nodes of which each is asked whether it would do: 0.5 µs each where labels are asked for.
More are taken to do: nobody is refused for a node that was not looked at."""

PODS_LOOKED_AT: Final = 4_000
"""LIMIT: pods of a DaemonSet whose node is asked, one a node."""

WAYS: Final = ("labels", "taints", "room")
"""What of a node may not be as a pod asks."""

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
    nodes = view.count(NODES)
    barred = _barred(view, new.placement)
    had, has = nodes - len(_barred(view, old.placement)), nodes - len(barred)
    if daemons:
        gone = _left(view, made.row, barred)
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
            missing="" if has else max(WAYS, key=list(barred.values()).count),
            confidence=Confidence.EXACT if rollout.strategy else Confidence.BOUNDED,
        )


def _barred(view: GraphView, asked: Placement) -> dict[int, str]:
    """Return the nodes that are not as a pod asks, and what of each: its labels, taints or room.

    WHY whether one is Ready or closed does not count: both pass. What many nodes say alike is read
    once.
    """
    rows = view.rows(NODES)[:NODES_LOOKED_AT]
    numbers, shared = view.shared_facts(rows)
    ways = {number: _way(facts, asked) for number, facts in shared.items()}
    found = {row: way for row, number in zip(rows, numbers, strict=True) if (way := ways[number])}
    if asked.terms:
        accepted = {row for term in asked.terms for row in view.having(rows, term)}
        found |= {row: "labels" for row in rows if row not in accepted}
    return found


def _way(facts: Facts | None, asked: Placement) -> str:
    """Return what of a node, beside its labels, is not as a pod asks; empty: it would do."""
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


def _left(view: GraphView, daemons: int, barred: Mapping[int, str]) -> int:
    """Return how many pods of a DaemonSet run on nodes that would not do any more."""
    return sum(
        view.node_of(pod) in barred
        for pod in islice(pods_under(view, daemons), PODS_LOOKED_AT)
        if not (view.finished(pod) or view.terminating(pod))
    )
