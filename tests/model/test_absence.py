"""What is not there is missing where that can be known, and else there is a reason for doubt."""

from __future__ import annotations

import pytest

from support.cluster import graph_of, thing
from suture.model.absence import ARGO_APPLICATIONS, doubt
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    NAMESPACES,
    PRIORITY_CLASSES,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    ObjectKey,
    Resource,
)

APPLICATION = ObjectKey(ARGO_APPLICATIONS, "argocd", "shop")


def listed(resource: Resource, version: str) -> GraphView:
    """Return a model in which one type is listed and empty: by a cluster, or without a version."""
    graph = Graph()
    graph.note_listed(resource)
    graph.heard(resource, version, 1)
    return GraphView(graph)


@pytest.mark.parametrize(
    ("resource", "namespace", "name"),
    [
        (SERVICE_ACCOUNTS, "shop", "default"),
        (CONFIG_MAPS, "shop", "kube-root-ca.crt"),
        (CONFIG_MAPS, "kube-system", "coredns"),
        (ROLES, "kube-system", "extension-apiserver-authentication-reader"),
        (PRIORITY_CLASSES, "", "system-node-critical"),
        (CLUSTER_ROLES, "", "view"),
        (CLUSTER_ROLES, "", "system:auth-delegator"),
        (NAMESPACES, "", "default"),
        (SERVICES, "default", "kubernetes"),
    ],
)
def test_files_need_not_hold_what_every_cluster_makes(
    resource: Resource, namespace: str, name: str
) -> None:
    """A cluster that does not list it lacks it."""
    key = ObjectKey(resource, namespace, name)

    assert doubt(listed(resource, ""), key) == "every cluster makes it by itself"
    assert doubt(listed(resource, "7"), key) == ""


@pytest.mark.parametrize(
    "key",
    [
        ObjectKey(SERVICE_ACCOUNTS, "shop", "web"),
        ObjectKey(CONFIG_MAPS, "shop", "default"),
        ObjectKey(CLUSTER_ROLES, "", "viewer"),
        ObjectKey(SERVICES, "shop", "kubernetes"),
    ],
)
def test_what_nobody_makes_is_missing(key: ObjectKey) -> None:
    """In files as in a cluster."""
    assert doubt(listed(key.resource, ""), key) == ""


def test_of_a_type_that_is_not_listed_nothing_is_missing() -> None:
    """It is not known, not listed, or unknown for a reason."""
    graph = Graph()
    key = ObjectKey(SECRETS, "shop", "key")
    assert doubt(GraphView(graph), key) == "no such type is known here"
    graph.declare("", "Secret", SECRETS)
    assert doubt(GraphView(graph), key) == "not listed"
    graph.mark_unknown(SECRETS, "403 Forbidden")
    assert doubt(GraphView(graph), key) == "403 Forbidden"


def test_argo_cd_may_run_anywhere() -> None:
    """Its marks do not say where; an Application in the place that is assumed does."""
    elsewhere = thing(ARGO_APPLICATIONS, "shop", "openshift-gitops")
    here = thing(ARGO_APPLICATIONS, "other", "argocd")

    assert "elsewhere" in doubt(GraphView(graph_of(elsewhere)), APPLICATION)
    assert doubt(GraphView(graph_of(elsewhere, here)), APPLICATION) == ""
