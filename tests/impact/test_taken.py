"""What a Service had before somebody began to take its pods: those that are not back count."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, service, thing, workload
from suture.impact.causes.counters import taken_from
from suture.impact.effects import EndpointsLost
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS
from suture.model.objects import NodeFacts

NODE = thing(NODES, "node-1", facts=NodeFacts(ready=True))
CLOSED = thing(NODES, "node-1", facts=NodeFacts(ready=True, unschedulable=True))


def peak(ready: int, taken: int, *, ago_s: int = 60, closed: bool = False) -> int:
    """Take one more of eight, `taken` of which were so; return of how many it is said to be."""
    things = workload("web", replicas=8, ready=ready)
    node = CLOSED if closed else NODE
    view = GraphView(graph_of(things, service("web"), node), History())
    if taken:
        view.history.writes.count(taken_from(things[1].uid, PODS), START, taken)
    impact = impact_of(delete(things[2]), view, now=START.plus_s(ago_s))
    (lost,) = effects(impact, EndpointsLost)
    assert (lost.before, lost.after) == (ready, ready - 1)
    return lost.peak


def test_pods_that_are_not_back_are_part_of_what_there_was() -> None:
    """The fifth of eight in a row leaves three of eight, and not three of four."""
    assert peak(4, taken=4) == 8


@pytest.mark.parametrize(
    ("ready", "taken", "had"),
    [
        pytest.param(8, 5, 8, id="all-are-back"),
        pytest.param(4, 1, 5, id="the-others-were-away-before"),
        pytest.param(4, 0, 4, id="nobody-took-any"),
    ],
)
def test_what_is_back_or_was_away_before_is_not_counted_twice(
    ready: int, taken: int, had: int
) -> None:
    """The twins: a roll that waits, and a workload that was broken already."""
    assert peak(ready, taken) == had


def test_pods_of_a_closed_node_and_of_long_ago() -> None:
    """What has to move is held by budgets of its own; after ten minutes it is a state."""
    assert peak(4, taken=4, closed=True) == 4
    assert peak(4, taken=4, ago_s=1200) == 4
