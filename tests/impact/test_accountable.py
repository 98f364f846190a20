"""Whose word could account for what becomes of an object, and is read before a refusal."""

from __future__ import annotations

import msgspec

from support.cluster import graph_of, owner, thing, workload
from suture.impact.causes.parents import accountable
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    AUTOSCALERS,
    CLAIMS,
    NAMESPACES,
    PODS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, CustomFacts

SHOPS = Resource("example.com", "shops")
APPLICATIONS = Resource("argoproj.io", "applications")


def names_of(target: ClusterObject, *things: ClusterObject) -> set[str]:
    """Return who is accountable for an object, by type and name."""
    view = GraphView(graph_of(target, *things))
    row = view.find(target.key)
    assert row is not None
    found = accountable(view, row)
    assert row not in found
    assert len(found) == len(set(found))
    return {f"{view.key(one).resource.plural}/{view.key(one).name}" for one in found}


def needing(one: ClusterObject, *needs: Need) -> ClusterObject:
    return msgspec.structs.replace(one, needs=needs)


def test_all_that_stand_above_a_pod() -> None:
    """Its ReplicaSet and Deployment, what sizes, counts and keeps the Deployment, its namespace."""
    deployment, *others = workload("web", "prod")
    (pod,) = [one for one in others if one.key.resource == PODS]
    shop = thing(SHOPS, "front", "prod", facts=CustomFacts(3))
    application = thing(APPLICATIONS, "shop", "argocd")
    deployment = needing(
        deployment,
        Need(Edge.PARENT, shop.key),
        Need(Edge.MANAGED_BY, application.key),
        Need(Edge.MANAGED_BY, ObjectKey(Resource("helm.sh", "releases"), "prod", "gone")),
    )
    scaler = needing(thing(AUTOSCALERS, "web", "prod"), Need(Edge.SCALES, deployment.key))
    home = thing(NAMESPACES, "prod")
    rest = [one for one in others if one is not pod]

    found = names_of(pod, deployment, *rest, shop, application, scaler, home)

    assert found == {
        "replicasets/web-1", "deployments/web", "shops/front", "applications/shop",
        "horizontalpodautoscalers/web", "namespaces/prod",
    }  # fmt: skip


def test_the_set_that_a_claim_is_named_after() -> None:
    """No reference leads from a claim to its StatefulSet: its name does."""
    claim = thing(CLAIMS, "data-db-0", "prod")
    assert names_of(claim, thing(STATEFUL_SETS, "db", "prod")) == {"statefulsets/db"}


def test_owners_beside_the_controller() -> None:
    """Each owner that is there; none that is not."""
    one, other, gone = (thing(SHOPS, name, "prod") for name in ("one", "other", "gone"))
    child = thing(CLAIMS, "data", "prod", owners=[owner(one), owner(other), owner(gone)])
    assert names_of(child, one, other) == {"shops/one", "shops/other"}
