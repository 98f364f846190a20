"""Graphs out of manifests: every object in its type, and what is not known said to be so."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from support.cluster import START
from suture.app.sources import Gathered, Gatherer, NothingReadError
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, WorkloadFacts

WIDGETS = Resource("shop.example.com", "widgetries")
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgetries.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "names": {"plural": "widgetries", "kind": "Widget"},
        "scope": "Cluster",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}


def body(kind: str, name: str, api_version: str = "v1", **meta: Any) -> dict[str, Any]:
    """Return a manifest."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **meta}}


def gathered(*things: object) -> Gathered:
    """Return the graph of manifests, one file each."""
    gatherer = Gatherer("here", START)
    for number, thing in enumerate(things):
        text = thing if isinstance(thing, bytes) else json.dumps(thing).encode()
        gatherer.add(text, f"{number}.json")
    return gatherer.finish()


def at(found: Gathered, resource: Resource, name: str, namespace: str = "") -> ClusterObject:
    """Return an object of a graph."""
    row = found.graph.row(ObjectKey(resource, namespace, name))
    assert row is not None
    return found.graph.at(row)


def keys(found: Gathered) -> Iterable[str]:
    """Return what is in a graph, as text."""
    return sorted(str(thing.key) for thing in found.graph)


def test_objects_are_found_in_their_types() -> None:
    """Plurals and scopes of what Kubernetes serves need no cluster to be known."""
    found = gathered(
        body("Pod", "p", namespace="prod"),
        body("Endpoints", "e", namespace="prod"),
        body("NetworkPolicy", "n", "networking.k8s.io/v1", namespace="prod"),
        body("StorageClass", "s", "storage.k8s.io/v1"),
        body("Ingress", "i", "networking.k8s.io/v1", namespace="prod"),
        body("PriorityClass", "c", "scheduling.k8s.io/v1"),
        body("ClusterRole", "r", "rbac.authorization.k8s.io/v1"),
    )

    assert keys(found) == [
        "clusterroles.rbac.authorization.k8s.io r",
        "endpoints prod/e",
        "ingresses.networking.k8s.io prod/i",
        "networkpolicies.networking.k8s.io prod/n",
        "pods prod/p",
        "priorityclasses.scheduling.k8s.io c",
        "storageclasses.storage.k8s.io s",
    ]
    assert (found.whole, found.notes) == (True, ())


def test_what_names_no_namespace_is_in_the_default_one() -> None:
    """As kubectl has it; what has no namespace gets none, and loses one that it names."""
    found = gathered(body("Pod", "p"), body("Node", "n"), body("Node", "m", namespace="odd"))

    assert keys(found) == ["nodes m", "nodes n", "pods default/p"]


def test_a_default_namespace_reaches_what_an_object_selects() -> None:
    """It is filled in before anything is read of the object, not after."""
    service = {**body("Service", "web"), "spec": {"selector": {"app": "web"}}}
    pod = body("Pod", "web-1", labels={"app": "web"})
    found = gathered(service, pod)
    view = GraphView(found.graph)
    row = view.find(ObjectKey(PODS, "default", "web-1"))
    assert row is not None

    selecting = [str(view.at(one).key) for one in view.services_selecting(view.at(row))]

    assert selecting == ["services default/web"]


def test_lives_are_made_up_where_none_is_told() -> None:
    """Equal for equal names, different for others; what has a uid keeps it."""
    found = gathered(body("Pod", "p"), body("Pod", "q"), body("Pod", "r", uid="told"))
    again = gathered(body("Pod", "p", namespace="default"))
    lives = [at(found, PODS, name, "default").uid for name in "pqr"]

    assert len({*lives}) == 3
    assert lives[2] == "told"
    assert at(again, PODS, "p", "default").uid == lives[0]


def test_definitions_name_their_own_plurals_wherever_they_stand() -> None:
    """A definition in a later file counts for instances in an earlier one."""
    widget = body("Widget", "w", "shop.example.com/v2", namespace="lost")
    found = gathered(widget, DEFINITION)

    assert str(ObjectKey(WIDGETS, "", "w")) in keys(found)
    assert len(found.graph) == 2
    assert found.notes == ()
    assert found.graph.kinds["shop.example.com", "Widget"] == WIDGETS
    assert GraphView(found.graph).listed(CRDS)


def test_a_kind_that_nobody_defines_is_guessed_and_said_to_be() -> None:
    """Once, with where it was seen first; a namespace tells its scope."""
    found = gathered(
        body("Gateway", "a", "mesh.example.com/v1", namespace="prod"),
        body("Gateway", "b", "mesh.example.com/v1", namespace="prod"),
        body("Policy", "c", "mesh.example.com/v1"),
    )

    assert keys(found) == [
        "gateways.mesh.example.com prod/a",
        "gateways.mesh.example.com prod/b",
        "policies.mesh.example.com c",
    ]
    assert len(found.notes) == 2
    assert "guessed: Gateway of mesh.example.com" in found.notes[0]
    assert "0.json" in found.notes[0]
    assert not found.whole


