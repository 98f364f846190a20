"""The straight line, bytes to bytes: refusals are confirmed, doubt is answered, nothing hides."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from support.cluster import BALANCERS, owner, service, thing, workload
from support.desk import Desk
from support.reviews import OPERATOR, access, review
from suture.adapters.files import load_policies
from suture.app import admit as admit_module
from suture.app.admit import Lane, admit
from suture.app.authorize import authorize
from suture.app.telling import HELD_BYTES
from suture.errors import ReviewError
from suture.journal.query import Wanted
from suture.judge import Judgement, judge
from suture.model.actor import Operators, Profile, Stage, WhenDead
from suture.model.edges import Edge, Need
from suture.model.names import PODS, SERVICES, STATEFUL_SETS, ObjectKey, Operation, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Selector
from suture.policy.compile import PolicySet

NEW = ObjectKey(SERVICES, "prod", "checkout-v2")


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def enforced(when_dead: WhenDead = WhenDead.PASS) -> Profile:
    return Profile("lb-operator", (OPERATOR,), stage=Stage.ENFORCE, when_dead=when_dead)


def shop() -> list[ClusterObject]:
    things: list[ClusterObject] = []
    for number in range(20):
        things += [*workload(f"a{number}"), service(f"a{number}")]
    return things


async def test_a_refusal_says_all_that_its_reader_needs(pack: PolicySet) -> None:
    """What would break, numbers, policy, decision id, what to do; at most 300 characters."""
    desk = Desk(pack, shop(), profile=enforced())
    for number in range(5):
        assert (await desk.ask(review(service(f"a{number}"))))["allowed"]

    answer = await desk.ask(review(service("a5"), uid="six"))

    message = answer["status"]["message"]
    assert (answer["allowed"], answer["uid"], answer["status"]["code"]) == (False, "six", 403)
    assert "5 removed and 1 asked of 5" in message
    assert "[share-budget]" in message
    assert answer["auditAnnotations"]["decision-id"] in message
    assert "suture explain" in message
    assert len(message) <= 300
    (entry,) = await desk.journal.find(answer["auditAnnotations"]["decision-id"])
    assert entry.message == message


async def test_a_refusal_keeps_what_leads_to_what_was_kept(pack: PolicySet) -> None:
    """The Service of a Deployment stays as that does; that of another may go by its budget."""
    made = workload("web", replicas=2)
    desk = Desk(pack, made, service("web"), shop(), profile=enforced())
    assert not (await desk.ask(review(made[0])))["allowed"]

    assert not (await desk.ask(review(service("web"))))["allowed"]
    assert (await desk.ask(review(service("a0"))))["allowed"]


async def test_a_refusal_is_confirmed_by_a_live_read(pack: PolicySet) -> None:
    """The operator's watch was ahead of ours: its parent is going, and the refusal is not one."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("checkout", owners=[owner(parent)])
    desk = Desk(pack, parent, child, workload("checkout"), profile=enforced())
    desk.model.live[parent.key] = thing(BALANCERS, "front", "prod", deleted=1.0)

    answer = await desk.ask(review(child))

    assert answer["allowed"]
    assert set(desk.model.read) == {child.key, parent.key}


@pytest.mark.parametrize(("wanted", "allowed"), [(2, True), (3, False)])
async def test_a_refusal_is_confirmed_by_who_counts_what_goes(
    pack: PolicySet, *, wanted: int, allowed: bool
) -> None:
    """The custom resource that a label names is read too: it may want fewer than we have heard."""
    parent = thing(BALANCERS, "front", "prod", facts=CustomFacts(3))
    needs = (Need(Edge.PARENT, parent.key),)
    children = [replace(service(f"c{number}"), needs=needs) for number in range(3)]
    behind = [one for number in range(3) for one in workload(f"c{number}")]
    desk = Desk(pack, parent, children, behind, profile=enforced())
    desk.model.live[parent.key] = replace(parent, facts=CustomFacts(wanted), resource_version="2")

    answer = await desk.ask(review(children[0]))

    assert answer["allowed"] is allowed
    assert set(desk.model.read) == {children[0].key, parent.key}


