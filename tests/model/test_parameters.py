"""Which bindings read their parameters from an object: known from the binding and its policy both."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suture.lab.soak.compare import check_indexes, differences
from suture.lab.soak.slowgraph import SlowGraph
from suture.model.edges import Edge, Need
from suture.model.facts import AdmissionPolicyFacts, PolicyBindingFacts
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CONFIG_MAPS,
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    SECRETS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    Gvk,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, Facts

POLICIES = {
    VALIDATING_POLICY_BINDINGS: VALIDATING_POLICIES,
    MUTATING_POLICY_BINDINGS: MUTATING_POLICIES,
}


def thing(
    resource: Resource, name: str, namespace: str = "", facts: Facts | None = None, life: int = 0
) -> ClusterObject:
    """Make an object with the needs that it says."""
    key = ObjectKey(resource, namespace, name)
    needs: tuple[Need, ...] = ()
    if isinstance(facts, PolicyBindingFacts):
        needs = (Need(Edge.POLICY, ObjectKey(POLICIES[resource], "", facts.policy)),)
    kind = Gvk(resource.group, "v1", resource.plural)
    return ClusterObject(key, f"{key}-{life}", kind, "1", facts=facts, needs=needs)


def policy(name: str = "quotas", kind: str = "ConfigMap") -> ClusterObject:
    return thing(VALIDATING_POLICIES, name, facts=AdmissionPolicyFacts("", kind))


def binding(name: str = "all", parameters: str = "limits") -> ClusterObject:
    facts = PolicyBindingFacts("quotas", parameters, "prod")
    return thing(VALIDATING_POLICY_BINDINGS, name, facts=facts)


def readers(graph: Graph, of: ClusterObject) -> list[str]:
    """Return the names of the bindings that read their parameters from an object."""
    view = GraphView(graph)
    row = view.find(of.key)
    assert row is not None
    return sorted(link.other.name for link in view.needed_by(row) if link.edge is Edge.PARAMETERS)


def test_an_object_knows_who_reads_its_parameters() -> None:
    """Whichever of policy and binding comes last, changes or goes."""
    limits, graph = thing(CONFIG_MAPS, "limits", "prod"), Graph()
    graph.put(limits)
    graph.put(binding())
    assert readers(graph, limits) == []
    graph.put(policy())
    assert readers(graph, limits) == ["all"]
    graph.put(binding("some"))
    assert readers(graph, limits) == ["all", "some"]
    graph.put(binding("all", "others"))
    assert readers(graph, limits) == ["some"]
    graph.put(policy(kind="Secret"))
    assert readers(graph, limits) == []
    graph.put(policy())
    graph.remove(policy().key)
    assert readers(graph, limits) == []


@st.composite
def objects(draw: st.DrawFn) -> ClusterObject:
    """Draw a policy, a binding, or what either may be given."""
    resource = draw(st.sampled_from([*POLICIES, *POLICIES.values(), CONFIG_MAPS, SECRETS]))
    name, life = draw(st.sampled_from("ab")), draw(st.integers(0, 1))
    if resource in POLICIES:
        facts = PolicyBindingFacts(
            draw(st.sampled_from("ab")),
            draw(st.sampled_from(["a", "b", ""])),
            draw(st.sampled_from(["p", ""])),
        )
        return thing(resource, name, facts=facts, life=life)
    if resource in POLICIES.values():
        kind = draw(st.sampled_from(["ConfigMap", "Secret", ""]))
        return thing(resource, name, facts=AdmissionPolicyFacts("", kind), life=life)
    return thing(resource, name, draw(st.sampled_from(["p", "q"])), life=life)


@given(st.lists(st.tuples(st.booleans(), objects()), max_size=20))
def test_after_any_history_it_is_what_a_walk_over_all_finds(
    history: list[tuple[bool, ClusterObject]],
) -> None:
    """Objects come again with another uid, and policies with another kind of parameters."""
    graph, known = Graph(), dict[ObjectKey, ClusterObject]()
    for stays, one in history:
        if stays:
            graph.put(one)
            known[one.key] = one
        else:
            graph.remove(one.key)
            known.pop(one.key, None)
        assert differences(graph, GraphView(graph), SlowGraph(known.values())) == []
        check_indexes(graph)
    for key in known:
        graph.remove(key)
    assert len(graph.rows_of.free_rows) == 4 * len(graph.rows_of)
