"""What an actor may give up: its own, with its own before it, and nobody else's in between."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import (
    BALANCERS,
    START,
    delete,
    graph_of,
    operator,
    owner,
    service,
    thing,
    workload,
)
from suture.impact.causes.counters import back_again, kept_back, ran_in, taken_from
from suture.impact.effects import ObjectsRemoved, RouteBroken, ServiceEmptied
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    INGRESSES,
    NAMESPACES,
    PODS,
    SNAPSHOTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.request import Request

ME = operator().user.username
APPLICATIONS = Resource("argoproj.io", "applications")
DATABASES = Resource("db.example.com", "databases")
ARGO = operator("system:serviceaccount:argocd:argocd-application-controller")
HOUR_S = 3600
READY = PodFacts(ready=True)


def cluster(*things: ClusterObject | Iterable[ClusterObject], made: dict[str, str]) -> GraphView:
    """Make a cluster in which `made` says by whom objects were made at the start, by their name."""
    graph, history = graph_of(*things), History()
    for one in things:
        for each in [one] if isinstance(one, ClusterObject) else one:
            by = made.get(each.key.name, "")
            if by:
                history.note_created(each.uid, by, by, each.key, START)
    return GraphView(graph, history)


def at(hours: float) -> Now:
    return START.plus_s(hours * HOUR_S)


def emptied(
    view: GraphView, request: Request, hours: float = 48, by: Actor | None = None
) -> list[bool]:
    """Return of each Service that would be emptied whether that is explained."""
    found = effects(impact_of(request, view, now=at(hours), by=by), ServiceEmptied)
    return [one.explained for one in found]


def route(name: str = "shop", to: str = "shop", **more: object) -> ClusterObject:
    needs = (Need(Edge.ROUTES_TO, service(to).key),)
    return msgspec.structs.replace(thing(INGRESSES, name, "prod"), needs=needs, **more)


def kept(of: ClusterObject, application: str = "shop") -> ClusterObject:
    """Put the mark of an application on an object."""
    mark = Need(Edge.MANAGED_BY, ObjectKey(APPLICATIONS, "argocd", application))
    return msgspec.structs.replace(of, needs=(*of.needs, mark))


@pytest.mark.parametrize(
    ("made", "explained"),
    [
        ({"shop": ME}, True),
        ({"shop": "somebody"}, False),
        ({}, False),
    ],
    ids=["made by the actor", "made by another", "made by nobody knows whom"],
)
def test_an_application_is_retired_workload_first(made: dict[str, str], *, explained: bool) -> None:
    """The actor's own Deployment may go before its own Service, however old; another's not."""
    things = workload("shop", replicas=2)
    view = cluster(things, [service("shop")], made=made)
    assert emptied(view, delete(things[0])) == [explained]


@pytest.mark.parametrize(("by", "explained"), [(ME, True), ("somebody", False)])
def test_what_names_the_service_is_of_the_same_hand(by: str, *, explained: bool) -> None:
    """An Ingress of its own goes next; that of another would lead nowhere."""
    things = workload("shop")
    view = cluster(
        things, [service("shop"), route("front")], made={"shop": ME, "shop-1": ME, "front": by}
    )
    assert emptied(view, delete(things[0])) == [explained]


@pytest.mark.parametrize(
    ("space", "kind", "hours", "explained"),
    [
        ("prod", "ClusterIP", 48, True),
        ("prod", "LoadBalancer", 48, False),
        ("kube-system", "ClusterIP", 48, False),
        ("prod", "LoadBalancer", 2, True),
    ],
    ids=["named readers", "the world outside", "the cluster's own", "of the day"],
)
def test_readers_whom_nothing_names(
    space: str, kind: str, hours: float, *, explained: bool
) -> None:
    """From outside, or from anywhere in the cluster, somebody may read what nothing names."""
    things = workload("shop", space)
    of_it = service("shop", space)
    assert isinstance(of_it.facts, ServiceFacts)
    of_it = msgspec.structs.replace(of_it, facts=msgspec.structs.replace(of_it.facts, type=kind))
    view = cluster(things, [of_it], made={"shop": ME})
    assert emptied(view, delete(things[0]), hours) == [explained]


@pytest.mark.parametrize(
    ("of_service", "of_route", "by", "explained"),
    [
        ("shop", "shop", ARGO, True),
        ("other", "shop", ARGO, False),
        ("shop", "other", ARGO, False),
        ("shop", "shop", operator(), False),
    ],
    ids=["one application", "a Service of another", "a route of another", "a stranger"],
)
def test_one_application_keeps_all_of_it(
    of_service: str, of_route: str, by: Actor, *, explained: bool
) -> None:
    """What works for an application may prune a part of it, in any order."""
    things = workload("shop")
    application = thing(APPLICATIONS, "shop", "argocd")
    view = cluster(
        [kept(things[0]), *things[1:]],
        [application, kept(service("shop"), of_service), kept(route(), of_route)],
        made={},
    )
    assert emptied(view, delete(things[0], by=by), by=by) == [explained]


def solver(asked_by: str, hours: float = 1) -> list[bool]:
    """Return whether the pod of a custom resource that lives may go before its Service."""
    balancer = thing(BALANCERS, "challenge", "prod")
    pod = thing(
        PODS, "solver", "prod", labels={"app": "solver"}, owners=[owner(balancer)],
        facts=PodFacts(ready=True),
    )  # fmt: skip
    of_it = service("solver", owners=[owner(balancer)])
    view = cluster([balancer, pod, of_it], made={"challenge": asked_by, "solver": ME})
    return emptied(view, delete(pod), hours)


def test_the_pod_of_what_the_actor_asked_for_itself_today() -> None:
    """A solver goes before its Service; not where another asked for it, nor the day after."""
    assert solver(ME) == [True]
    assert solver("somebody") == [False]
    assert solver(ME, hours=25) == [False]


@pytest.mark.parametrize(
    ("size", "hours", "told"), [(0, 1, [True]), (0, 25, [False]), (1, 25, [])],
    ids=["to nothing, of the day", "to nothing, older", "to one"],
)  # fmt: skip
def test_a_canary_is_scaled_to_nothing(size: int, hours: float, told: list[bool]) -> None:
    """The actor's own of the day, before it goes; what is older serves whoever reads it."""
    things = workload("canary", replicas=2)
    view = cluster(things, [service("canary")], made={"canary": ME})
    assert isinstance(things[0].facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0].facts, replicas=size)
    request = update(things[0], msgspec.structs.replace(things[0], facts=smaller))
    assert emptied(view, request, hours) == told