async def test_a_refusal_is_confirmed_by_what_was_made_a_moment_ago(pack: PolicySet) -> None:
    """A Service that takes the place of another is read, though the watch has yet to tell of it."""
    parent = thing(BALANCERS, "front", "prod")
    old = service("checkout", owners=[owner(parent)])
    new = replace(old, uid="new", key=NEW, created=old.created + 3600)
    desk = Desk(pack, parent, old, workload("checkout"), profile=enforced())
    assert not (await desk.ask(review(old)))["allowed"]

    assert (await desk.ask(review(new, Operation.CREATE, new=new)))["allowed"]
    desk.model.read.clear()
    assert not (await desk.ask(review(old)))["allowed"]
    assert new.key in desk.model.read, "admitted is not there: later something may refuse it"

    desk.model.live[new.key] = new
    assert (await desk.ask(review(old)))["allowed"]


@pytest.mark.parametrize(("ready", "allowed"), [(True, True), (False, False)])
async def test_a_refusal_is_confirmed_by_the_member_before(
    pack: PolicySet, *, ready: bool, allowed: bool
) -> None:
    """Who takes members in turn knows that the last is back, though our watch has yet to tell."""
    labels = {"app": "cache"}
    facts = WorkloadFacts(replicas=3, selector=Selector.of(labels))
    cache = thing(STATEFUL_SETS, "cache", "prod", facts=facts)
    members = [
        thing(
            PODS, f"cache-{number}", "prod", labels=labels, owners=[owner(cache)],
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(3)
    ]  # fmt: skip
    desk = Desk(pack, cache, members, service("cache"), shop(), profile=enforced())
    assert (await desk.ask(review(members[0])))["allowed"]
    desk.model.live[members[0].key] = replace(
        members[0], uid="next", facts=PodFacts(ready=ready, node="node-1")
    )

    answer = await desk.ask(review(members[1]))

    assert members[0].key in desk.model.read
    assert answer["allowed"] is allowed


async def test_a_refusal_of_what_was_just_read_waits_for_nothing(pack: PolicySet) -> None:
    """An operator that is refused in a loop is told at once: nothing would be read again."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("checkout", owners=[owner(parent)])
    desk = Desk(pack, parent, child, workload("checkout"), profile=enforced())
    desk.model.lately = True

    answer = await desk.ask(review(child))

    assert not answer["allowed"]
    assert desk.model.read == []


@pytest.mark.parametrize(("changed", "judged"), [(False, 1), (True, 2)])
async def test_a_refusal_is_judged_again_where_a_live_read_found_news(
    pack: PolicySet, monkeypatch: pytest.MonkeyPatch, *, changed: bool, judged: int
) -> None:
    """The same model gives the same refusal; what was read to be otherwise is weighed anew."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("checkout", owners=[owner(parent)])
    desk = Desk(pack, parent, child, workload("checkout"), profile=enforced())
    if changed:
        desk.model.live[child.key] = replace(child, resource_version="2")
    points: list[object] = []

    def counting(*given: Any, **more: Any) -> Judgement:
        points.append(given)
        return judge(*given, **more)

    monkeypatch.setattr(admit_module, "judge", counting)

    assert not (await desk.ask(review(child)))["allowed"]
    assert set(desk.model.read) == {child.key, parent.key}
    assert len(points) == judged


async def test_an_unconfirmed_refusal_stands_on_a_fresh_model(pack: PolicySet) -> None:
    """A read that fails does not open the gate as long as the model is fresh."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("checkout", owners=[owner(parent)])
    desk = Desk(pack, parent, child, workload("checkout"), profile=enforced())
    desk.model.away = True

    assert not (await desk.ask(review(child)))["allowed"]


@pytest.mark.parametrize(("when_dead", "allowed"), [(WhenDead.PASS, True), (WhenDead.HOLD, False)])
async def test_a_stale_model_is_doubt(pack: PolicySet, when_dead: WhenDead, allowed: bool) -> None:
    """Stale and no consistent read: passed with an alarm, or held, as the operator wants it."""
    desk = Desk(pack, shop(), profile=enforced(when_dead))
    desk.model.stale_types = (SERVICES,)
    desk.model.away = True

    answer = await desk.ask(review(service("a1")))

    assert answer["allowed"] is allowed
    assert desk.doubts("doubt_stale") == 1
    if not allowed:
        assert answer["status"]["code"] == 429


async def test_a_stale_model_costs_one_live_read(pack: PolicySet) -> None:
    """With the read the decision is as good as on a fresh model."""
    desk = Desk(pack, shop(), profile=enforced())
    desk.model.stale_types = (SERVICES,)

    assert (await desk.ask(review(service("a1"))))["allowed"]
    assert desk.model.read == [service("a1").key]
    assert desk.doubts("doubt_stale") == 0


async def test_other_lanes_do_not_wait_for_a_stale_model(pack: PolicySet) -> None:
    """Only destructive requests read live."""
    desk = Desk(pack, shop(), profile=enforced(WhenDead.HOLD))
    desk.model.stale_types = (SERVICES,)
    desk.model.away = True
    update = review(service("a1"), Operation.UPDATE, new=service("a1"))

    assert (await desk.ask(update, Lane.OTHER))["allowed"]
    assert desk.model.read == []


async def test_a_defect_of_ours_is_doubt_and_an_alarm(pack: PolicySet) -> None:
    """Whatever is raised on the way, the API server gets an answer and we get a code."""
    desk = Desk(pack, shop(), profile=enforced())
    desk.model.stale_types = (SERVICES,)

    async def broken(keys: Iterable[ObjectKey]) -> None:
        raise ZeroDivisionError

    desk.model.refresh = broken  # type: ignore[method-assign]

    assert (await desk.ask(review(service("a1"))))["allowed"]
    assert desk.doubts("doubt_defect") == 1
    (entry,) = await desk.journal.recent(Wanted())
    assert entry.reasons[0].code == "doubt_defect"


@pytest.mark.parametrize("when_dead", [WhenDead.PASS, WhenDead.HOLD])
async def test_what_passes_in_doubt_has_its_maker(
    pack: PolicySet, when_dead: WhenDead, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A creation that came too late to be judged is the actor's all the same."""
    desk = Desk(pack, shop(), profile=enforced(when_dead))

    monkeypatch.setattr(Lane, "deadline_s", -1.0)
    desk.rim.turns.free = lambda: False  # type: ignore[method-assign]
    made = service("mine")
    request = review(made, Operation.CREATE, new=made)

    assert (await desk.ask(request, Lane.OTHER))["allowed"]
    assert desk.doubts("doubt_deadline", Lane.OTHER) == 1
    creation = desk.world.history.creation(made.uid)
    assert creation is not None
    assert creation.identity == OPERATOR


async def test_a_dry_run_can_be_explained_and_leaves_no_trace(pack: PolicySet) -> None:
    """Answered like the real thing, kept in a small ring only, charged to nobody."""
    desk = Desk(pack, shop(), profile=enforced())

    for number in range(9):
        answer = await desk.ask(review(service(f"a{number}"), dry_run=True))
        assert answer["allowed"]

    assert desk.world.ledger.usage("lb-operator", desk.now) == ()
    assert desk.world.overlay.gone_uids == {}
    (entry,) = await desk.journal.find(answer["auditAnnotations"]["decision-id"])
    assert entry.asked.dry_run


async def test_the_line_of_a_dry_run_is_the_same_whenever_it_is_made(pack: PolicySet) -> None:
    """A small dry run is held until somebody asks, a large one written at once: both as decided."""
    lines = []
    for size in (0, HELD_BYTES):
        desk = Desk(pack, shop(), profile=enforced())
        asked = json.loads(review(service("a0"), dry_run=True))
        asked["request"]["oldObject"]["metadata"]["annotations"] = {"notes": "x" * size}
        answer = await desk.ask(json.dumps(asked).encode())
        (entry,) = await desk.journal.find(answer["auditAnnotations"]["decision-id"])
        lines.append(replace(entry, body=b"", decision=""))
    assert lines[0] == lines[1]
    assert lines[0].effects


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"nonsense", b'{"kind":"AdmissionReview"}', b"[" * 50, b"\xff\xfe"]
)
async def test_a_body_that_is_no_review_is_the_callers_fault(pack: PolicySet, body: bytes) -> None:
    """Named as such, for the server to answer with 400; nothing is journaled."""
    desk = Desk(pack, profile=enforced())

    with pytest.raises(ReviewError):
        await admit(body, Lane.DESTRUCTIVE, desk.world, desk.rim)

    assert list(await desk.journal.recent(Wanted())) == []


