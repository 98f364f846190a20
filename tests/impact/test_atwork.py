"""Routes, schedules and disruption budgets: what is at work though it neither runs nor serves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, service, thing, view_of, workload
from suture.impact.causes.counters import turned
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts, DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.names import (
    AUTOSCALERS,
    CRON_JOBS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    INGRESSES,
    NODES,
    PODS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    LOAD_BALANCER,
    ClusterObject,
    NodeFacts,
    OwnerReference,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
)
from suture.model.selectors import Operator, Requirement, Selector
from suture.model.writes import HOUR_S, MINUTE_S

OPERATOR = "system:serviceaccount:lb:operator"
DATABASES = Resource("db.example.com", "databases")
RECORDS = Resource("dns.example.com", "records")
SERVED = (service("web"), *workload("web", replicas=2))


def route(
    name: str = "web", *, to: str = "web", owners: tuple[OwnerReference, ...] = ()
) -> ClusterObject:
    facts = RouteFacts((ServiceRef("prod", to),), ("web.example.com",))
    return thing(INGRESSES, name, "prod", facts=facts, owners=owners)


def removed(
    one: ClusterObject, view: GraphView, body: bytes = b"", now: Now = START
) -> ObjectsRemoved:
    request = replace(delete(one), old_body=body)
    told = effects(impact_of(request, view, now=now), ObjectsRemoved)
    (effect,) = [each for each in told if each.resource == str(one.key.resource)]
    return effect


# ---------------------------------------------------------------- routes and schedules


def test_a_route_that_leads_is_in_use_while_its_owner_lives() -> None:
    """The custom resource that made it still asks for it."""
    parent = thing(DATABASES, "web", "prod")
    one = route(owners=(owner(parent),))

    told = removed(one, view_of(parent, one, SERVED))
    assert (told.wanted, told.in_use) == (1, 1)


def test_a_route_to_nobody_is_not() -> None:
    """Its Service has nobody behind it, or is not there."""
    parent = thing(DATABASES, "web", "prod")
    one = route(owners=(owner(parent),))

    assert removed(one, view_of(parent, one, service("web"))).in_use == 0
    assert removed(one, view_of(parent, one)).in_use == 0


def test_a_route_that_nobody_asks_for_is_somebodys_to_give_up() -> None:
    """Its owner is going, or it has none."""
    parent = replace(thing(DATABASES, "web", "prod"), deleted=1.0)
    one = route(owners=(owner(parent),))

    assert removed(one, view_of(parent, one, SERVED)).in_use == 0
    assert removed(route(), view_of(route(), SERVED)).in_use == 0


@pytest.mark.parametrize(
    ("body", "in_use"),
    [
        pytest.param(b'{"spec":{"schedule":"0 1 * * *"}}', 1, id="runs"),
        pytest.param(b'{"spec":{"suspend":true}}', 0, id="suspended"),
        pytest.param(b"", 0, id="not-known"),
    ],
)
def test_a_schedule_that_runs_is_in_use_while_its_owner_lives(body: bytes, in_use: int) -> None:
    """Backups that nobody makes any more are missed on the day that they are needed."""
    parent = thing(DATABASES, "web", "prod")
    one = thing(CRON_JOBS, "web-backup", "prod", owners=[owner(parent)])

    assert removed(one, view_of(parent, one), body).in_use == in_use


# ---------------------------------------------------------------- disruption budgets


def budget(name: str = "web", *, app: str = "web") -> ClusterObject:
    facts = DisruptionBudgetFacts(Selector.of({"app": app}))
    return thing(DISRUPTION_BUDGETS, name, "prod", facts=facts)


def test_a_budget_that_holds_several_pods_counts() -> None:
    """Whoever drains the nodes next takes all of them at once."""
    assert removed(budget(), view_of(budget(), SERVED)).counted == 1


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param((), id="no-pods"),
        pytest.param(tuple(workload("web", replicas=1)), id="one-pod"),
        pytest.param(tuple(workload("web", replicas=2, ready=0)), id="none-ready"),
        pytest.param((*SERVED, budget("web-v2")), id="held-by-another"),
    ],
)
def test_a_budget_that_holds_nothing_or_has_a_successor_does_not(
    beside: tuple[ClusterObject, ...],
) -> None:
    """One of a single pod only bars drains, and one that was renamed holds on."""
    assert removed(budget(), view_of(budget(), beside)).counted == 0


def test_a_budget_of_all_may_go_where_others_hold_all_but_one() -> None:
    """Around a drain the pods that may go are let out of it, and the rest is held by name."""
    more = tuple(workload("db", replicas=2))
    parent = thing(DATABASES, "web", "prod")
    all_of_it = replace(
        budget("all"),
        owners=(owner(parent),),
        facts=DisruptionBudgetFacts(Selector((Requirement("app", Operator.EXISTS),))),
    )
    one = tuple(workload("out", replicas=1))

    def in_use(*beside: ClusterObject) -> int:
        return removed(all_of_it, view_of(parent, all_of_it, *more, *one, SERVED, beside)).in_use

    assert in_use() == 1
    assert in_use(budget()) == 1
    assert in_use(budget(), budget("db", app="db")) == 0


@pytest.mark.parametrize(
    ("wanted", "made_s", "by", "in_use"),
    [
        pytest.param([2], -HOUR_S, "maria", 0, id="other-numbers"),
        pytest.param([], -HOUR_S, "maria", 1, id="as-it-was"),
        pytest.param([2, 1], -HOUR_S, "maria", 1, id="turned-back"),
        pytest.param([2], MINUTE_S, "maria", 1, id="made-anew-already"),
        pytest.param([2], -HOUR_S, OPERATOR, 1, id="by-its-own-hand"),
    ],
)
def test_a_budget_is_made_anew_for_other_numbers(
    wanted: list[int], made_s: int, by: str, in_use: int
) -> None:
    """Its custom resource was rewritten; who cannot patch it deletes it first."""
    parent = thing(DATABASES, "web", "prod")
    held = replace(
        budget(), owners=(owner(parent, controller=False),), created=START.utc_s + made_s
    )
    view = view_of(parent, held, SERVED)
    for before, after in pairwise([1, *wanted]):
        spec = b'{"spec":{"maxUnavailable":%d}}'
        bodies = spec % before, spec % after
        request = update(parent, parent, by=operator(by), bodies=bodies)
        remember(request, project(request, view), view, START)
    told = impact_of(delete(held), view, now=START.plus_s(2 * MINUTE_S))
    (found,) = effects(told, ObjectsRemoved)
    assert found.in_use == in_use


@pytest.mark.parametrize(
    ("by", "written", "kind", "in_use"),
    [
        pytest.param("maria", True, "ClusterIP", 0, id="by-hand"),
        pytest.param("maria", False, "ClusterIP", 1, id="as-it-was"),
        pytest.param(OPERATOR, True, "ClusterIP", 1, id="by-its-operator"),
        pytest.param("maria", True, LOAD_BALANCER, 1, id="with-an-address"),
    ],
)
def test_a_person_has_a_service_made_anew(
    by: str, kind: str, in_use: int, *, written: bool
) -> None:
    """One that is to be headless cannot be changed to that."""
    parent = thing(DATABASES, "web", "prod")
    web, *pods = SERVED
    facts = web.facts
    assert isinstance(facts, ServiceFacts)
    web = replace(
        web, facts=replace(facts, type=kind), owners=(owner(parent),),
        created=START.utc_s - HOUR_S,
    )  # fmt: skip
    view = view_of(parent, web, pods)
    if written:
        bodies = b'{"spec":{"clusterIP":""}}', b'{"spec":{"clusterIP":"None"}}'
        request = update(parent, parent, by=operator("maria"), bodies=bodies)
        remember(request, project(request, view), view, START)
    who = operator(by)
    told = impact_of(delete(web, by=who), view, now=START.plus_s(MINUTE_S), by=who)
    (found,) = [one for one in effects(told, ObjectsRemoved) if one.resource == "services"]
    assert found.in_use == in_use


@pytest.mark.parametrize(
    ("shut", "spread", "in_use"), [(True, False, 0), (False, False, 1), (True, True, 1)]
)
def test_a_budget_may_go_around_the_drain_of_one_node(
    *, shut: bool, spread: bool, in_use: int
) -> None:
    """All members there may leave at a time, while those of other nodes are held by name."""
    parent = thing(DATABASES, "web", "prod")
    nodes = [
        thing(NODES, name, facts=NodeFacts(ready=True, unschedulable=shut)) for name in ("a", "b")
    ]
    out = [
        replace(one, facts=PodFacts(ready=True, node=nodes[spread and at % 2].key.name))
        if one.key.resource == PODS
        else one
        for at, one in enumerate(workload("out", replicas=2))
    ]
    of_all = DisruptionBudgetFacts(Selector((Requirement("app", Operator.EXISTS),)))
    all_of_it = replace(budget("all"), owners=(owner(parent),), facts=of_all)
    view = view_of(parent, nodes, all_of_it, out, SERVED, budget())
    assert removed(all_of_it, view).in_use == in_use


def test_a_budget_of_all_that_one_closed_node_has_is_in_use() -> None:
    """No other holds any of them: the drain would take all at once."""
    parent, shut = thing(DATABASES, "web", "prod"), NodeFacts(ready=True, unschedulable=True)
    node = thing(NODES, "node-1", facts=shut)
    held = replace(budget(), owners=(owner(parent),))
    assert removed(held, view_of(parent, node, held, SERVED)).in_use == 1


@pytest.mark.parametrize(("replicas", "in_use"), [(1, 0), (2, 1)])
def test_a_budget_of_one_pod_is_in_nobodys_use(replicas: int, in_use: int) -> None:
    """It is lifted by who keeps it so that a node can be emptied, and its pod comes back."""
    parent = thing(DATABASES, "web", "prod")
    held = replace(budget(), owners=(owner(parent),))

    assert removed(held, view_of(parent, held, workload("web", replicas=replicas))).in_use == in_use


def test_a_budget_that_goes_along_does_not_count() -> None:
    """It goes for the reason for which its owner goes."""
    parent = thing(DATABASES, "web", "prod")
    held = replace(budget(), owners=(owner(parent),))
    impact = impact_of(delete(parent), view_of(parent, held, SERVED))

    assert all(not one.counted for one in effects(impact, ObjectsRemoved))


# ---------------------------------------------------------------- routes of a proxy's own kind

BINDINGS = Resource("lb.example.com", "bindings")


def binding(name: str = "web", kind: Resource = BINDINGS) -> ClusterObject:
    needs = (Need(Edge.LEADS_TO, ObjectKey(SERVICES, "prod", "web"), "", optional=True),)
    return replace(thing(kind, name, "prod"), needs=needs)


def test_what_alone_leads_to_a_service_counts() -> None:
    """Whatever kind of route it is: nobody reaches the Service any more."""
    assert removed(binding(), view_of(binding(), SERVED)).counted == 1


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param((service("web"),), id="nobody-behind-it"),
        pytest.param((), id="not-there"),
        pytest.param((*SERVED, binding("web-v2")), id="another"),
        pytest.param((*SERVED, binding("web", DATABASES)), id="another-kind"),
        pytest.param(
            (*SERVED, thing(DATABASES, "m", "prod", owners=[owner(binding())])), id="owns"
        ),
    ],
)
def test_what_leads_nowhere_or_beside_another_does_not(beside: tuple[ClusterObject, ...]) -> None:
    """A renamed or migrated route, one to nobody, and a product that names its own Service."""
    assert removed(binding(), view_of(binding(), beside)).counted == 0


def test_what_is_bound_to_a_service_that_routes_have_left_follows_them() -> None:
    """A route was turned to the next Service: of the one before nobody asks any more, for an hour."""
    view = view_of(binding(), SERVED)
    view.history.writes.count(turned(view.uid(view.rows(SERVICES)[0])), START)
    assert removed(binding(), view).counted == 0
    assert removed(binding(), view, now=START.plus_s(4000)).counted == 1


# ---------------------------------------------------------------- what is kept of a route


def record(name: str = "web", of: ClusterObject | None = None) -> ClusterObject:
    return thing(RECORDS, name, "prod", owners=[owner(of or route(), controller=False)])


def test_what_a_route_that_leads_is_known_by_is_wanted_and_in_use() -> None:
    """The record of its name, called as it is: who looks it up afterwards finds nobody."""
    told = removed(record(), view_of(record(), route(), SERVED))
    assert (told.wanted, told.in_use) == (1, 1)


def test_what_else_is_kept_of_it_counts() -> None:
    """By another name, and the only one of its type."""
    one, more = record("web-1"), record("web-2")

    told = removed(one, view_of(one, route(), SERVED))
    assert (told.wanted, told.counted) == (0, 1)
    assert removed(one, view_of(one, more, route(), SERVED)).counted == 0


def bound(name: str = "k8s-web-1", *, space: str = "prod", to: str = "web") -> ClusterObject:
    """Return what binds a balancer to the Service of a route, which its labels name."""
    labels = {"lb.example.com/stack-name": "web", "lb.example.com/stack-namespace": space}
    needs = (Need(Edge.LEADS_TO, ObjectKey(SERVICES, "prod", to), "", optional=True),)
    return replace(thing(BINDINGS, name, "prod", labels=labels), needs=needs)


def test_what_a_route_leads_by_is_wanted_and_in_use() -> None:
    """Its labels name the route: the balancer of a live one would send its traffic nowhere."""
    told = removed(bound(), view_of(bound(), route(), SERVED))
    assert (told.wanted, told.in_use) == (1, 1)


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(SERVED, id="no-route"),
        pytest.param((route(), service("web")), id="nobody-behind-it"),
        pytest.param((replace(route(), deleted=1.0), *SERVED), id="going"),
        pytest.param((route(), bound("k8s-web-2"), *SERVED), id="the-next"),
        pytest.param((route(to="away"), *SERVED), id="leads-elsewhere"),
    ],
)
def test_what_no_route_leads_by_is_neither(beside: tuple[ClusterObject, ...]) -> None:
    """Its route is gone, or going; another takes its place; nobody is behind it."""
    told = removed(bound(), view_of(bound(), beside))
    assert (told.wanted, told.in_use) == (0, 0)


def test_a_route_of_another_namespace_or_name_is_not_meant() -> None:
    """Labels say a name and a namespace, and mean that route alone."""
    one = bound(space="stage")
    assert removed(one, view_of(one, route(), SERVED)).in_use == 0
    alone = replace(bound(), labels={"lb.example.com/stack-name": "web"})
    assert removed(alone, view_of(alone, route(), SERVED)).in_use == 0


def test_what_a_rewritten_route_led_by_may_go() -> None:
    """It may lead elsewhere by now; an hour later it is no cause any more."""
    view = view_of(bound(), route(), SERVED)
    request = update(route(), replace(route(), labels={"a": "b"}), by=operator("ada"))
    remember(request, project(request, view), view, START)

    assert removed(bound(), view).in_use == 0
    assert removed(bound(), view, now=START.plus_s(2 * 3600)).in_use == 1


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(route(to="away"), id="leads-to-nobody"),
        pytest.param(replace(route(), deleted=1.0), id="going"),
        pytest.param(thing(SERVICES, "web", "prod"), id="no-route"),
    ],
)
def test_what_is_kept_of_anything_else_does_not(of: ClusterObject) -> None:
    """A route without a Service is no loss, and one that goes is the cause."""
    one = record("web", of)

    told = removed(one, view_of(one, of, workload("web", replicas=2)))
    assert (told.wanted, told.in_use, told.counted) == (0, 0, 0)


def test_a_route_that_was_rewritten_within_the_hour_may_be_the_cause() -> None:
    """Somebody took the name out of it; an hour later it is none any more."""
    view = view_of(record(), route(), SERVED)
    before, after = route(), replace(route(), labels={"a": "b"})
    request = update(before, after, by=operator("ada"))
    remember(request, project(request, view), view, START)
    later = Now(START.mono_ns + 3601 * 10**9, START.utc_s + 3601.0)

    assert removed(record(), view).wanted == 0
    assert removed(record(), view, now=later).wanted == 1


def test_annotations_of_a_route_are_a_cause_too() -> None:
    """What keeps a certificate or a record of a route goes by them, and the model reads none."""
    view = view_of(record(), route(), SERVED)
    bodies = b'{"metadata":{"annotations":{"a":"b"}}}', b'{"metadata":{"annotations":{}}}'
    unchanged = update(route(), route(), bodies=(bodies[0], bodies[0] + b" "))
    annotated = update(route(), route(), bodies=bodies)

    remember(unchanged, project(unchanged, view), view, START)
    assert removed(record(), view).wanted == 1
    remember(annotated, project(annotated, view), view, START)
    assert removed(record(), view).wanted == 0


# ---------------------------------------------------------------- autoscalers

SCALED = Resource("scaling.example.com", "scaledthings")


def scaler(name: str = "web", of: ClusterObject | None = None) -> ClusterObject:
    needs = (Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "web")),)
    made = thing(AUTOSCALERS, name, "prod", facts=AutoscalerFacts(2, 9))
    return replace(made, needs=needs, owners=(owner(of),) if of is not None else ())


def test_an_autoscaler_that_is_asked_for_and_sizes_what_runs_is_in_use() -> None:
    """After an upgrade its operator took it for another's."""
    parent = thing(SCALED, "web", "prod")
    told = removed(scaler(of=parent), view_of(parent, scaler(of=parent), SERVED))
    assert (told.wanted, told.in_use) == (1, 1)


def test_an_autoscaler_that_is_replaced_or_sizes_nothing_is_not() -> None:
    """Another one sizes the workload, or there is none that runs; or nobody else asks for it."""
    parent = thing(SCALED, "web", "prod")
    one = scaler(of=parent)
    assert removed(one, view_of(parent, one, scaler("other"), SERVED)).in_use == 0
    assert removed(one, view_of(parent, one)).in_use == 0
    assert removed(scaler(), view_of(scaler(), SERVED)).in_use == 0


def test_whoever_was_rewritten_may_want_no_autoscaler_any_more() -> None:
    """The twin: it is paused, by what it says or by an annotation; for the hour after that."""
    parent = thing(SCALED, "web", "prod")
    one = scaler(of=parent)
    bodies = b'{"metadata": {}}', b'{"metadata": {"annotations": {"paused": "true"}}}'
    for after in (parent, replace(parent, labels={"paused": "yes"})):
        view = view_of(parent, one, SERVED)
        request = update(parent, after, bodies=bodies if after is parent else (b"", b""))
        remember(request, project(request, view), view, START)
        assert removed(one, view).in_use == 0
        assert removed(one, view, now=START.plus_s(2 * 3600)).in_use == 1
