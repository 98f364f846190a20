"""Autoscalers of a kind of their own: whoever may run them sets what they size."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, service, thing, workload
from suture.impact.causes.together import remember_cut
from suture.impact.effects import EndpointsLost, PodsLost
from suture.impact.ground.change import Resized
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import Resource
from suture.model.objects import CustomFacts, WorkloadFacts

METERS = Resource("metering.example.com", "podmeters")
CLOCKS = Resource("metering.example.com", "cronmeters")
OWN = "system:serviceaccount:metering:metering-controller"


def told(*, of: Resource = METERS, by: str = OWN, others: int = 0, keeper: str = "") -> bool:
    """Whether it is explained that a workload which such a thing sizes goes from 6 pods to 1."""
    things = workload("web", replicas=6)
    scaler = msgspec.structs.replace(
        thing(of, "web", "prod", facts=CustomFacts()), needs=(Need(Edge.SCALES, things[0].key),)
    )
    history = History()
    if keeper:
        history.habits.recall((), ((of, (keeper,)),), ())
    view = GraphView(graph_of(things, service("web"), scaler), history)
    row = view.find(things[0].key)
    assert row is not None
    for _ in range(others):
        remember_cut(view, by, Resized(row, 6, 1), START)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    after = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=1))
    impact = impact_of(update(things[0], after, by=operator(by)), view, by=operator(by))
    (lost,), (left,) = effects(impact, PodsLost), effects(impact, EndpointsLost)
    assert (lost.lasting == 0) is left.explained
    return left.explained


@pytest.mark.parametrize(
    ("by", "keeper", "explained"),
    [
        pytest.param(OWN, "", True, id="called alike"),
        pytest.param("system:serviceaccount:x:runner", "", True, id="nobody known"),
        pytest.param("system:serviceaccount:x:runner", "system:serviceaccount:x:runner", True),
        pytest.param("system:serviceaccount:cd:applier", OWN, False, id="somebody else's"),
    ],
)
def test_who_may_run_an_autoscaler_sets_what_it_sizes(
    by: str, keeper: str, *, explained: bool
) -> None:
    """However far down: what it goes by it says in its own way."""
    assert told(by=by, keeper=keeper) is explained


def test_not_what_too_many_let_go_together_save_by_the_clock() -> None:
    """One source that answers with nothing is believed by all; a schedule was written down."""
    assert told(others=4)
    assert not told(others=5)
    assert told(of=CLOCKS, others=9)
