"""Workloads that an operator stops because another version, or a restart, was asked for."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved, PodsLost, QuorumLost, ServiceEmptied
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.difference import asks_for_another
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    NO_LABELS,
    ClusterObject,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

LOGINS = Resource("login.example.com", "logins")
LOGIN = thing(LOGINS, "main", "prod", facts=CustomFacts(2))
LABELS = {"app": "main"}
SET = thing(
    STATEFUL_SETS, "main", "prod", owners=[owner(LOGIN)],
    facts=WorkloadFacts(2, Selector.of(LABELS)),
)  # fmt: skip
POD_LIST = [
    thing(
        PODS, f"main-{at}", "prod", owners=[owner(SET)], labels=LABELS, facts=PodFacts(ready=True)
    )
    for at in range(2)
]
FACING = thing(SERVICES, "main", "prod", facts=ServiceFacts(Selector.of(LABELS)))
KEEPER, OWNER = "system:serviceaccount:login:login-operator", "owner@example.com"
Spec = dict[str, object]


def stopped(
    old: Spec, new: Spec, *, ordered_by: str = OWNER, by: str = KEEPER, to: int = 0, ago_s: int = 60
) -> tuple[int, int, bool]:
    """Return how many pods are lost for no cause, how many are asked for, and of the Service."""
    view = GraphView(graph_of(LOGIN, SET, POD_LIST, FACING), History())
    bodies = [msgspec.json.encode({"spec": one}) for one in (old, new)]
    order = update(LOGIN, LOGIN, by=operator(ordered_by), bodies=(bodies[0], bodies[1]))
    remember(order, project(order, view), view, START)
    now = Now(START.mono_ns + ago_s * 10**9, START.utc_s + ago_s)
    smaller = msgspec.structs.replace(SET, facts=WorkloadFacts(to, Selector.of(LABELS)))
    request = update(SET, smaller, by=operator(by))
    impact = impact_of(request, view, now=now, by=operator(by))
    (lost,) = effects(impact, PodsLost)
    return lost.lasting, lost.wanted, all(one.explained for one in effects(impact, ServiceEmptied))


def parted(*, ordered: bool, claims: bool) -> bool:
    """Whether three members that are stopped are a majority that is lost for no cause."""
    login = thing(LOGINS, "main", "prod", facts=CustomFacts(3))
    above = msgspec.structs.replace(SET, facts=WorkloadFacts(3, Selector.of(LABELS)))
    claim = ObjectKey(CLAIMS, "prod", "data")
    pods = [
        msgspec.structs.replace(
            POD_LIST[0],
            key=ObjectKey(PODS, "prod", f"main-{at}"),
            uid=f"main-{at}",
            needs=(Need(Edge.CLAIM, claim),) if claims else (),
        )
        for at in range(3)
    ]
    view = GraphView(graph_of(login, above, pods, FACING), History())
    if ordered:
        bodies = [msgspec.json.encode({"spec": one}) for one in (ONE, TWO)]
        order = update(login, login, by=operator(OWNER), bodies=(bodies[0], bodies[1]))
        remember(order, project(order, view), view, START)
    smaller = msgspec.structs.replace(above, facts=WorkloadFacts(0, Selector.of(LABELS)))
    by = operator(KEEPER)
    impact = impact_of(update(above, smaller, by=by), view, now=START.plus_s(60), by=by)
    (lost,) = effects(impact, QuorumLost)
    return not lost.explained


ONE: Spec = {"image": "login:1"}
TWO: Spec = {"image": "login:2"}


def test_of_members_without_data_no_majority_is_missed() -> None:
    """Nobody is left who would lack it; data is not put at stake for another image."""
    assert not parted(ordered=True, claims=False)
    assert parted(ordered=True, claims=True)
    assert parted(ordered=False, claims=False)


def test_it_is_stopped_for_another_image() -> None:
    """Its operator starts it again with that: nobody asks for it in between."""
    assert stopped(ONE, TWO) == (0, -1, True)


@pytest.mark.parametrize(
    ("old", "new", "ordered_by", "by", "ago_s"),
    [
        pytest.param(ONE, {**ONE, "hostname": "x"}, OWNER, KEEPER, 60, id="something else"),
        pytest.param(ONE, TWO, KEEPER, KEEPER, 60, id="asked for by itself"),
        pytest.param(ONE, TWO, OWNER, "system:serviceaccount:ops:x", 60, id="by a stranger"),
        pytest.param(ONE, TWO, OWNER, KEEPER, 3700, id="long ago"),
    ],
)
def test_it_is_stopped_for_nothing(
    old: Spec, new: Spec, ordered_by: str, by: str, ago_s: int
) -> None:
    """The twin: what the resource asks for is what it asked for before."""
    found = stopped(old, new, ordered_by=ordered_by, by=by, ago_s=ago_s)
    assert found == (2, 2, False)


def test_it_is_made_smaller() -> None:
    """That is no stop, which another version might need."""
    assert stopped(ONE, TWO, to=1)[:2] == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "asks"),
    [
        (ONE, TWO, True),
        ({}, ONE, True),
        ({"image_version": "1"}, {"image_version": "2"}, True),
        ({"server": {"imageTag": "1"}}, {"server": {"imageTag": "2"}}, True),
        ({}, {"restart": "RollingUpdate"}, True),
        ({"postgresVersion": 15}, {"postgresVersion": 16}, True),
        (
            {"template": {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}},
            {"template": {"spec": {"containers": [{"name": "a", "image": "a:2"}]}}},
            True,
        ),
        ({"plugins": [{"name": "a", "version": 1}]}, {"plugins": [{"name": "a"}]}, False),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "b"}]}, False),
        (ONE, {}, False),
        ({"ref": {"apiVersion": "v1"}}, {"ref": {"apiVersion": "v2"}}, False),
        ({"stage": "a"}, {"stage": "b"}, False),
        ({"image": "a", "n": 1}, {"image": "a", "n": 2}, False),
    ],
)
def test_what_asks_for_another(old: Spec, new: Spec, *, asks: bool) -> None:
    """An image, a version, a restart, in words; read of the spec alone."""
    bodies = [msgspec.json.encode({"spec": one}) for one in (old, new)]
    assert asks_for_another(bodies[0], bodies[1]) is asks


JOBS_RUN = thing(
    DEPLOYMENTS, "main", "prod", owners=[owner(LOGIN)],
    facts=WorkloadFacts(2, Selector.of(LABELS)),
)  # fmt: skip
RUNNERS = [
    thing(
        PODS, f"main-x-{at}", "prod", owners=[owner(JOBS_RUN)], labels=LABELS,
        facts=PodFacts(ready=True),
    )
    for at in range(2)
]  # fmt: skip


def deleted(new: Spec, *, maker: str = KEEPER, times: int = 1) -> tuple[int, bool]:
    """Return how much is wanted that the last of so many deletes takes, and of the Service."""
    view = GraphView(graph_of(LOGIN, JOBS_RUN, RUNNERS, FACING), History())
    if maker:
        view.history.note_created(JOBS_RUN.uid, maker, maker, JOBS_RUN.key, START)
    bodies = tuple(msgspec.json.encode({"spec": one}) for one in (ONE, new))
    order = update(LOGIN, LOGIN, by=operator(OWNER), bodies=(bodies[0], bodies[1]))
    remember(order, project(order, view), view, START)
    request, now = delete(JOBS_RUN, by=operator(KEEPER)), START.plus_s(60)
    for _ in range(times - 1):
        remember(request, project(request, view), view, now)
    impact = impact_of(request, view, now=now, by=operator(KEEPER))
    gone = next(one for one in effects(impact, ObjectsRemoved) if "deployments" in one.resource)
    return gone.wanted, all(one.explained for one in effects(impact, ServiceEmptied))


@pytest.mark.parametrize("maker", [KEEPER, ""], ids=["its own", "nobody knows whose"])
def test_a_deployment_is_deleted_to_be_made_of_another_image(maker: str) -> None:
    """It may be older than what Suture remembers; once for each order, all the same."""
    assert deleted(TWO, maker=maker) == (0, True)
    assert deleted(TWO, maker=maker, times=2) == (1, False)


def test_a_deployment_is_deleted_for_nothing() -> None:
    """The twins: nothing was asked for, it is somebody else's, or one went for it already."""
    assert deleted(ONE) == (1, False)
    assert deleted(TWO, maker="system:serviceaccount:ops:x") == (1, False)
    assert deleted(TWO, times=2) == (1, False)