@pytest.mark.parametrize(("hours", "explained"), [(1, True), (25, False)])
def test_a_route_of_the_day_goes_after_its_service(hours: float, *, explained: bool) -> None:
    """Of what the actor made today the order does not matter."""
    things = workload("shop")
    view = cluster(things, [service("shop"), route("front")], made={"shop": ME, "front": ME})
    impact = impact_of(delete(service("shop")), view, now=at(hours))
    (broken,) = effects(impact, RouteBroken)
    assert (broken.service_removed, broken.explained) == (True, explained)


@pytest.mark.parametrize(
    ("created", "lately"), [(200.0, 1), (50.0, 0)], ids=["made for it", "there before it"]
)
def test_what_was_made_for_a_resource_of_the_day(created: float, lately: int) -> None:
    """Another's Service for what the actor made counts as made; one that was there before not."""
    balancer = msgspec.structs.replace(thing(BALANCERS, "preview", "prod"), created=100.0)
    of_it = msgspec.structs.replace(service("web", owners=[owner(balancer)]), created=created)
    view = cluster([balancer, of_it], made={"preview": ME, "web": "controller"})
    found = effects(impact_of(delete(balancer), view, now=at(1)), ObjectsRemoved)
    (services,) = [one for one in found if one.resource == "services"]
    assert (services.counted_cascaded, services.made_lately, services.lately_cascaded) == (
        1, lately, lately,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("by", "old_s", "app", "taken", "replaced"),
    [
        pytest.param(ME, 60, "cache", 0, 1, id="made first"),
        pytest.param("another", 60, "cache", 0, 0, id="made by another"),
        pytest.param(ME, 4000, "cache", 0, 0, id="long there"),
        pytest.param(ME, 60, "aside", 0, 0, id="behind no Service"),
        pytest.param(ME, 60, "cache", 1, 0, id="in another's place"),
    ],
)
def test_a_member_in_whose_place_another_was_made(
    by: str, old_s: float, app: str, taken: int, replaced: int
) -> None:
    """The pods of a custom resource are rolled, a new one first; each stands in for one."""
    parent = thing(BALANCERS, "cache", "prod")
    old, new = (
        thing(PODS, name, "prod", labels={"app": of}, owners=[owner(parent)], facts=READY)
        for name, of in (("old", "cache"), ("new", app))
    )
    new = msgspec.structs.replace(new, created=at(50).utc_s - old_s)
    view = cluster([parent, old, new, service("cache")], made={"new": by})
    view.history.writes.count(taken_from(parent.uid, PODS), at(50), taken)

    impact = impact_of(delete(old), view, now=at(50))

    (found,) = effects(impact, ObjectsRemoved)
    assert (found.counted, found.replaced) == (1, replaced)


