"""What people allow, from the review to the answer: grants, marks, second thoughts, freezes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from support.cluster import START, namespace, service, thing, workload
from support.desk import Desk
from support.reviews import OPERATOR, access, review
from suture.adapters.files import load_policies
from suture.adapters.memory import MemoryJournal
from suture.app.admit import Lane
from suture.app.authorize import authorize
from suture.app.grants import UsedUpError
from suture.app.grantsmade import Terms, for_decision
from suture.errors import UnavailableError
from suture.model.actor import Operators, Profile, Stage
from suture.model.clock import Now
from suture.model.consent import CONFIRM_DELETE, CONSENT_VALID_S, RECONSIDER_S
from suture.model.freezes import Freeze, Freezes
from suture.model.grants import REPEATS_S, Grant, Scope
from suture.model.names import CONFIG_MAPS, SERVICES, Operation
from suture.model.objects import ClusterObject
from suture.policy.compile import PolicySet

ALICE = "alice@example.com"
PROFILES = (
    Profile("lb-operator", (OPERATOR,), stage=Stage.ENFORCE),
    Profile("alice", (ALICE,), stage=Stage.CONFIRM),
)


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def shop() -> list[ClusterObject]:
    """Make twenty Services, of which an operator may remove five in a minute."""
    things: list[ClusterObject] = []
    for number in range(20):
        things += [*workload(f"a{number}"), service(f"a{number}")]
    return things


def desk_of(pack: PolicySet, *things: ClusterObject | Iterable[ClusterObject]) -> Desk:
    desk = Desk(pack, *things, profile=PROFILES[0])
    desk.world.operators = Operators(PROFILES, break_glass=["oncall"])
    return desk


def kept(name: str) -> ClusterObject:
    """Make an object that people marked to stay."""
    return thing(CONFIG_MAPS, name, "prod", labels={"suture.dev/protect": "true"})


def granting(**more: Any) -> Grant:
    given = {
        "name": "g1", "uid": "u-g1", "operator": "lb-operator", "approver": "bob@example.com",
        "reason": "agreed", "expires_utc_s": START.utc_s + 600, "policies": ("share-budget",),
    }  # fmt: skip
    return msgspec.convert({**given, **more}, Grant)


async def spend(desk: Desk, count: int = 5) -> None:
    """Use up what the operator may remove in a minute."""
    for number in range(count):
        assert (await desk.ask(review(service(f"a{number}"))))["allowed"]


def altered(body: bytes, **request: Any) -> bytes:
    """Return a review with some fields of its request replaced."""
    found = json.loads(body)
    found["request"].update(request)
    return json.dumps(found).encode()


def marked(
    of: ClusterObject, value: str | None, *, before: str | None = None, user: str = ALICE
) -> bytes:
    """Return the review of a write that leaves an object with a mark of this value."""
    found = json.loads(review(of, Operation.UPDATE, user=user, new=of))
    for side, mark in (("oldObject", before), ("object", value)):
        if mark is not None:
            found["request"][side]["metadata"]["annotations"] = {CONFIRM_DELETE: mark}
    return json.dumps(found).encode()


def with_mark(body: bytes, uid: str) -> bytes:
    """Return the review of a delete whose object bears a mark."""
    found = json.loads(body)
    found["request"]["oldObject"]["metadata"]["annotations"] = {CONFIRM_DELETE: uid}
    return json.dumps(found).encode()


# -- grants


async def test_what_a_person_grants_passes_once(pack: PolicySet) -> None:
    """Bound to the decision that refused it: a warning names it, the next write is refused."""
    desk = desk_of(pack, shop())
    await spend(desk)
    refused = await desk.entry(await desk.ask(review(service("a5"))))
    terms = Terms(reason="agreed", seconds=600)
    given = msgspec.structs.replace(
        for_decision(refused, terms, desk.now), name="lb-1", uid="u", approver="bob@example.com"
    )
    desk.world.grants.replace([given])

    again = await desk.ask(review(service("a5"), uid="another"))
    other = await desk.ask(review(service("a6")))

    assert again["allowed"]
    assert "allowed by grant lb-1" in again["warnings"][0]
    entry = await desk.entry(again)
    assert (entry.grants, entry.digest) == (("lb-1",), refused.digest)
    assert [one.code for one in entry.reasons] == ["granted"]
    assert not other["allowed"]


async def test_what_was_granted_costs_the_operator_nothing(pack: PolicySet) -> None:
    """A person answered for it; the budget is what it was."""
    desk = desk_of(pack, shop())
    await spend(desk)
    before = desk.world.ledger.usage("lb-operator", desk.now)
    desk.world.grants.replace([granting(uses=0)])

    for number in range(5, 9):
        assert (await desk.ask(review(service(f"a{number}"))))["allowed"]

    assert desk.world.ledger.usage("lb-operator", desk.now) == before
    assert len(desk.world.overlay.gone_uids) == 9


async def test_a_grant_for_two_writes_lets_two_pass(pack: PolicySet) -> None:
    """And the same write reviewed twice within seconds counts once."""
    desk = desk_of(pack, shop())
    await spend(desk)
    desk.world.grants.replace([granting(uses=2)])

    answers = [
        (await desk.ask(review(service(name), uid=f"r{at}")))["allowed"]
        for at, name in enumerate(("a5", "a5", "a6", "a7"))
    ]

    assert answers == [True, True, True, False]


async def test_a_use_stays_a_use_when_the_same_comes_again_later(pack: PolicySet) -> None:
    """The API server repeats a write in milliseconds, not in seconds."""
    desk = desk_of(pack, shop(), kept("x"))
    desk.world.grants.replace([granting(policies=("delete-protection",))])
    retry = review(kept("x"))
    (first, again) = [(await desk.ask(retry))["allowed"] for _ in range(2)]
    desk.now = desk.now.plus_s(REPEATS_S + 1)

    assert (first, again) == (True, True)
    assert not (await desk.ask(retry))["allowed"]


@pytest.mark.parametrize(
    "grant",
    [
        pytest.param(granting(expires_utc_s=START.utc_s - 1), id="expired"),
        pytest.param(granting(operator="other"), id="of-another"),
        pytest.param(granting(policies=("live-data",)), id="of-another-policy"),
        pytest.param(granting(policies=(), digest="0" * 32), id="of-another-change"),
        pytest.param(granting(scope=Scope(namespaces=("stage",))), id="of-another-place"),
        pytest.param(granting(scope=Scope(resources=("secrets",))), id="of-another-kind"),
        pytest.param(granting(scope=Scope(names=("a6",))), id="of-another-name"),
        pytest.param(granting(used=1), id="used-before-a-restart"),
        pytest.param(granting(approver=OPERATOR), id="by-the-operator-itself"),
        pytest.param(granting(approver="system:serviceaccount:x:y"), id="by-another-machine"),
    ],
)
async def test_what_is_no_leave(pack: PolicySet, grant: Grant) -> None:
    """A grant allows what it says, until then, and only when a person gave it."""
    desk = desk_of(pack, shop())
    await spend(desk)
    desk.world.grants.replace([grant])

    assert not (await desk.ask(review(service("a5"))))["allowed"]


class Broken:
    """Marks that cannot be written."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def mark(self, grant: Grant, decision: str, now: Now) -> int:
        raise self.error


