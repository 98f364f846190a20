"""What goes along with a delete: the garbage collector's, the namespace's, the definition's rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.cluster import (
    BALANCERS,
    START,
    crd,
    delete,
    graph_of,
    namespace,
    owner,
    thing,
    view_of,
    workload,
)
from suture.impact.ground.cascade import absent, closure, default_propagation
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    API_SERVICES,
    CONFIG_MAPS,
    CRDS,
    JOBS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    ObjectKey,
    Propagation,
    Resource,
)
from suture.model.objects import ClusterObject, CrdFacts
from suture.model.overlay import Overlay
from suture.model.request import intent_of


def names(view: GraphView, rows: tuple[int, ...]) -> set[str]:
    return {view.at(row).key.name for row in rows}


def row_of(view: GraphView, one: ClusterObject) -> int:
    row = view.find(one.key)
    assert row is not None
    return row


def test_a_deployment_takes_its_replica_set_and_pods() -> None:
    """A background delete takes owners' owners' dependents along."""
    checkout = workload("checkout", replicas=2)
    view = view_of(checkout, workload("other"))

    taken = closure(view, [row_of(view, checkout[0])])

    assert names(view, taken) == {"checkout-1", "checkout-1-0", "checkout-1-1"}


def test_orphan_leaves_the_dependents() -> None:
    """With Orphan nothing goes along: the collector strips the references instead."""
    checkout = workload("checkout", replicas=2)
    view = view_of(checkout)

    assert closure(view, [row_of(view, checkout[0])], orphan=True) == ()


TYPES = [BALANCERS, REPLICA_SETS, PODS, PODS, CONFIG_MAPS, NAMESPACES]
OWNED = st.lists(
    st.tuples(st.sampled_from(TYPES), st.lists(st.integers(0, 11), max_size=2)), max_size=12
)


def goes_with(view: GraphView, rows: list[int], root: int) -> set[int]:
    """Take object after object, until nothing more goes: slow and obvious."""
    gone = {root}
    while True:
        spaces = {view.key(row).name for row in gone if view.resource(row) == NAMESPACES}
        more = {
            row
            for row in rows
            if row not in gone and not view.gone(row)
            and (view.namespace(row) in spaces or collected(view, row, gone))
        }  # fmt: skip
        if not more:
            return gone - {root}
        gone |= more


def collected(view: GraphView, row: int, gone: set[int]) -> bool:
    owners, space = view.owners(row), view.namespace(row)
    if not space and any(view.resource(one.row) != NAMESPACES for one in owners):
        return False
    return any(one.row in gone for one in owners) and (
        len(owners) == 1 or all(one.row in gone or absent(view, one, space) for one in owners)
    )


@given(OWNED, st.sets(st.integers(0, 11)))
def test_what_goes_is_what_an_object_by_object_walk_finds(
    drawn: list[tuple[Resource, list[int]]], leaving: set[int]
) -> None:
    """Owners in chains, in circles, several or one twice, pods that are alike, removals admitted."""
    bare = [
        thing(resource, f"n{number}", "" if resource == NAMESPACES else f"n{number % 3}")
        for number, (resource, _) in enumerate(drawn)
    ]
    things = [
        thing(
            one.key.resource,
            one.key.name,
            one.key.namespace,
            owners=[owner(bare[to]) for to in owners if to < len(bare)],
        )
        for one, (_, owners) in zip(bare, drawn, strict=True)
    ]
    graph = graph_of(things)
    for number in leaving:
        if number < len(things):
            graph.leave(things[number].uid)
    for view in (GraphView(graph), GraphView(graph, overlaid=False)):
        rows = [row for one in things if (row := graph.row(one.key)) is not None]
        for root in rows:
            found = closure(view, [root])
            assert len(set(found)) == len(found)
            assert set(found) == goes_with(view, rows, root)


def test_one_live_owner_keeps_a_dependent() -> None:
    """A dependent of two owners stays while one of them lives, and goes with both."""
    one, two = thing(BALANCERS, "one", "prod"), thing(BALANCERS, "two", "prod")
    shared = thing(CONFIG_MAPS, "shared", "prod", owners=[owner(one), owner(two)])
    view = view_of(one, two, shared)

    assert closure(view, [row_of(view, one)]) == ()
    assert names(view, closure(view, [row_of(view, one), row_of(view, two)])) == {"shared"}


def test_cyclic_owners_end() -> None:
    """Two objects that own each other do not keep the walk going for ever."""
    first = thing(BALANCERS, "first", "prod")
    second = thing(BALANCERS, "second", "prod", owners=[owner(first)])
    first = thing(BALANCERS, "first", "prod", owners=[owner(second)])
    view = view_of(first, second)

    assert names(view, closure(view, [row_of(view, first)])) == {"second"}


def test_an_owner_in_another_namespace_is_no_owner() -> None:
    """The collector treats such a reference as dangling: it keeps nothing alive."""
    elsewhere = thing(BALANCERS, "elsewhere", "staging")
    here = thing(BALANCERS, "here", "prod")
    child = thing(CONFIG_MAPS, "child", "prod", owners=[owner(elsewhere), owner(here)])
    view = view_of(elsewhere, here, child)

    assert names(view, closure(view, [row_of(view, here)])) == {"child"}


def test_what_names_an_owner_in_the_wrong_namespace_keeps_nothing_alive() -> None:
    """A type lives where its definition says, and not where somebody looks for an object of it."""
    pools = Resource("lb.example.com", "pools")
    pool = thing(pools, "edge")
    facts = CrdFacts(pools, pool.gvk.kind, namespaced=False)
    child = thing(Resource("lb.example.com", "members"), "edge-0", owners=[owner(pool)])
    need = Need(Edge.PROVIDER, ObjectKey(pools, "prod", "edge"), "", optional=True)
    naming = replace(thing(BALANCERS, "web", "prod"), needs=(need,))
    view = view_of(thing(CRDS, str(pools), facts=facts), pool, child, naming)

    assert names(view, closure(view, [row_of(view, pool)])) == {"edge-0"}


def test_an_owner_of_an_unlisted_type_counts_as_existing() -> None:
    """Unknown is not absent: a dependent is not predicted to go for an owner we cannot see."""
    hidden = thing(Resource("secret.example.com", "vaults"), "vault", "prod")
    here = thing(BALANCERS, "here", "prod")
    child = thing(CONFIG_MAPS, "child", "prod", owners=[owner(hidden), owner(here)])
    view = view_of(here, child)

    assert closure(view, [row_of(view, here)]) == ()


def test_a_namespace_takes_everything_in_it() -> None:
    """All namespaced objects of any type go with their namespace, and no neighbour does."""
    home = namespace("prod")
    view = view_of(home, workload("checkout", replicas=1), workload("other", "staging"))

    taken = closure(view, [row_of(view, home)])

    assert names(view, taken) == {"checkout", "checkout-1", "checkout-1-0"}


def test_a_definition_takes_its_instances_and_what_they_own() -> None:
    """Deleting a definition deletes every instance, in every namespace, and their dependents."""
    definition = crd()
    one = thing(BALANCERS, "one", "prod")
    child = thing(CONFIG_MAPS, "child", "prod", owners=[owner(one)])
    view = view_of(definition, one, thing(BALANCERS, "two", "staging"), child)

    assert names(view, closure(view, [row_of(view, definition)])) == {"one", "two", "child"}


def test_the_type_s_own_api_service_goes_with_its_last_definition() -> None:
    """The aggregator keeps one APIService a group and version, while a definition serves it."""
    facts = CrdFacts(BALANCERS, "Balancer", namespaced=True, served_versions=("v1",))
    definition = thing(CRDS, str(BALANCERS), facts=facts)
    other = thing(
        CRDS, "pools.lb.example.com",
        facts=CrdFacts(
            Resource("lb.example.com", "pools"), "Pool", namespaced=True, served_versions=("v1",)
        ),
    )  # fmt: skip
    registered = thing(
        API_SERVICES, "v1.lb.example.com",
        labels={"kube-aggregator.kubernetes.io/automanaged": "true"},
    )  # fmt: skip
    alone, shared = view_of(definition, registered), view_of(definition, other, registered)

    assert names(alone, closure(alone, [row_of(alone, definition)])) == {"v1.lb.example.com"}
    assert closure(shared, [row_of(shared, definition)]) == ()


def test_jobs_orphan_by_default() -> None:
    """`batch/v1` keeps the old default; everything else collects in the background."""
    assert default_propagation(JOBS) is Propagation.ORPHAN
    assert default_propagation(PODS) is Propagation.BACKGROUND


def test_what_is_admitted_to_go_is_not_taken_twice() -> None:
    """A removal admitted a moment ago is in no later closure."""
    home = namespace("prod")
    checkout = workload("checkout")
    graph = graph_of(home, checkout)
    view = GraphView(graph)
    Overlay(graph).admit(intent_of(delete(checkout[-1])), [checkout[-1].uid], START)

    assert "checkout-1-0" not in names(view, closure(view, [row_of(view, home)]))