@pytest.mark.parametrize(
    ("by", "old_s", "mounted", "ready", "taken", "wanted"),
    [
        pytest.param(ME, 60, "new", True, 0, 0, id="another serves"),
        pytest.param(ME, 60, "both", True, 0, 1, id="it is mounted still"),
        pytest.param(ME, 60, "", True, 0, 1, id="nobody mounts the other"),
        pytest.param(ME, 60, "new", False, 0, 1, id="not Ready yet"),
        pytest.param("another", 60, "new", True, 0, 1, id="made by another"),
        pytest.param(ME, 4000, "new", True, 0, 1, id="long there"),
        pytest.param(ME, 60, "new", True, 1, 1, id="in another's place"),
    ],
)
def test_a_claim_in_whose_place_another_was_made(
    by: str, old_s: float, mounted: str, ready: bool, taken: int, wanted: int
) -> None:
    """A member is built anew beside the one that it replaces; its claim is wanted no more."""
    parent = thing(BALANCERS, "db", "prod", facts=CustomFacts())
    old, new = (
        thing(CLAIMS, name, "prod", owners=[owner(parent)], facts=ClaimFacts(bound=True))
        for name in ("old", "new")
    )
    new = msgspec.structs.replace(new, created=at(50).utc_s - old_s)
    pods = [
        msgspec.structs.replace(
            thing(
                PODS, f"pod-{one.key.name}", "prod", labels={"app": "db"},
                owners=[owner(parent)], facts=PodFacts(ready=ready),
            ),
            needs=(Need(Edge.CLAIM, one.key),),
        )
        for one in (old, new)
        if mounted in (one.key.name, "both")
    ]  # fmt: skip
    view = cluster([parent, old, new, *pods, service("db")], made={"new": by})
    view.history.writes.count(taken_from(parent.uid, CLAIMS), at(50), taken)

    impact = impact_of(delete(old), view, now=at(50))

    (claims,) = [
        one for one in effects(impact, ObjectsRemoved) if one.resource == "persistentvolumeclaims"
    ]
    assert (claims.wanted, claims.replaced) == (wanted, 1 - wanted)


@pytest.mark.parametrize(
    ("by", "hours", "source", "beside", "wanted"),
    [
        pytest.param(ME, 1, "there", "finished", 0, id="the mover is done"),
        pytest.param(ME, 1, "there", "", 0, id="the mover is gone"),
        pytest.param(ME, 1, "there", "mover", 1, id="it is read still"),
        pytest.param(ME, 1, "there", "other pod", 1, id="something else runs"),
        pytest.param(ME, 1, "there", "set", 1, id="something is to run"),
        pytest.param(ME, 1, "there", "service", 1, id="something is reached"),
        pytest.param(ME, 1, "gone", "", 1, id="of what is no more"),
        pytest.param(ME, 1, "", "", 1, id="no copy"),
        pytest.param(ME, 1, "", "finished", 0, id="who worked in it is done"),
        pytest.param(ME, 1, "", "other pod", 1, id="nobody has worked in it"),
        pytest.param(ME, 48, "", "finished", 1, id="work of another day"),
        pytest.param("another", 1, "", "finished", 1, id="work of another"),
        pytest.param(ME, 48, "there", "", 1, id="of another day"),
        pytest.param("another", 1, "there", "", 1, id="made by another"),
    ],
)
def test_a_copy_that_was_made_for_an_errand(
    by: str, hours: float, source: str, beside: str, wanted: int
) -> None:
    """A backup's copy of a volume goes when it is read; a database restored from one stays."""
    parent = thing(BALANCERS, "nightly", "prod")
    snapshot = thing(SNAPSHOTS, "nightly", "prod")
    claim = msgspec.structs.replace(
        thing(CLAIMS, "copy", "prod", owners=[owner(parent)], facts=ClaimFacts(bound=True)),
        needs=(Need(Edge.DATA_SOURCE, snapshot.key),) if source else (),
    )
    mounts = (Need(Edge.CLAIM, claim.key),)
    others = {
        "mover": thing(PODS, "mover", "prod", facts=READY),
        "other pod": thing(PODS, "other", "prod", owners=[owner(parent)], facts=READY),
        "finished": thing(
            PODS, "mover", "prod", owners=[owner(parent)], facts=PodFacts(finished=True)
        ),
        "set": thing(
            STATEFUL_SETS, "db", "prod", owners=[owner(parent)], facts=WorkloadFacts(replicas=1)
        ),
        "service": service("db", owners=[owner(parent)]),
    }
    for name in ("mover", "finished"):
        others[name] = msgspec.structs.replace(others[name], needs=mounts)
    there = [snapshot] if source == "there" else []
    view = cluster(
        [parent, claim, *there, *([others[beside]] if beside else [])], made={"copy": by}
    )

    impact = impact_of(delete(claim), view, now=at(hours))

    (claims,) = [
        one for one in effects(impact, ObjectsRemoved) if one.resource == "persistentvolumeclaims"
    ]
    assert (claims.lasting, claims.wanted, claims.replaced) == (1, wanted, 0)