@pytest.mark.parametrize("error", [UnavailableError("away"), UsedUpError("g1")])
async def test_a_use_that_cannot_be_marked_is_none(pack: PolicySet, error: Exception) -> None:
    """The refusal stands, and nothing is remembered of what was nearly let through."""
    desk = desk_of(pack, shop())
    await spend(desk)
    desk.world.grants.replace([granting()])
    desk.rim = replace(desk.rim, marks=Broken(error))

    assert not (await desk.ask(review(service("a5"))))["allowed"]
    assert len(desk.world.overlay.gone_uids) == 5


async def test_a_dry_run_uses_no_grant(pack: PolicySet) -> None:
    """It is told that one would let it pass."""
    desk = desk_of(pack, shop())
    await spend(desk)
    desk.world.grants.replace([granting()])

    for _ in range(3):
        tried = await desk.ask(review(service("a5"), dry_run=True))
        assert tried["allowed"]
        assert "allowed by grant g1" in tried["warnings"][0]
    assert (await desk.ask(review(service("a5"))))["allowed"]


async def test_a_refusal_that_stands_uses_no_grant(pack: PolicySet) -> None:
    """Of two policies that refuse, one was lifted: nothing passes, and nothing is used up."""
    desk = desk_of(pack, shop())
    marked_service = msgspec.structs.replace(service("a5"), labels=kept("x").labels)
    desk.world.graph.put(marked_service)
    await spend(desk)
    desk.world.grants.replace([granting()])

    assert not (await desk.ask(review(marked_service)))["allowed"]
    assert (await desk.ask(review(service("a6"))))["allowed"]


# -- marks on objects