def test_the_scope_of_a_guessed_kind_is_told_by_all_of_its_objects() -> None:
    """One that names a namespace tells that the others are in the default one."""
    found = gathered(
        body("Foo", "a", "x.io/v1"),
        body("Foo", "b", "x.io/v1", namespace="n1"),
        body("Foo", "b", "x.io/v2", namespace="n2"),
    )

    assert keys(found) == ["foos.x.io default/a", "foos.x.io n1/b", "foos.x.io n2/b"]
    assert [note.partition(":")[0] for note in found.notes] == ["guessed"]


def test_nothing_is_left_out_without_a_word() -> None:
    """What is no object, what is there twice, what the model does not keep."""
    found = gathered(
        body("Pod", "p"),
        {"replicas": 3},
        body("Pod", "p", labels={"second": "yes"}),
        body("Event", "e"),
        body("Event", "f"),
    )

    assert at(found, PODS, "p", "default").labels == {"second": "yes"}
    assert found.notes == (
        "left out: 1.json:1: lacks the field `apiVersion`",
        "twice: pods default/p was there before; 2.json counts",
        "not kept: 2 events, which the model does not look at",
    )
    assert not found.whole


def test_what_is_not_kept_on_purpose_leaves_the_rest_whole() -> None:
    """`kubectl get` of everything has events; the live model has none either."""
    found = gathered(body("Pod", "p"), body("Event", "e"))

    assert found.whole
    assert len(found.notes) == 1


def test_a_type_that_occurs_is_known_and_others_are_not() -> None:
    """Files need not hold all that a cluster does; an empty list of a kind says that it does."""
    empty = {"apiVersion": "v1", "kind": "ServiceList", "items": []}
    found = gathered(body("Pod", "p"), empty)
    view = GraphView(found.graph)

    assert view.listed(PODS)
    assert view.listed(SERVICES)
    assert not view.listed(NODES)
    assert view.unknown(NODES) == "there is none in `here`"
    assert view.unknown(CLAIMS)
    assert found.graph.freshness[PODS].heard_ns == START.mono_ns


def test_an_empty_list_of_one_kind_is_read_alone() -> None:
    """It says that there are none of it, and nothing of others."""
    found = gathered({"apiVersion": "v1", "kind": "PodList", "items": []})

    assert (len(found.graph), found.whole) == (0, True)
    assert GraphView(found.graph).listed(PODS)


def test_kinds_that_others_name_are_known_as_well_as_those_that_are_read() -> None:
    """Of neither is said that the type is not known, only that no file holds one."""
    found = gathered(body("Pod", "p"))
    view = GraphView(found.graph)

    for resource in (CONFIG_MAPS, SECRETS, PRIORITY_CLASSES, NAMESPACES):
        assert view.unknown(resource) == "there is none in `here`"
        assert resource in found.graph.kinds.values()


@pytest.mark.parametrize(
    ("lost", "pods", "nodes"),
    [
        pytest.param(b"kind: [", False, False, id="text"),
        pytest.param({"apiVersion": "v1", "kind": "Pod"}, False, True, id="one-of-a-kind"),
        pytest.param({"apiVersion": "v1", "kind": "Soup"}, True, True, id="one-of-another-kind"),
        pytest.param({"replicas": 3}, True, True, id="no-object"),
    ],
)
def test_after_something_was_lost_absence_is_not_known(
    lost: object, *, pods: bool, nodes: bool
) -> None:
    """What is not here may be in what could not be read: one of a kind, or any."""
    view = GraphView(gathered(body("Pod", "p"), body("Node", "n"), lost).graph)

    assert (view.listed(PODS), view.listed(NODES)) == (pods, nodes)
    assert ("2.json" in view.unknown(PODS)) is not pods


def test_of_a_kind_that_was_lost_whole_is_not_said_that_there_is_none() -> None:
    """The one that was there could not be read."""
    found = gathered(body("Pod", "p"), {"apiVersion": "v1", "kind": "Node"})

    assert GraphView(found.graph).unknown(NODES) == "1.json:1 could not be read"


def test_what_is_skipped_may_have_held_anything() -> None:
    """It is told, and nothing is known to be absent."""
    gatherer = Gatherer("here", START)
    gatherer.add(json.dumps(body("Pod", "p")).encode(), "0.json")
    gatherer.skip("1.json", "leads nowhere")
    found = gatherer.finish()

    assert found.notes == ("left out: 1.json: leads nowhere",)
    assert GraphView(found.graph).unknown(NODES) == "there is none in `here`"
    assert not GraphView(found.graph).listed(PODS)


def test_leases_are_read() -> None:
    """With who holds them."""
    lease = body("Lease", "l", "coordination.k8s.io/v1", namespace="kube-system")
    found = gathered({**lease, "spec": {"holderIdentity": "web-1_7"}}, body("Pod", "web-1"))

    (holder,) = at(found, LEASES, "l", "kube-system").needs
    assert (holder.edge, holder.target.name) == (Edge.HOLDER, "web-1")
    assert found.notes == ()


