"""The neighbourhood of an object: every neighbour once, alike ones together, nothing invented."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cluster import BALANCERS, crd, graph_of, owner, service, thing, view_of, workload
from support.cluster import namespace as space
from support.shop import (
    APPLICATIONS,
    MISSING,
    PODS_READY,
    PODS_WANTED,
    SERVICE,
    SETTINGS,
    SPACE,
    WEB,
    made,
    shop,
)
from suture.model import neighbourhood as walking
from suture.model.boxes import Box, Condition, Line, Neighbourhood, Presence
from suture.model.edges import Edge, Need
from suture.model.facts import KeysFacts
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICES,
    ObjectKey,
)
from suture.model.neighbourhood import neighbourhood
from suture.model.neighbours import Side, neighbours
from suture.model.objects import ClusterObject, OwnerReference


def around(graph: Graph, key: ObjectKey, depth: int = walking.DEPTH) -> Neighbourhood:
    view = GraphView(graph)
    row = view.find(key)
    assert row is not None
    return neighbourhood(view, row, graph.kinds, depth=depth)


def one(found: Neighbourhood, kind: str, side: Side | None = None) -> Box:
    """Return the only box of a kind."""
    (box,) = [box for box in found.boxes[1:] if box.kind == kind and side in (None, box.side)]
    return box


def lines_to(found: Neighbourhood, box: Box) -> list[Line]:
    return [line for line in found.lines if line.needed == box.number]


# ---- what is shown


def test_pods_of_a_replica_set_are_one_box() -> None:
    """With how many there are, how many are ready, and whose they are."""
    pods = one(around(shop(), SERVICE), "Pod")

    assert pods.count == PODS_WANTED
    assert pods.owner == "ReplicaSet web-5d9"
    assert pods.condition == Condition(countable=PODS_WANTED, ready=PODS_READY)
    assert len(pods.names) == min(PODS_WANTED, 12)


def test_endpoints_of_a_service() -> None:
    """Ready ones, of the pods that it selects."""
    condition = around(shop(), SERVICE).centre.condition

    assert (condition.endpoints, condition.backing) == (PODS_READY, PODS_WANTED)


def test_missing_and_unknown_are_two_things() -> None:
    """A kind that was listed lacks the object; of a kind that was not, nobody knows."""
    found = around(shop(), WEB)
    missing = {
        box.names[0]: all(line.optional for line in lines_to(found, box))
        for box in found.boxes
        if box.presence is Presence.MISSING
    }
    unknown = [box for box in found.boxes if box.presence is Presence.UNKNOWN]

    assert missing == {"web-payments": False, "web-flags": True}
    assert [box.resource for box in unknown] == [APPLICATIONS]
    assert unknown[0].why


def test_what_may_be_in_a_namespace_or_not_is_looked_for_where_it_can_be() -> None:
    """A field that may name either is read as both; of its type there are objects in one alone."""
    either = tuple(
        Need(Edge.PROVIDER, ObjectKey(BALANCERS, space, "edge"), optional=True)
        for space in ("", "shop")
    )
    settings = msgspec.structs.replace(thing(CONFIG_MAPS, "settings", "shop"), needs=either)
    graph = graph_of(space("shop"), crd(BALANCERS), settings)
    found = around(graph, ObjectKey(CONFIG_MAPS, "shop", "settings"))

    balancer = one(found, "Balancer")
    assert (balancer.namespace, balancer.names) == ("shop", ("edge",))


def test_a_kind_that_is_not_granted_says_why() -> None:
    """In the words that the API server refused it with."""
    graph = shop()
    graph.mark_unknown(SECRETS, "403 Forbidden")

    found = around(graph, WEB)

    assert {box.why for box in found.boxes if box.resource == SECRETS} == {"403 Forbidden"}


def test_keys_that_are_read_and_not_there() -> None:
    """The object exists, and yet no pod that reads such a key can start."""
    graph = shop()
    graph.put(made(CONFIG_MAPS, SETTINGS.name, facts=KeysFacts(("LOG_LEVEL", "OTHER"))))

    (line,) = lines_to(found := around(graph, WEB), one(found, "ConfigMap"))

    assert line.keys == ("CURRENCY", "LOG_LEVEL")
    assert line.lost == ("CURRENCY",)


def test_what_pods_need_is_not_said_again_of_their_owners() -> None:
    """A Service's pods need the ConfigMap; their ReplicaSet's and Deployment's template repeat it."""
    found = around(shop(), SERVICE)
    settings_box = one(found, "ConfigMap")

    assert {found.boxes[line.needer].kind for line in lines_to(found, settings_box)} == {"Pod"}