async def test_a_person_marks_an_object_and_an_operator_may_delete_it(pack: PolicySet) -> None:
    """The mark counts for this life of the object, for an hour."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    delete = with_mark(review(home), home.uid)
    assert not (await desk.ask(delete))["allowed"]

    await desk.ask(marked(home, home.uid, user="bob"), Lane.PEOPLE)
    desk.now = desk.now.plus_s(CONSENT_VALID_S - 10)
    assert "ns-in-use" not in str(await desk.ask(altered(delete, dryRun=True)))

    desk.now = desk.now.plus_s(20)
    assert not (await desk.ask(delete))["allowed"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(marked(namespace("prod"), "uid:other", user="bob"), id="another-life"),
        pytest.param(marked(namespace("prod"), "yes", user="bob"), id="no-uid"),
        pytest.param(
            marked(namespace("prod"), namespace("prod").uid, user=OPERATOR), id="by-an-operator"
        ),
        pytest.param(
            marked(
                namespace("prod"), namespace("prod").uid,
                before=namespace("prod").uid, user="bob",
            ),
            id="there-before",
        ),
    ],
)  # fmt: skip
async def test_what_is_no_mark(pack: PolicySet, body: bytes) -> None:
    """Only a person's own write that sets it to the object's uid."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    await desk.ask(body, Lane.PEOPLE)

    assert not (await desk.ask(with_mark(review(home), home.uid)))["allowed"]


async def test_a_mark_that_was_taken_off_is_taken_back(pack: PolicySet) -> None:
    """Whoever takes it off; an operator that sets it again does not bring it back."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    await desk.ask(marked(home, home.uid, user="bob"), Lane.PEOPLE)
    await desk.ask(marked(home, None, before=home.uid, user=OPERATOR), Lane.OTHER)
    await desk.ask(marked(home, home.uid, user=OPERATOR), Lane.OTHER)

    assert not (await desk.ask(with_mark(review(home), home.uid)))["allowed"]


# -- people who confirm


def by_alice(of: ClusterObject) -> bytes:
    return review(of, user=ALICE)


async def test_a_person_is_refused_once_with_the_impact(pack: PolicySet) -> None:
    """With what would happen, the decision, and both ways to go on."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())

    answer = await desk.ask(by_alice(home), Lane.PEOPLE)

    message = answer["status"]["message"]
    decision = answer["auditAnnotations"]["decision-id"]
    assert (answer["allowed"], answer["status"]["code"]) == (False, 403)
    assert f"suture grant {decision}" in message
    assert "20 serving services" in message
    assert len(message) <= 300
    assert any(
        f"annotate --overwrite namespaces prod {CONFIRM_DELETE}={home.uid}" in one
        for one in answer["warnings"]
    )


async def test_a_person_goes_on_with_the_mark(pack: PolicySet) -> None:
    """The same intent, once they have read what it does and said so; not much later."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    assert not (await desk.ask(by_alice(home), Lane.PEOPLE))["allowed"]
    await desk.ask(marked(home, home.uid), Lane.PEOPLE)
    again = with_mark(by_alice(home), home.uid)
    late = desk.now.plus_s(RECONSIDER_S + 1)

    passed = await desk.ask(altered(again, dryRun=True), Lane.PEOPLE)
    desk.now = late
    stopped = await desk.ask(altered(again, dryRun=True), Lane.PEOPLE)

    assert passed["allowed"]
    assert any("confirmed:" in one for one in passed["warnings"])
    assert not stopped["allowed"]


async def test_a_person_goes_on_with_a_grant_of_their_own(pack: PolicySet) -> None:
    """It is a second thought, so it may be theirs."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    refused = await desk.entry(await desk.ask(by_alice(home), Lane.PEOPLE))
    given = for_decision(refused, Terms(reason="yes", seconds=60), desk.now)
    desk.world.grants.replace(
        [msgspec.structs.replace(given, name="alice-1", uid="u", approver=ALICE)]
    )

    assert (await desk.ask(by_alice(home), Lane.PEOPLE))["allowed"]


async def test_people_without_that_stage_are_only_told(pack: PolicySet) -> None:
    """As before: warned, never refused."""
    desk = desk_of(pack, namespace("prod"), shop())

    answer = await desk.ask(review(namespace("prod"), user="bob"), Lane.PEOPLE)

    assert answer["allowed"]
    assert "would be refused" in answer["warnings"][0]


async def test_what_would_pass_needs_no_second_thought(pack: PolicySet) -> None:
    """A person who confirms is not asked about what breaks nothing."""
    desk = desk_of(pack, shop(), thing(CONFIG_MAPS, "notes", "prod"))

    assert (await desk.ask(by_alice(thing(CONFIG_MAPS, "notes", "prod")), Lane.PEOPLE))["allowed"]


# -- break glass


async def test_break_glass_is_never_refused_always_journaled_and_an_alarm(pack: PolicySet) -> None:
    """Even for an operator in quarantine and a delete that is a disaster."""
    home = namespace("prod")
    desk = desk_of(pack, home, shop())
    desk.world.operators = Operators(PROFILES, {f"user {OPERATOR}": "wild"}, break_glass=["oncall"])
    who = {"username": OPERATOR, "groups": ["oncall"]}

    disaster = await desk.ask(altered(review(home), userInfo=who), Lane.PEOPLE)
    nothing = await desk.ask(
        altered(review(service("a1"), Operation.UPDATE, new=service("a1")), userInfo=who),
        Lane.PEOPLE,
    )

    assert disaster["allowed"]
    assert "would be refused" in disaster["warnings"][0]
    assert (await desk.entry(nothing)).answer == "allow"
    assert desk.metrics.registry.get_sample_value("suture_break_glass_total") == 2


