"""Services that routes have left for others which serve as many: the version before may go."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing, webhook
from suture.impact.causes.recent import remember
from suture.impact.causes.turned import remember_unread
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    DEPLOYMENTS,
    INGRESSES,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    Resource,
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
from suture.model.writes import HOUR_S

ROUTES = Resource("gateway.networking.k8s.io", "httproutes")


def version(
    name: str, ready: int = 2, *, space: str = "shop", kind: str = "ClusterIP"
) -> list[ClusterObject]:
    """Return a Deployment of two pods with a Service of its own."""
    labels = {"app": name}
    facts = WorkloadFacts(2, Selector.of(labels))
    deployment = thing(DEPLOYMENTS, name, space, facts=facts)
    replicas = thing(REPLICA_SETS, f"{name}-1", space, owners=[owner(deployment)], facts=facts)
    pods = [
        thing(
            PODS, f"{name}-1-{at}", space, owners=[owner(replicas)], labels=labels,
            facts=PodFacts(ready=at < ready),
        )
        for at in range(2)
    ]  # fmt: skip
    service = thing(SERVICES, name, space, facts=ServiceFacts(Selector.of(labels), type=kind))
    return [deployment, service, replicas, *pods]


def route(
    *to: str, name: str = "front", space: str = "shop", of: Resource = INGRESSES
) -> ClusterObject:
    return thing(of, name, space, facts=RouteFacts(tuple(ServiceRef(space, one) for one in to)))


class Cluster:
    """Two versions of an application, and a route that leads to the one."""

    def __init__(
        self,
        *more: ClusterObject,
        ready: int = 2,
        space: str = "shop",
        kind: str = "ClusterIP",
        of: Resource = INGRESSES,
    ) -> None:
        self.old = version("blue", space=space, kind=kind)
        self.new = version("green", ready, space=space, kind=kind)
        self.space, self.of = space, of
        self.graph = graph_of(
            thing(NAMESPACES, space), self.old, self.new, route("blue", space=space, of=of), more
        )
        self.view = GraphView(self.graph, History())

    def turn(self, *to: str, ago_s: float = 60) -> None:
        """Lead the route elsewhere."""
        before = route("blue", space=self.space, of=self.of)
        request = update(before, after := route(*to, space=self.space, of=self.of))
        now = Now(START.mono_ns - int(ago_s * 10**9), START.utc_s - ago_s)
        remember(request, project(request, self.view), self.view, now)
        self.graph.put(after)

    def gone(self, what: ClusterObject) -> tuple[bool, bool]:
        """Return whether a removal is explained, and that no Service is emptied without cause."""
        request = delete(what)
        impact = impact_of(request, self.view, now=START)
        (found,) = [
            one for one in effects(impact, ObjectsRemoved) if one.resource == str(what.key.resource)
        ]
        emptied = effects(impact, ServiceEmptied)
        return found.explained == found.count, all(one.explained for one in emptied)

    def stopped(self) -> bool:
        """Return whether it is explained that the version before is scaled to nothing."""
        deployment = self.old[0]
        facts = deployment.facts
        assert isinstance(facts, WorkloadFacts)
        smaller = msgspec.structs.replace(
            deployment, facts=msgspec.structs.replace(facts, replicas=0)
        )
        impact = impact_of(update(deployment, smaller), self.view, now=START)
        (emptied,) = effects(impact, ServiceEmptied)
        return emptied.explained


@pytest.mark.parametrize("of", [INGRESSES, ROUTES], ids=str)
def test_the_version_before_goes(of: Resource) -> None:
    """Workload first, Service first, or only its size: traffic has left it."""
    cluster = Cluster(of=of)
    cluster.turn("green")

    assert cluster.gone(cluster.old[0]) == (True, True)
    assert cluster.gone(cluster.old[1]) == (True, True)
    assert cluster.stopped()


def test_put_to_rest_first() -> None:
    """Scaled to nothing, and deleted later: its Service is known by what the workload asks for."""
    cluster = Cluster()
    facts = WorkloadFacts(0, Selector.of({"app": "blue"}))
    for one in (cluster.old[0], cluster.old[2]):
        cluster.graph.put(msgspec.structs.replace(one, facts=facts))
    cluster.turn("green")
    for pod in cluster.old[3:]:
        cluster.graph.remove(pod.key)

    assert cluster.gone(cluster.old[0]) == (True, True)


def test_what_traffic_goes_to_stays() -> None:
    """The turn says nothing of the version to which the route leads now."""
    cluster = Cluster()
    cluster.turn("green")

    assert cluster.gone(cluster.new[0]) == (False, False)


def refused(cluster: Cluster) -> bool:
    return cluster.gone(cluster.old[0]) == (False, False) and not cluster.stopped()


def test_without_a_turn() -> None:
    """A route that never led there is no sign that nobody asks."""
    cluster = Cluster()
    cluster.graph.put(route("green"))

    assert refused(cluster)


@pytest.mark.parametrize("ready", [0, 1])
def test_the_next_has_to_serve_as_many(ready: int) -> None:
    """Neither a version that does not start nor a page that tells of maintenance."""
    cluster = Cluster(ready=ready)
    cluster.turn("green")

    assert refused(cluster)


def test_a_route_that_only_leaves() -> None:
    """What it led to is led to by nothing: an entry was lost, and not turned."""
    cluster = Cluster()
    cluster.turn()

    assert refused(cluster)


def test_a_route_that_leads_to_what_is_not_there() -> None:
    """A name that was mistyped serves nobody."""
    cluster = Cluster()
    cluster.turn("gren")

    assert refused(cluster)


def test_one_that_is_left_out_as_another_is_turned() -> None:
    """A path that was lost in the same write has nothing in its place."""
    lost = version("api")
    cluster = Cluster(*lost)
    request = update(route("blue", "api"), after := route("green"))
    remember(request, project(request, cluster.view), cluster.view, START)
    cluster.graph.put(after)

    assert cluster.gone(lost[0]) == (False, False)


@pytest.mark.parametrize("of", [INGRESSES, ROUTES], ids=str)
def test_another_route_still_leads_there(of: Resource) -> None:
    """All have to be turned, or some of the traffic is left."""
    cluster = Cluster(route("blue", name="api", of=of))
    cluster.turn("green")

    assert refused(cluster)


@pytest.mark.parametrize(
    ("space", "kind"), [("kube-system", "ClusterIP"), ("shop", "LoadBalancer")]
)
def test_asked_by_others_than_routes(space: str, kind: str) -> None:
    """The world outside, and the cluster itself, do not come by the route alone."""
    cluster = Cluster(space=space, kind=kind)
    cluster.turn("green")

    assert refused(cluster)


def test_of_this_hour() -> None:
    """Later nobody knows whether somebody else has come to rely on it."""
    cluster = Cluster()
    cluster.turn("green", ago_s=HOUR_S + 120)

    assert refused(cluster)


@pytest.mark.parametrize("again", [False, True], ids=["gone", "another-leads-there"])
def test_what_answered_a_webhook_goes_after_its_configuration(*, again: bool) -> None:
    """Uninstalled in order: nothing leads to the Service any more; unless something does."""
    hook = webhook("judge", ServiceRef("shop", "blue"))
    graph = graph_of(thing(NAMESPACES, "shop"), version("blue"), hook)
    view = GraphView(graph, History())
    graph.remove(hook.key)
    remember_unread(hook, view, START)
    if again:
        graph.put(webhook("other", ServiceRef("shop", "blue")))

    def emptied(seen: GraphView) -> list[bool]:
        impact = impact_of(delete(version("blue")[0]), seen, now=START)
        return [one.explained for one in effects(impact, ServiceEmptied)]

    assert emptied(view) == [not again]
    assert emptied(GraphView(graph, History())) == [False], "it is remembered, not guessed"


class Turned(Cluster):
    """The same two versions behind one Service, which selects the first."""

    def __init__(self, ready: int = 2) -> None:
        super().__init__(ready=ready)
        for one in (self.old[1], self.new[1]):
            self.graph.remove(one.key)
        self.graph.remove(route("blue").key)
        self.front = self.selecting("blue")
        self.graph.put(self.front)

    def selecting(self, app: str) -> ClusterObject:
        return thing(SERVICES, "front", "shop", facts=ServiceFacts(Selector.of({"app": app})))

    def turn(self, *to: str, ago_s: float = 60) -> None:
        """Have the Service select another version."""
        (app,) = to
        request = update(self.front, after := self.selecting(app))
        now = Now(START.mono_ns - int(ago_s * 10**9), START.utc_s - ago_s)
        remember(request, project(request, self.view), self.view, now)
        self.graph.put(after)
        self.front = after


def test_a_workload_that_its_service_was_turned_from() -> None:
    """Blue and green behind one Service: the one that it selects no more goes."""
    cluster = Turned()
    cluster.turn("green")

    assert cluster.gone(cluster.old[0]) == (True, True)
    assert cluster.gone(cluster.new[0]) == (False, False)


def test_a_service_that_was_turned_back() -> None:
    """What serves again stays, and the other one goes."""
    cluster = Turned()
    cluster.turn("green", ago_s=600)
    cluster.turn("blue")

    assert cluster.gone(cluster.old[0]) == (False, False)
    assert cluster.gone(cluster.new[0]) == (True, True)


@pytest.mark.parametrize(
    ("ready", "ago_s"),
    [
        pytest.param(1, 60, id="fewer serve now"),
        pytest.param(0, 60, id="none serves now"),
        pytest.param(2, HOUR_S + 60, id="long ago"),
    ],
)
def test_a_workload_that_nothing_stands_in_for(ready: int, ago_s: float) -> None:
    """The twin: nobody can tell that it is of no use."""
    cluster = Turned(ready)
    cluster.turn("green", ago_s=ago_s)

    assert not cluster.gone(cluster.old[0])[0]


def test_a_workload_that_no_service_ever_reached() -> None:
    """That no Service reaches it says nothing: it may be at work by itself."""
    cluster = Turned()
    other = version("worker")[0]
    cluster.graph.put(other)
    cluster.turn("green")

    assert not cluster.gone(other)[0]