SETS = Resource("login.example.com", "runnersets")
RUNS = Resource("login.example.com", "runners")


def renewed(
    new: Spec,
    *,
    below: tuple[ClusterObject, ...] = (),
    claims: bool = False,
    times: int = 1,
    labels: Mapping[str, str] = NO_LABELS,
    mounts: bool = False,
    of: ClusterObject = LOGIN,
) -> tuple[int, int]:
    """Delete a set of runs, or what is below the resource; return what of it is wanted, and runs.

    `below` are the pods of the resource itself, of which the first is deleted.
    """
    set_of = thing(SETS, "main-a", "prod", owners=[owner(LOGIN)], facts=CustomFacts())
    run = thing(RUNS, "main-a-1", "prod", owners=[owner(set_of)], facts=CustomFacts())
    pod = thing(
        PODS, "main-a-1", "prod", owners=[owner(run)], labels=labels, facts=PodFacts(ready=True)
    )
    data = thing(CLAIMS, "main-a-1", "prod", owners=[owner(run)])
    needs = (Need(Edge.CLAIM, ObjectKey(CLAIMS, "prod", "kept")),) if mounts else ()
    pod = msgspec.structs.replace(pod, needs=needs)
    things = below or (set_of, run, pod, *([data] if claims else []))
    view = GraphView(graph_of(of, list(things), FACING), History())
    bodies = tuple(msgspec.json.encode({"spec": one}) for one in (ONE, new))
    order = update(of, of, by=operator(OWNER), bodies=(bodies[0], bodies[1]))
    remember(order, project(order, view), view, START)
    request, now = delete(things[0], by=operator(KEEPER)), START.plus_s(60)
    for _ in range(times - 1):
        remember(request, project(request, view), view, now)
    impact = impact_of(request, view, now=now, by=operator(KEEPER))
    gone = next(one for one in effects(impact, ObjectsRemoved) if one.direct)
    return gone.wanted, sum(not one.explained for one in effects(impact, ServiceEmptied))


