"""Pods at work that an operator deletes by name, and what tells why it does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, NodeFacts, PodFacts

GRID = operator("system:serviceaccount:grid-system:controller")
OWNER = operator("system:serviceaccount:ci:deployer")
GRIDS = Resource("compute.example.com", "grids")
AT_WORK = PodFacts(ready=True, node="node-0")


THREE = CustomFacts(pools=(3,))


def grid(facts: CustomFacts = THREE) -> ClusterObject:
    return thing(GRIDS, "train", "ml", facts=facts)


def workers(of: ClusterObject, *facts: PodFacts) -> list[ClusterObject]:
    return [
        thing(PODS, f"train-{n}", "ml", owners=[owner(of)], facts=one)
        for n, one in enumerate(facts)
    ]


def seen(of: ClusterObject, pods: Sequence[ClusterObject], *, closed: bool = False) -> GraphView:
    node = thing(NODES, "node-0", facts=NodeFacts(ready=True, unschedulable=closed))
    return GraphView(graph_of(of, node, pods), History())


def counted(view: GraphView, pod: ClusterObject, by: Actor = GRID) -> int:
    request = replace(delete(pod), user=by.user)
    impact = impact_of(request, view, by=by, now=START.plus_s(60))
    return sum(one.counted for one in effects(impact, ObjectsRemoved))


def test_a_worker_that_is_asked_for_as_before() -> None:
    """All of its kind are at work, and nothing changed: it counts as any loss does."""
    pods = workers(grid(), AT_WORK, AT_WORK, AT_WORK)

    assert counted(seen(grid(), pods), pods[0]) == 1


@pytest.mark.parametrize(
    ("facts", "others"),
    [
        pytest.param(CustomFacts(pools=(1,)), (AT_WORK,) * 2, id="fewer are asked for"),
        pytest.param(CustomFacts(), (AT_WORK,) * 2, id="no number is"),
        pytest.param(CustomFacts(pools=(3,), ended=Ended.SURE), (AT_WORK,) * 2, id="it is over"),
        pytest.param(THREE, (AT_WORK, PodFacts(node="node-0")), id="one is not Ready"),
        pytest.param(THREE, (AT_WORK, PodFacts(finished=True)), id="one has ended"),
        pytest.param(CustomFacts(pools=(1,)), (), id="a single one"),
    ],
)
def test_a_worker_for_whose_end_there_may_be_a_cause(
    facts: CustomFacts, others: tuple[PodFacts, ...]
) -> None:
    """What the model knows of its keeper or of those beside it may be why it goes."""
    pods = workers(grid(facts), AT_WORK, *others)

    assert counted(seen(grid(facts), pods), pods[0]) == 0


def test_a_worker_of_a_closed_node() -> None:
    """It has to move."""
    pods = workers(grid(), AT_WORK, AT_WORK, AT_WORK)

    assert counted(seen(grid(), pods, closed=True), pods[0]) == 0


def test_a_person_knows_why() -> None:
    """What people restart by hand, they restart for reasons that no field tells."""
    pods = workers(grid(), AT_WORK, AT_WORK, AT_WORK)
    person = replace(GRID, kind=IdentityKind.PERSON, user=replace(GRID.user, username="mia"))

    assert counted(seen(grid(), pods), pods[0], person) == 0


@pytest.mark.parametrize("sub", ["", "status"])
def test_a_worker_of_what_was_just_written(sub: str) -> None:
    """Its keeper is another than before, or has begun another round of its work."""
    pods = workers(grid(), AT_WORK, AT_WORK, AT_WORK)
    view = seen(grid(), pods)
    bodies = (b'{"spec":{"lr":1},"status":{}}', b'{"spec":{"lr":2},"status":{"restarts":1}}')
    change = replace(update(grid(), grid(), by=OWNER, bodies=bodies), subresource=sub)
    remember(change, project(change, view), view, START)

    assert counted(view, pods[0]) == 0


def test_a_worker_after_one_that_had_ended_was_taken_away() -> None:
    """What runs together is started again together, whichever goes first."""
    pods = workers(grid(), PodFacts(finished=True), AT_WORK, AT_WORK, AT_WORK)
    view = seen(grid(), pods)
    first = replace(delete(pods[0]), user=GRID.user)
    remember(first, project(first, view), view, START)
    left = GraphView(graph_of(grid(), pods[1:]), view.history)

    assert counted(left, pods[1]) == 0


RUN = b'{"spec":{"restartPolicy":"Never"}}'


def run_counted(
    facts: CustomFacts, pods: list[ClusterObject], *, body: bytes = RUN, history: bool = False
) -> int:
    """Return whether a run counts of one that says no number; `history`: it was written lately."""
    view = seen(grid(facts), pods)
    if history:
        bodies = (b'{"spec":{}}', b'{"spec":{"shutdown":"Terminate"}}')
        change = update(grid(facts), grid(facts), by=OWNER, bodies=bodies)
        remember(change, project(change, view), view, START)
    request = replace(delete(pods[0]), user=GRID.user, old_body=body)
    impact = impact_of(request, view, by=GRID, now=START.plus_s(60))
    return sum(one.counted for one in effects(impact, ObjectsRemoved))


def test_a_run_of_what_says_no_number_is_work_that_is_lost() -> None:
    """A step of a workflow that is taken for done while it is at work."""
    assert run_counted(CustomFacts(), workers(grid(), AT_WORK)) == 1
    assert run_counted(CustomFacts(), workers(grid(), AT_WORK, AT_WORK)) == 1


def test_a_run_for_whose_end_there_is_a_cause() -> None:
    """The twins: it has ended, or one beside it; it was told to stop; it would be started again."""
    one = workers(grid(), AT_WORK)
    ended = PodFacts(finished=True, node="node-0")
    assert run_counted(CustomFacts(), workers(grid(), ended)) == 0
    assert run_counted(CustomFacts(), workers(grid(), AT_WORK, ended)) == 0
    assert run_counted(CustomFacts(ended=Ended.SURE), one) == 0
    assert run_counted(CustomFacts(), one, history=True) == 0
    assert run_counted(CustomFacts(), one, body=b'{"spec":{"restartPolicy":"Always"}}') == 0
    assert run_counted(CustomFacts(), one, body=b"") == 0
