"""Machines of nodes: who removes one is weighed as who closes its node."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import CapacityLost, ExternalDeleted, ObjectsRemoved
from suture.impact.ground.kinds import is_custom
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS, Propagation, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, NodeFacts, PodFacts
from suture.model.request import DeleteOptions, Request

MACHINES = Resource("fleet.example.com", "machines")
CLAIMS_OF_NODES = Resource("fleet.example.com", "nodeclaims")
ROOMY = NodeFacts(ready=True, cpu_m=4000, memory_mi=8192, pods=110)
KEPT = ("fleet.example.com/drain",)


def machine(
    name: str = "machine-0", said: str = "cloud:///zone/0", finalizers: tuple[str, ...] = KEPT
) -> ClusterObject:
    made = thing(MACHINES, name, "fleet", facts=CustomFacts(outside=said))
    return msgspec.structs.replace(made, finalizers=finalizers)


def removed(target: ClusterObject, status: object, **labels: str) -> Request:
    """Ask for the delete of a machine that has a status, and perhaps labels."""
    metadata = {"labels": labels or None}
    body = msgspec.json.encode({"kind": "Machine", "metadata": metadata, "status": status})
    return msgspec.structs.replace(delete(target), old_body=body)


def view_of(*machines: ClusterObject) -> GraphView:
    nodes = [thing(NODES, f"node-{n}", facts=ROOMY) for n in range(3)]
    web = [
        msgspec.structs.replace(one, facts=PodFacts(ready=True, node="node-0"))
        if one.key.resource == PODS
        else one
        for one in workload("web")
    ]
    return GraphView(graph_of(*machines, *nodes, web), None)


@pytest.mark.parametrize(
    ("status", "labels"),
    [
        ({"nodeRef": {"name": "node-0"}}, {}),
        ({"nodeName": "node-0"}, {}),
        ({"node": "node-0"}, {}),
        ({"node": {"name": "node-0"}}, {}),
        ({"phase": "Running"}, {"node": "node-0"}),
        (None, {"node": "node-0"}),
    ],
)
def test_a_machine_goes_as_its_node_does(status: object, labels: dict[str, str]) -> None:
    """Its node closes, with all that runs on it; it is no thing outside of its own."""
    one = machine()

    impact = impact_of(removed(one, status, **labels), view_of(one))

    (node,) = effects(impact, CapacityLost)
    assert (node.how, node.nodes, node.running) == ("cordoned", 1, 1)
    (outside,) = effects(impact, ExternalDeleted)
    assert (outside.count, outside.explained) == (1, 1)


@pytest.mark.parametrize(
    ("one", "status"),
    [
        pytest.param(machine(), {"nodeRef": {"name": "gone"}}, id="no such node"),
        pytest.param(machine(), {"nodeRef": ["node-0"]}, id="odd"),
        pytest.param(machine(), None, id="no status"),
        pytest.param(machine(said="Delete"), {"nodeName": "node-0"}, id="no machine"),
        pytest.param(machine(finalizers=()), {"nodeName": "node-0"}, id="nothing drains it"),
    ],
)
def test_what_is_no_machine_of_a_node_closes_none(one: ClusterObject, status: object) -> None:
    """It is what it says of itself, and is charged as that."""
    impact = impact_of(removed(one, status), view_of(one))

    assert effects(impact, CapacityLost) == []
    assert all(not each.explained for each in effects(impact, ExternalDeleted))


def given_up(
    status: object, *, said: str = "cloud:///zone/0", by: str = "", minutes: int = 15
) -> bool:
    """Whether what the actor made some minutes ago, for a set, may go as if nothing was outside."""
    of = thing(MACHINES, "set", "fleet")
    one = msgspec.structs.replace(machine(said=said), owners=(owner(of),))
    view = GraphView(graph_of(of, one), History())
    maker = by or "system:serviceaccount:lb:operator"
    view.history.note_created(one.uid, maker, maker, one.key, START)
    impact = impact_of(removed(one, status), view, now=START.plus_s(minutes * 60))
    (outside,) = effects(impact, ExternalDeleted)
    return outside.explained == outside.count == 1


def test_a_machine_of_which_no_node_has_come() -> None:
    """It was made a quarter of an hour ago and has not joined: its maker makes another."""
    assert given_up({"conditions": [{"type": "Registered", "status": "Unknown"}]})


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(lambda: given_up({"nodeName": "node-0"}), id="it has joined"),
        pytest.param(lambda: given_up({"nodeRef": {"name": "far"}}), id="another cluster"),
        pytest.param(lambda: given_up({}, minutes=90), id="long ago"),
        pytest.param(lambda: given_up({}, by="developer@example.com"), id="somebody made it"),
        pytest.param(lambda: given_up({}, said="https://cloud/db/0"), id="no machine"),
    ],
)
def test_what_stands_for_a_thing_outside_all_the_same(counts: Callable[[], bool]) -> None:
    """The incident: machines that run, and what is none, go a few in an hour."""
    assert not counts()


@pytest.mark.parametrize(
    ("ended", "said", "kept", "explained"),
    [
        pytest.param(Ended.FAILED, "cloud:///zone/0", True, 1, id="terminated"),
        pytest.param(Ended.NO, "cloud:///zone/0", True, 0, id="runs"),
        pytest.param(Ended.FAILED, "arn:aws:rds:eu:1:db:orders", True, 0, id="a-database"),
        pytest.param(Ended.FAILED, "cloud:///zone/0", False, 0, id="nobody-makes-another"),
    ],
)
def test_a_machine_that_has_failed_for_good(
    ended: Ended, said: str, explained: int, *, kept: bool
) -> None:
    """Its provider finds it terminated: nothing is there any more, and its set makes another."""
    of = thing(MACHINES, "set", "fleet")
    one = msgspec.structs.replace(
        machine(),
        facts=CustomFacts(outside=said, ended=ended),
        owners=(owner(of),) if kept else (),
    )
    (outside,) = effects(impact_of(delete(one), view_of(of, one)), ExternalDeleted)
    assert (outside.count, outside.explained) == (1, explained)


def test_nodes_of_machines_that_went_lately_are_leaving() -> None:
    """So that a fleet goes no faster by its machines than by its nodes."""
    first, second = machine(), machine("machine-1", "cloud:///zone/1")
    view = view_of(first, second)
    request = removed(first, {"nodeName": "node-0"})

    remember(request, project(request, view), view, START)

    (node,) = effects(impact_of(removed(second, {"nodeName": "node-1"}), view), CapacityLost)
    assert node.leaving == 1


def owning(count: int = 3, *, finalizers: tuple[str, ...] = KEPT) -> list[ClusterObject]:
    """Make machines that say nothing of themselves, each the owner of a node in use."""
    named = [thing(CLAIMS_OF_NODES, f"claim-{n}") for n in range(count)]
    machines = [msgspec.structs.replace(one, finalizers=finalizers) for one in named]
    made: list[ClusterObject] = list(machines)
    for n, one in enumerate(machines):
        node = thing(NODES, f"node-{n}", facts=ROOMY)
        made.append(msgspec.structs.replace(node, owners=(owner(one),)))
        pods = workload(f"web-{n}")
        on_it = PodFacts(ready=True, node=f"node-{n}")
        made += [
            msgspec.structs.replace(each, facts=on_it) if each.key.resource == PODS else each
            for each in pods
        ]
    return made


@pytest.mark.parametrize(
    ("finalizers", "propagation", "how"),
    [
        pytest.param(KEPT, None, "cordoned", id="it drains its node first"),
        pytest.param(KEPT, Propagation.BACKGROUND, "cordoned", id="the same"),
        pytest.param(KEPT, Propagation.FOREGROUND, "deleted", id="the node is collected at once"),
        pytest.param((), None, "deleted", id="nothing drains it"),
    ],
)
def test_a_node_that_names_its_machine_goes_after_it(
    finalizers: tuple[str, ...], propagation: Propagation | None, how: str
) -> None:
    """The collector waits for the machine, and the machine for who drains the node."""
    made = owning(finalizers=finalizers)
    options = DeleteOptions(propagation=propagation)
    request = msgspec.structs.replace(delete(made[0]), options=options)

    (node,) = effects(impact_of(request, GraphView(graph_of(made))), CapacityLost)

    assert (node.how, node.nodes, node.running) == (how, 1, 1)


def test_machines_that_go_one_after_the_other_close_their_nodes() -> None:
    """Their nodes count as closed, and not as gone, as long as nobody drained them."""
    made = owning()
    graph = graph_of(made)
    view = GraphView(graph, History())
    for one in made[:2]:
        request = delete(one)
        change = project(request, view)
        remember(request, change, view, START)
        for row in (*change.direct, *change.cascaded):
            graph.leave(view.uid(row))

    (node,) = effects(impact_of(delete(made[2]), view), CapacityLost)

    assert (node.how, node.leaving, node.gone) == ("cordoned", 2, 0)


@pytest.mark.parametrize(
    ("let_go", "minutes", "explained"),
    [
        pytest.param(True, 5, True, id="its machine was let go"),
        pytest.param(True, 90, False, id="long ago"),
        pytest.param(False, 5, False, id="its machine stays"),
    ],
)
def test_a_node_is_closed_whose_machine_was_let_go(
    minutes: int, *, let_go: bool, explained: bool
) -> None:
    """It was weighed when the machine was; whoever drains it does what was let through."""
    one = machine()
    view = view_of(one)
    if let_go:
        request = removed(one, {"nodeName": "node-0"})
        remember(request, project(request, view), view, START)
    node = thing(NODES, "node-0", facts=ROOMY)
    shut = thing(NODES, "node-0", facts=msgspec.structs.replace(ROOMY, unschedulable=True))

    impact = impact_of(update(node, shut), view, now=START.plus_s(minutes * 60))

    (closed,) = effects(impact, CapacityLost)
    assert (closed.how, closed.explained) == ("cordoned", explained)


@pytest.mark.parametrize(
    ("group", "custom"),
    [
        ("fleet.example.com", True),
        ("cluster.k8s.io", True),
        ("sparkoperator.k8s.io", True),
        ("kueue.x-k8s.io", True),
        ("apps", False),
        ("", False),
        ("networking.k8s.io", False),
        ("policy.networking.k8s.io", False),
        ("snapshot.storage.k8s.io", False),
        ("custom.metrics.k8s.io", False),
    ],
)
def test_a_group_of_the_community_is_not_kubernetes_own(group: str, *, custom: bool) -> None:
    """Operators have types there as they have under any other name."""
    assert is_custom(Resource(group, "things")) == custom


def test_a_set_that_was_made_smaller_spares_no_more_than_that() -> None:
    """Whatever its group: two of three may go as it wants one, and the last closes its node."""
    machines = Resource("cluster.k8s.io", "machines")
    parent = thing(
        Resource("cluster.k8s.io", "machinesets"), "set", "fleet", facts=CustomFacts(wanted=1)
    )
    members = [
        msgspec.structs.replace(
            thing(
                machines, f"machine-{n}", "fleet", owners=[owner(parent)],
                facts=CustomFacts(outside=f"cloud:///zone/{n}"),
            ),
            finalizers=KEPT,
        )
        for n in range(3)
    ]  # fmt: skip
    left = members
    explained = []
    for n in range(3):
        view = view_of(parent, *left)
        told = effects(impact_of(removed(left[0], {"nodeName": f"node-{n}"}), view), ObjectsRemoved)
        explained += [one.explained for one in told if one.resource == str(machines)]
        left = left[1:]

    assert explained == [1, 1, 0]


DEPLOYMENTS = Resource("fleet.example.com", "machinedeployments")
SETS = Resource("fleet.example.com", "machinesets")


@pytest.mark.parametrize(
    ("members", "kind", "written", "in_use"),
    [
        pytest.param(2, SETS, False, 1, id="its machines go along"),
        pytest.param(0, SETS, False, 0, id="an emptied one"),
        pytest.param(2, SETS, True, 0, id="its parent has changed"),
        pytest.param(2, Resource("fleet.example.com", "racks"), False, 0, id="no set of machines"),
    ],
)
def test_a_set_of_machines_that_its_parent_asks_for(
    members: int, kind: Resource, *, written: bool, in_use: int
) -> None:
    """It is in use by the machines that it keeps, as long as nobody has changed what is wanted."""
    parent = thing(DEPLOYMENTS, "pool", "fleet", facts=CustomFacts(wanted=2))
    root = thing(kind, "pool-a", "fleet", owners=[owner(parent)], facts=CustomFacts(wanted=2))
    kept = [
        msgspec.structs.replace(
            machine(f"machine-{n}", f"cloud:///zone/{n}"), owners=(owner(root),)
        )
        for n in range(members)
    ]
    view = GraphView(graph_of(parent, root, *kept), History())
    if written:
        bodies = (b'{"spec":{"replicas":2}}', b'{"spec":{"replicas":3}}')
        change = update(parent, parent, bodies=bodies)
        remember(change, project(change, view), view, START)
    told = effects(impact_of(delete(root), view, now=START), ObjectsRemoved)
    (effect,) = (one for one in told if one.resource == str(kind))
    assert (effect.wanted, effect.in_use) == (1, in_use)


@pytest.mark.parametrize(
    ("pods_each", "unplaced"),
    [
        pytest.param(3, [0, 0, 0, 6, 12], id="three-of-six-hold-them"),
        pytest.param(1, [0, 0, 0, 0, 0], id="one-of-six-holds-them"),
    ],
)
def test_machines_that_a_lower_number_lets_go_leave_room_for_their_pods(
    pods_each: int, unplaced: list[int]
) -> None:
    """A cause says that they go; beside others that close, it makes no room for what ran there."""
    small = msgspec.structs.replace(ROOMY, pods=6)
    parent = thing(SETS, "set", "fleet", facts=CustomFacts(wanted=1))
    members = [
        msgspec.structs.replace(
            machine(f"machine-{n}", f"cloud:///zone/{n}"), owners=(owner(parent),)
        )
        for n in range(6)
    ]
    nodes = [thing(NODES, f"node-{n}", facts=small) for n in range(6)]
    web = iter(range(6 * pods_each))
    pods = [
        msgspec.structs.replace(one, facts=PodFacts(ready=True, node=f"node-{next(web) % 6}"))
        if one.key.resource == PODS
        else one
        for one in workload("web", replicas=6 * pods_each)
    ]
    view = GraphView(graph_of(parent, *members, *nodes, pods), None)

    lost: list[int] = []
    for n in range(5):
        request = removed(members[n], {"nodeName": f"node-{n}"})
        impact = project(request, view)
        found = effects(impact_of(request, view), CapacityLost)
        lost.append(sum(one.unplaced for one in found))
        assert [one.explained for one in found] == [False] * bool(lost[-1])
        remember(request, impact, view, START)

    assert lost == unplaced


@pytest.mark.parametrize(
    ("joined", "minutes", "unplaced"),
    [
        pytest.param(False, 1, [6], id="the-incident-a-pool-set-to-less"),
        pytest.param(True, 1, [], id="the-twin-a-full-pool-renewed"),
        pytest.param(False, 15, [], id="long-ago"),
    ],
)
def test_a_machine_let_go_after_another_went_and_none_joined(
    joined: bool, minutes: int, unplaced: list[int]
) -> None:
    """Each is drained and gone before the next goes, so that no other is ever seen to close."""
    small = msgspec.structs.replace(ROOMY, pods=6)
    parent = thing(SETS, "set", "fleet", facts=CustomFacts(wanted=1))
    members = [
        msgspec.structs.replace(machine(f"machine-{n}"), owners=(owner(parent),)) for n in range(2)
    ]
    nodes = [thing(NODES, f"node-{n}", facts=small) for n in range(2)]
    if joined:
        nodes[1] = msgspec.structs.replace(nodes[1], created=START.utc_s - 60.0)
    pods = [
        msgspec.structs.replace(one, facts=PodFacts(ready=True, node=f"node-{one.key.name[-1:]}"))
        for app in range(6)
        for one in workload(f"web-{app}", replicas=2)
        if one.key.resource == PODS
    ]
    view = GraphView(graph_of(parent, *members, *nodes, pods), History())
    view.history.writes.note_closed("node-2", START)

    request = removed(members[0], {"nodeName": "node-0"})
    found = effects(impact_of(request, view, now=START.plus_s(minutes * 60)), CapacityLost)
    assert [one.unplaced for one in found] == unplaced
