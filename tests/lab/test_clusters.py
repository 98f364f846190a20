"""Made clusters: the same from the same seed, exact in number, whole in reference, true in form."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suture.lab.clusters import Cluster
from suture.lab.clusters.chance import shares
from suture.lab.clusters.fronts import LABEL_VALUE_CHARS
from suture.lab.clusters.lines import LinesError, bundled_text, pack, read_lines, unpack
from suture.lab.clusters.size import SIZES, TINY
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    API_SERVICES,
    CRDS,
    INGRESSES,
    NAMESPACES,
    NODES,
    PODS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import NodeFacts, PodFacts, ServiceFacts, WebhookFacts
from suture.model.references import services_referred
from suture.wire.trim import Trimmer

NOW = Now(1_000_000_000, 1_700_000_000.0)
LINES = Path(__file__).parent / "data" / "cluster.jsonl"


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster(TINY)


@pytest.fixture(scope="module")
def graph(cluster: Cluster) -> Graph:
    return cluster.graph(NOW)


def digest(documents: Iterable[bytes]) -> str:
    found = blake2b(digest_size=8)
    for document in documents:
        found.update(document)
    return found.hexdigest()


def whole(cluster: Cluster) -> str:
    return digest(body for resource in cluster.kinds for body in cluster.documents(resource))


def test_same_seed_same_cluster() -> None:
    """Two clusters of one size and seed are the same to the byte; another seed makes another."""
    assert whole(Cluster(TINY, seed=7)) == whole(Cluster(TINY, seed=7))
    assert whole(Cluster(TINY, seed=7)) != whole(Cluster(TINY, seed=8))


def test_a_kind_alone_is_as_among_all() -> None:
    """A kind can be streamed by itself: nothing of it depends on what was made before."""
    alone = digest(Cluster(TINY).documents(PODS))
    after = Cluster(TINY)
    for resource in after.kinds:
        if resource != PODS:
            assert digest(after.documents(resource))
    assert digest(after.documents(PODS)) == alone


def test_counts_are_exact(graph: Graph) -> None:
    """Nodes, pods, Services and namespaces are as many as the size says."""
    wanted = {
        NODES: TINY.nodes,
        PODS: TINY.pods,
        SERVICES: TINY.services,
        NAMESPACES: TINY.namespaces,
        Resource("apps", "deployments"): TINY.deployments,
        Resource("apps", "replicasets"): 2 * TINY.deployments,
        Resource("apps", "statefulsets"): TINY.stateful_sets,
        Resource("apps", "daemonsets"): TINY.daemon_sets,
        Resource("batch", "jobs"): TINY.jobs,
        Resource("", "configmaps"): TINY.config_maps,
        Resource("", "secrets"): TINY.secrets,
        INGRESSES: TINY.ingresses,
    }
    assert {resource: graph.count(resource) for resource in wanted} == wanted


@pytest.mark.parametrize("name", sorted(SIZES))
def test_named_sizes_can_be_made(name: str) -> None:
    """The plan of every named size adds up: no population is larger than what carries it."""
    size = SIZES[name]
    plan = Cluster(size)._plan
    assert sum(app.replicas for app in plan.apps) + len(plan.runs) == size.pods
    assert max(app.replicas for app in plan.apps if not app.platform) == size.largest
    assert len(plan.fronts) == size.services
    assert sum(1 for front in plan.fronts if front.balancer) == size.balanced
    assert len({(front.namespace, front.name) for front in plan.fronts}) == size.services


def test_every_reference_resolves(cluster: Cluster, graph: Graph) -> None:
    """Owners, Services named by others, nodes and namespaces are all there, each in its place."""
    nodes = {graph.at(row).key.name for row in graph.rows(NODES)}
    for thing in graph:
        for owner in thing.owners:
            row = graph.row_of_uid(owner.uid)
            assert row is not None, thing.key
            found = graph.at(row)
            assert (found.key.name, found.gvk.kind) == (owner.name, owner.gvk.kind)
            assert found.key.namespace in ("", thing.key.namespace)
        for ref in services_referred(thing):
            assert graph.row(ObjectKey(SERVICES, ref.namespace, ref.name)) is not None, thing.key
        if thing.key.namespace:
            assert graph.row(ObjectKey(NAMESPACES, "", thing.key.namespace)) is not None
        if isinstance(thing.facts, PodFacts):
            assert thing.facts.node in nodes
    for resource in cluster.kinds:
        if "." in resource.group and resource.group.endswith("example.com"):
            assert resource in graph.crd_of


def test_slices_name_the_ready_pods_behind_their_service(graph: Graph) -> None:
    """EndpointSlices tell what the selector gives: the two sources of endpoints agree."""
    view = GraphView(graph)
    for row in view.rows(SERVICES):
        assert view.slice_targets(row) == view.ready_endpoints(row), view.key(row)


def test_what_serves_and_what_does_not(graph: Graph) -> None:
    """As many Services are idle as the size says, and every platform Service serves."""
    view = GraphView(graph)
    idle = [row for row in view.rows(SERVICES) if not view.ready_endpoints(row)]
    # A Service of one pod that is not Ready is idle too, by chance.
    assert TINY.idle <= len(idle) <= TINY.idle + 5
    kinds = [view.at(row).facts for row in idle]
    assert any(
        isinstance(one, ServiceFacts) and one.type == "ExternalName" and one.selector is None
        for one in kinds
    )
    assert not [row for row in idle if view.referrers(row)]


def test_fail_closed_webhooks_have_ready_backends(graph: Graph) -> None:
    """The second wave needs webhooks that fail closed and work before it."""
    view = GraphView(graph)
    backends = [
        hook.service
        for thing in graph
        if isinstance(thing.facts, WebhookFacts)
        for hook in thing.facts.webhooks
        if hook.fail_closed and hook.service
    ]
    assert len(set(backends)) == 4
    for ref in backends:
        row = view.service(ref)
        assert row is not None
        assert view.ready_endpoints(row)
    assert graph.count(API_SERVICES)
    assert graph.count(CRDS)


def test_nodes_are_ready(graph: Graph) -> None:
    """Every node takes pods."""
    facts = [graph.at(row).facts for row in graph.rows(NODES)]
    assert all(isinstance(one, NodeFacts) and one.ready for one in facts)


def test_both_forms_trim_to_the_same_objects(cluster: Cluster) -> None:
    """What the lean form leaves out is what nothing reads, kind by kind."""
    trimmer = Trimmer()
    for resource, gvk in cluster.kinds.items():
        reader = trimmer.reader(resource, gvk)
        full = [reader.one(body) for body in cluster.documents(resource)]
        assert full == list(cluster.objects(resource)), resource
    assert not trimmer.odd


def test_lists_come_as_the_api_server_sends_them(cluster: Cluster) -> None:
    """By namespace, then by name; each key and each uid once."""
    for resource in cluster.kinds:
        keys = [(thing.key.namespace, thing.key.name) for thing in cluster.objects(resource)]
        assert keys == sorted(set(keys)), resource
    uids = [thing.uid for resource in cluster.kinds for thing in cluster.objects(resource)]
    assert len(uids) == len(set(uids))


def test_pods_are_as_large_as_in_life(cluster: Cluster) -> None:
    """A pod is 6 to 12 KB of JSON: what a decoder is measured by."""
    sizes = [len(body) for body in cluster.documents(PODS)]
    assert 6_000 < sum(sizes) / len(sizes) < 12_000


def test_the_incidents_objects_are_there(cluster: Cluster, graph: Graph) -> None:
    """A Balancer whose name no label can hold, and one that owns many Services."""
    assert len(cluster.trigger.name) > LABEL_VALUE_CHARS
    trigger, shared = graph.row(cluster.trigger), graph.row(cluster.shared_balancer)
    assert trigger is not None
    assert shared is not None
    assert len(graph.children_of(trigger)) == 1
    assert len(graph.children_of(shared)) == TINY.shared


def test_packed_lines_are_those_that_people_read() -> None:
    """After a change to the lines: `python -m suture.lab.clusters tests/lab/data/cluster.jsonl`."""
    assert bundled_text() == LINES.read_bytes()
    assert unpack(pack(LINES.read_bytes())) == LINES.read_bytes()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b'{"kind":"zone","name":"a"}\n{"kind":"moon"}', "line 2", id="unknown-kind"),
        pytest.param(b'{"kind":"zone"}', "`name`", id="field-missing"),
        pytest.param(b'{"kind":"zone","name":"a","size":1}', "`size`", id="unknown-field"),
        pytest.param(b"zone", "line 1", id="no-json"),
    ],
)
def test_bad_lines_are_told(text: bytes, said: str) -> None:
    """The number of the line and what is wrong with it."""
    with pytest.raises(LinesError, match=said):
        read_lines(text)


def test_lines_that_are_not_packed_lines() -> None:
    """Anything else is an error of input, not a crash."""
    with pytest.raises(LinesError):
        unpack(b"not zstd")


def test_a_needed_kind_of_line_is_missing() -> None:
    """Lines without definitions make no cluster, and say so."""
    with pytest.raises(LinesError, match="needs a line of kind"):
        Cluster(TINY, lines=read_lines(b'{"kind":"zone","name":"a"}')).graph(NOW)


@pytest.mark.parametrize(("total", "weights"), [(10, [1, 1, 1]), (7, [5, 0.1, 3, 1]), (4, [1] * 4)])
def test_shares_are_exact(total: int, weights: list[float]) -> None:
    """Parts add up to the whole, none is below the least."""
    parts = shares(total, weights, least=1)
    assert sum(parts) == total
    assert min(parts) >= 1


def test_shares_that_cannot_be() -> None:
    """Too little for the least of each is an error, not a negative part."""
    with pytest.raises(ValueError, match="cannot be split"):
        shares(3, [1, 1], least=2)


def test_json_is_kubernetes_json(cluster: Cluster) -> None:
    """Every document says its kind and version, and has name, uid and version."""
    for resource, gvk in cluster.kinds.items():
        for body in cluster.documents(resource):
            thing: dict[str, Any] = msgspec.json.decode(body)
            assert thing["kind"] == gvk.kind
            assert thing["apiVersion"].rpartition("/")[0] == gvk.group
            assert {"name", "uid", "resourceVersion", "creationTimestamp"} <= thing[
                "metadata"
            ].keys()
