"""Custom resources that ask for fewer members: whose pods go for it, whatever the number is called."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import delete, graph_of, owner, service, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import Churn, EndpointsLost, ForeignWrite, PodsLost, QuorumLost
from suture.impact.ground.change import Resized
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS, STATEFUL_SETS, Operation, Resource
from suture.model.objects import (
    ClusterObject,
    CustomFacts,
    NodeFacts,
    PodFacts,
    WorkloadFacts,
)
from suture.model.request import Request

DATABASES = Resource("db.example.com", "databases")
DATABASE = thing(DATABASES, "orders", "prod", facts=CustomFacts())
LABELS = {"app": "orders"}
START = Now(10**12, 1e9)


def members(of: ClusterObject, count: int = 5) -> list[ClusterObject]:
    return [
        thing(
            PODS, f"orders-{at}", "prod", labels=LABELS, owners=[owner(of)],
            facts=PodFacts(ready=True),
        )
        for at in range(count)
    ]  # fmt: skip


def a_set(name: str = "orders", size: int = 5) -> ClusterObject:
    return thing(
        STATEFUL_SETS, name, "prod", owners=[owner(DATABASE)], facts=WorkloadFacts(replicas=size)
    )


def asked(old: dict[str, object], new: dict[str, object]) -> Request:
    """Ask the database for other numbers; a definition says of `replicas` what it means."""
    bodies = (msgspec.json.encode({"spec": old}), msgspec.json.encode({"spec": new}))

    def facts(spec: dict[str, object]) -> CustomFacts:
        count = spec.get("replicas")
        return CustomFacts(wanted=count if isinstance(count, int) else None)

    before, after = (msgspec.structs.replace(DATABASE, facts=facts(one)) for one in (old, new))
    return update(before, after, bodies=bodies)


def view(*things: ClusterObject | list[ClusterObject]) -> GraphView:
    return GraphView(graph_of(DATABASE, *things), History())


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        pytest.param({"size": 5}, {"size": 1}, 4, id="size"),
        pytest.param({"instances": 5}, {"instances": 0}, 5, id="none"),
        pytest.param({"numberOfInstances": 5}, {"numberOfInstances": 4}, 1, id="words"),
        pytest.param({"nodeCount": 5}, {"nodeCount": 3}, 2, id="a-count"),
        pytest.param({"replicas": 5}, {"replicas": 2}, 3, id="replicas"),
        pytest.param({"size": 9}, {"size": 5}, 0, id="not-as-many-as-there-are"),
        pytest.param({"days": 5}, {"days": 1}, 0, id="a-number-of-something-else"),
        pytest.param({"poolSize": 5}, {"poolSize": 1}, 0, id="a-size-of-something-else"),
        pytest.param({"size": 5}, {"size": 7}, 0, id="more"),
        pytest.param({"size": "5Gi"}, {"size": "1Gi"}, 0, id="no-number"),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_fewer_members_are_fewer_pods(
    old: dict[str, object], new: dict[str, object], lost: int, *, below: bool
) -> None:
    """Of the resource's own pods, or of the one set that has as many as it asked for."""
    one = a_set()
    world = view([one, *members(one)] if below else members(DATABASE), service("orders"))
    impact = impact_of(asked(old, new), world)
    assert sum(found.lasting for found in effects(impact, PodsLost)) == lost
    assert sum(found.before - found.after for found in effects(impact, EndpointsLost)) == lost


def test_the_set_below_loses_its_majority() -> None:
    """And nobody asks for more: the resource is what asks."""
    one = a_set()
    impact = impact_of(asked({"replicas": 5}, {"replicas": 1}), view(one, members(one)))
    assert [(lost.before, lost.after) for lost in effects(impact, QuorumLost)] == [(5, 1)]
    assert [lost.wanted for lost in effects(impact, PodsLost)] == [-1]
    assert not effects(impact, ForeignWrite)


def test_of_several_sets_of_that_size_none_is_meant() -> None:
    """Which of them the number sizes is not known."""
    change = project(asked({"size": 5}, {"size": 1}), view(a_set("a"), a_set("b")))
    assert change.resized is None


def test_what_is_asked_for_is_no_size_that_was_written() -> None:
    """The controller writes it a moment later, and that is no second time."""
    one = a_set()
    world = view(one, members(one))
    request = asked({"replicas": 5}, {"replicas": 4})
    change = project(request, world)
    row = world.find(one.key)
    assert row is not None
    assert change.resized == Resized(row, 5, 4, asked=True)
    remember(request, change, world, START)
    assert not world.history.writes.knows(one.key)
    assert not effects(impact_of(request, world), Churn)


@pytest.mark.parametrize(
    ("sizes", "lost"),
    [
        pytest.param((3,), [(2, 1)], id="two-of-three"),
        pytest.param((9, 3), [(2, 1)], id="one-of-several-fits"),
        pytest.param((5,), [], id="more-than-can-have-a-majority"),
        pytest.param((1,), [], id="fewer-than-run"),
        pytest.param((), [], id="nothing-said"),
    ],
)
def test_a_size_is_believed_of_as_many_members_as_run(
    sizes: tuple[int, ...], lost: list[tuple[int, int]]
) -> None:
    """Whatever a custom resource calls it: one of two that are left of three is no majority."""
    store = msgspec.structs.replace(DATABASE, facts=CustomFacts(sizes=sizes))
    pods = members(store, 2)
    world = GraphView(graph_of(store, pods), History())
    impact = impact_of(delete(pods[1]), world)
    assert [(one.before, one.after) for one in effects(impact, QuorumLost)] == lost


@pytest.mark.parametrize("closed", [True, False])
def test_a_member_that_moves_may_be_asked_for_again(*, closed: bool) -> None:
    """Two more have been asked for and are not there yet: whoever empties the node comes again."""
    ring = msgspec.structs.replace(DATABASE, facts=CustomFacts(wanted=6))
    facts = PodFacts(ready=True, node="node-1")
    pods = [msgspec.structs.replace(one, facts=facts) for one in members(ring, 4)]
    node = thing(NODES, "node-1", facts=NodeFacts(unschedulable=closed, ready=True))
    world = GraphView(graph_of(ring, node, pods), History())
    eviction = msgspec.structs.replace(
        delete(pods[1]), operation=Operation.CREATE, subresource="eviction", old=None
    )
    (lost,) = effects(impact_of(eviction, world), QuorumLost)
    assert (lost.before, lost.after, lost.self_healing) == (4, 3, closed)
    (lost,) = effects(impact_of(delete(pods[1]), world), QuorumLost)
    assert not lost.self_healing
