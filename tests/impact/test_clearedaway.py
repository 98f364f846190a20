"""What a person clears away by name that was put to rest before, workload and Service."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, thing, workload
from suture.impact.causes.counters import cleared, put_down_in
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.ordinary.clearedaway import CLEARED
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import DEPLOYMENTS, INGRESSES, SERVICES
from suture.model.objects import ClusterObject, RouteFacts, ServiceFacts, ServiceRef, WorkloadFacts
from suture.model.selectors import Selector

PERSON = Actor(UserInfo("lead@example.com"), "lead", IdentityKind.PERSON, Stage.ENFORCE)
NAME = PERSON.user.username
LABELS = {"app": "front"}
SERVICE = thing(SERVICES, "front", "old", facts=ServiceFacts(Selector.of(LABELS)))


def front(replicas: int = 0) -> ClusterObject:
    return thing(DEPLOYMENTS, "front", "old", facts=WorkloadFacts(replicas, Selector.of(LABELS)))


def cluster(*beside: ClusterObject, replicas: int = 0) -> GraphView:
    return GraphView(graph_of(front(replicas), SERVICE, *beside), History())


def counted(view: GraphView, gone: ClusterObject, by: Actor = PERSON) -> bool:
    """Whether budgets count an object that is deleted by its name."""
    (told,) = effects(impact_of(delete(gone, by=by), view, by=by, now=START), ObjectsRemoved)
    return told.counted > 0


@pytest.mark.parametrize("gone", [SERVICE, front()], ids=["its-service", "the-workload"])
def test_what_was_given_up_days_ago(gone: ClusterObject) -> None:
    assert not counted(cluster(), gone)


def after(counter: str, amount: int = 1) -> GraphView:
    view = cluster()
    view.history.writes.count(counter, START, amount)
    return view


@pytest.mark.parametrize("gone", [SERVICE, front()], ids=["its-service", "the-workload"])
@pytest.mark.parametrize(
    ("view", "by"),
    [
        pytest.param(cluster, operator(), id="by-a-machine"),
        pytest.param(lambda: cluster(replicas=2), PERSON, id="it-is-to-run"),
        pytest.param(lambda: after(put_down_in(NAME, "old")), PERSON, id="stopped-just-now"),
        pytest.param(lambda: after(cleared(NAME), CLEARED), PERSON, id="a-sweep"),
    ],
)
def test_what_counts(gone: ClusterObject, view: Callable[[], GraphView], by: Actor) -> None:
    """The incident: who takes for idle what is not, or takes more of it than anybody looked at."""
    assert counted(view(), gone, by)


def test_where_something_else_is_at_work() -> None:
    web = thing(SERVICES, "web", "old", facts=ServiceFacts(Selector.of({"app": "web"})))
    view = cluster(web, *workload("web", "old"))
    assert counted(view, SERVICE)
    assert counted(view, front())


def test_a_service_that_a_route_leads_to() -> None:
    route = thing(INGRESSES, "www", "old", facts=RouteFacts((ServiceRef("old", "front"),)))
    assert counted(cluster(route), SERVICE)


def test_how_many_were_taken_is_remembered() -> None:
    view = cluster()
    request = delete(front(), by=PERSON)
    remember(request, project(request, view), view, START)
    assert view.history.writes.counted(cleared(NAME), START, 3600) == 1