DATABASE = thing(DATABASES, "orders", "prod")


def trial(labels: dict[str, str], *, owned: bool = True) -> list[ClusterObject]:
    """Make a Deployment of the database with a Ready pod."""
    owners = [owner(DATABASE)] if owned else []
    first, *others = workload("canary")
    made = [msgspec.structs.replace(first, owners=tuple(owners)), *others]
    return [msgspec.structs.replace(one, labels=labels) for one in made]


@pytest.mark.parametrize(
    ("made", "hours", "labels", "members", "wanted"),
    [
        pytest.param({"canary": ME}, 0.5, {"app": "canary"}, 0, 0, id="tried"),
        pytest.param({"canary": ME}, 2.0, {"app": "canary"}, 0, 1, id="kept for hours"),
        pytest.param({"canary": "other"}, 0.5, {"app": "canary"}, 0, 1, id="made by another"),
        pytest.param({"canary": ME, "orders": ME}, 0.5, {"app": "canary"}, 0, 1, id="a new life"),
        pytest.param({"canary": ME}, 0.5, {"app": "shop"}, 1, 0, id="one beside others"),
        pytest.param({"canary": ME}, 0.5, {"app": "shop"}, 0, 1, id="the only one reached"),
    ],
)
def test_a_workload_that_was_only_tried(
    made: dict[str, str], hours: float, labels: dict[str, str], members: int, wanted: int
) -> None:
    """An operator makes one to see where a pod would fit, and takes it away again."""
    beside = workload("shop", replicas=members) if members else []
    things = trial(labels)
    view = cluster(DATABASE, things, beside, [service("shop")], made=made)
    impact = impact_of(delete(things[0]), view, now=at(hours))
    found = {one.resource: one.wanted for one in effects(impact, ObjectsRemoved)}
    assert found["deployments.apps"] == wanted


def test_a_part_that_is_there_again_is_not_tried() -> None:
    """Its parent was told to have one again, and the operator made it: the next delete is stale."""
    things = trial({"app": "canary"})
    view = cluster(DATABASE, things, made={"canary": ME})
    view.history.writes.count(back_again(DATABASE.uid), START)
    found = effects(impact_of(delete(things[0]), view, now=at(0.5)), ObjectsRemoved)
    assert {one.resource: one.wanted for one in found}["deployments.apps"] == 1


@pytest.mark.parametrize(
    ("refused", "explained"), [pytest.param(5, True, id="a few"), pytest.param(6, False, id="more")]
)
def test_who_was_refused_several_workloads_gives_nothing_up(
    refused: int, *, explained: bool
) -> None:
    """What it made is its own, but it takes whatever it finds."""
    things = workload("shop")
    view = cluster(things, [service("shop")], made={"shop": ME})
    view.history.writes.count(kept_back(ME), START, refused)
    assert emptied(view, delete(things[0]), hours=0.5) == [explained]


GENERATOR = operator("system:serviceaccount:argocd:generator")
BESIDE = "system:serviceaccount:argocd:controller"
APPLICATION = msgspec.structs.replace(
    thing(APPLICATIONS, "shop", "argocd"), finalizers=("resources-finalizer.argocd.argoproj.io",)
)


def preview(made_by: str, hours: float, *, home: str) -> tuple[int, int]:
    """Delete an application with what it keeps; return how much counts, and is of the actor's."""
    things = [APPLICATION, thing(NAMESPACES, "prod"), kept(service("web"))]
    made = {"shop": made_by, "prod": home, "web": BESIDE}
    view = cluster(things, made=made)
    impact = impact_of(delete(APPLICATION, by=GENERATOR), view, now=at(hours), by=GENERATOR)
    found = effects(impact, ObjectsRemoved)
    (services,) = [one for one in found if one.resource == "services"]
    return services.counted_cascaded, services.lately_cascaded


