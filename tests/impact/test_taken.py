"""What a Service had before somebody began to take its pods: those that are not back count."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, service, thing, workload
from suture.impact.causes.counters import taken_from
from suture.impact.effects import EndpointsLost
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS, SERVICES, Resource
from suture.model.objects import CustomFacts, NodeFacts, PodFacts, ServiceFacts
from suture.model.selectors import Selector

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


def beside(ready: int, taken: int, *, of: int = 3, front: str = "web") -> int:
    """Take the member of one of three sets of one; return of how many it is said to be.

    `taken` others were so, and are not Ready; `of` the three are behind the Service.
    """
    sets = [
        [
            replace(one, labels={"app": "web" if at < of else "other", "zone": str(at)})
            for one in made
        ]
        for at, made in enumerate(
            workload(f"zone-{at}", replicas=1, ready=int(at < ready)) for at in range(3)
        )
    ]
    view = GraphView(graph_of(*sets, service(front), NODE), History())
    for made in sets[ready : ready + taken]:
        view.history.writes.count(taken_from(made[1].uid, PODS), START, 1)
    impact = impact_of(delete(sets[0][2]), view, now=START.plus_s(60))
    (lost,) = effects(impact, EndpointsLost)
    assert (lost.before, lost.after) == (min(ready, of), min(ready, of) - 1)
    return lost.peak


def test_the_only_pod_of_each_of_several_sets() -> None:
    """One of each zone, taken one after the other: the second of three would leave one of three."""
    assert beside(2, taken=1) == 3


def test_the_only_pods_of_sets_that_are_back_or_elsewhere() -> None:
    """The twins: a roll that waits, a set that was broken before, and one behind another Service."""
    assert beside(3, taken=0) == 3
    assert beside(2, taken=0) == 2
    assert beside(2, taken=1, of=2) == 2


QUEUES = Resource("queues.example.com", "queues")
KEEPER = operator("system:serviceaccount:queues:queues-operator")


def kept(
    ready: int, taken: int, *, back: int = 0, facts: CustomFacts | None = None, ended: bool = False,
    app: str = "main", lately: bool = False,
) -> int:  # fmt: skip
    """Take one more of what a custom resource has itself; return of how many it is said to be."""
    parent = thing(QUEUES, "main", "prod", facts=facts or CustomFacts())
    pods = [
        replace(
            thing(
                PODS, f"main-{at}", "prod", owners=[owner(parent)],
                labels={"app": "main", "role": "edge" if at < ready else "store"},
                facts=PodFacts(ready=at < ready, finished=ended and at >= ready, node="node-1"),
            ),
            created=START.utc_s - (0 if at < back else 86_400),
        )
        for at in range(ready + ended + (app != "main"))
    ]  # fmt: skip
    selects = ServiceFacts(Selector.of({"app": "main"} if app == "main" else {"role": app}))
    facing = thing(SERVICES, "main", "prod", facts=selects)
    view = GraphView(graph_of(parent, pods, facing, NODE), History())
    for pod in pods[:back] + (pods[ready - 1 :] if lately else []):
        view.history.note_created(pod.uid, KEEPER.user.username, "queues", pod.key, START)
    if taken:
        view.history.writes.count(taken_from(parent.uid, PODS), START, taken)
    request = delete(pods[ready - 1], by=KEEPER)
    (lost,) = effects(impact_of(request, view, by=KEEPER, now=START.plus_s(60)), EndpointsLost)
    assert (lost.before, lost.after) == (ready, ready - 1)
    return lost.peak


def test_pods_that_an_operator_takes_and_does_not_wait_for() -> None:
    """An upgraded operator kills the pods of its cluster one after the other: half of them stay."""
    assert kept(3, taken=3) == 6
    assert kept(3, taken=3, facts=CustomFacts(sizes=(6,))) == 6


def test_pods_that_an_operator_takes_and_makes_anew() -> None:
    """The twin: it waits for each, and what is there again is not missing."""
    assert kept(6, taken=5, back=5) == 6


@pytest.mark.parametrize(
    "had",
    [
        pytest.param(lambda: kept(3, taken=3, facts=CustomFacts(wanted=3)), id="wants-no-more"),
        pytest.param(lambda: kept(3, taken=3, facts=CustomFacts(sizes=(1, 3))), id="says-so"),
        pytest.param(lambda: kept(3, taken=3, ended=True), id="one-of-a-gang-has-failed"),
        pytest.param(lambda: kept(3, taken=3, app="edge"), id="others-may-have-been-taken"),
        pytest.param(lambda: kept(3, taken=3, lately=True), id="work-of-the-day"),
        pytest.param(lambda: kept(3, taken=0), id="nobody-took-any"),
    ],
)
def test_what_an_operator_has_taken_for_a_reason(had: Callable[[], int]) -> None:
    """Made smaller, started anew as a whole, or of another part: what is left is all there was."""
    assert had() == 3
