"""Rings of what must be up for each other: found when a write closes them, and in what is there."""

from __future__ import annotations

import msgspec
import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from support.asking import effects, impact_of, update
from support.cluster import (
    BALANCERS,
    crd,
    delete,
    graph_of,
    namespace,
    owner,
    service,
    thing,
    view_of,
    webhook,
    workload,
)
from suture.impact.effects import LoopClosed
from suture.impact.workloads.loops import Gate, components, rings
from suture.model.edges import Edge, Need
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CRDS,
    DAEMON_SETS,
    PODS,
    PRIORITY_CLASSES,
    VALIDATING_WEBHOOKS,
    ObjectKey,
)
from suture.model.objects import (
    ClusterObject,
    PodFacts,
    ServiceRef,
    WorkloadFacts,
)
from suture.model.request import Request
from suture.model.selectors import Operator, Requirement, Selector


def sparing(*names: str) -> Selector:
    return Selector((Requirement("kubernetes.io/metadata.name", Operator.NOT_IN, names),))


def only_in(name: str) -> Selector:
    return Selector.of({"kubernetes.io/metadata.name": name})


def backend(name: str) -> list[ClusterObject]:
    return [namespace(name), service("hook", name), *workload("hook", name)]


def ref(name: str) -> ServiceRef:
    return ServiceRef(name, "hook")


def closed(request: Request, graph: Graph) -> list[LoopClosed]:
    return effects(impact_of(request, GraphView(graph)), LoopClosed)


def test_a_webhook_that_matches_its_own_pods() -> None:
    """Once they are all down, none can be created: the ring is the webhook, its Service, its pods."""
    one = webhook("a", ref("a"))

    (found,) = closed(update(None, one), graph_of(backend("a")))

    assert [member.resource for member in found.ring] == [
        "validatingwebhookconfigurations", "services", "deployments"
    ]  # fmt: skip
    assert found.cut == "let a.example.com leave out pods in namespace a"
    assert found.fail_closed


def test_a_webhook_that_spares_its_own_closes_nothing() -> None:
    """Nor one that fails open."""
    graph = graph_of(backend("a"))
    assert closed(update(None, webhook("a", ref("a"), namespaces=sparing("a"))), graph) == []
    assert closed(update(None, webhook("a", ref("a"), fail_closed=False)), graph) == []


def test_two_webhooks_that_stand_in_each_others_way() -> None:
    """Each spares its own; together they are a ring, closed by whichever comes second."""
    first = webhook("a", ref("a"), namespaces=sparing("a"))
    second = webhook("b", ref("b"), namespaces=sparing("b"))
    graph = graph_of(backend("a"), backend("b"), first)

    (found,) = closed(update(None, second), graph)

    assert [member.name for member in found.ring if "webhook" in member.resource] == ["b", "a"]
    assert found.cut == "let b.example.com leave out pods in namespace a"


def test_what_was_a_ring_before_is_not_closed_again() -> None:
    """A certificate renewed, a webhook made narrower: no new ring."""
    one = webhook("a", ref("a"))
    graph = graph_of(backend("a"), one)
    assert closed(update(one, msgspec.structs.replace(one, labels={"x": "y"})), graph) == []
    assert closed(delete(one), graph) == []
    renamed = webhook("a", ref("a"), namespaces=only_in("a"))
    assert closed(update(one, renamed), graph) == []


def test_a_namespace_that_loses_the_label_that_spared_it() -> None:
    """Its webhook matches its own pods from then on."""
    spared = msgspec.structs.replace(namespace("a"), labels={"hooks": "off"})
    bare = msgspec.structs.replace(spared, labels={})
    selector = Selector((Requirement("hooks", Operator.DOES_NOT_EXIST),))
    one = webhook("a", ref("a"), namespaces=selector)
    graph = graph_of(spared, backend("a")[1:], one)

    assert len(closed(update(spared, bare), graph)) == 1
    assert closed(update(bare, spared), graph_of(bare, backend("a")[1:], one)) == []


def test_agents_that_every_node_needs() -> None:
    """A webhook in the way of the network's pods is in its own way: its pods need the network."""
    critical = ObjectKey(PRIORITY_CLASSES, "", "system-node-critical")
    agents = msgspec.structs.replace(
        thing(DAEMON_SETS, "network", "net", facts=WorkloadFacts()),
        needs=(Need(Edge.PRIORITY_CLASS, critical),),
    )
    pod = thing(PODS, "network-1", "net", owners=[owner(agents)], facts=PodFacts(ready=True))
    one = webhook("a", ref("a"), namespaces=only_in("net"))

    world = (backend("a"), namespace("net"), pod)
    assert len(closed(update(None, one), graph_of(*world, agents))) == 1
    plain = msgspec.structs.replace(agents, needs=())
    assert closed(update(None, one), graph_of(*world, plain)) == []


def test_a_conversion_that_keeps_its_own_pods() -> None:
    """The pods that convert a type are kept by an instance of it: unread, it makes them no more."""
    instance = thing(BALANCERS, "own", "a")
    pod = thing(
        PODS, "own-1", "a", labels={"app": "hook"}, owners=[owner(instance)],
        facts=PodFacts(ready=True),
    )  # fmt: skip
    definition = crd(conversion=ref("a"))
    world = (namespace("a"), service("hook", "a"), instance, pod)

    plain = crd()
    (found,) = closed(update(plain, definition), graph_of(*world, plain))

    assert found.ring[0].resource == CRDS.plural


def test_all_rings_of_a_cluster() -> None:
    """Each once: one of two, and one of one; what is in none is not told."""
    view = view_of(
        *(backend(name) for name in "abcd"),
        webhook("a", ref("a"), namespaces=only_in("b")),
        webhook("b", ref("b"), namespaces=only_in("a")),
        webhook("c", ref("c"), namespaces=only_in("c")),
        webhook("d", ref("d"), namespaces=only_in("a")),
    )
    found = {frozenset(gate.name[0] for gate in ring.gates) for ring in rings(view)}
    assert found == {frozenset("ab"), frozenset("c")}


def gate(number: int) -> Gate:
    key = ObjectKey(VALIDATING_WEBHOOKS, "", str(number))
    return Gate(key, str(number), ServiceRef("a", "b"))


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24).map(
        lambda pairs: {at: {b for a, b in pairs if a == at} for at in range(8)}
    )
)
def test_components_are_those_of_a_textbook(needs: dict[int, set[int]]) -> None:
    """Groups that all need each other, and what needs itself."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(needs)
    graph.add_edges_from((a, b) for a, some in needs.items() for b in some)
    expected = {
        frozenset(group)
        for group in nx.strongly_connected_components(graph)
        if len(group) > 1 or graph.has_edge(*(list(group) * 2))
    }
    found = components({gate(at): [gate(to) for to in some] for at, some in needs.items()})
    assert {frozenset(int(one.name) for one in group) for group in found} == expected