def test_a_set_of_runs_is_deleted_as_the_next_image_was_asked_for() -> None:
    """So runners of the former image go, set by set; once for each order."""
    assert renewed(TWO) == (0, 0)


def test_a_set_of_runs_is_deleted_for_nothing() -> None:
    """The twins: nothing was asked for, data goes along, or one went for it already."""
    assert renewed(ONE) == (1, 0)
    assert renewed(TWO, claims=True) == (1, 0)
    assert renewed(TWO, times=2) == (1, 0)


def test_a_set_of_members_is_not_deleted_for_another_image() -> None:
    """Brokers are rolled, not deleted with their set: clients reach them, and they hold data."""
    assert renewed(TWO, labels=LABELS) == (1, 1)
    assert renewed(TWO, mounts=True) == (1, 0)


LONE = msgspec.structs.replace(LOGIN, facts=CustomFacts())
ALONE = thing(
    PODS, "main-0", "prod", owners=[owner(LOGIN)], labels=LABELS, facts=PodFacts(ready=True)
)
BESIDE = msgspec.structs.replace(
    ALONE, key=ObjectKey(PODS, "prod", "main-1"), uid="uid-1", facts=PodFacts()
)


def test_the_only_pod_is_deleted_to_be_made_of_another_image() -> None:
    assert renewed(TWO, below=(ALONE,), of=LONE)[1] == 0


def test_a_pod_is_deleted_for_nothing() -> None:
    """The twins: nothing was asked for, or it is the last of several."""
    assert renewed(ONE, below=(ALONE,), of=LONE)[1] == 1
    assert renewed(TWO, below=(ALONE, BESIDE), of=LONE)[1] == 1
    assert renewed(TWO, below=(ALONE,))[1] == 1
