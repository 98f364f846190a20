"""Small clusters as values: constructors for objects, and a world around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.history import History
from suture.model.names import (
    CRDS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    VALIDATING_WEBHOOKS,
    Gvk,
    Gvr,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import (
    NO_LABELS,
    ClusterObject,
    CrdFacts,
    Facts,
    OwnerReference,
    PodFacts,
    ServiceFacts,
    ServiceRef,
    Webhook,
    WebhookFacts,
    WebhookRule,
    WorkloadFacts,
)
from suture.model.request import DeleteOptions, Extent, One, Request
from suture.model.selectors import Selector

START = Now(1_000_000_000_000, 1_700_000_000.0)

KINDS: dict[Resource, Gvk] = {
    PODS: Gvk("", "v1", "Pod"),
    SERVICES: Gvk("", "v1", "Service"),
    NAMESPACES: Gvk("", "v1", "Namespace"),
    DEPLOYMENTS: Gvk("apps", "v1", "Deployment"),
    REPLICA_SETS: Gvk("apps", "v1", "ReplicaSet"),
    CRDS: Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    VALIDATING_WEBHOOKS: Gvk(
        "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"
    ),
}
BALANCERS = Resource("lb.example.com", "balancers")
KINDS[BALANCERS] = Gvk("lb.example.com", "v1", "Balancer")


def thing(
    resource: Resource,
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] = NO_LABELS,
    owners: Iterable[OwnerReference] = (),
    facts: Facts | None = None,
    deleted: float = 0.0,
) -> ClusterObject:
    """Make any object; its uid says what it is."""
    return ClusterObject(
        key=ObjectKey(resource, namespace, name),
        uid=f"uid:{resource}:{namespace}/{name}",
        gvk=KINDS.get(resource, Gvk(resource.group, "v1", resource.plural.title())),
        resource_version="1",
        labels=labels,
        owners=tuple(owners),
        facts=facts,
        deleted=deleted,
    )


def owner(of: ClusterObject, *, controller: bool = True) -> OwnerReference:
    """Point at an owner."""
    return OwnerReference(of.gvk, of.key.name, of.uid, controller=controller)


def service(
    name: str,
    namespace: str = "prod",
    *,
    app: str | None = None,
    owners: Iterable[OwnerReference] = (),
) -> ClusterObject:
    """Make a Service that selects `app=NAME`, or `app`; an empty `app` selects nothing."""
    chosen = name if app is None else app
    selector = Selector.of({"app": chosen}) if chosen else None
    return thing(SERVICES, name, namespace, owners=owners, facts=ServiceFacts(selector))


def workload(
    name: str, namespace: str = "prod", *, replicas: int = 1, ready: int | None = None
) -> list[ClusterObject]:
    """Make a Deployment with its ReplicaSet and pods labelled `app=NAME`."""
    labels = {"app": name}
    selector = Selector.of(labels)
    facts = WorkloadFacts(replicas=replicas, selector=selector, template_hash=1)
    deployment = thing(DEPLOYMENTS, name, namespace, labels=labels, facts=facts)
    replica_set = thing(
        REPLICA_SETS, f"{name}-1", namespace, labels=labels, owners=[owner(deployment)], facts=facts
    )
    pods = [
        thing(
            PODS,
            f"{name}-1-{number}",
            namespace,
            labels=labels,
            owners=[owner(replica_set)],
            facts=PodFacts(ready=number < (replicas if ready is None else ready), node="node-1"),
        )
        for number in range(replicas)
    ]
    return [deployment, replica_set, *pods]


def namespace(name: str) -> ClusterObject:
    """Make a namespace with the label that the API server gives it."""
    return thing(NAMESPACES, name, labels={"kubernetes.io/metadata.name": name})


def crd(resource: Resource = BALANCERS, *, conversion: ServiceRef | None = None) -> ClusterObject:
    """Make the definition of a custom type."""
    facts = CrdFacts(resource, KINDS[resource].kind, namespaced=True, conversion=conversion)
    return thing(CRDS, str(resource), facts=facts)


def webhook(
    name: str,
    backend: ServiceRef,
    *,
    fail_closed: bool = True,
    namespaces: Selector = Selector(),  # noqa: B008 frozen
) -> ClusterObject:
    """Make a webhook configuration that matches the creation of pods."""
    rule = WebhookRule(("CREATE",), ("",), ("v1",), ("pods",))
    hook = Webhook(
        f"{name}.example.com", fail_closed, backend, (rule,), namespace_selector=namespaces
    )
    return thing(VALIDATING_WEBHOOKS, name, facts=WebhookFacts((hook,)))


def graph_of(*things: ClusterObject | Iterable[ClusterObject]) -> Graph:
    """Make a graph in which every type present, and the common ones, were listed whole."""
    graph = Graph()
    flat: list[ClusterObject] = []
    for one in things:
        flat.extend([one] if isinstance(one, ClusterObject) else one)
    by_resource: dict[Resource, list[ClusterObject]] = {resource: [] for resource in KINDS}
    for resource, gvk in KINDS.items():
        graph.declare(gvk.group, gvk.kind, resource)
    for one in flat:
        by_resource.setdefault(one.key.resource, []).append(one)
    for resource, members in by_resource.items():
        graph.replace(resource, members)
        graph.heard(resource, "1", START.mono_ns)
    return graph


def view_of(*things: ClusterObject | Iterable[ClusterObject]) -> GraphView:
    """Make the read-only face of such a graph."""
    return GraphView(graph_of(*things), History())


def operator(
    name: str = "system:serviceaccount:lb:operator", stage: Stage = Stage.ENFORCE
) -> Actor:
    """Make an enrolled operator."""
    return Actor(UserInfo(name), "lb-operator", IdentityKind.OPERATOR, stage)


def delete(
    target: ClusterObject,
    *,
    by: Actor | None = None,
    extent: Extent = One(),  # noqa: B008 frozen
    options: DeleteOptions = DeleteOptions(),  # noqa: B008 frozen
    dry_run: bool = False,
    uid: str = "review-1",
) -> Request:
    """Ask for the delete of an object."""
    resource = target.key.resource
    return Request(
        uid=uid,
        operation=Operation.DELETE,
        gvr=Gvr(resource.group, "v1", resource.plural),
        gvk=target.gvk,
        namespace=target.key.namespace,
        name=target.key.name,
        user=(by or operator()).user,
        extent=extent,
        old=target,
        options=options,
        dry_run=dry_run,
    )
