"""Members of the cluster's own store: how many of them the nodes that go leave."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import delete, graph_of, thing
from suture.impact.effects import QuorumLost
from suture.impact.nodes.consensus import MEMBER
from suture.model.graph import GraphView
from suture.model.names import NODES
from suture.model.objects import ClusterObject, NodeFacts


def member(name: str, *, ready: bool = True, going: bool = False) -> ClusterObject:
    return thing(
        NODES, name, labels={MEMBER: "true"}, facts=NodeFacts(ready=ready), deleted=float(going)
    )


def lost(gone: ClusterObject, *others: ClusterObject) -> list[tuple[int, int, int, int]]:
    """Delete a node; return members, majority, and those Ready before and after."""
    graph = graph_of(gone, *others, thing(NODES, "agent", facts=NodeFacts(ready=True)))
    found = effects(impact_of(delete(gone), GraphView(graph)), QuorumLost)
    return [(one.members, one.majority, one.before, one.after) for one in found]


@pytest.mark.parametrize(
    ("others", "told"),
    [
        pytest.param([member("b"), member("c")], (3, 2, 3, 2), id="two of three stay"),
        pytest.param([member("b"), member("c", going=True)], (3, 2, 2, 1), id="one is kept"),
        pytest.param([member("b"), member("c", ready=False)], (3, 2, 2, 1), id="one is not Ready"),
        pytest.param([member("b")], (2, 2, 2, 1), id="of two neither can go"),
        pytest.param([member(at) for at in "bcde"], (5, 3, 5, 4), id="five"),
    ],
)
def test_members_that_work_are_counted(
    others: list[ClusterObject], told: tuple[int, int, int, int]
) -> None:
    """A member that is on its way counts among all, and not among those that work."""
    assert lost(member("a"), *others) == [told]


def test_who_works_no_more_takes_nothing() -> None:
    """A dead member is taken out so that another can take its place."""
    assert lost(member("a", ready=False), member("b"), member("c")) == []
    assert lost(member("a", going=True), member("b"), member("c")) == []


def test_a_node_that_is_no_member_takes_nothing() -> None:
    """Nor does one that runs the control plane, where its store is not said to be."""
    plane = thing(
        NODES,
        "a",
        labels={"node-role.kubernetes.io/control-plane": ""},
        facts=NodeFacts(ready=True),
    )
    assert lost(plane, member("b"), member("c")) == []
