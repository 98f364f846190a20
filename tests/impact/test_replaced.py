"""Routes and workloads whose place another has taken: as good, there, no older, and not going."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects
from support.cluster import START, delete, graph_of, operator, owner, service, thing, workload
from suture.adapters.files import load_policies
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.judge import World, judge
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    AUTOSCALERS,
    DEPLOYMENTS,
    INGRESSES,
    PODS,
    STATEFUL_SETS,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, RouteFacts, ServiceRef, WorkloadFacts
from suture.model.selectors import Selector

ROUTES = Resource("gateway.networking.k8s.io", "httproutes")
GATEWAYS = Resource("gateway.networking.k8s.io", "gateways")
GATEWAY = thing(GATEWAYS, "edge", "prod")
HOST = "a.example.com"
BY = "system:serviceaccount:db:operator"


def explained(target: ClusterObject, *things: ClusterObject, renames: bool = True) -> bool:
    """Return whether a delete of `target` is explained by what stands beside it."""
    view = GraphView(graph_of(target, things), History())
    request = delete(target)
    change = project(request, view)
    impact = estimate(request, change, view, operator(), now=START, renames=renames)
    (found,) = [
        one for one in effects(impact, ObjectsRemoved) if one.resource == str(target.key.resource)
    ]
    return found.explained == 1


def ingress(*hosts: str, to: str = "web", created: float = 100.0) -> ClusterObject:
    facts = RouteFacts((ServiceRef("prod", to),), hosts)
    return msgspec.structs.replace(thing(INGRESSES, "old", "prod", facts=facts), created=created)


def route(
    *hosts: str, to: str = "web", attached: bool = True, created: float = 200.0
) -> ClusterObject:
    facts = RouteFacts((ServiceRef("prod", to),), hosts)
    needs = (Need(Edge.ATTACHED_TO, GATEWAY.key),) if attached else ()
    made = thing(ROUTES, "new", "prod", facts=facts)
    return msgspec.structs.replace(made, created=created, needs=needs)


@pytest.mark.parametrize(
    ("hosts", "new", "replaced"),
    [
        pytest.param([HOST], route(HOST), True, id="the same host"),
        pytest.param([HOST], route("*.example.com"), True, id="a wider host"),
        pytest.param([HOST], route(), True, id="any host"),
        pytest.param([HOST, "b.example.com"], route(HOST), False, id="one host of two"),
        pytest.param([""], route(HOST), False, id="one host for any"),
        pytest.param([HOST], route(HOST, to="other"), False, id="another Service"),
        pytest.param([HOST], route(HOST, attached=False), False, id="attached to nothing"),
        pytest.param([HOST], route(HOST, created=50.0), False, id="older"),
    ],
)
def test_a_route_to_the_same_services(
    hosts: list[str], new: ClusterObject, *, replaced: bool
) -> None:
    """Every Service of the old one, for every host of it, from a Gateway that is there."""
    world = (service("web"), service("other"), GATEWAY, new)
    assert explained(ingress(*hosts), *world) is replaced


def test_who_goes_on_to_remove_the_replacement_is_not_believed() -> None:
    """As with Services that are renamed: for an hour nothing stands in for anything."""
    world = (service("web"), GATEWAY, route(HOST))
    assert not explained(ingress(HOST), *world, renames=False)


def test_a_sweep_of_pairs_of_routes_is_charged() -> None:
    """Each of two would be replaced by the other; what stood in for one is remembered."""
    old, new = ingress(HOST), route(HOST)
    world = World(load_policies(), graph_of(service("web"), GATEWAY, old, new))
    judge(delete(old), operator(), world, START)
    judge(delete(new), operator(), world, START)
    assert not world.history.believes_renames(operator().user.username, START)


def next_set(ready: int, *, created: float = 200.0) -> list[ClusterObject]:
    """Return a StatefulSet behind the same Service, and its pods."""
    facts = WorkloadFacts(2, Selector.of({"set": "web"}), 2)
    of_it = thing(STATEFUL_SETS, "web", "prod", facts=facts)
    of_it = msgspec.structs.replace(of_it, created=created)
    pods = [
        thing(
            PODS, f"web-{number}", "prod", labels={"app": "web", "set": "web"},
            owners=[owner(of_it)], facts=PodFacts(ready=number < ready),
        )
        for number in range(2)
    ]  # fmt: skip
    return [of_it, *pods]


SCALER = msgspec.structs.replace(
    thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(1, 5)),
    needs=(Need(Edge.SCALES, workload("web")[0].key),),
)


@pytest.mark.parametrize(
    ("beside", "replaced"),
    [
        pytest.param([service("web"), *next_set(2)], True, id="as many Ready"),
        pytest.param([service("web"), *next_set(1)], False, id="fewer Ready"),
        pytest.param([service("web"), *next_set(2, created=50.0)], False, id="older"),
        pytest.param(next_set(2), False, id="behind no Service"),
        pytest.param([service("web"), *next_set(2), SCALER], False, id="scaled by its name"),
    ],
)
def test_a_workload_behind_the_same_services(
    beside: list[ClusterObject], *, replaced: bool
) -> None:
    """With as many pods Ready behind each of them as the old one has."""
    old, *rest = workload("web", replicas=2)
    old = msgspec.structs.replace(old, created=100.0)
    assert explained(old, *rest, *beside) is replaced


@pytest.mark.parametrize(
    ("beside", "replaced"),
    [
        pytest.param([service("web"), *next_set(1)], True, id="another serves"),
        pytest.param([service("web"), *next_set(0)], False, id="another is not Ready"),
        pytest.param([service("web"), *next_set(2, created=50.0)], False, id="older"),
        pytest.param([service("web")], False, id="nobody serves"),
        pytest.param(next_set(2), False, id="behind no Service"),
    ],
)
def test_a_workload_at_rest_behind_the_same_services(
    beside: list[ClusterObject], *, replaced: bool
) -> None:
    """Who turns to another first puts the old one to rest, and then takes it away."""
    old, *_ = workload("web", replicas=0)
    old = msgspec.structs.replace(old, created=100.0)
    assert explained(old, *beside) is replaced


@pytest.mark.parametrize(
    ("labels", "ready", "size", "replaced"),
    [
        pytest.param({"app": "web"}, 1, 0, True, id="another serves"),
        pytest.param({"app": "web"}, 0, 0, False, id="nobody serves"),
        pytest.param({"app": "other"}, 2, 0, False, id="it was for another Service"),
        pytest.param({"app": "web"}, 2, 1, False, id="it is to run"),
    ],
)
def test_a_workload_at_rest_whose_own_labels_tell(
    labels: dict[str, str], ready: int, size: int, *, replaced: bool
) -> None:
    """Its selector says less than its pods bore, by which the Service found them."""
    facts = WorkloadFacts(size, Selector.of({"deployment": "web"}))
    old = thing(DEPLOYMENTS, "web", "prod", labels=labels, facts=facts)
    old = msgspec.structs.replace(old, created=100.0)
    assert explained(old, service("web"), *next_set(ready)) is replaced


@pytest.mark.parametrize("controller", [True, False])
@pytest.mark.parametrize(
    ("later", "replaced"),
    [pytest.param(0.0, False, id="made together"), pytest.param(3600.0, True, id="made later")],
)
def test_services_of_one_controller(later: float, *, replaced: bool, controller: bool) -> None:
    """One for writers and one for readers reach the same pods, and neither replaces the other."""
    database = thing(Resource("db.example.com", "databases"), "shop", "prod")
    writers = service("shop", app="web", owners=[owner(database, controller=controller)])
    readers = service("shop-readers", app="web", owners=[owner(database, controller=controller)])
    readers = msgspec.structs.replace(readers, created=writers.created + later)
    assert explained(writers, readers, database, *workload("web")) == replaced


@pytest.mark.parametrize(
    ("later", "seen", "replaced"),
    [
        pytest.param(0.0, False, False, id="made together"),
        pytest.param(3600.0, False, True, id="made later"),
        pytest.param(5.0, True, True, id="seen to be made"),
    ],
)
def test_workloads_of_one_controller(later: float, *, seen: bool, replaced: bool) -> None:
    """Members and an arbiter are behind one Service, and neither replaces the other."""
    database = thing(Resource("db.example.com", "databases"), "shop", "prod")
    arbiter, *pods = workload("web", replicas=1)
    arbiter = msgspec.structs.replace(arbiter, created=100.0, owners=(owner(database),))
    members, *its = next_set(2, created=100.0 + later)
    members = msgspec.structs.replace(members, owners=(owner(database),))
    history = History()
    if seen:
        history.note_created(members.uid, BY, BY, members.key, START)
    view = GraphView(graph_of(arbiter, members, database, service("web"), *pods, *its), history)
    request = delete(arbiter)
    impact = estimate(request, project(request, view), view, operator(), now=START)
    found = [one for one in effects(impact, ObjectsRemoved) if one.resource == "deployments.apps"]
    assert (found[0].explained == 1) is replaced
