"""Workloads that a person stops by name, behind Services that nothing else is known to need."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, owner, service, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import EndpointsLost, PodsLost, QuorumLost, ServiceEmptied
from suture.impact.ordinary.keptback import remember_kept
from suture.impact.ordinary.putdown import CUT_DOWN, CUT_IN_FILES, PUT_DOWN
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    AUTOSCALERS,
    CRON_JOBS,
    DEPLOYMENTS,
    HTTP_ROUTES,
    INGRESSES,
    JOBS,
    PODS,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    Gvr,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    CustomFacts,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    WorkloadFacts,
)
from suture.model.request import Request
from suture.model.selectors import Selector

PERSON = "owner@example.com"
MACHINE = "system:serviceaccount:tools:janitor"
CONNECTORS = Resource("connect.example.com", "connectors")


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


class Tenant:
    """Five namespaces of two applications each, and who stops them, minute by minute."""

    def __init__(self) -> None:
        self.all = [[application(one, f"shop-{at}") for one in ("a", "b")] for at in range(5)]
        self.graph = graph_of(*(one for space in self.all for one in space))
        self.view = GraphView(self.graph, History())

    def stop(self, space: int, which: int, at_s: float) -> bool:
        """Scale one to nothing, and let its pods go; return whether that is explained."""
        deployment, _, pod, _ = self.all[space][which]
        assert isinstance(deployment.facts, WorkloadFacts)
        facts = msgspec.structs.replace(deployment.facts, replicas=0)
        request = update(
            deployment, msgspec.structs.replace(deployment, facts=facts), by=operator(PERSON)
        )
        now = START.plus_s(at_s)
        impact = impact_of(request, self.view, now=now, by=operator(PERSON))
        (emptied,) = effects(impact, ServiceEmptied)
        if not emptied.explained:
            remember_kept(request, self.view, now)
            return False
        remember(request, project(request, self.view), self.view, now)
        self.graph.remove(pod.key)
        return True


TWICE = [(space, which) for space in range(5) for which in range(2)]


@pytest.mark.parametrize(
    ("apart_s", "order", "stopped"),
    [
        pytest.param(75, TWICE, 8, id="four namespaces, one after the other"),
        pytest.param(1, TWICE, 2, id="by a script"),
        pytest.param(20, TWICE, 2, id="by a slow script"),
        pytest.param(75, TWICE[::2], 1, id="a part of each"),
    ],
)
def test_in_a_few_namespaces_that_are_stopped_whole(
    apart_s: float, order: list[tuple[int, int]], stopped: int
) -> None:
    """A tenant gives up what it has; who is refused once has to stay where they were."""
    tenant = Tenant()
    told = [tenant.stop(*one, at * apart_s) for at, one in enumerate(order)]
    assert told == [*[True] * stopped, *[False] * (len(order) - stopped)]


def test_not_by_a_machine() -> None:
    """It does the same everywhere, when it is mistaken."""
    cluster = Cluster()

    assert not cluster.stop(cluster.all[0][0], by="system:serviceaccount:tools:janitor")


HOOK = "system:serviceaccount:shop:hooks"
KEPT = Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "shop", "shop"))


@pytest.mark.parametrize(
    ("by", "maker", "hours", "scheduled", "reader", "explained"),
    [
        pytest.param(HOOK, PERSON, 0, False, None, True, id="a-hook"),
        pytest.param(HOOK, PERSON, 0, False, KEPT, True, id="behind-a-route-of-the-same-release"),
        pytest.param(HOOK, PERSON, 0, False, SERVICES, False, id="behind-a-route-of-another"),
        pytest.param(HOOK, HOOK, 0, False, None, False, id="that-sent-itself"),
        pytest.param(HOOK, PERSON, 2, False, None, False, id="long-ago"),
        pytest.param(HOOK, PERSON, 0, True, None, False, id="by-schedule"),
        pytest.param(
            "system:serviceaccount:tools:hooks", PERSON, 0, False, None, False, id="from-elsewhere"
        ),
    ],
)
def test_an_errand_stops_what_it_was_sent_for(
    by: str, maker: str, hours: int, scheduled: bool, reader: object, explained: bool
) -> None:
    """A Job that somebody made within the hour runs as the actor, in the namespace."""
    cluster = Cluster()
    account = thing(SERVICE_ACCOUNTS, "hooks", by.split(":")[2])
    plan = thing(CRON_JOBS, "nightly", "shop")
    job = thing(JOBS, "migrate", "shop", owners=[owner(plan)] if scheduled else [])
    pod = thing(PODS, "migrate-1", "shop", owners=[owner(job)], facts=PodFacts(ready=True))
    runs = msgspec.structs.replace(pod, needs=(Need(Edge.SERVICE_ACCOUNT, account.key),))
    first, *rest = cluster.all[0]
    first = msgspec.structs.replace(first, needs=(*first.needs, KEPT))
    kept = (KEPT,) if reader is KEPT else ()
    route = [msgspec.structs.replace(ROUTE, needs=(*ROUTE.needs, *kept))] if reader else []
    things = (first, rest, account, plan, job, runs, route)
    cluster.view = GraphView(graph_of(*things), History())
    made_at = Now(START.mono_ns - hours * 3600 * 10**9, START.utc_s - hours * 3600)
    cluster.view.history.note_created(job.uid, maker, maker, job.key, made_at)

    assert cluster.stop(first, by=by) is explained


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


@pytest.mark.parametrize(
    ("by", "spaces", "kept", "explained"),
    [
        pytest.param(PERSON, ("shop", "shop"), False, [True, True], id="of one namespace"),
        pytest.param(PERSON, ("shop", "bank"), False, [True, False], id="everywhere"),
        pytest.param(MACHINE, ("shop",), False, [False], id="by a machine"),
        pytest.param(PERSON, ("shop",), True, [False], id="what another keeps"),
    ],
)
def test_who_asks_what_keeps_it_for_none(
    by: str, spaces: tuple[str, ...], explained: list[bool], *, kept: bool
) -> None:
    """A person may stop so what they may scale themselves, and no more of it."""
    above = thing(CONNECTORS, "above", "shop")
    keepers = [
        thing(
            CONNECTORS, f"app-{at}", space, facts=CustomFacts(1),
            owners=[owner(above)] if kept else [],
        )
        for at, space in enumerate(spaces)
    ]  # fmt: skip
    made = [application(one.key.name, one.key.namespace, of=one) for one in keepers]
    view = GraphView(graph_of(above, keepers, *made), History())

    told = []
    for keeper in keepers:
        none = msgspec.structs.replace(keeper, facts=CustomFacts(0))
        request = update(keeper, none, by=operator(by))
        impact = impact_of(request, view, now=START, by=operator(by))
        remember(request, project(request, view), view, START)
        told += [one.explained for one in effects(impact, ServiceEmptied)]
    assert told == explained


def members(*more: ClusterObject) -> tuple[ClusterObject, GraphView]:
    """Return a set of three with its Service."""
    labels = {"app": "db"}
    facts = WorkloadFacts(3, Selector.of(labels))
    made = thing(STATEFUL_SETS, "db", "shop", facts=facts)
    pods = [
        thing(
            PODS, f"db-{at}", "shop", owners=[owner(made)], labels=labels,
            facts=PodFacts(ready=True),
        )
        for at in range(3)
    ]  # fmt: skip
    service = thing(SERVICES, "db", "shop", facts=ServiceFacts(Selector.of(labels)))
    return made, GraphView(graph_of(made, pods, service, more), History())


@pytest.mark.parametrize(
    ("by", "to", "more", "explained"),
    [
        pytest.param(PERSON, 0, (), True, id="stopped to copy its data"),
        pytest.param(PERSON, 1, (), False, id="left without a majority"),
        pytest.param("system:serviceaccount:tools:janitor", 0, (), False, id="by a machine"),
        pytest.param(
            PERSON, 0,
            (thing(INGRESSES, "db", "shop", facts=RouteFacts((ServiceRef("shop", "db"),))),),
            False, id="a route leads there",
        ),
    ],
)  # fmt: skip
def test_a_set_that_a_person_stops_whole_gives_up_its_majority(
    by: str, to: int, more: tuple[ClusterObject, ...], *, explained: bool
) -> None:
    """What may be put down by name may so be as a set of members; a part of it is no set."""
    made, view = members(*more)
    facts = msgspec.structs.replace(WorkloadFacts(3, Selector.of({"app": "db"})), replicas=to)
    smaller = msgspec.structs.replace(made, facts=facts)
    impact = impact_of(update(made, smaller, by=operator(by)), view, now=START, by=operator(by))
    assert [one.explained for one in effects(impact, QuorumLost)] == [explained]


BASES = Resource("db.example.com", "databases")


@pytest.mark.parametrize(
    ("by", "to", "owned", "more", "explained"),
    [
        pytest.param(PERSON, 1, False, (), True, id="one is enough"),
        pytest.param(PERSON, 1, True, (), False, id="something else keeps it"),
        pytest.param(MACHINE, 1, False, (), False, id="by a machine"),
        pytest.param(
            PERSON,
            1,
            False,
            (
                msgspec.structs.replace(
                    thing(AUTOSCALERS, "db", "shop", facts=AutoscalerFacts(least=3, most=5)),
                    needs=(Need(Edge.SCALES, ObjectKey(BASES, "shop", "db")),),
                ),
            ),
            False,
            id="an autoscaler sizes it",
        ),
    ],
)
@pytest.mark.parametrize("of_set", [True, False], ids=["its set", "its pods"])
def test_a_person_asks_for_fewer_members(
    by: str, to: int, more: tuple[ClusterObject, ...], *, owned: bool, explained: bool, of_set: bool
) -> None:
    """Who runs them takes each out of their number; a set that a person scales has nobody for it."""
    labels = {"app": "db"}
    above = thing(BASES, "above", "shop")
    base = thing(
        BASES, "db", "shop", facts=CustomFacts(wanted=3), owners=[owner(above)] if owned else []
    )
    facts = WorkloadFacts(3, Selector.of(labels))
    made = thing(STATEFUL_SETS, "db", "shop", facts=facts, owners=[owner(base)])
    keeper = made if of_set else base
    pods = [
        thing(
            PODS, f"db-{at}", "shop", owners=[owner(keeper)], labels=labels,
            facts=PodFacts(ready=True),
        )
        for at in range(3)
    ]  # fmt: skip
    behind = thing(SERVICES, "db", "shop", facts=ServiceFacts(Selector.of(labels)))
    there = [above, base, *([made] if of_set else []), *pods, behind, *more]
    view = GraphView(graph_of(there), History())
    smaller = msgspec.structs.replace(base, facts=CustomFacts(wanted=to))
    impact = impact_of(update(base, smaller, by=operator(by)), view, now=START, by=operator(by))
    (left,), (lost,) = effects(impact, EndpointsLost), effects(impact, PodsLost)
    assert (left.explained, lost.lasting == 0) == (explained, explained)
    assert {one.explained for one in effects(impact, QuorumLost)} <= {explained}


def cut(to: int, by: str = PERSON, *, subresource: str = "scale", at: int = 0) -> Request:
    """Order a size of one of the wide Deployments; without a subresource, by its manifest."""
    before = workload(f"wide-{at}", replicas=10)[0]
    facts = msgspec.structs.replace(WorkloadFacts(10), replicas=to)
    made = update(before, msgspec.structs.replace(before, facts=facts), by=operator(by))
    if not subresource:
        return made
    return msgspec.structs.replace(
        made, subresource=subresource, scale_to=to, old=None, new=None,
        gvr=Gvr("apps", "v1", "deployments"),
    )  # fmt: skip


def cuts(request: Request, view: GraphView) -> set[bool]:
    """Return whether what a smaller size takes is explained, of pods and of endpoints."""
    by = operator(request.user.username)
    impact = impact_of(request, view, now=START, by=by)
    remember(request, project(request, view), view, START)
    (lost,), (left,) = effects(impact, PodsLost), effects(impact, EndpointsLost)
    return {lost.lasting == 0, left.explained}


def wide(*more: ClusterObject) -> GraphView:
    """Return Deployments of ten pods each, with their Services."""
    names = [f"wide-{at}" for at in range(CUT_DOWN + 1)]
    made = [workload(name, replicas=10) for name in names]
    return GraphView(graph_of(*made, map(service, names), more), History())


@pytest.mark.parametrize(
    ("request_", "more", "explained"),
    [
        pytest.param(cut(2), (), True, id="a smaller size, ordered"),
        pytest.param(cut(1), (), False, id="almost nothing"),
        pytest.param(cut(2, subresource=""), (), False, id="what a manifest says"),
        pytest.param(cut(2, "system:serviceaccount:ci:deployer"), (), False, id="by a machine"),
        pytest.param(
            cut(2),
            (
                msgspec.structs.replace(
                    thing(AUTOSCALERS, "wide-0", "prod", facts=AutoscalerFacts(least=4, most=20)),
                    needs=(Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "wide-0")),),
                ),
            ),
            False,
            id="an autoscaler asks for more",
        ),
    ],
)
def test_a_smaller_size_that_a_person_orders(
    request_: Request, more: tuple[ClusterObject, ...], *, explained: bool
) -> None:
    """More than half of the pods may go where nobody asks for more of them."""
    assert cuts(request_, wide(*more)) == {explained}


def written(size: int, *writers: tuple[str, str]) -> bytes:
    """Return a body whose size some managers have set, each by a subresource."""
    entries: list[dict[str, object]] = [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]
    entries += [
        {"manager": one, "subresource": by, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
        for one, by in writers
    ]
    body = {"metadata": {"managedFields": entries}, "spec": {"replicas": size}}
    return msgspec.json.encode(body)


GITOPS = ("argocd-controller", "")
SCALED = ("kubectl", "scale")


@pytest.mark.parametrize(
    ("before", "after", "to", "more", "explained"),
    [
        pytest.param([GITOPS], [GITOPS], 2, (), True, id="the next size of one manifest"),
        pytest.param([SCALED], [GITOPS], 2, (), False, id="somebody scaled it meanwhile"),
        pytest.param([("helm", "")], [GITOPS], 2, (), False, id="another manifest"),
        pytest.param([GITOPS, SCALED], [GITOPS], 2, (), False, id="two say so"),
        pytest.param([], [], 2, (), False, id="nobody knows who said it"),
        pytest.param([GITOPS], [GITOPS], 1, (), False, id="almost nothing"),
        pytest.param(
            [GITOPS],
            [GITOPS],
            2,
            (
                msgspec.structs.replace(
                    thing(AUTOSCALERS, "wide-0", "prod", facts=AutoscalerFacts(least=2, most=20)),
                    needs=(Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "wide-0")),),
                ),
            ),
            False,
            id="an autoscaler sizes it",
        ),
    ],
)
def test_a_smaller_size_of_the_manifest_that_said_the_present_one(
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    to: int,
    more: tuple[ClusterObject, ...],
    *,
    explained: bool,
) -> None:
    """What a GitOps tool is told to keep may be less tomorrow; what others set, it knows not."""
    asked = cut(to, "system:serviceaccount:argocd:controller", subresource="")
    bodies = msgspec.structs.replace(
        asked, old_body=written(10, *before), new_body=written(to, *after)
    )
    assert cuts(bodies, wide(*more)) == {explained}


def test_a_manifest_says_one_where_it_says_nothing() -> None:
    """Two pods of which the default leaves one are a size that nobody has written down."""
    small = workload("small", replicas=4)[0]
    for to, explained in ((2, True), (1, False)):
        facts = msgspec.structs.replace(WorkloadFacts(4), replicas=to)
        asked = update(
            small, msgspec.structs.replace(small, facts=facts),
            bodies=(written(4, GITOPS), written(to, GITOPS)),
        )  # fmt: skip
        view = GraphView(graph_of(workload("small", replicas=4), service("small")), History())
        (lost,) = effects(impact_of(asked, view, now=START), PodsLost)
        assert (lost.lasting == 0) is explained


def test_smaller_sizes_of_one_workload_after_the_other() -> None:
    """An errand is over after some; what goes on is a sweep."""
    view = wide()

    found = [cuts(cut(2, at=at), view) for at in range(CUT_DOWN + 1)]

    assert found == [*[{True}] * CUT_DOWN, {False}]


def test_smaller_sizes_of_one_workload_after_the_other_in_manifests() -> None:
    """One mistaken value may be in all of them."""
    view, by = wide(), "system:serviceaccount:argocd:controller"
    bodies = written(10, GITOPS), written(2, GITOPS)

    asked = [cut(2, by, subresource="", at=at) for at in range(CUT_IN_FILES + 1)]
    found = [
        cuts(msgspec.structs.replace(one, old_body=bodies[0], new_body=bodies[1]), view)
        for one in asked
    ]

    assert found == [*[{True}] * CUT_IN_FILES, {False}]
