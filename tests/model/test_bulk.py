"""Answers about many objects at once are those that asking each by itself gives."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from support.cluster import BALANCERS, graph_of, owner, thing
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.names import CONFIG_MAPS, PODS, SECRETS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodFacts, controller_of

STATES = ("ready", "waiting", "finished", "terminating", "leaving")
DRAWN = st.lists(
    st.tuples(st.sampled_from(STATES), st.sampled_from("ab"), st.booleans()), max_size=10
)


def pod(number: int, state: str, app: str, *, owned: bool) -> ClusterObject:
    maker = thing(BALANCERS, app, "shop")
    return thing(
        PODS,
        f"p{number}",
        "shop",
        labels={"app": app},
        owners=[owner(maker)] if owned else [],
        facts=PodFacts(ready=state in {"ready", "leaving"}, finished=state == "finished"),
        deleted=1.0 if state == "terminating" else 0.0,
    )


def world(drawn: list[tuple[str, str, bool]]) -> tuple[GraphView, list[int]]:
    pods = [pod(at, state, app, owned=owned) for at, (state, app, owned) in enumerate(drawn)]
    graph = graph_of(thing(BALANCERS, "a", "shop"), pods)
    rows = [row for one in pods if (row := graph.row(one.key)) is not None]
    for one, (state, _, _) in zip(pods, drawn, strict=True):
        if state == "leaving":
            graph.leave(one.uid)
    return GraphView(graph), rows


def test_what_has_a_label_is_found_anew_once_something_there_changed() -> None:
    """Written over, come, gone, and about to go; of another namespace nothing is found."""
    graph = graph_of()
    view = GraphView(graph)

    def found() -> set[str]:
        return {view.name(row) for row in view.labelled_in(SECRETS, "shop", "owner", "helm")}

    def secret(name: str, owner_label: str = "helm", namespace: str = "shop") -> ClusterObject:
        return thing(SECRETS, name, namespace, labels={"owner": owner_label})

    assert found() == set()
    for name in ("one", "two", "three"):
        graph.put(secret(name))
        assert name in found()
    graph.put(secret("two", "another"))
    graph.put(secret("four", namespace="elsewhere"))
    assert found() == {"one", "three"}
    graph.leave(secret("one").uid)
    assert found() == {"three"}
    graph.remove(secret("three").key)
    graph.stay(secret("one").uid)
    assert found() == {"one"}
    graph.check()


@given(DRAWN)
def test_lots_hold_every_pod_once_and_tell_its_state(drawn: list[tuple[str, str, bool]]) -> None:
    """Pods of one lot are of one class, and all serve or none."""
    view, rows = world(drawn)
    lots = view.lots(rows)

    assert sorted(one for lot in lots for one in lot.pods) == sorted(rows)
    for lot in lots:
        assert {view.alike(one) for one in lot.pods} == {lot.kind}
        assert {view.serves(one) for one in lot.pods} == {lot.serves}
        state = {view.terminating(one) or view.finished(one) or view.gone(one) for one in lot.pods}
        assert state == {not lot.running}


@given(DRAWN)
def test_a_class_is_counted_as_its_pods_are(drawn: list[tuple[str, str, bool]]) -> None:
    """Running, serving, and those that leave."""
    view, rows = world(drawn)
    for kind in {view.alike(row) for row in rows}:
        pods = [row for row in rows if view.alike(row) == kind]
        running = [
            row for row in pods
            if not (view.terminating(row) or view.finished(row) or view.gone(row))
        ]  # fmt: skip
        serving = sum(map(view.serves, pods))

        assert view.running_alike(kind) == (len(running), serving, sum(map(view.gone, pods)))
        assert view.serving_alike(kind) == serving
        assert sorted(view.pods_alike(kind)) == [row for row in pods if not view.gone(row)]


@given(DRAWN)
def test_a_controller_is_the_one_that_is_there_and_stays(
    drawn: list[tuple[str, str, bool]],
) -> None:
    """As the owners say it, one by one."""
    view, rows = world(drawn)
    for row in rows:
        there = [one.row for one in view.owners(row) if one.controller and one.present]

        assert view.controller(row) == (there[0] if there else -1)
        assert view.has_owner(row) == bool(view.owners(row))
        assert view.owner_rows(row) == [one.row for one in view.owners(row)]


RELEASE = Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "shop", "web"))
FRONT, OTHER = thing(BALANCERS, "front", "shop"), thing(BALANCERS, "other", "shop")
SETTINGS = thing(CONFIG_MAPS, "settings", "shop")


@given(
    st.lists(
        st.tuples(st.sampled_from([FRONT, OTHER, SETTINGS]), st.booleans()),
        max_size=2,
        unique_by=lambda one: one[0].uid,
    ),
    st.booleans(),
    st.sampled_from([CONFIG_MAPS, PODS]),
    st.booleans(),
)
def test_a_custom_resource_that_alone_owns_an_object_controls_it(
    drawn: list[tuple[ClusterObject, bool]], goes: bool, resource: Resource, released: bool
) -> None:
    """Whether its reference says so or not; of built-in types, and of several, one that says so."""
    owners = [owner(of, controller=said and of is drawn[0][0]) for of, said in drawn]
    needs = (RELEASE,) if released and resource != PODS else ()
    child = msgspec.structs.replace(thing(resource, "child", "shop", owners=owners), needs=needs)
    graph = graph_of(FRONT, OTHER, SETTINGS, child)
    if goes:
        graph.leave(FRONT.uid)
    view, row = GraphView(graph), graph.row(child.key)
    assert row is not None
    said = [of for (of, _), reference in zip(drawn, owners, strict=True) if reference.controller]
    alone = len(drawn) == 1 and drawn[0][0] is not SETTINGS and not needs
    asks = said or ([drawn[0][0]] if alone else [])
    there = [graph.row(of.key) for of in asks if not (goes and of is FRONT)]

    assert view.controller(row) == (there[0] if there else -1)
    assert view.controllers(row, 1) == there
    if resource == PODS and there:
        assert view.classes_controlled(there[0] or 0) == [view.alike(row)]
    if not needs:
        found = controller_of(owners)
        assert ([] if found is None else [found.uid]) == [of.uid for of in asks]


@given(st.lists(st.sampled_from([CONFIG_MAPS, SERVICES, BALANCERS]), max_size=9))
def test_rows_by_type_keep_their_order(drawn: list[object]) -> None:
    """Each row once, under its own type."""
    resources = [one for one in (CONFIG_MAPS, SERVICES, BALANCERS) for each in drawn if each == one]
    things = [thing(one, f"o{at}", f"n{at % 2}") for at, one in enumerate(resources)]
    graph = graph_of(things)
    view = GraphView(graph)
    rows = [row for one in things if (row := graph.row(one.key)) is not None]

    assert view.by_resource(rows) == {
        resource: found
        for resource in dict.fromkeys(map(view.resource, rows))
        if (found := [row for row in rows if view.resource(row) == resource])
    }


NAMES = st.sampled_from(["web", "db", "with.dots", "é", "x" * 300])


@given(
    st.lists(st.tuples(NAMES, st.sampled_from("abc")), unique=True, max_size=9),
    st.dictionaries(st.tuples(NAMES, st.sampled_from("abc")), st.booleans(), max_size=9),
)
def test_namesakes_are_found_by_name(
    drawn: list[tuple[str, str]], others: dict[tuple[str, str], bool]
) -> None:
    """Of the other type, in the same namespace, and none that is gone."""
    services = [thing(SERVICES, *one) for one in drawn]
    maps = [thing(CONFIG_MAPS, *one) for one in others]
    graph = graph_of(services, maps)
    for one, leaves in zip(maps, others.values(), strict=True):
        if leaves:
            graph.leave(one.uid)
    view = GraphView(graph)
    keys = (ObjectKey(CONFIG_MAPS, namespace, name) for name, namespace in drawn)
    rows = [row for one in services if (row := graph.row(one.key)) is not None]
    alike = [row for key in keys if (row := view.find(key)) is not None]

    assert view.namesakes(rows, CONFIG_MAPS) == alike
    assert view.namesakes(rows, PODS) == []


def test_uses_are_the_needs_seen_from_the_other_end() -> None:
    """Only those asked for, and without what is left out."""
    target = thing(CONFIG_MAPS, "settings", "shop")
    users = [
        msgspec.structs.replace(
            thing(BALANCERS, name, "shop"), needs=(Need(edge, target.key, "k", optional=True),)
        )
        for name, edge in (("one", Edge.CONFIG_MAP), ("two", Edge.RULE), ("three", Edge.RULE))
    ]
    graph = graph_of(target, users)
    view = GraphView(graph)
    row, rows = graph.row(target.key), [graph.row(one.key) for one in users]
    assert row is not None
    assert None not in rows

    found = view.uses(row, {Edge.RULE}, {rows[2]})  # type: ignore[arg-type]  # asserted above

    assert [(one.row, one.key, one.optional, one.of_pods) for one in found] == [
        (rows[1], "k", True, False)
    ]
    assert view.named([row]) == [row]
    assert view.sources(row, Edge.CONFIG_MAP) == [rows[0]]
