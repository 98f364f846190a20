"""Workloads that a person stops by name, behind Services that nothing else is known to need."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import PodsLost, ServiceEmptied
from suture.impact.ordinary.putdown import PUT_DOWN
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    DEPLOYMENTS,
    HTTP_ROUTES,
    INGRESSES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    ObjectKey,
)
from suture.model.objects import (
    ClusterObject,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    WorkloadFacts,
)
from suture.model.selectors import Selector

PERSON = "owner@example.com"


def application(
    name: str, space: str, *, kind: str = "ClusterIP", of: ClusterObject | None = None
) -> list[ClusterObject]:
    """Return a Deployment with its pod and its Service."""
    labels = {"app": name}
    owners = [owner(of)] if of is not None else []
    facts = WorkloadFacts(1, Selector.of(labels))
    deployment = thing(DEPLOYMENTS, name, space, owners=owners, facts=facts)
    replicas = thing(REPLICA_SETS, f"{name}-1", space, owners=[owner(deployment)], facts=facts)
    return [
        deployment,
        replicas,
        thing(
            PODS, f"{name}-1-a", space, owners=[owner(replicas)], labels=labels,
            facts=PodFacts(ready=True),
        ),
        thing(SERVICES, name, space, facts=ServiceFacts(Selector.of(labels), type=kind)),
    ]  # fmt: skip


ROUTE = thing(INGRESSES, "shop", "shop", facts=RouteFacts((ServiceRef("shop", "app-0"),)))


class Cluster:
    """Applications of one namespace, and one of another."""

    def __init__(self, space: str = "shop", *more: ClusterObject, kind: str = "ClusterIP") -> None:
        self.all = [application(f"app-{at}", space, kind=kind) for at in range(PUT_DOWN + 1)]
        self.other = application("app-0", "bank")
        self.view = GraphView(graph_of(*self.all, self.other, more), History())

    def stop(self, deployment: ClusterObject, by: str = PERSON, ago_s: float = 0) -> bool:
        """Scale a Deployment to nothing; return whether that its Service is emptied is explained."""
        facts = deployment.facts
        assert isinstance(facts, WorkloadFacts)
        smaller = msgspec.structs.replace(
            deployment, facts=msgspec.structs.replace(facts, replicas=0)
        )
        request = update(deployment, smaller, by=operator(by))
        now = Now(START.mono_ns - int(ago_s * 10**9), START.utc_s - ago_s)
        impact = impact_of(request, self.view, now=now, by=operator(by))
        remember(request, project(request, self.view), self.view, now)
        (lost,), (emptied,) = effects(impact, PodsLost), effects(impact, ServiceEmptied)
        assert lost.lasting == 1
        return emptied.explained


def test_what_runs_in_one_namespace() -> None:
    """One application with all its parts; the next one is a sweep."""
    cluster = Cluster()

    assert [cluster.stop(one[0]) for one in cluster.all] == [*[True] * PUT_DOWN, False]


def test_not_in_two_namespaces() -> None:
    """Who stops the same everywhere has the wrong context, or none."""
    cluster = Cluster()
    cluster.stop(cluster.all[0][0])

    assert not cluster.stop(cluster.other[0])


def test_in_another_namespace_an_hour_later() -> None:
    """Then it is another errand."""
    cluster = Cluster()
    cluster.stop(cluster.all[0][0], ago_s=3700)

    assert cluster.stop(cluster.other[0])


def test_not_by_a_machine() -> None:
    """It does the same everywhere, when it is mistaken."""
    cluster = Cluster()

    assert not cluster.stop(cluster.all[0][0], by="system:serviceaccount:tools:janitor")


@pytest.mark.parametrize(
    ("cluster", "case"),
    [
        (Cluster("kube-dns"), "the cluster's own"),
        (Cluster("shop", ROUTE), "behind a route"),
        (Cluster(kind="LoadBalancer"), "for the world outside"),
    ],
)
def test_not_what_others_need(cluster: Cluster, case: str) -> None:
    """Then more stands still than what was named."""
    assert not cluster.stop(cluster.all[0][0]), case


@pytest.mark.parametrize(("optional", "stopped"), [(True, True), (False, False)])
def test_behind_a_route_that_sends_nothing_any_more(optional: bool, stopped: bool) -> None:
    """Its weight is nothing: traffic was turned to another cluster first."""
    target = ObjectKey(SERVICES, "shop", "app-0")
    needs = (
        Need(Edge.ROUTES_TO, target, optional=optional),
        Need(Edge.LEADS_TO, target, optional=True),
    )
    route = msgspec.structs.replace(thing(HTTP_ROUTES, "web", "shop"), needs=needs)
    cluster = Cluster("shop", route)

    assert cluster.stop(cluster.all[0][0]) is stopped


def test_not_what_runs_wide() -> None:
    """Ten pods are there for a load; who retires them makes them fewer first."""
    cluster = Cluster()
    first = cluster.all[0][0]
    assert isinstance(first.facts, WorkloadFacts)
    wide = msgspec.structs.replace(first, facts=msgspec.structs.replace(first.facts, replicas=10))
    cluster.view = GraphView(graph_of(wide, *cluster.all[0][1:]), History())

    assert not cluster.stop(wide)


def test_not_what_another_sizes() -> None:
    """What owns it answers for its size."""
    parent = thing(DEPLOYMENTS, "parent", "shop")
    cluster = Cluster()
    owned = application("owned", "shop", of=parent)
    cluster.view = GraphView(graph_of(parent, owned), History())

    assert not cluster.stop(owned[0])