def test_who_needs_a_config_map_is_its_workload() -> None:
    """The Deployment is named; its ReplicaSets and their pods follow behind it."""
    found = around(shop(), SETTINGS)
    deployment = one(found, "Deployment")
    replica_sets = [box for box in found.boxes if box.resource == REPLICA_SETS]

    assert {line.needer for line in found.lines if line.edge is Edge.CONFIG_MAP} == {
        deployment.number
    }
    assert {(box.depth, box.count) for box in replica_sets} == {(2, 1)}
    assert one(found, "Pod").depth == 3


def test_namespaces_of_neighbours_are_no_news() -> None:
    """The object's own is shown, and no other."""
    found = around(shop(), WEB)

    assert one(found, "Namespace").depth == 1
    assert len([line for line in found.lines if line.edge is Edge.NAMESPACE]) == 1


def test_members_of_a_namespace_are_gathered_by_kind() -> None:
    """One box a kind, counted in full, with the edges between them."""
    found = around(shop(), ObjectKey(NAMESPACES, "", SPACE))

    assert one(found, "Pod").count == PODS_WANTED
    assert one(found, "Service").depth == 1
    assert Edge.SELECTS in {line.edge for line in found.lines}


def test_instances_of_a_definition() -> None:
    """They need it, and one instance shows it among what it needs."""
    balancers = [thing(BALANCERS, f"b-{at}", "prod") for at in range(9)]
    graph = graph_of(crd(), balancers)

    by_definition = around(graph, ObjectKey(CRDS, "", str(BALANCERS)))
    by_instance = around(graph, balancers[0].key)

    assert one(by_definition, "Balancer").count == len(balancers)
    assert one(by_instance, "CustomResourceDefinition").side is Side.NEEDS


def test_siblings_beyond_what_can_be_shown_are_counted() -> None:
    """The largest groups are shown; the rest is one box, and nothing is lost from the count."""
    workloads = [workload(f"app-{at}", replicas=at + 2) for at in range(20)]
    pods = [one for many in workloads for one in many if one.key.resource == PODS]
    node = thing(NODES, "node-1")
    placed = [msgspec.structs.replace(pod, needs=(Need(Edge.NODE, node.key),)) for pod in pods]

    found = around(graph_of(node, [o for w in workloads for o in w], placed), node.key, depth=1)
    boxes = found.boxes[1:]

    assert len(boxes) == walking.SHOWN
    assert [box.rest for box in boxes].count(True) == 1
    assert sum(box.count for box in boxes) == len(pods)
    assert boxes[0].count == 21


def test_children_of_a_box_are_as_alike_as_it_is() -> None:
    """Nine Balancers are one box, and so are the Services of all of them."""
    balancers = [thing(BALANCERS, f"b-{at}", "prod") for at in range(9)]
    services = [
        service(f"s-{at}", "prod", owners=(controlled_by(balancers[at % 9]),)) for at in range(18)
    ]

    found = around(graph_of(crd(), balancers, services), ObjectKey(CRDS, "", str(BALANCERS)))

    assert [(box.kind, box.count, box.owner) for box in found.boxes[1:]] == [
        ("Balancer", 9, ""),
        ("Service", 18, ""),
    ]