@pytest.mark.parametrize(
    ("kind", "version", "path"),
    [
        ("Pod", "v1", ("spec",)),
        ("Deployment", "apps/v1", ("spec", "template", "spec")),
        ("CronJob", "batch/v1", ("spec", "jobTemplate", "spec", "template", "spec")),
    ],
)
@pytest.mark.parametrize("meta", [{}, {"uid": "u", "namespace": "default"}])
def test_the_older_name_of_an_account_is_read(
    kind: str, version: str, path: tuple[str, ...], meta: dict[str, str]
) -> None:
    """As the API server has it, which keeps both alike; the newer one counts."""
    for said, wanted in (
        ({"serviceAccount": "old"}, "old"),
        ({"serviceAccount": "old", "serviceAccountName": "new"}, "new"),
    ):
        pod: dict[str, Any] = {"containers": [], **said}
        for step in reversed(path):
            pod = {step: pod}
        found = gathered({**body(kind, "web", version, **meta), **pod})
        (thing,) = found.graph

        accounts = [one.target.name for one in thing.needs if one.edge is Edge.SERVICE_ACCOUNT]
        assert accounts == [wanted]


def test_odd_specs_are_odd_whatever_account_they_name() -> None:
    """Filling in the newer name hides nothing of what is wrong."""
    found = gathered({**body("Deployment", "web", "apps/v1"), "spec": [{"serviceAccount": "a"}]})

    assert keys(found) == ["deployments.apps default/web"]
    assert not found.whole


def test_facts_are_read_as_from_a_cluster() -> None:
    """Closely for the kinds that are read closely."""
    deployment = {
        **body("Deployment", "web", "apps/v1", namespace="prod"),
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}},
    }
    facts = at(gathered(deployment), DEPLOYMENTS, "web", "prod").facts

    assert isinstance(facts, WorkloadFacts)
    assert facts.replicas == 3


@pytest.mark.parametrize("form", ["json", "yaml", "list"])
def test_of_secrets_only_the_metadata_is_read(form: str) -> None:
    """Values end where they are parsed: no part of the object has them."""
    secret = {
        **body("Secret", "key", annotations={"last-applied": "hunter2"}, labels={"app": "web"}),
        "data": {"password": "hunter2"},
        "stringData": {"more": "hunter2"},
    }
    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [secret]} if form == "list" else secret
    )
    found = gathered((b"# yaml\n" if form == "yaml" else b"") + text.encode())
    thing = at(found, SECRETS, "key", "default")

    assert thing.labels == {"app": "web"}
    assert thing.facts is None
    assert "hunter2" not in repr(thing)


def test_odd_parts_are_counted() -> None:
    """An object whose facts cannot be read is kept by its metadata, and that is said."""
    found = gathered({**body("Service", "web"), "spec": {"selector": 7}})

    assert keys(found) == ["services default/web"]
    assert found.notes == ("odd: 1 facts of services could not be read as written",)
    assert not found.whole


@pytest.mark.parametrize("things", [[], [b""], [b"# nothing"], [{"kind": "List", "items": []}]])
def test_a_source_without_an_object_is_refused(things: list[object]) -> None:
    """An empty cluster is most likely a wrong path."""
    with pytest.raises(NothingReadError, match="`here` holds no object"):
        gathered(*things)


def test_a_source_of_bad_documents_only_says_what_is_wrong() -> None:
    """The first of them are in the message."""
    with pytest.raises(NothingReadError, match=r"0\.json:1: lacks the field `apiVersion`"):
        gathered({"a": 1})


def test_progress_is_told() -> None:
    """Every few thousand objects."""
    told: list[tuple[int, str]] = []
    gatherer = Gatherer("here", START, lambda count, place: told.append((count, place)))
    items = [body("ConfigMap", f"c{number}") for number in range(5001)]
    gatherer.add(json.dumps({"kind": "List", "items": items}).encode(), "big.json")

    assert gatherer.finish().graph.count(CONFIG_MAPS) == 5001
    assert told == [(5000, "big.json items[4999]")]


@pytest.mark.parametrize("late", [False, True])
def test_applications_are_where_the_first_project_is(*, late: bool) -> None:
    """Wherever it stands among the files: what was read before it is read again."""
    marks = {"argocd.argoproj.io/instance": "front"}
    kept = [
        body("Deployment", "web", "apps/v1", namespace="shop", labels=marks),
        body("Widget", "w", "example.com/v1", namespace="shop", labels=marks),
    ]
    project = body("AppProject", "default", "argoproj.io/v1alpha1", namespace="gitops")
    found = gathered(*kept, project) if late else gathered(project, *kept)

    for key in (
        ObjectKey(DEPLOYMENTS, "shop", "web"),
        ObjectKey(Resource("example.com", "widgets"), "shop", "w"),
    ):
        row = found.graph.row(key)
        assert row is not None
        needs = [str(need.target) for need in found.graph.at(row).needs]
        assert "applications.argoproj.io gitops/front" in needs
        assert "applications.argoproj.io argocd/front" not in needs
    assert not [note for note in found.notes if note.startswith("twice")]
