"""The graph as its writers meet it: lost news is healed by lists, late news does no harm."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from support.cluster import BALANCERS, START, owner, service, thing, view_of, workload
from support.smallworld import ALL_SELECTORS, SOME_TYPES, Types, objects, scaled
from suture.lab.soak.compare import check_indexes, differences
from suture.lab.soak.slowgraph import SlowGraph
from suture.model.edges import Edge, Need
from suture.model.graph import Graph, GraphView, Life, Put
from suture.model.labels import Labels
from suture.model.names import CONFIG_MAPS, NODES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodFacts

Event = tuple[bool, ClusterObject]
"""An object was written (true) or removed, as a watch would tell."""

FATES = st.sampled_from(["told", "told", "lost", "twice", "late"])


def tell(graph: Graph, event: Event) -> None:
    """Do what a watch event says."""
    written, one = event
    if written:
        graph.put(one)
    else:
        graph.remove(one.key, one.uid)


def agree(graph: Graph, slow: SlowGraph) -> None:
    """Hold every query of the graph against a walk, and its indexes against new ones."""
    found = differences(graph, GraphView(graph), slow, selectors=ALL_SELECTORS)
    assert not found, "\n".join(found)
    check_indexes(graph)


@settings(max_examples=scaled(50))
@given(types=SOME_TYPES, data=st.data())
def test_a_relist_heals_whatever_was_lost(types: Types, data: st.DataObject) -> None:
    """After news that was lost, doubled and late, a list of each type makes all of it true.

    The graph then is what one is that saw nothing but the lists, index by index.
    """
    history = data.draw(st.lists(st.tuples(st.booleans(), objects(types)), max_size=20))
    graph, truth, late = Graph(), SlowGraph(), list[Event]()
    for event in history:
        written, one = event
        if written:
            truth.put(one)
        else:
            truth.remove(one.key, one.uid)
        fate = data.draw(FATES)
        if fate == "late":
            late.append(event)
        elif fate != "lost":
            for _ in range(1 + (fate == "twice")):
                tell(graph, event)
    for event in late:
        tell(graph, event)

    fresh = Graph()
    for resource in data.draw(st.permutations(sorted(set(types)))):
        listed = [one for one in truth if one.key.resource == resource]
        for each in (graph, fresh):
            each.replace(resource, listed)
    agree(graph, truth)
    agree(fresh, truth)


def test_a_list_that_has_everything_leaves_nothing_to_look_at() -> None:
    """As many seen as there are is all of them, unless one that was seen has ended since."""
    graph = Graph()
    ours = [thing(CONFIG_MAPS, f"c{number}", "n") for number in range(3)]
    for whole in (True, False):
        sweep = graph.sweep(CONFIG_MAPS)
        for one in ours:
            graph.put(one)
            sweep.see_row(graph.row_put)
            sweep.see_row(graph.row_put)
        if whole:
            assert list(sweep.parts()) == []
        else:
            graph.remove(ours[0].key)
            graph.put(thing(SERVICES, "s", "n"))
            late = thing(CONFIG_MAPS, "late", "n")
            graph.put(late)
            assert graph.count(CONFIG_MAPS) == len(ours)
            assert list(sweep.rest()) == [(late.key, late.uid)]


@settings(max_examples=scaled(40))
@given(types=SOME_TYPES, data=st.data())
def test_a_sweep_yields_what_no_list_has(types: Types, data: st.DataObject) -> None:
    """What a list has not is yielded once, also while others write between two of its steps."""
    graph, slow = Graph(), SlowGraph()
    for one in data.draw(st.lists(objects(types), max_size=12)):
        graph.put(one)
        slow.put(one)
    resource = types[0]
    sweep = graph.sweep(resource)
    ours = [one for one in slow if one.key.resource == resource]
    seen = {one.uid for one in ours if data.draw(st.booleans())}
    for uid in seen:
        sweep.see(uid)
    missing = {(one.key, one.uid) for one in ours if one.uid not in seen}
    yielded = set[tuple[ObjectKey, str]]()
    for key, uid in sweep.rest():
        assert key.resource == resource
        assert slow.things[key].uid == uid
        assert uid not in seen
        assert (key, uid) not in yielded
        yielded.add((key, uid))
        assert graph.remove(key, uid) == slow.remove(key, uid)
        written, other = data.draw(st.tuples(st.booleans(), objects(types)))
        # What is changed under the sweep's hands may be yielded or not; it is not lost.
        missing = {(left, life) for left, life in missing if left != other.key}
        if written:
            assert graph.put(other) == slow.put(other)
        else:
            assert graph.remove(other.key) == slow.remove(other.key)
    assert missing <= yielded
    agree(graph, slow)


@settings(max_examples=scaled(40))
@given(types=SOME_TYPES, data=st.data())
def test_the_order_of_news_about_different_objects_does_not_matter(
    types: Types, data: st.DataObject
) -> None:
    """Types come side by side: a child before its owner, a pod before its Service, or after."""
    last = {one.key: one for one in data.draw(st.lists(objects(types), max_size=12))}
    graph = Graph()
    for one in data.draw(st.permutations(sorted(last.values(), key=lambda one: one.key))):
        graph.put(one)
    agree(graph, SlowGraph(last.values()))


def test_putting_tells_what_it_did() -> None:
    """New, the same life, another life under the name, and a delete that was accepted since."""
    graph = Graph()
    first = thing(PODS, "p", "n", facts=PodFacts(ready=True))
    going = thing(PODS, "p", "n", facts=PodFacts(ready=True), deleted=9.0)
    other = changed(first, uid="another")

    assert graph.put(first) == Put(Life.NEW)
    assert graph.put(first) == Put(Life.SAME)
    assert graph.put(going) == Put(Life.SAME, terminates=True)
    assert graph.put(going) == Put(Life.SAME)
    assert graph.put(other) == Put(Life.REPLACED, ended=going)


def test_a_late_event_of_an_earlier_life_harms_no_successor() -> None:
    """A removal that names a uid takes only that life of the object."""
    graph = Graph()
    graph.put(service("checkout"))

    assert graph.remove(service("checkout").key, "uid-of-an-earlier-life") is None
    assert graph.row(service("checkout").key) is not None


def test_what_an_object_needs_is_told_after_any_change() -> None:
    """An object that was looked at before others changed is looked at again, needs and all."""
    graph = Graph()
    need = Need(Edge.CONFIG_MAP, ObjectKey(CONFIG_MAPS, "n", "settings"))
    pod = changed(thing(PODS, "p", "n", facts=PodFacts(ready=True)), needs=(need,))
    graph.put(pod)
    row = graph.row(pod.key)
    assert row is not None
    graph.at(row)
    graph.put(thing(PODS, "other", "n"))

    assert list(graph.at(row).needs) == [need]
    assert graph.at(row) == pod


@settings(max_examples=scaled(60))
@given(
    steps=st.lists(
        st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)),
        max_size=30,
    )
)
def test_alike_pods_that_share_their_parts_are_counted_as_if_they_did_not(
    steps: list[tuple[bool, int, int, int]],
) -> None:
    """Siblings as a reader makes them, with the very same labels, owners and needs, are told apart.

    Classes end, their rows become those of others, and the same parts come again.
    """
    makers = [thing(BALANCERS, f"maker-{at}", "shop") for at in range(2)]
    sets = [Labels.of({"app": name}) for name in ("a", "b", "c")]
    owners = [(owner(one),) for one in makers]
    needs = [(), (Need(Edge.CONFIG_MAP, ObjectKey(CONFIG_MAPS, "shop", "c")),)]
    graph, slow = Graph(), SlowGraph()
    for written, name, labels, kind in steps:
        pod = changed(
            thing(PODS, f"p{name}", "shop", facts=PodFacts(ready=True, node=f"n{kind}")),
            labels=sets[labels],
            owners=owners[kind],
            needs=needs[kind],
        )
        for each in (graph, slow):
            if written:
                each.put(pod)
            else:
                each.remove(pod.key, pod.uid)
    agree(graph, slow)


def test_rows_are_used_again() -> None:
    """Objects that come and go for ever take no more rows than there ever were at once."""
    graph = Graph()
    rows = set[int]()
    for number in range(1000):
        one = thing(PODS, f"p-{number}", "n", labels={"n": str(number)}, facts=PodFacts(ready=True))
        graph.put(one)
        row = graph.row(one.key)
        assert row is not None
        rows.add(row)
        graph.remove(one.key, one.uid)

    assert len(rows) <= 32
    assert len(graph) == 0
    check_indexes(graph)


def test_a_node_that_nobody_names_any_more_is_found_anew() -> None:
    """Its row may be another's by then; a pod that names the node again is not linked to that."""
    graph = Graph()

    def pod_at(node: str) -> ClusterObject:
        return thing(PODS, "p", "shop", facts=PodFacts(node=node))

    graph.put(pod_at("n1"))
    graph.remove(pod_at("n1").key)
    for number in range(5):
        graph.put(thing(CONFIG_MAPS, f"c{number}", "shop"))
    graph.put(pod_at("n1"))
    pod = graph.row(pod_at("n1").key)
    assert pod is not None
    facts = graph.facts(pod)
    assert isinstance(facts, PodFacts)
    assert facts.node == "n1"
    graph.check()