async def test_authorization_stops_a_collection_and_charges_nothing(pack: PolicySet) -> None:
    """Refused before its first object dies; asking again and again spends nothing."""
    desk = Desk(pack, shop(), profile=enforced())
    asked = access("deletecollection", SERVICES, "prod")

    for _ in range(5):
        answer = json.loads(await authorize(asked, desk.world, desk.rim))["status"]
        assert (answer["allowed"], answer["denied"]) == (False, True)
        assert "selector" in answer["reason"]

    assert desk.world.ledger.usage("lb-operator", desk.now) == ()


@pytest.mark.parametrize("fields", ["metadata.name=other", "spec.type=LoadBalancer"])
async def test_a_collection_of_some_fields_is_not_one_of_everything(
    pack: PolicySet, fields: str
) -> None:
    """What it does not take is not refused, nor what nobody can tell before its objects come."""
    desk = Desk(pack, shop(), profile=enforced())
    asked = access("deletecollection", SERVICES, "prod", fields=fields)

    answer = json.loads(await authorize(asked, desk.world, desk.rim))

    assert answer["status"] == {"allowed": False}


@pytest.mark.parametrize("verb", ["get", "list", "create", "update", "delete"])
async def test_authorization_has_no_opinion_on_the_rest(pack: PolicySet, verb: str) -> None:
    """RBAC decides; a single delete is judged at admission, where its body is seen."""
    desk = Desk(pack, shop(), profile=enforced())

    answer = json.loads(await authorize(access(verb, SERVICES, "prod"), desk.world, desk.rim))

    assert answer["status"] == {"allowed": False}


async def test_a_quarantined_operator_is_refused_at_authorization_too(pack: PolicySet) -> None:
    """Edits of the policy kinds are seen here only."""
    desk = Desk(pack, shop(), profile=enforced())
    desk.world.operators = Operators([enforced()], {f"user {OPERATOR}": "sweeps"})
    kinds = Resource("admissionregistration.k8s.io", "validatingadmissionpolicies")

    answer = json.loads(await authorize(access("delete", kinds, ""), desk.world, desk.rim))

    assert answer["status"]["denied"]
    assert "sweeps" in answer["status"]["reason"]


async def test_a_dry_run_hears_the_impact_whoever_asks(pack: PolicySet) -> None:
    """As warnings, worst first, where the real write by the same identity is told nothing."""
    desk = Desk(pack, shop(), profile=Profile("somebody-else", ("somebody-else",)))

    tried = await desk.ask(review(service("a0"), dry_run=True))
    told = [one for one in tried["warnings"] if one.startswith("impact")]
    real = await desk.ask(review(service("a0")))

    assert tried["allowed"]
    assert any("ready endpoint" in one for one in told)
    assert told == sorted(told, key=lambda one: "severe" not in one)
    assert "impact" not in str(real.get("warnings"))
