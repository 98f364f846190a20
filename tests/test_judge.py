"""The decision, whole, with the safety pack as it ships: disasters stop, their twins pass."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.cluster import (
    BALANCERS,
    START,
    crd,
    delete,
    graph_of,
    namespace,
    operator,
    owner,
    service,
    thing,
    webhook,
    workload,
)
from suture.adapters.files import load_policies
from suture.impact.effects import ObjectsRemoved
from suture.judge import World, judge, note_collection, note_refused
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now
from suture.model.names import PODS, SERVICES, ObjectKey, Operation
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts, ServiceRef
from suture.model.request import Collection, CollectionItem, Request, intent_of
from suture.model.selectors import Selector, parse_selector
from suture.policy.compile import PolicySet
from suture.policy.rules import ClusterFacts, Point
from suture.verdict import Answer, Verdict


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def world_of(
    pack: PolicySet,
    *things: ClusterObject | Iterable[ClusterObject],
    authorizer: bool = False,
) -> World:
    return World(pack, graph=graph_of(*things), cluster=ClusterFacts(authorizer=authorizer))


def verdict_of(
    world: World,
    request: Request,
    *,
    by: Actor | None = None,
    now: Now = START,
    point: Point = Point.ADMISSION,
) -> Verdict:
    return judge(request, by or operator(), world, now, point).verdict


def whole(resource_of: ClusterObject, selector: Selector | None) -> Request:
    request = delete(resource_of, extent=Collection(selector))
    return msgspec.structs.replace(request, name="", old=None)


def population(count: int) -> list[ClusterObject]:
    """Make serving Services and idle ones, in the proportion of the incident."""
    things: list[ClusterObject] = []
    for number in range(count):
        space = f"team-{number % 10}"
        if number % 7:
            things += workload(f"app-{number}", space)
            things.append(service(f"app-{number}", space))
        else:
            things.append(service(f"idle-{number}", space, app=""))
    return things


def test_a_sweep_over_all_services_stops_within_the_budget(pack: PolicySet) -> None:
    """One identity deletes every Service one by one: at most max(5, 1 %) go, idle ones included."""
    things = population(300)
    world = world_of(pack, things)
    services = [one for one in things if one.key.resource.plural == "services"]

    answers = [verdict_of(world, delete(one)).answer for one in services]

    assert answers[:5] == [Answer.ALLOW] * 5
    assert set(answers[5:]) == {Answer.DENY}


def test_an_observed_operator_is_charged_and_reported(pack: PolicySet) -> None:
    """In observe nothing is refused, and the report says what would have been."""
    things = population(50)
    world = world_of(pack, things)
    services = [one for one in things if one.key.resource.plural == "services"]

    verdicts = [
        verdict_of(world, delete(one), by=operator(stage=Stage.OBSERVE)) for one in services
    ]

    assert {verdict.answer for verdict in verdicts} == {Answer.ALLOW}
    assert sum(verdict.would is Answer.DENY for verdict in verdicts) == len(services) - 5


def test_the_children_of_a_going_balancer_pass_without_limit(pack: PolicySet) -> None:
    """The twin: forty Services whose balancer is being deleted cost nothing."""
    balancer = thing(BALANCERS, "front", "prod", deleted=1.0)
    children = [service(f"s{n}", owners=[owner(balancer)]) for n in range(40)]
    world = world_of(
        pack, namespace("prod"), balancer, children, *[workload(f"s{n}") for n in range(40)]
    )

    assert {verdict_of(world, delete(one)).answer for one in children} == {Answer.ALLOW}


def test_thirty_renames_pass(pack: PolicySet) -> None:
    """The old name of each pair goes once the new one reaches the same pods."""
    things: list[ClusterObject] = []
    for number in range(30):
        things += [*workload(f"a{number}"), service(f"a{number}-new", app=f"a{number}")]
    old = [service(f"a{number}") for number in range(30)]
    world = world_of(pack, things, old)

    assert {verdict_of(world, delete(one)).answer for one in old} == {Answer.ALLOW}


def test_a_sweep_over_pairs_of_services_is_no_series_of_renames(pack: PolicySet) -> None:
    """Who goes on to remove the replacement is not believed again: the budget holds for all."""
    things: list[ClusterObject] = []
    pairs: list[ClusterObject] = []
    for number in range(100):
        things += workload(f"a{number}")
        pairs += [service(f"a{number}"), service(f"a{number}-too", app=f"a{number}")]
    world = world_of(pack, things, pairs)

    allowed = [one for one in pairs if not verdict_of(world, delete(one)).denies]

    assert len(allowed) <= 6


def test_a_headless_twin_replaces_nothing(pack: PolicySet) -> None:
    """Another manner of reaching the same pods, or other ports, is no new name of the old one."""
    twins = [
        thing(SERVICES, "db-headless", "prod", facts=ServiceFacts(Selector.of({"app": "db"}),
                                                                  headless=True)),
        thing(SERVICES, "db-metrics", "prod", facts=ServiceFacts(Selector.of({"app": "db"}),
                                                                 ports=("9100/TCP",))),
    ]  # fmt: skip
    db = thing(SERVICES, "db", "prod", facts=ServiceFacts(Selector.of({"app": "db"}),
                                                          ports=("5432/TCP",)))  # fmt: skip
    world = world_of(pack, db, twins, workload("db"))

    (removed,) = [
        effect
        for effect in judge(delete(db), operator(), world, START).case.impact.effects
        if isinstance(effect, ObjectsRemoved)
    ]

    assert (removed.explained, removed.counted) == (0, 1)


def test_the_backend_of_a_fail_closed_webhook_stays(pack: PolicySet) -> None:
    """The very first delete is refused, explained or not, and says which calls would fail."""
    going = thing(BALANCERS, "front", "prod", deleted=1.0)
    backend = service("guard", owners=[owner(going)])
    world = world_of(
        pack, namespace("prod"), going, backend, workload("guard"),
        webhook("guard", ServiceRef("prod", "guard")),
    )  # fmt: skip

    verdict = verdict_of(world, delete(backend))

    assert verdict.denies
    assert verdict.reasons[0].constraint == "webhook-safety"
    assert "CREATE of pods" in verdict.message


def test_a_whole_collection_without_a_selector_is_refused_before_it_begins(
    pack: PolicySet,
) -> None:
    """At authorization: ten Services would fit the budget, their empty selector does not."""
    world = world_of(pack, population(40), authorizer=True)

    verdict = verdict_of(world, whole(service("x", "team-1"), None), point=Point.AUTHORIZATION)

    assert verdict.reasons[0].constraint == "selector-safety"
    assert world.ledger.usage("lb-operator", START) == ()


def test_a_collection_item_of_others_is_refused_without_the_authorizer(pack: PolicySet) -> None:
    """Its selector cannot be seen, the object is not the actor's, and its removal counts."""
    things = population(20)
    world = world_of(pack, things)
    idle = service("idle-0", "team-0", app="")

    verdict = verdict_of(world, delete(idle, extent=CollectionItem()))

    assert verdict.reasons[0].constraint == "selector-safety"


