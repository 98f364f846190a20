"""Pods that have to move: the node was closed, or bears a taint that they do not put up with."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, thing, view_of, workload
from suture.impact.effects import PodsLost
from suture.model.graph import GraphView
from suture.model.names import NODES, PODS, Resource
from suture.model.objects import NodeFacts, PodFacts, WorkloadFacts
from suture.model.placement import Placement, Taint, Toleration

OLD = Taint("pool", "retired", "NoSchedule")
SOFT = Taint("pool", "retired", "PreferNoSchedule")


@pytest.mark.parametrize(
    ("taint", "tolerated", "drained"),
    [
        pytest.param(OLD, False, 1, id="closed hours ago, as its whole pool"),
        pytest.param(OLD, True, 0, id="dedicated to it"),
        pytest.param(SOFT, False, 0, id="to be avoided"),
        pytest.param(None, False, 0, id="open"),
    ],
)
def test_a_taint_that_a_workload_does_not_tolerate(
    taint: Taint | None, drained: int, *, tolerated: bool
) -> None:
    """It would not be placed there again, and so it is bound to move, now or later."""
    wants = Placement(tolerations=(Toleration("pool", "retired"),) if tolerated else ())
    node = thing(NODES, "old", facts=NodeFacts(ready=True, taints=(taint,) if taint else ()))
    things = []
    for one in workload("web", replicas=1):
        facts = one.facts
        if isinstance(facts, WorkloadFacts):
            facts = msgspec.structs.replace(facts, placement=wants)
        elif isinstance(facts, PodFacts):
            facts = msgspec.structs.replace(facts, node="old")
        things.append(msgspec.structs.replace(one, facts=facts))
    (pod,) = (one for one in things if one.key.resource == PODS)

    impact = impact_of(delete(pod, by=operator()), view_of(node, things), now=START)

    (lost,) = effects(impact, PodsLost)
    assert (lost.ready, lost.drained) == (1, drained)


def test_of_a_pod_of_another_keeper_nothing_is_known() -> None:
    """What a custom resource's pods tolerate is not read: the node may be dedicated to them."""
    keeper = thing(Resource("db.example.com", "databases"), "db", "prod")
    node = thing(NODES, "old", facts=NodeFacts(ready=True, taints=(OLD,)))
    pod = thing(
        PODS, "db-0", "prod", owners=[owner(keeper)], facts=PodFacts(ready=True, node="old")
    )

    impact = impact_of(delete(pod, by=operator()), view_of(node, keeper, pod), now=START)

    assert [one.drained for one in effects(impact, PodsLost)] == [0]


@pytest.mark.parametrize(
    ("there", "listed", "drained"),
    [
        pytest.param(False, True, 1, id="gone"),
        pytest.param(True, True, 0, id="there"),
        pytest.param(False, False, 0, id="nobody knows"),
    ],
)
def test_a_node_that_is_gone(drained: int, *, there: bool, listed: bool) -> None:
    """What names it runs nowhere, though it was Ready when last heard of.

    On one that is there, or of which nothing is known, the same delete is a dip.
    """
    node = thing(NODES, "node-1", facts=NodeFacts(ready=True))
    things = workload("web", replicas=1)
    (pod,) = (one for one in things if one.key.resource == PODS)
    others = [thing(NODES, "node-2", facts=NodeFacts(ready=True))]
    graph = graph_of(things, others, [node] if there else [])
    if not listed:
        graph.mark_unknown(NODES, "forbidden")

    impact = impact_of(delete(pod, by=operator()), GraphView(graph), now=START)

    (lost,) = effects(impact, PodsLost)
    assert (lost.ready, lost.drained) == (1, drained)
