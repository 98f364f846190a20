"""The writes that benchmarks ask about, as the AdmissionReviews that an API server would send.

Made of a made cluster's own JSON, so that sizes are those of life and the model knows every object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, islice
from typing import Any, Protocol

import msgspec

from suture.lab.incident import ACCOUNT
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CILIUM_CLUSTER_POLICIES,
    CRDS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    SERVICES,
    Gvk,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import CrdFacts

SAMPLED = 200
"""LIMIT: different objects behind one figure: the same few would stay in the processor's caches."""

POLICY_KIND = Gvk("cilium.io", "v2", "CiliumClusterwideNetworkPolicy")
"""A kind that made clusters have none of: the policies of theirs are each of a namespace."""

UPDATED = 10
"""LIMIT: objects of a type of which updates are timed, as many each as its spec has fields."""

DEPLOYMENT_PODS, NAMESPACE_OBJECTS, INSTANCES = 500, 5_000, 50_000
"""How large the giants are that are looked for; the nearest are taken."""

SKIPPED = 10
"""Every tenth object of a list is taken, so that they come from more than one namespace."""

Object = dict[str, Any]


class Source(Protocol):
    """Where objects are found: a made cluster, or its pages."""

    @property
    def kinds(self) -> Mapping[Resource, Gvk]:
        """Every kind there is."""

    def documents(self, resource: Resource) -> Iterator[bytes]:
        """Yield the objects of a kind, each with its type."""


class Case(msgspec.Struct, frozen=True):
    """One sort of write, as reviews about different objects of the cluster."""

    name: str
    reviews: tuple[bytes, ...]
    destructive: bool


def cases(cluster: Source, graph: Graph) -> tuple[Case, ...]:
    """Return the writes whose decisions are timed, the usual one first."""
    return (
        reconcile(cluster),
        pod_delete(cluster),
        service_delete(cluster),
        _largest_deployment(cluster),
        _largest_namespace(cluster, graph),
    )


def reconcile(cluster: Source) -> Case:
    """Return what operators write most: an update that changes nothing of consequence."""
    reviews = []
    for old in _sampled(cluster, DEPLOYMENTS):
        known = old["metadata"].get("annotations", {})
        meta: Object = {**old["metadata"], "annotations": {**known, "example.com/reconciled": "2"}}
        reviews.append(
            _review(cluster, DEPLOYMENTS, Operation.UPDATE, old, {**old, "metadata": meta})
        )
    return Case("reconcile update", tuple(reviews), destructive=False)


def service_delete(cluster: Source, *, dry_run: bool = False) -> Case:
    """Return deletes of Services."""
    reviews = _deletes(cluster, SERVICES, dry_run=dry_run)
    name = "service delete, dry run" if dry_run else "service delete"
    return Case(name, tuple(reviews), destructive=True)


def pod_delete(cluster: Source, *, dry_run: bool = False) -> Case:
    """Return deletes of pods."""
    reviews = _deletes(cluster, PODS, dry_run=dry_run)
    return Case("pod delete", tuple(reviews), destructive=True)


def deployment_delete(cluster: Source, *, largest: int, dry_run: bool = False) -> Case:
    """Return deletes of Deployments that want no more pods than `largest`."""
    reviews = [
        _review(cluster, DEPLOYMENTS, Operation.DELETE, one, dry_run=dry_run)
        for one in _sampled(cluster, DEPLOYMENTS)
        if int(one["spec"]["replicas"]) <= largest
    ]
    return Case("deployment delete", tuple(reviews), destructive=True)


def deletes_by_type(cluster: Source) -> Iterator[Case]:
    """Yield deletes of objects of every type, one case a type, by the type's name."""
    for resource in cluster.kinds:
        reviews = tuple(_deletes(cluster, resource))
        if reviews:
            yield Case(str(resource), reviews, destructive=True)