async def test_the_same_account_without_the_group_is_refused(pack: PolicySet) -> None:
    """What is spared is the group."""
    desk = desk_of(pack, namespace("prod"), shop())

    assert not (await desk.ask(review(namespace("prod"))))["allowed"]


# -- freezes


def window(**more: Any) -> Freeze:
    given = {
        "name": "release", "from_utc_s": START.utc_s - 60, "until_utc_s": START.utc_s + 3_000,
        "reason": "we ship",
    }  # fmt: skip
    return msgspec.convert({**given, **more}, Freeze)


async def test_a_freeze_holds_what_machines_take_away(pack: PolicySet) -> None:
    """429 until its end, whatever the operator's stage; other writes go on."""
    desk = desk_of(pack, shop(), thing(CONFIG_MAPS, "notes", "prod"))
    desk.world.freezes = Freezes([window()])
    other = "system:serviceaccount:x:observed"

    for user in (OPERATOR, other):
        answer = await desk.ask(review(thing(CONFIG_MAPS, "notes", "prod"), user=user))
        assert (answer["allowed"], answer["status"]["code"]) == (False, 429)
        assert 2_990 <= answer["status"]["details"]["retryAfterSeconds"] <= 3_000
        assert "we ship" in answer["status"]["message"]
    update = review(service("a1"), Operation.UPDATE, new=service("a1"))
    assert (await desk.ask(update, Lane.OTHER))["allowed"]


@pytest.mark.parametrize(
    "freeze",
    [
        pytest.param(window(until_utc_s=START.utc_s - 1), id="over"),
        pytest.param(window(from_utc_s=START.utc_s + 60), id="not-yet"),
        pytest.param(window(operators=("other",)), id="of-others"),
        pytest.param(window(namespaces=("stage",)), id="elsewhere"),
    ],
)
async def test_what_a_freeze_does_not_hold(pack: PolicySet, freeze: Freeze) -> None:
    """Other times, operators and places."""
    desk = desk_of(pack, shop())
    desk.world.freezes = Freezes([freeze])

    assert (await desk.ask(review(service("a1"))))["allowed"]


async def test_a_freeze_of_a_place_holds_what_takes_from_it(pack: PolicySet) -> None:
    """A namespace of the window would go with a delete that is not in it."""
    desk = desk_of(pack, namespace("prod"), shop())
    desk.world.freezes = Freezes([window(namespaces=("prod",))])

    assert (await desk.ask(review(namespace("prod"))))["status"]["code"] == 429


async def test_consequences_and_the_clusters_own_controllers_pass_a_freeze(
    pack: PolicySet,
) -> None:
    """What others asked for before is carried out, and dead nodes lose their pods."""
    desk = desk_of(pack, shop())
    desk.world.freezes = Freezes([window()])
    for name in ("generic-garbage-collector", "pod-garbage-collector"):
        user = f"system:serviceaccount:kube-system:{name}"
        assert (await desk.ask(review(service("a1"), user=user), Lane.CONSEQUENCES))["allowed"]


async def test_people_are_warned_of_a_freeze(pack: PolicySet) -> None:
    """And a grant lifts it for a machine."""
    desk = desk_of(pack, shop())
    desk.world.freezes = Freezes([window()])

    person = await desk.ask(review(service("a1"), user="bob"), Lane.PEOPLE)
    desk.world.grants.replace([granting(policies=("freeze-window",))])
    machine = [await desk.ask(review(service(name))) for name in ("a2", "a3")]

    assert person["allowed"]
    assert any("freeze window release" in one for one in person["warnings"])
    assert [one["allowed"] for one in machine] == [True, False]


async def test_a_grant_by_policies_lets_a_collection_pass(pack: PolicySet) -> None:
    """Of a collection each object is a change of its own: its policies are lifted in its place."""
    desk = desk_of(pack, shop())
    asked = access("deletecollection", SERVICES, "prod", selector={})
    answer = json.loads(await authorize(asked, desk.world, desk.rim))["status"]
    assert answer["denied"]
    assert isinstance(desk.journal, MemoryJournal)
    decision = answer["reason"].partition("decision ")[2][:13]
    (entry,) = await desk.journal.find(decision)

    given = for_decision(entry, Terms(reason="clear it", seconds=600), desk.now)

    assert (given.digest, given.uses) == ("", 0)
    assert given.scope == Scope(("services",), ("prod",))
    desk.world.grants.replace([msgspec.structs.replace(given, uid="u", approver="bob")])
    again = json.loads(await authorize(asked, desk.world, desk.rim))["status"]
    assert not again.get("denied")
