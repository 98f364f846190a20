"""Pods of custom resources that no Service reaches, and that a disruption budget keeps."""

from __future__ import annotations

import msgspec
import pytest

from support.cluster import delete, graph_of, operator, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    DISRUPTION_BUDGETS,
    NODES,
    PODS,
    REPLICA_SETS,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import ClusterObject, NodeFacts, PodFacts, WorkloadFacts
from suture.model.request import Request
from suture.model.selectors import Selector

ENGINES = Resource("store.example.com", "engines")
LABELS = {"engine": "a"}
ENGINE = thing(ENGINES, "a", "store")
ENDING = thing(ENGINES, "a", "store", deleted=1.0)
SET = thing(REPLICA_SETS, "a", "store", facts=WorkloadFacts(1, Selector.of(LABELS)))
OPEN = thing(NODES, "node-1", facts=NodeFacts(ready=True))
CLOSED = thing(NODES, "node-1", facts=NodeFacts(unschedulable=True, ready=True))


def budget(least: int = 1) -> ClusterObject:
    facts = DisruptionBudgetFacts(Selector.of(LABELS), least)
    return thing(DISRUPTION_BUDGETS, "a", "store", facts=facts)


def pod(of: ClusterObject, name: str = "a-0", *, ready: bool = True) -> ClusterObject:
    made = thing(
        PODS, name, "store", labels=LABELS, owners=[owner(of)],
        facts=PodFacts(ready=ready, node="node-1"),
    )  # fmt: skip
    return msgspec.structs.replace(made, needs=(Need(Edge.NODE, ObjectKey(NODES, "", "node-1")),))


def counted(request: Request, *things: ClusterObject) -> int:
    """Return how many pods of a removal a budget of removals would count."""
    view = GraphView(graph_of(*things), History())
    impact = estimate(request, project(request, view), view, operator(), {"objects_removed"})
    return sum(
        one.counted
        for one in impact.effects
        if isinstance(one, ObjectsRemoved) and one.resource == "pods"
    )


def evicted(one: ClusterObject) -> Request:
    return msgspec.structs.replace(
        delete(one), operation=Operation.CREATE, subresource="eviction", old=None
    )


def test_what_a_budget_keeps_counts_without_a_service() -> None:
    """Nothing but its operator brings such a pod back, which may be the one that deletes."""
    assert counted(delete(pod(ENGINE)), ENGINE, pod(ENGINE), budget(), OPEN) == 1


@pytest.mark.parametrize(
    ("of", "more"),
    [
        pytest.param(ENGINE, [OPEN], id="without a budget"),
        pytest.param(ENGINE, [budget(), pod(ENGINE, "a-1"), OPEN], id="the budget allows it"),
        pytest.param(ENDING, [budget(), OPEN], id="the owner is going"),
        pytest.param(SET, [budget(), OPEN], id="a controller makes another"),
        pytest.param(ENGINE, [budget(), CLOSED], id="it has to move"),
    ],
)
def test_what_may_go_all_the_same(of: ClusterObject, more: list[ClusterObject]) -> None:
    """Or for which another answers."""
    assert counted(delete(pod(of)), of, pod(of), *more) == 0


def test_what_does_not_serve_or_goes_otherwise() -> None:
    """A pod that is not Ready; an eviction, which the API server answers; a cascade."""
    idle = pod(ENGINE, ready=False)

    assert counted(delete(idle), ENGINE, idle, budget(), OPEN) == 0
    assert counted(evicted(pod(ENGINE)), ENGINE, pod(ENGINE), budget(), OPEN) == 0
    assert counted(delete(ENGINE), ENGINE, pod(ENGINE), budget(), OPEN) == 0
