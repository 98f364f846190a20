"""Every edge that the model knows occurs in made clusters, and leads where it should."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import pytest

from suture.lab.clusters import Cluster
from suture.lab.clusters.cluster import GENERATOR
from suture.lab.clusters.keeping import APPLICATIONS, HELM_RELEASES, KUSTOMIZATIONS
from suture.lab.clusters.plan import CACHES, DATABASES
from suture.lab.clusters.size import SIZES, TINY
from suture.lab.clusters.templates import ROOT_CERTIFICATES
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.graph import Graph
from suture.model.names import (
    CONFIG_MAPS,
    NETWORK_POLICIES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject
from suture.model.references import selections
from suture.wire.managedby import HELM_RELEASES as RELEASES

NOW = Now(1_000_000_000, 1_700_000_000.0)

ELSEWHERE = {
    Edge.OWNER,
    Edge.NAMESPACE,
    Edge.DEFINITION,
    Edge.SELECTS,
    Edge.NODE,
    Edge.PARENT,
    Edge.RULE,
}
"""Edges that are no need by name: the graph draws them itself, a fact or a rule says so."""

RARE = {
    Edge.RESOURCE_CLAIM,
    Edge.DATA_SOURCE,
    Edge.PARAMETERS,
    Edge.PROVIDER,
    Edge.LEADS_TO,
}
"""Edges that made clusters do not have: of features that few clusters use, and of schemas that say
more of a reference than theirs do."""


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster(TINY)


@pytest.fixture(scope="module")
def graph(cluster: Cluster) -> Graph:
    return cluster.graph(NOW)


@pytest.fixture(scope="module")
def needs(graph: Graph) -> list[tuple[ClusterObject, Need]]:
    return [(thing, need) for thing in graph for need in thing.needs]


def of_kind(graph: Graph, resource: Resource) -> list[ClusterObject]:
    return [graph.at(row) for row in graph.rows(resource)]


def test_every_edge_occurs(needs: list[tuple[ClusterObject, Need]]) -> None:
    """What issues are found by must be there to be found."""
    found = Counter(need.edge for _, need in needs)
    assert {edge for edge in Edge if edge not in found} <= ELSEWHERE | RARE


def test_what_is_needed_is_there(graph: Graph, needs: list[tuple[ClusterObject, Need]]) -> None:
    """All names lead to objects, but for releases of Helm, which are no objects."""
    dangling = [
        (str(thing.key), str(need.target))
        for thing, need in needs
        if graph.row(need.target) is None and need.target.resource != RELEASES
    ]
    assert dangling == []


def test_entries_that_are_read_are_there(graph: Graph) -> None:
    """Pods that read an entry of a ConfigMap read one that it has."""
    for pod in of_kind(graph, PODS):
        for need in pod.needs:
            if need.edge is Edge.CONFIG_MAP and need.key:
                target = graph.row(need.target)
                assert target is not None
                assert need.key in getattr(graph.at(target).facts, "keys", ())


def test_every_pod_reads_and_runs_with_something(graph: Graph) -> None:
    """Each has an account and the root certificates; alike pods need alike things."""
    for pod in of_kind(graph, PODS):
        edges = {need.edge for need in pod.needs}
        assert Edge.SERVICE_ACCOUNT in edges
        root = ObjectKey(CONFIG_MAPS, pod.key.namespace, ROOT_CERTIFICATES)
        assert root in {need.target for need in pod.needs}


def test_selectors_of_every_sort(graph: Graph) -> None:
    """Selectors of Services, of policies that match everything, and of those that match some."""
    policies = [one for thing in of_kind(graph, NETWORK_POLICIES) for one in selections(thing)]
    assert any(not one.selector.requirements for one in policies)
    assert any(one.selector.requirements for one in policies)
    assert sum(bool(selections(thing)) for thing in of_kind(graph, SERVICES)) > TINY.services / 2


def test_custom_resources_have_children(graph: Graph) -> None:
    """Databases own their StatefulSets; caches find theirs by label."""
    sets = of_kind(graph, STATEFUL_SETS)
    owned = [one for one in sets if any(ref.gvk.kind == "PostgresCluster" for ref in one.owners)]
    labelled = [one for one in sets if "databases.example.com/name" in one.labels]
    assert len(owned) == min(TINY.stateful_sets, graph.count(DATABASES))
    assert len(labelled) == len(owned) + graph.count(CACHES)
    for one in owned:
        row = graph.row_of_uid(one.owners[0].uid)
        assert row is not None


def test_namespaces_are_kept_by_several_tools(graph: Graph) -> None:
    """Argo CD, Flux and Helm each keep some."""
    assert graph.count(APPLICATIONS)
    assert graph.count(KUSTOMIZATIONS)
    assert graph.count(HELM_RELEASES)


def test_the_largest_has_two_million_objects() -> None:
    """L is as large as the largest cluster that is known of; counted by its plan, not written."""
    plan, size = Cluster(SIZES["L"])._plan, SIZES["L"]
    stateful = [app for app in plan.apps if app.controller == STATEFUL_SETS]
    disks = sum(app.replicas for app in stateful)
    slices = sum(-(-front.app.replicas // 100) for front in plan.fronts if front.app)
    accounts = len({(app.namespace, app.account) for app in plan.apps}) + size.namespaces
    counted = (
        size.pods + size.deployments * 3 + size.stateful_sets + size.config_maps + size.secrets,
        size.services + slices + size.ingresses + size.http_routes + size.network_policies,
        disks * 3 + size.snapshots * 2 + accounts + size.roles * 2 + size.nodes + size.namespaces,
        size.jobs + size.cron_jobs + size.instances + size.autoscalers + size.disruption_budgets,
    )
    assert 2_000_000 > sum(counted) > 1_990_000  # and 5,000 of smaller kinds beside
    assert {len(Cluster(SIZES[one])._plan.machines) for one in "SML"} == {2_000, 5_000, 17_000}


def test_what_is_made_has_a_number() -> None:
    """Whoever changes what is made raises GENERATOR: clusters on disks are told apart by it."""
    cluster, found = Cluster(TINY), blake2b(digest_size=8)
    for resource in cluster.kinds:
        for body in cluster.documents(resource):
            found.update(body)
    assert (GENERATOR, found.hexdigest()) == (4, "15a6e9a7cb757779")
