"""A small shop as values: a workload with nearly everything that one has, and things amiss."""

from __future__ import annotations

import msgspec

from support.cluster import owner, thing
from suture.model.edges import Edge, Need
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    INGRESSES,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICES,
    Gvk,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    NodeFacts,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    WorkloadFacts,
)
from suture.model.selectors import Selector

SPACE = "shop"
ACCOUNTS = Resource("", "serviceaccounts")
VOLUMES = Resource("", "persistentvolumes")
AUTOSCALERS = Resource("autoscaling", "horizontalpodautoscalers")
APPLICATIONS = Resource("argoproj.io", "applications")
KINDS = {
    NAMESPACES: "Namespace",
    NODES: "Node",
    PODS: "Pod",
    SERVICES: "Service",
    DEPLOYMENTS: "Deployment",
    REPLICA_SETS: "ReplicaSet",
    CONFIG_MAPS: "ConfigMap",
    SECRETS: "Secret",
    CLAIMS: "PersistentVolumeClaim",
    ENDPOINT_SLICES: "EndpointSlice",
    INGRESSES: "Ingress",
    ACCOUNTS: "ServiceAccount",
    VOLUMES: "PersistentVolume",
    AUTOSCALERS: "HorizontalPodAutoscaler",
}

PODS_READY, PODS_WANTED = 11, 12
WEB = ObjectKey(DEPLOYMENTS, SPACE, "web")
SERVICE = ObjectKey(SERVICES, SPACE, "web")
SETTINGS = ObjectKey(CONFIG_MAPS, SPACE, "web-settings")
MISSING = ObjectKey(SECRETS, SPACE, "web-payments")
"""Needed, and not there."""

TEMPLATE = (
    Need(Edge.CONFIG_MAP, SETTINGS, "LOG_LEVEL"),
    Need(Edge.CONFIG_MAP, SETTINGS, "CURRENCY"),
    Need(Edge.SECRET, MISSING, "token"),
    Need(Edge.SECRET, ObjectKey(SECRETS, SPACE, "web-flags"), optional=True),
    Need(Edge.SERVICE_ACCOUNT, ObjectKey(ACCOUNTS, SPACE, "web")),
    Need(Edge.MANAGED_BY, ObjectKey(APPLICATIONS, "argocd", "shop")),
)


def made(
    resource: Resource,
    name: str,
    namespace: str = SPACE,
    *,
    needs: tuple[Need, ...] = (),
    **more: object,
) -> ClusterObject:
    """Make an object under its kind's real name."""
    one = thing(resource, name, namespace, **more)  # type: ignore[arg-type] # passed on
    gvk = Gvk(resource.group, "v1", KINDS[resource])
    return msgspec.structs.replace(one, gvk=gvk, needs=needs)


def shop() -> Graph:
    """Return the shop: every kind of `KINDS` is listed, and no other."""
    graph = Graph()
    for resource, kind in KINDS.items():
        graph.declare(resource.group, kind, resource)
        graph.note_listed(resource)
        graph.heard(resource, "1", 1)
    for one in [*_around(), *_workload()]:
        graph.put(one)
    return graph


def view() -> GraphView:
    """Return a view of the shop."""
    return GraphView(shop())


def _around() -> list[ClusterObject]:
    scales = (Need(Edge.SCALES, WEB),)
    route = RouteFacts((ServiceRef(SPACE, "web"),))
    to_service = (Need(Edge.ROUTES_TO, SERVICE),)
    return [
        made(NAMESPACES, SPACE, ""),
        *(made(NODES, f"node-{at}", "", facts=NodeFacts(ready=at > 0)) for at in range(6)),
        made(SERVICES, "web", facts=ServiceFacts(Selector.of({"app": "web"}))),
        made(INGRESSES, "web", facts=route, needs=to_service),
        made(INGRESSES, "web-internal", facts=route, needs=to_service, deleted=5.0),
        made(ENDPOINT_SLICES, "web-x1", needs=(Need(Edge.SLICE_OF, SERVICE),)),
        made(AUTOSCALERS, "web", needs=scales),
        made(CONFIG_MAPS, "web-settings"),
        made(ACCOUNTS, "web"),
        made(CLAIMS, "cache", needs=(Need(Edge.VOLUME, ObjectKey(VOLUMES, "", "pv-1")),)),
        made(
            VOLUMES, "pv-1", "", needs=(Need(Edge.BOUND_CLAIM, ObjectKey(CLAIMS, SPACE, "cache")),)
        ),
    ]


def _workload() -> list[ClusterObject]:
    web = made(DEPLOYMENTS, "web", facts=WorkloadFacts(PODS_WANTED), needs=TEMPLATE)
    old = made(REPLICA_SETS, "web-old", owners=[owner(web)], facts=WorkloadFacts(0), needs=TEMPLATE)
    new = made(
        REPLICA_SETS,
        "web-5d9",
        owners=[owner(web)],
        facts=WorkloadFacts(PODS_WANTED),
        needs=TEMPLATE,
    )
    claim = Need(Edge.CLAIM, ObjectKey(CLAIMS, SPACE, "cache"))
    pods = [
        made(
            PODS,
            f"web-5d9-{at:02}",
            labels={"app": "web"},
            owners=[owner(new)],
            facts=PodFacts(ready=at < PODS_READY, node=f"node-{at % 6}"),
            needs=(*TEMPLATE, claim, Need(Edge.NODE, ObjectKey(NODES, "", f"node-{at % 6}"))),
        )
        for at in range(PODS_WANTED)
    ]
    return [web, old, new, *pods]
