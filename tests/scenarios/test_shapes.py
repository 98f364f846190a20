"""Populations are written out the same each time, as large as asked, and as described."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from suture.errors import InputError
from suture.lab.scenarios.shapes import DELETED, SHAPES
from suture.lab.scenarios.shapes.help import described


def made(name: str, /, **parameters: Any) -> list[dict[str, Any]]:
    """Return a shape's objects."""
    return msgspec.convert(parameters, SHAPES[name]).objects()


def kinds(objects: list[dict[str, Any]]) -> Counter[str]:
    """Count objects by kind."""
    return Counter(one["kind"] for one in objects)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape(name: str) -> None:
    """With its defaults: the same twice, names that clash nowhere, every parameter explained."""
    objects = made(name)

    assert objects
    assert objects == made(name)
    places = [
        (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects
    ]
    assert len(places) == len(set(places))
    help_ = described(name, SHAPES[name])
    assert help_.help
    assert {"count", "name", "replicas", "names"} & {one.name for one in help_.parameters}


@pytest.mark.parametrize("namespaces", [0, []])
def test_no_namespace_at_all(namespaces: object) -> None:
    """What stands nowhere is a mistake of the file."""
    with pytest.raises(InputError):
        made("deployments", namespaces=namespaces)


def test_services_with_deployments() -> None:
    """A Service over pods of its own for each, spread over namespaces in turn."""
    objects = made("services-with-deployments", count=10, namespaces=3, prefix="shop")

    assert kinds(objects) == {"Namespace": 3, "Deployment": 10, "Service": 10}
    services = [one for one in objects if one["kind"] == "Service"]
    assert services[4]["metadata"]["name"] == "shop-4"
    assert services[4]["metadata"]["namespace"] == "shop-1"
    deployment = next(
        one
        for one in objects
        if one["kind"] == "Deployment" and one["metadata"]["name"] == "shop-4"
    )
    assert (
        services[4]["spec"]["selector"].items()
        <= deployment["spec"]["template"]["metadata"]["labels"].items()
    )


def test_labels_of_nodes_and_namespaces_count() -> None:
    """Those of the cluster itself as those of all others: `{i}` is the number of each."""
    nodes = made("nodes", count=2, prefix="disk", labels={"host": "disk-{i}"})
    assert [one["metadata"]["labels"]["host"] for one in nodes] == ["disk-0", "disk-1"]
    (space,) = made("namespaces", names=["team-7"], labels={"n": "{i}"}, annotations={"by": "{i}"})
    assert (space["metadata"]["labels"]["n"], space["metadata"]["annotations"]["by"]) == ("7", "7")


def test_owners_and_annotations_count() -> None:
    """Each thing has an owner and a mark of its own, all that it is made of the same."""
    shape = msgspec.convert(
        {
            "count": 2,
            "annotate": {"by": "app-{i}"},
            "owner": {"apiVersion": "v1", "kind": "ConfigMap", "name": "of-{i}"},
        },
        SHAPES["services-with-deployments"],
    )
    said = {
        (one["metadata"]["name"], one["metadata"]["annotations"]["by"], owner["name"])
        for one in shape.dressed()
        for owner in one["metadata"].get("ownerReferences", [])
    }
    assert said == {("app-0", "app-0", "of-0"), ("app-1", "app-1", "of-1")}


def test_an_owner_that_does_not_control() -> None:
    """Some operators own what they make, and do not call themselves its controller."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "of"}
    shape = msgspec.convert(
        {"count": 1, "owner": owner, "owner_controls": False}, SHAPES["services-with-deployments"]
    )
    owners = [one["metadata"].get("ownerReferences", []) for one in shape.dressed()]
    assert {one["controller"] for some in owners for one in some} == {False}


def test_namespaces_have_an_owner() -> None:
    """Of other populations they are what it stands on, and nobody's; here they are the things."""
    owner = {"apiVersion": "capsule.example.com/v1", "kind": "Tenant", "name": "team-{i}"}
    shape = msgspec.convert({"count": 2, "owner": owner}, SHAPES["namespaces"])
    assert [one["metadata"]["ownerReferences"][0]["name"] for one in shape.dressed()] == [
        "team-0", "team-1",
    ]  # fmt: skip


def test_a_definition_without_a_status_of_its_own() -> None:
    """A status is a field as any other then, and who writes it writes the object."""
    (plain,), (apart,) = (
        [
            one["spec"]["versions"][0]
            for one in made("crd-with-instances", count=1, **how)
            if one["kind"] == "CustomResourceDefinition"
        ]
        for how in ({"status_apart": False}, {})
    )
    assert "subresources" not in plain
    assert apart["subresources"] == {"status": {}}


def test_idle_services() -> None:
    """The four kinds take turns, and none of them selects a pod of anybody."""
    objects = made("idle-services", count=8, namespaces=["a"])
    services = [one for one in objects if one["kind"] == "Service"]

    assert len(services) == 8
    assert sum(one["spec"].get("clusterIP") == "None" for one in services) == 2
    assert sum(one["spec"].get("type") == "ExternalName" for one in services) == 2
    assert sum("selector" not in one["spec"] for one in services) == 4


def test_owned_services() -> None:
    """A balancer with its finalizer, and Services that name it as their owner."""
    objects = made("owned", children_each=3, deleted=True)

    assert kinds(objects) == {
        "CustomResourceDefinition": 1,
        "Namespace": 1,
        "LoadBalancer": 1,
        "Deployment": 3,
        "Service": 3,
    }
    balancer = next(one for one in objects if one["kind"] == "LoadBalancer")
    assert balancer["metadata"]["finalizers"]
    assert balancer["metadata"]["annotations"][DELETED] == "true"
    for one in objects:
        owners = one["metadata"].get("ownerReferences", [])
        assert bool(owners) == (one["kind"] == "Service")


def test_a_crd_with_instances() -> None:
    """As many as asked, with a spec that counts, and their children."""
    objects = made(
        "crd-with-instances", count=4, children="secrets", children_each=2, spec={"n": "{i}"}
    )

    assert kinds(objects)["Widget"] == 4
    assert kinds(objects)["Secret"] == 8
    assert [one["spec"]["n"] for one in objects if one["kind"] == "Widget"] == ["0", "1", "2", "3"]
    cluster_scoped = made("crd-with-instances", count=2, scope="Cluster")
    assert all("namespace" not in one["metadata"] for one in cluster_scoped)


def test_a_release_of_two_hundred() -> None:
    """Two hundred objects of ten kinds, what is hashed, and Helm's own record."""
    objects = made("release", objects_total=200, hashed=6)

    assert len(objects) == 1 + 200 + 6 + 1
    assert len(kinds(objects)) == 11


def test_a_webhook_leaves_itself_out() -> None:
    """By default it looks neither at its own namespace nor at kube-system."""
    [configuration] = [
        one for one in made("webhook", name="gate") if one["kind"].endswith("Configuration")
    ]
    [webhook] = configuration["webhooks"]

    assert webhook["failurePolicy"] == "Fail"
    [excluded] = webhook["namespaceSelector"]["matchExpressions"]
    assert excluded["values"] == ["kube-system", "gate-system"]


@pytest.mark.parametrize(
    ("group", "approved"),
    [("snapshot.storage.k8s.io", True), ("node.kubernetes.io", True), ("k8s.example.com", False)],
)
def test_a_definition_in_a_protected_group_is_one_that_api_servers_take(
    group: str, approved: bool
) -> None:
    """They ask for an annotation there, and nowhere else."""
    definition = made("crd-with-instances", count=1, group=group)[0]

    annotations = definition["metadata"].get("annotations", {})
    assert ("api-approved.kubernetes.io" in annotations) == approved


def test_a_parameter_is_explained_by_itself_and_not_by_its_type() -> None:
    """Labels of many kinds are maps: which labels, each says."""
    helps = {
        (name, one.name): one.help
        for name in ("webhook", "pods", "nodes", "crd-with-instances")
        for one in described(name, SHAPES[name]).parameters
    }
    assert helps["webhook", "namespace_labels"].startswith("Only namespaces")
    assert helps["pods", "node_selector"].startswith("Labels that a node has to have")
    assert helps["nodes", "labels"].startswith("Labels added to every object;")
    assert helps["crd-with-instances", "annotations"].startswith("Annotations")
