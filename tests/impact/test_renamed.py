"""Parts of an application that get another name, with pods of their own."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import (
    START,
    delete,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    workload,
)
from suture.impact.causes.counters import creator
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import CRON_JOBS, DEPLOYMENTS, INGRESSES, PODS, SERVICES, Resource
from suture.model.objects import ClusterObject, PodFacts, RouteFacts, ServiceRef, WorkloadFacts

APPLICATIONS = Resource("gitops.example.com", "applications")
SHOP = thing(APPLICATIONS, "shop", "gitops")
HANDLER = operator("system:serviceaccount:gitops:controller")
STRANGER = operator("system:serviceaccount:ci:sweeper")
ROUTE = thing(INGRESSES, "front", "prod", facts=RouteFacts((ServiceRef("prod", "old-0"),)))


def part(name: str, space: str = "prod", *, ready: bool = True) -> list[ClusterObject]:
    """Make a Deployment and a Service of the application, with two pods."""
    kept = (Need(Edge.MANAGED_BY, SHOP.key),)
    root, replicas, *pods = workload(name, space, replicas=2)
    facing = service(name, space)
    return [
        msgspec.structs.replace(root, needs=(*root.needs, *kept)),
        replicas,
        *(msgspec.structs.replace(pod, facts=PodFacts(ready=ready, node="node-1")) for pod in pods),
        msgspec.structs.replace(facing, needs=(*facing.needs, *kept)),
    ]


def replaced(
    *, new: int = 1, taken: int = 0, ready: bool = True, by: Actor = HANDLER,
    maker: Actor = HANDLER, hours: int = 0, more: tuple[ClusterObject, ...] = (),
    moved: str = "",
) -> tuple[int, int]:  # fmt: skip
    """Return how many Deployments and Services are replaced when the next of the old ones goes."""
    old = [part(f"old-{number}") for number in range(taken + 1)]
    next_ones = [
        part(moved or f"new-{number}", "payments" if moved else "prod", ready=ready)
        for number in range(new)
    ]
    view: GraphView = view_of(SHOP, *old, *next_ones, more)
    for one in (one for made in next_ones for one in made if one.key.resource != PODS):
        name = maker.user.username
        view.history.note_created(one.uid, name, name, one.key, START)
    now = START.plus_s(hours * 3600 + 60)
    for gone in old[1:]:
        for one in gone:
            if one.key.resource in (DEPLOYMENTS, SERVICES):
                request = delete(one, by=by)
                remember(request, project(request, view), view, now)
    found = []
    for resource in (DEPLOYMENTS, SERVICES):
        (going,) = (one for one in old[0] if one.key.resource == resource)
        impact = impact_of(delete(going, by=by), view, by=by, now=now)
        found += [
            one.replaced for one in effects(impact, ObjectsRemoved) if one.resource == str(resource)
        ]
    deployments, services = found
    return deployments, services


def test_as_many_parts_come_as_go() -> None:
    """Each that was made, and serves, stands for one of the former."""
    assert replaced() == (1, 1)
    assert replaced(new=3, taken=2) == (1, 1)


def test_a_part_of_the_same_name_in_another_namespace() -> None:
    """It is the next of this one, however many others go; of another name it is not."""
    assert replaced(moved="old-0", taken=2) == (1, 1)
    assert replaced(moved="old-0", ready=False) == (0, 0)
    assert replaced(moved="old-7") == (0, 0)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda: replaced(new=0), id="nothing-was-made"),
        pytest.param(lambda: replaced(taken=1), id="more-go-than-came"),
        pytest.param(lambda: replaced(ready=False), id="the-next-never-start"),
        pytest.param(lambda: replaced(by=STRANGER), id="by-a-stranger"),
        pytest.param(lambda: replaced(maker=STRANGER), id="made-by-another"),
        pytest.param(lambda: replaced(hours=2), id="made-long-ago"),
    ],
)
def test_what_is_no_other_name(told: object) -> None:
    assert callable(told)
    assert told() == (0, 0)


def test_a_service_that_is_named_yet() -> None:
    """Routes are turned to the next before the name goes."""
    assert replaced(more=(ROUTE,)) == (1, 0)


def schedule(name: str) -> ClusterObject:
    kept = (Need(Edge.MANAGED_BY, SHOP.key),)
    return msgspec.structs.replace(
        thing(CRON_JOBS, name, "prod", facts=WorkloadFacts()), needs=kept
    )


@pytest.mark.parametrize(
    ("new", "taken", "by", "expected"),
    [
        pytest.param(1, 0, HANDLER, 1, id="one for one"),
        pytest.param(10, 9, HANDLER, 1, id="ten for ten"),
        pytest.param(9, 9, HANDLER, 0, id="more go than came"),
        pytest.param(0, 0, HANDLER, 0, id="nothing was made"),
        pytest.param(1, 0, STRANGER, 0, id="by a stranger"),
    ],
)
def test_schedules_that_get_other_names(new: int, taken: int, by: Actor, expected: int) -> None:
    """They have no pods between their hours; the incident is an application whose schedules end."""
    old = [schedule(f"old-{number}") for number in range(taken + 1)]
    made = [schedule(f"new-{number}") for number in range(new)]
    view, name = view_of(SHOP, old, made), HANDLER.user.username
    for one in made:
        view.history.note_created(one.uid, name, name, one.key, START)
    now = START.plus_s(60)
    for gone in old[1:]:
        request = delete(gone, by=by)
        remember(request, project(request, view), view, now)
    impact = impact_of(delete(old[0], by=by), view, by=by, now=now)
    assert [one.replaced for one in effects(impact, ObjectsRemoved)] == [expected]


def bare(space: str, name: str = "tool", *, ready: bool = True) -> list[ClusterObject]:
    """Make a Deployment with two pods and its Service, which nothing keeps."""
    root, replicas, *pods = workload(name, space, replicas=2)
    facts = PodFacts(ready=ready, node="node-1")
    return [
        root,
        replicas,
        *(msgspec.structs.replace(pod, facts=facts) for pod in pods),
        service(name, space),
    ]


def moved(
    *, ready: bool = True, by: Actor = STRANGER, maker: Actor = STRANGER, hours: int = 0,
    more: tuple[list[ClusterObject], ...] = (), named: tuple[ClusterObject, ...] = (),
    taken: str = "", home: str = "prod", name: str = "tool",
) -> tuple[bool, int]:  # fmt: skip
    """Return whether the emptied Service is explained, and how many Deployments are replaced."""
    old, new = bare(home, name), bare("tools", name, ready=ready)
    spaces = [namespace(one) for one in (home, "tools", "third", "fourth")]
    gone = bare("fourth", name) if taken else []
    view = view_of(spaces, old, new, *more, named)
    for one in new:
        if one.key.resource in (DEPLOYMENTS, SERVICES):
            by_name = maker.user.username
            view.history.note_created(one.uid, by_name, by_name, one.key, START)
            view.history.writes.count(creator(by_name, one.key.resource), START)
    now = START.plus_s(hours * 3600 + 60)
    for one in gone:
        view.history.note_removed(one.uid, one.key, now, by=taken)
    impact = impact_of(delete(old[0], by=by), view, by=by, now=now)
    (emptied,) = effects(impact, ServiceEmptied)
    (removed,) = (
        one for one in effects(impact, ObjectsRemoved) if one.resource == str(DEPLOYMENTS)
    )
    return emptied.explained, removed.replaced


def test_what_its_maker_moved_to_another_namespace() -> None:
    """By whoever it is: the next of it serves there, made within the hour under its name."""
    assert moved() == (True, 1)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda: moved(ready=False), id="the-next-never-starts"),
        pytest.param(lambda: moved(maker=HANDLER), id="made-by-another"),
        pytest.param(lambda: moved(hours=2), id="made-long-ago"),
        pytest.param(lambda: moved(more=(bare("third"),)), id="one-of-many-of-that-name"),
        pytest.param(
            lambda: moved(taken=STRANGER.user.username), id="the-next-of-what-it-took-before"
        ),
    ],
)
def test_what_nobody_moved(told: object) -> None:
    assert callable(told)
    assert told() == (False, 0)


def test_a_moved_part_that_is_named_yet_or_asked_by_all() -> None:
    """Routes, and what pods have as their resolver, still lead to the one of before."""
    route = thing(INGRESSES, "front", "prod", facts=RouteFacts((ServiceRef("prod", "tool"),)))
    assert not moved(named=(route,))[0]
    assert not moved(home="kube-system", name="kube-dns")[0]
    assert moved(home="kube-system", name="typha")[0]


@pytest.mark.parametrize(
    ("maker", "of_pod", "controlled", "explained"),
    [
        pytest.param(HANDLER, HANDLER, False, True, id="both-its-own"),
        pytest.param(STRANGER, HANDLER, False, False, id="the-service-of-another"),
        pytest.param(HANDLER, STRANGER, False, False, id="the-pod-of-another"),
        pytest.param(HANDLER, HANDLER, True, False, id="a-controller-keeps-the-pod"),
    ],
)
def test_who_made_a_service_and_its_bare_pods_takes_them_away(
    maker: Actor, of_pod: Actor, *, controlled: bool, explained: bool
) -> None:
    """So the host has what runs in a virtual cluster, and follows it."""
    owners = [owner(SHOP)] if controlled else []
    facts = PodFacts(ready=True, node="node-1")
    pod = thing(PODS, "web", "prod", labels={"app": "web"}, owners=owners, facts=facts)
    facing = service("web", "prod")
    view = view_of(SHOP, pod, facing)
    for one, by in ((facing, maker), (pod, of_pod)):
        view.history.note_created(one.uid, by.user.username, by.operator, one.key, START)
    impact = impact_of(delete(pod, by=HANDLER), view, now=START.plus_s(90_000), by=HANDLER)
    assert [one.explained for one in effects(impact, ServiceEmptied)] == [explained]
