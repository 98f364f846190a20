"""Nodes that close as one group, which the rest of the cluster can do without."""

from __future__ import annotations

from typing import TypedDict

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, graph_of, operator, workload
from suture.impact.effects import CapacityLost
from suture.impact.nodes.grouped import GROUP_NODES
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.placement import NO_EXECUTE, Placement, Taint
from suture.model.selectors import Selector

from .test_capacity import ROOMY, closed_in_use, lost, node, on, rewritten, with_room

ANY = Placement(cpu_m=1000)
OF_THE_GROUP = Placement(terms=(Selector.of({"pool": "old"}),))
MACHINE = "system:serviceaccount:kube-system:upgrader"
PERSON = "jane@example.com"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


class World(TypedDict, total=False):
    """What is otherwise than in the first test."""

    group: int
    others: int
    asked: Placement
    room: int
    label: str
    beside: str
    gone: bool
    taint: Taint
    by: str
    second: bool


def closing(
    *, group: int = 4, others: int = 8, asked: Placement = ANY, room: int = 4000,
    label: str = "pool", beside: str = "node-1", gone: bool = False, taint: Taint | None = None,
    by: str = MACHINE, second: bool = False,
) -> bool:  # fmt: skip
    """Return whether a node of a group may close beside another node that did."""
    shut = msgspec.structs.replace(ROOMY, unschedulable=True)
    free = msgspec.structs.replace(ROOMY, cpu_m=room)
    nodes = [
        node(name, shut if name == beside else ROOMY, **{label: "old"})
        for name in (f"node-{number}" for number in range(group))
    ]
    nodes += [
        node(name, shut if name == beside else free, pool="third" if second and at % 2 else "new")
        for at, name in enumerate(f"other-{number}" for number in range(others))
    ]
    web = [
        with_room(on(one.key.name, workload(f"on-{one.key.name}")), asked) for one in nodes[:group]
    ]
    history = History()
    closed_in_use(history, beside, ago_s=30)
    if gone:
        history.writes.note_closed("node-that-went", START.plus_s(-300))
    how = {"unschedulable": True} if taint is None else {"taints": (taint,)}
    request = rewritten(nodes[0], **how)
    view = GraphView(graph_of(nodes, *web), history)
    (found,) = effects(impact_of(request, view, by=operator(by)), CapacityLost)
    assert found.running == 1
    return found.explained


def test_a_pool_is_closed_before_it_is_drained() -> None:
    """Four of twelve, told by a label that they alone bear, and room on the others for them all."""
    assert closing()


@pytest.mark.parametrize(
    ("world", "as_one"),
    [
        pytest.param({"others": 7}, False, id="more-than-a-third"),
        pytest.param({"others": 4, "by": PERSON}, True, id="half-by-a-person"),
        pytest.param({"others": 4, "by": PERSON, "second": True}, False, id="others-of-two-pools"),
        pytest.param({"others": 3, "by": PERSON}, False, id="more-than-half-by-a-person"),
        pytest.param({"beside": "other-0"}, False, id="of-another-pool"),
        pytest.param({"room": 500}, False, id="no-room-on-the-others"),
        pytest.param({"room": 1000, "others": 8}, True, id="room-for-each"),
        pytest.param({"asked": OF_THE_GROUP}, False, id="what-runs-there-asks-for-the-group"),
        pytest.param({"taint": Taint("retired")}, True, id="closed-by-a-taint"),
        pytest.param({"taint": Taint("retired", "", NO_EXECUTE)}, False, id="driven-away"),
        pytest.param({"taint": Taint("node.kubernetes.io/x")}, False, id="which-fails"),
        pytest.param({"gone": True}, False, id="while-another-went"),
        pytest.param({"label": CONTROL_PLANE}, False, id="of-the-control-plane"),
        pytest.param(
            {"group": GROUP_NODES + 1, "others": 3 * GROUP_NODES}, False, id="too-many-to-weigh"
        ),
    ],
)
def test_nodes_close_as_one_only_where_they_are_few_and_alike(
    world: World, *, as_one: bool
) -> None:
    """A drainer that closes whatever it meets soon meets a node of another pool, or no room."""
    assert closing(**world) is as_one


def test_the_first_node_that_closes_is_counted() -> None:
    """Alone it is of no group yet: its share is what a budget allows anyway."""
    nodes = [node("node-0", pool="old"), *(node(f"other-{number}") for number in range(9))]
    there = on("node-0", workload("web"))

    (found,) = lost(rewritten(nodes[0], unschedulable=True), graph_of(nodes, there))

    assert not found.explained