def updates_by_type(cluster: Source) -> Iterator[Case]:
    """Yield updates of objects of every type, one case a type, by the type's name.

    Of each object one that adds a label, one that leaves all of them out, and one for each field of
    its spec, which is left out.
    """
    for resource in cluster.kinds:
        reviews = tuple(
            _review(cluster, resource, Operation.UPDATE, old, new)
            for old in _sampled(cluster, resource)[:: SAMPLED // UPDATED]
            for new in _rewritten(old)
        )
        if reviews:
            yield Case(str(resource), reviews, destructive=False)


def _rewritten(old: Object) -> Iterator[Object]:
    meta, spec = old["metadata"], old.get("spec") or {}
    labels = {**meta.get("labels", {}), "example.com/added": "yes"}
    yield {**old, "metadata": {**meta, "labels": labels}}
    yield {**old, "metadata": {name: said for name, said in meta.items() if name != "labels"}}
    for field in spec:
        yield {**old, "spec": {name: said for name, said in spec.items() if name != field}}


def giants(cluster: Source, graph: Graph) -> tuple[Case, ...]:
    """Return the writes about hundreds and thousands of objects that impact is timed on."""
    return (
        _deployment_near(cluster, DEPLOYMENT_PODS),
        _template_change(cluster, DEPLOYMENT_PODS),
        _largest_namespace(cluster, graph, NAMESPACE_OBJECTS),
        _definition_near(cluster, graph, INSTANCES),
        _cluster_policy(cluster),
    )


def _cluster_policy(cluster: Source) -> Case:
    """Return a policy that closes all pods of all namespaces to all but some that are not there."""
    few = [{"matchLabels": {"example.com/there": "no"}}]
    made = {
        "apiVersion": "cilium.io/v2",
        "kind": POLICY_KIND.kind,
        "metadata": {"name": "closed", "uid": "705ab4f5-6393-11e8-b7cc-42010a800003"},
        "spec": {
            "endpointSelector": {},
            "ingress": [{"fromEndpoints": few}],
            "egress": [{"toEndpoints": few}],
        },
    }
    review = _review(cluster, CILIUM_CLUSTER_POLICIES, Operation.CREATE, made, made)
    return Case("policy of the whole cluster", (review,), destructive=True)


def _near(cluster: Source, pods: int) -> Object:
    documents = (_read(body) for body in cluster.documents(DEPLOYMENTS))
    return min(documents, key=lambda one: abs(int(one["spec"]["replicas"]) - pods))


def _deployment_near(cluster: Source, pods: int) -> Case:
    found = _near(cluster, pods)
    review = _review(cluster, DEPLOYMENTS, Operation.DELETE, found)
    count = found["spec"]["replicas"]
    return Case(f"deployment delete, {count} pods", (review,), destructive=True)


def _template_change(cluster: Source, pods: int) -> Case:
    """Return a new image in the template of a Deployment of so many pods."""
    old = _near(cluster, pods)
    new = msgspec.json.decode(msgspec.json.encode(old))
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/next:2"
    review = _review(cluster, DEPLOYMENTS, Operation.UPDATE, old, new)
    count = old["spec"]["replicas"]
    return Case(f"template change, {count} pods", (review,), destructive=False)


def _definition_near(cluster: Source, graph: Graph, instances: int) -> Case:
    """Return the delete of the definition that has about so many instances."""
    view = GraphView(graph)

    def count(body: Object) -> int:
        row = view.find(ObjectKey(CRDS, "", body["metadata"]["name"]))
        facts = None if row is None else view.facts(row)
        return view.count(facts.resource) if isinstance(facts, CrdFacts) else 0

    documents = [_read(body) for body in cluster.documents(CRDS)]
    found = min(documents, key=lambda one: abs(count(one) - instances))
    review = _review(cluster, CRDS, Operation.DELETE, found)
    return Case(f"definition delete, {count(found)} instances", (review,), destructive=True)


def _largest_deployment(cluster: Source) -> Case:
    documents = (_read(body) for body in cluster.documents(DEPLOYMENTS))
    largest = max(documents, key=lambda one: int(one["spec"]["replicas"]))
    count = largest["spec"]["replicas"]
    review = _review(cluster, DEPLOYMENTS, Operation.DELETE, largest)
    return Case(f"deployment delete, {count} pods", (review,), destructive=True)


def _largest_namespace(cluster: Source, graph: Graph, objects: int | None = None) -> Case:
    """Return the delete of the team namespace that holds most, or about so many objects.

    Nobody deletes kube-system.
    """
    view = GraphView(graph)
    found = [_read(body) for body in cluster.documents(NAMESPACES)]
    teams = [one for one in found if "team" in one["metadata"].get("labels", {})]

    def members(one: Object) -> int:
        return len(view.members(one["metadata"]["name"]))

    if objects is None:
        largest = max(teams, key=members)
    else:
        largest = min(teams, key=lambda one: abs(members(one) - objects))
    count = len(view.members(largest["metadata"]["name"]))
    review = _review(cluster, NAMESPACES, Operation.DELETE, largest)
    return Case(f"namespace delete, {count} objects", (review,), destructive=True)


def _deletes(cluster: Source, resource: Resource, *, dry_run: bool = False) -> Iterable[bytes]:
    for old in _sampled(cluster, resource):
        yield _review(cluster, resource, Operation.DELETE, old, dry_run=dry_run)


def _sampled(cluster: Source, resource: Resource) -> list[Object]:
    """Return some objects of a kind; of a small cluster, each of them."""
    first = list(islice(cluster.documents(resource), SAMPLED * SKIPPED))
    return [_read(body) for body in first[:: max(1, len(first) // SAMPLED)]]


def _read(body: bytes) -> Object:
    found: Object = msgspec.json.decode(body)
    return found


def repeated(case: Case, calls: int) -> list[bytes]:
    """Return as many reviews as calls are to be timed, in turn."""
    return list(islice(cycle(case.reviews), calls))


def _review(
    cluster: Source,
    resource: Resource,
    operation: Operation,
    old: Object,
    new: Object | None = None,
    *,
    dry_run: bool = False,
) -> bytes:
    gvk = cluster.kinds.get(resource, POLICY_KIND)
    kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    endpoint = {"group": resource.group, "version": gvk.version, "resource": resource.plural}
    deletes = operation is Operation.DELETE
    meta = old["metadata"]
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": kind,
        "resource": endpoint,
        "requestKind": kind,
        "requestResource": endpoint,
        "name": meta["name"],
        **({"namespace": meta["namespace"]} if "namespace" in meta else {}),
        "operation": operation.value,
        "userInfo": {
            "username": ACCOUNT.username,
            "uid": "0a1b2c3d-6393-11e8-b7cc-42010a800002",
            "groups": list(ACCOUNT.groups),
            "extra": {"authentication.kubernetes.io/pod-name": ["balancer-operator-0"]},
        },
        "object": new,
        "oldObject": None if operation is Operation.CREATE else old,
        "dryRun": dry_run,
        "options": {
            "kind": "DeleteOptions" if deletes else "UpdateOptions",
            "apiVersion": "meta.k8s.io/v1",
        },
    }
    envelope = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return msgspec.json.encode(envelope)