@pytest.mark.parametrize(
    ("made_by", "hours", "home", "lately"),
    [
        pytest.param(GENERATOR.user.username, 8, "somebody", 1, id="of the day"),
        pytest.param("somebody", 8, BESIDE, 0, id="of another"),
        pytest.param(GENERATOR.user.username, 50, "somebody", 0, id="older"),
        pytest.param(GENERATOR.user.username, 50, BESIDE, 1, id="older, the namespace its own"),
        pytest.param(GENERATOR.user.username, 200, BESIDE, 0, id="older than a week"),
    ],
)
def test_what_was_made_for_an_application_of_the_actors(
    made_by: str, hours: float, home: str, lately: int
) -> None:
    """A preview goes with its branch: of the day, and of the week in a namespace of its own."""
    assert preview(made_by, hours, home=home) == (1, lately)


@pytest.mark.parametrize(
    ("made", "wanted_spec", "hours", "wanted"),
    [
        pytest.param({"pr-1": ME}, None, 50, 0, id="of the week"),
        pytest.param({"pr-1": ME}, None, 200, 1, id="older"),
        pytest.param({}, None, 50, 1, id="there before"),
        pytest.param({"pr-1": ME}, 3, 50, 1, id="one of a number"),
        pytest.param({"pr-1": ME, "set": ME}, None, 50, 1, id="a new life"),
    ],
)
def test_a_custom_resource_that_comes_and_goes(
    made: dict[str, str], wanted_spec: int | None, hours: float, wanted: int
) -> None:
    """What a generator made for a branch it gives up; one of a number, or of a new life, not."""
    sets = Resource("argoproj.io", "applicationsets")
    parent = thing(sets, "set", "argocd", facts=CustomFacts(wanted=wanted_spec))
    app = thing(APPLICATIONS, "pr-1", "argocd", owners=[owner(parent)], facts=CustomFacts())
    view = cluster(parent, app, made=made)
    found = effects(impact_of(delete(app), view, now=at(hours)), ObjectsRemoved)
    assert [one.wanted for one in found] == [wanted]


@pytest.mark.parametrize(
    ("replicas", "named", "counted"),
    [(0, False, 0), (1, False, 2), (0, True, 1)],
    ids=["at rest", "at work", "at rest, named by another"],
)
def test_an_application_at_rest_goes_as_one_thing(
    replicas: int, counted: int, *, named: bool
) -> None:
    """What was stopped goes along with what keeps it; what runs or is asked for counts."""
    things = [kept(one) for one in workload("shop", replicas=replicas)[:1]]
    pods = workload("shop", replicas=replicas)[1:] if replicas else []
    front = [route()] if named else []
    view = cluster([APPLICATION], things, pods, [kept(service("shop"))], front, made={})
    found = effects(impact_of(delete(APPLICATION), view, now=at(48)), ObjectsRemoved)
    assert sum(one.counted_cascaded for one in found) == counted


IDLE = [service(f"port-{at}") for at in range(3)]


@pytest.mark.parametrize(
    ("beside", "left", "ran", "counted"),
    [
        pytest.param([], [], 0, 0, id="nothing else is there"),
        pytest.param([], [], 1, 3, id="something ran a moment ago"),
        pytest.param([thing(BALANCERS, "one", "prod")], [], 0, 3, id="something may have it run"),
        pytest.param(workload("web"), [], 0, 4, id="something runs"),
        pytest.param(
            [],
            [
                msgspec.structs.replace(
                    thing(INGRESSES, "front", "beside"),
                    needs=(Need(Edge.ROUTES_TO, service("port-0").key),),
                )
            ],
            0,
            1,
            id="something that stays names one",
        ),
    ],
)
def test_idle_services_of_a_namespace_in_which_nothing_runs(
    beside: list[ClusterObject], left: list[ClusterObject], ran: int, counted: int
) -> None:
    """They lead nowhere, so that nobody loses anything with them; else each is one that is lost."""
    space = thing(NAMESPACES, "prod")
    view = cluster(space, IDLE, beside, left, made={})
    view.history.writes.count(ran_in("prod"), START, ran)
    found = effects(impact_of(delete(space), view, now=at(0.5)), ObjectsRemoved)
    kinds = ("services", "deployments.apps")
    assert sum(one.counted for one in found if one.resource in kinds) == counted