def test_the_resource_that_alone_owns_is_told_as_controller() -> None:
    """Its pods are told as its own, though their reference does not say `controller`."""
    balancer = thing(BALANCERS, "b", SPACE)
    owned = [owner(balancer, controller=False)]
    pods = [thing(PODS, f"p-{at}", SPACE, labels={"app": "web"}, owners=owned) for at in range(9)]

    found = around(graph_of(crd(), balancer, pods, service("web", SPACE)), SERVICE, depth=1)

    assert one(found, "Pod").owner == "Balancer b"


def test_depth_bounds_the_walk_and_says_so() -> None:
    """What lies behind the last box is announced."""
    near = around(shop(), SERVICE, depth=1)

    assert {box.depth for box in near.boxes} == {0, 1}
    assert one(near, "Pod").more
    assert not one(around(shop(), SERVICE), "Deployment").more


def test_a_depth_without_bound_ends_where_nothing_follows() -> None:
    """However many steps are asked for."""
    found = around(shop(), SERVICE, depth=10**12)

    assert found.boxes == around(shop(), SERVICE, depth=50).boxes


def test_edges_between_boxes_say_of_how_many_objects() -> None:
    """Two of nine pods mount one claim each of three: not all nine."""
    claims = [thing(CLAIMS, f"data-{at}", "prod") for at in range(3)]
    pods = [thing(PODS, f"p-{at}", "prod") for at in range(9)]
    mounting = [
        msgspec.structs.replace(pod, needs=(Need(Edge.CLAIM, claim.key),))
        for pod, claim in zip(pods, claims[:2], strict=False)
    ]

    found = around(
        graph_of(space("prod"), claims, mounting, pods[2:]), ObjectKey(NAMESPACES, "", "prod")
    )
    (line,) = [line for line in found.lines if line.edge is Edge.CLAIM]

    assert (one(found, "Pod").count, line.objects, line.links) == (9, 2, 2)


def test_what_terminates_is_marked() -> None:
    """Its delete was accepted, and it is still there."""
    found = around(shop(), SERVICE)
    ingress = [box for box in found.boxes if box.kind == "Ingress" and box.condition.terminating]

    assert [box.names for box in ingress] == [("web-internal",)]


def test_an_object_whose_removal_was_admitted_is_gone() -> None:
    """Nothing leads to it any more."""
    graph = shop()
    graph.leave(graph.uid(graph.row(SETTINGS) or 0))

    assert all(box.kind != "ConfigMap" or box.presence is Presence.MISSING
               for box in around(graph, WEB).boxes)  # fmt: skip


def test_one_side_alone() -> None:
    """Only the sides that are asked for are walked."""
    graph = shop()
    view = GraphView(graph)
    row = view.find(WEB)
    assert row is not None

    found = neighbourhood(view, row, graph.kinds, sides=(Side.NEEDED_BY,))

    assert {box.side for box in found.boxes[1:]} == {Side.NEEDED_BY}
    assert MISSING.name not in {name for box in found.boxes for name in box.names}


def test_owners_in_a_ring() -> None:
    """Two objects that control each other, and need the same: both are shown, once."""
    first, second = thing(BALANCERS, "a", "prod"), thing(BALANCERS, "b", "prod")
    needs = (Need(Edge.CONFIG_MAP, ObjectKey(CONFIG_MAPS, "prod", "settings")),)
    ring = [
        msgspec.structs.replace(one_, owners=(controlled_by(other),), needs=needs)
        for one_, other in ((first, second), (second, first))
    ]
    view = view_of(thing(CONFIG_MAPS, "settings", "prod"), ring)
    row = view.find(needs[0].target)
    assert row is not None

    found = neighbourhood(view, row, {})

    assert sum(box.count for box in found.boxes if box.side is Side.NEEDED_BY) == 2


def controlled_by(other: ClusterObject) -> OwnerReference:
    return msgspec.structs.replace(owner(other), controller=True)