def test_a_collection_of_the_actors_own_is_judged_one_by_one(pack: PolicySet) -> None:
    """A driver clears its labelled pods beside the serving ones of others."""
    serving = [*workload("checkout", replicas=3), service("checkout")]
    mine = [
        thing(PODS, f"task-{n}", "prod", labels={"job": "x"}, facts=PodFacts(ready=True))
        for n in range(200)
    ]
    world = world_of(pack, serving, mine)
    driver = operator()
    for one in mine:
        world.history.note_created(one.uid, driver.user.username, driver.operator, one.key, START)

    answers = {verdict_of(world, delete(one, extent=CollectionItem())).answer for one in mine}

    assert answers == {Answer.ALLOW}


def test_a_selector_seen_at_authorization_lifts_the_rule_for_its_objects(
    pack: PolicySet,
) -> None:
    """Once the selector of a collection was judged, its objects are judged as single deletes."""
    idle = thing(
        service("x").key.resource, "idle", "prod", labels={"app": "old"}, facts=service("x").facts
    )
    world = world_of(pack, idle, authorizer=True)
    selected = whole(idle, Selector.of({"app": "old"}))
    item = delete(idle, extent=CollectionItem())
    assert verdict_of(world, item).denies

    assert not verdict_of(world, selected, point=Point.AUTHORIZATION).denies
    note_collection(selected, world, START)

    assert not verdict_of(world, item).denies


@pytest.mark.parametrize(
    ("fields", "ended", "taken"),
    [
        pytest.param("status.phase=Failed", True, True, id="ended"),
        pytest.param("status.phase!=Running", True, True, id="not-running"),
        pytest.param("status.phase=Failed", False, False, id="ready"),
        pytest.param("status.phase!=Failed,status.phase!=Succeeded", True, False, id="neither"),
        pytest.param("metadata.name=job,metadata.namespace=prod", True, True, id="named"),
        pytest.param("metadata.name=other", True, False, id="another-name"),
        pytest.param("spec.nodeName=n1", True, None, id="not-known"),
    ],
)
def test_a_field_selector_is_followed_as_far_as_it_can_be(
    pack: PolicySet, fields: str, *, ended: bool, taken: bool | None
) -> None:
    """What it may take is foreseen; of a field that is not known nothing is, and that is told."""
    one = thing(PODS, "job", "prod", facts=PodFacts(finished=ended, ready=not ended))
    world = world_of(pack, one, authorizer=True)
    asked = msgspec.structs.replace(
        whole(one, None), extent=Collection(None, parse_selector(fields))
    )

    judgement = judge(asked, operator(), world, START, Point.AUTHORIZATION)
    assert not judgement.verdict.denies
    assert len(judgement.change.direct) == bool(taken)
    assert bool(judgement.case.impact.doubt) is (taken is None)

    note_collection(asked, world, START)
    item = judge(delete(one, extent=CollectionItem()), operator(), world, START)
    assert item.case.selector_known is (taken is not False)