def test_the_row_of_what_was_put_last_is_known() -> None:
    """New, changed, of another life or known already: a list is told where it is."""
    graph = Graph()
    one, other = thing(SERVICES, "one", "shop"), thing(SERVICES, "other", "shop")
    for step in (
        one,
        other,
        changed(one, uid="another life"),
        changed(one, uid="another life", labels={"app": "web"}),
        other,
    ):
        graph.put(step)
        assert graph.row_put == graph.row(step.key)
    assert graph.news(changed(one, uid="another life", labels={"app": "web"})) is None
    assert graph.row_put == graph.row(one.key)


def test_an_object_is_renewed_as_if_it_were_put() -> None:
    """Nothing but its version differs, and what was read before is read anew."""
    one = thing(SERVICES, "one", "shop", labels={"app": "web"})
    graph, wanted = Graph(), Graph()
    graph.put(one)
    wanted.put(changed(one, resource_version="8"))
    row = graph.row(one.key)
    assert row is not None
    assert graph.at(row) == one

    graph.renew(one.key, "8")

    assert graph.at(row) == changed(one, resource_version="8")
    assert list(graph) == list(wanted)
    check_indexes(graph)
    with pytest.raises(KeyError):
        graph.renew(ObjectKey(SERVICES, "shop", "none"), "8")