# ---- against a slow and obvious walk

NAMES = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from([PODS, CONFIG_MAPS, BALANCERS, SERVICES])


@st.composite
def clusters(draw: st.DrawFn) -> list[ClusterObject]:
    """Draw a handful of objects that own, select and need each other, and what is not there."""
    keys = draw(st.lists(st.tuples(KINDS, NAMES), min_size=1, max_size=8, unique=True))
    things = []
    for resource, name in keys:
        targets = draw(st.lists(st.tuples(KINDS, NAMES), max_size=3, unique=True))
        owners = draw(st.lists(st.sampled_from(keys), max_size=1))
        made = service(name, "p") if resource == SERVICES else thing(resource, name, "p")
        things.append(
            msgspec.structs.replace(
                made,
                owners=tuple(controlled_by(thing(kind, whose, "p")) for kind, whose in owners),
                needs=tuple(
                    Need(Edge.RULE, ObjectKey(kind, "p", target)) for kind, target in targets
                ),
            )
        )
    return things


def closure(view: GraphView, row: int, side: Side) -> set[ObjectKey]:
    """Return everything that can be reached on one side, step by step."""
    start = view.at(row).key
    reached, new = {start}, [row]
    while new:
        step = [
            link
            for at in new
            for link in neighbours(view, at, side)
            if link.edge is not Edge.NAMESPACE or at == row or side is Side.NEEDED_BY
        ]
        new = []
        for link in step:
            if link.other not in reached:
                reached.add(link.other)
                new += [link.row] if link.present else []
    return reached - {start}


def names_of(boxes: Iterable[Box]) -> list[ObjectKey]:
    return [ObjectKey(box.resource, box.namespace, name) for box in boxes for name in box.names]


@given(clusters(), st.data())
def test_the_walk_finds_what_a_slow_one_finds(
    things: list[ClusterObject], data: st.DataObject
) -> None:
    """All of it, each object in one box a side, every box connected, every edge a real one."""
    graph = graph_of(space("p"), things)
    view = GraphView(graph)
    centre = data.draw(st.sampled_from(things))
    row = view.find(centre.key)
    assert row is not None

    found = neighbourhood(view, row, graph.kinds, depth=20)

    for side in Side:
        boxes = [box for box in found.boxes if box.side is side]
        assert sorted(names_of(boxes)) == sorted(closure(view, row, side))
        assert_connected(found, side)
    assert_real(found, view)


def assert_connected(found: Neighbourhood, side: Side) -> None:
    numbers = {box.number for box in found.boxes if box.side is side}
    reached = {0}
    for _ in found.boxes:
        for line in found.lines:
            ends = (line.needer, line.needed) if side is Side.NEEDS else (line.needed, line.needer)
            if ends[0] in reached and ends[1] in numbers:
                reached.add(ends[1])
    assert numbers <= reached


def assert_real(found: Neighbourhood, view: GraphView) -> None:
    """Every line stands for at least one link of the view."""
    for line in found.lines:
        needers = names_of([found.boxes[line.needer]])
        needed = set(names_of([found.boxes[line.needed]]))
        rows = [row for key in needers if (row := view.find(key)) is not None]
        assert any(
            link.edge is line.edge and link.other in needed
            for row in rows
            for link in neighbours(view, row, Side.NEEDS)
        )


@pytest.mark.parametrize("key", [WEB, SERVICE, SETTINGS])
def test_the_same_graph_gives_the_same_neighbourhood(key: ObjectKey) -> None:
    """In the same order, whatever order things came in."""
    forward, backward = shop(), Graph()
    for resource, fresh in forward.freshness.items():
        if fresh.listed:
            backward.note_listed(resource)
    for (group, kind), resource in forward.kinds.items():
        backward.declare(group, kind, resource)
    for thing_ in reversed(list(forward)):
        backward.put(thing_)

    assert around(forward, key) == around(backward, key)