def test_a_definition_with_instances_and_a_namespace_in_use_stay(pack: PolicySet) -> None:
    """Few writes with a big closure are refused on the first; their empty twins pass."""
    instances = [thing(BALANCERS, f"b{n}", "prod") for n in range(50)]
    used = world_of(pack, crd(), instances, namespace("prod"), workload("a"), service("a"))
    empty = world_of(pack, crd(), namespace("prod"))

    assert verdict_of(used, delete(crd())).reasons[0].constraint == "crd-in-use"
    assert verdict_of(used, delete(namespace("prod"))).denies
    assert not verdict_of(empty, delete(crd())).denies
    assert not verdict_of(empty, delete(namespace("prod"))).denies


def test_a_dry_run_leaves_no_trace(pack: PolicySet) -> None:
    """Judged in full, and ledger, overlay and history are as they were."""
    things = population(20)
    world = world_of(pack, things)
    target = next(one for one in things if one.key.name == "app-1")
    before = world.ledger.to_bytes(START)

    for number in range(30):
        verdict_of(world, delete(target, dry_run=True, uid=f"r{number}"))

    assert world.ledger.to_bytes(START) == before
    assert world.overlay.gone_uids == {}


def test_one_intent_under_many_review_uids_counts_once(pack: PolicySet) -> None:
    """A conflict re-sends the review with a new uid: the same write is charged once."""
    things = population(20)
    world = world_of(pack, things)
    target = next(one for one in things if one.key == ObjectKey(
        service("x").key.resource, "team-1", "app-1"))  # fmt: skip

    for number in range(9):
        assert not verdict_of(world, delete(target, uid=f"r{number}")).denies

    (spent,) = world.ledger.usage("lb-operator", START)
    assert spent.used == 1


def test_a_consequence_is_never_refused(pack: PolicySet) -> None:
    """The garbage collector carries out what somebody else was charged for."""
    things = population(50)
    world = world_of(pack, things)
    collector = Actor(
        UserInfo("system:serviceaccount:kube-system:generic-garbage-collector"),
        "gc", IdentityKind.CONSEQUENCE, Stage.ENFORCE,
    )  # fmt: skip

    assert {
        verdict_of(world, delete(one, by=collector), by=collector).answer for one in things
    } == {Answer.ALLOW}


def test_a_quarantined_operator_may_write_its_lease_and_nothing_else(pack: PolicySet) -> None:
    """Leases, events and status pass; every other write names the reason."""
    world = world_of(pack, service("x", app=""))
    stopped = msgspec.structs.replace(operator(), quarantined="deletes too much")
    create = delete(service("x", app=""))
    lease = msgspec.structs.replace(
        create,
        operation=Operation.UPDATE,
        gvr=msgspec.structs.replace(create.gvr, group="coordination.k8s.io", plural="leases"),
    )

    refused = verdict_of(world, create, by=stopped)

    assert (refused.denies, refused.reasons[0].code) == (True, "quarantined")
    assert "deletes too much" in refused.message
    assert not verdict_of(world, lease, by=stopped).denies


def asked_for_minutes(
    pack: PolicySet, request: Request, world: World, *, every_s: int = 10
) -> list[tuple[int, int | None]]:
    """Ask for the same every few seconds for four minutes; return what each time is answered."""
    answers = []
    for at_s in range(0, 240, every_s):
        now = START.plus_s(at_s)
        judgement = judge(request, operator(), world, now)
        note_refused(judgement, world, now)
        answers.append((judgement.verdict.status, judgement.verdict.retry_after_s))
    return answers


def half_gone() -> list[ClusterObject]:
    """Make a workload of two behind a Service, one pod of which is not Ready and stays so."""
    return [*workload("web", replicas=2, ready=1), service("web")]


def test_a_client_that_waits_in_vain_is_told_so(pack: PolicySet) -> None:
    """It sleeps and asks again without a word; after three minutes it is refused for good."""
    things = half_gone()
    world = world_of(pack, things)
    answers = asked_for_minutes(pack, delete(things[2]), world)
    assert answers[0] == (429, 10)
    assert answers[17] == (429, 10)
    assert answers[19:] == [(403, None)] * 5
    verdict = verdict_of(world, delete(things[2]), now=START.plus_s(240))
    assert "waiting did not help" in verdict.advice


def test_an_eviction_is_asked_to_wait_however_long(pack: PolicySet) -> None:
    """Who drains a node shows that it waits, and 429 is how an eviction is told to."""
    things = half_gone()
    request = msgspec.structs.replace(
        delete(things[2]), operation=Operation.CREATE, subresource="eviction"
    )
    answers = asked_for_minutes(pack, request, world_of(pack, things))
    assert {status for status, _ in answers} == {429}


def test_who_is_let_through_meanwhile_waits_on(pack: PolicySet) -> None:
    """A slow restart, pod after pod: waiting helps, so the next is asked to wait as well."""
    things = half_gone()
    world = world_of(pack, things)
    assert asked_for_minutes(pack, delete(things[2]), world)[-1] == (403, None)
    assert verdict_of(world, delete(things[3]), now=START.plus_s(241)).answer is not Answer.DENY
    world.patience.note_passed(intent_of(delete(things[2])))
    assert verdict_of(world, delete(things[2]), now=START.plus_s(242)).status == 429