def test_a_type_is_known_unknown_or_not_told_of() -> None:
    """Listed, unlistable and never heard of are three things; an empty list is not the last."""
    graph = Graph()
    view = GraphView(graph)
    assert not view.listed(NODES)
    graph.declare("", "Node", NODES)
    assert not view.listed(NODES)
    graph.replace(NODES, [])
    graph.heard(NODES, "7", START.mono_ns)
    assert view.listed(NODES)
    assert view.lists_kind("", "Node")
    graph.mark_unknown(NODES, "forbidden")
    assert view.unknown(NODES) == "forbidden"
    assert not view.listed(NODES)
    graph.heard(NODES, "8", START.mono_ns)
    assert view.listed(NODES)


def test_a_service_without_a_selector_selects_nothing() -> None:
    """An empty or absent selector of a Service selects no pod, not every pod."""
    view = view_of(service("manual", app=""), workload("checkout", replicas=2))
    pod = view.find(ObjectKey(PODS, "prod", "checkout-1-0"))

    assert pod is not None
    assert view.services_selecting(view.at(pod)) == []


@pytest.mark.parametrize("gone", [PODS, SERVICES])
def test_relisting_one_type_leaves_others_alone(gone: Resource) -> None:
    """An empty list of a type takes all of it, and nothing else."""
    graph = Graph()
    everything = [service("checkout"), *workload("checkout", replicas=2)]
    for one in everything:
        graph.put(one)
    graph.replace(gone, [])
    agree(graph, SlowGraph(one for one in everything if one.key.resource != gone))
