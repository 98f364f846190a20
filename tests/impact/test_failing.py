"""A member that does not run, and that its operator stops before the next takes its place."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, operator, owner, thing, view_of
from suture.impact.causes.counters import cut_down
from suture.impact.effects import PodsLost
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

STORES = Resource("store.example.com", "stores")
STORE = thing(STORES, "main", "prod", facts=CustomFacts(pools=(3,)))
BY = operator("system:serviceaccount:stores:stores-operator")
STRANGER = operator("system:serviceaccount:tidy:cleaner")
PERSON = Actor(UserInfo("sre@example.com"), "sre", IdentityKind.PERSON, Stage.ENFORCE)
LATER = START.plus_s(1_200)


def member(
    letter: str, *, ready: bool = True, made: float = 0.0, size: int = 1
) -> list[ClusterObject]:
    """Return a member: a Deployment of one pod of its own."""
    labels = {"app": "monitor", "member": letter}
    facts = WorkloadFacts(size, Selector.of(labels))
    root = thing(
        DEPLOYMENTS, f"monitor-{letter}", "prod", labels=labels, owners=[owner(STORE)], facts=facts
    )
    below = thing(
        REPLICA_SETS,
        f"monitor-{letter}-1",
        "prod",
        labels=labels,
        owners=[owner(root)],
        facts=facts,
    )
    pods = [
        thing(
            PODS, f"monitor-{letter}-1-{at}", "prod", labels=labels, owners=[owner(below)],
            facts=PodFacts(ready=ready, node="node-1"),
        )
        for at in range(size)
    ]  # fmt: skip
    return [root, below, *(replace(pod, created=START.utc_s + made) for pod in pods)]


def wanted(going: list[ClusterObject], *beside: Iterable[ClusterObject], by: Actor = BY) -> int:
    """Return how many pods the store asks for of a member that is scaled to nothing."""
    root = going[0]
    assert isinstance(root.facts, WorkloadFacts)
    after = replace(root, facts=replace(root.facts, replicas=0))
    view = view_of(STORE, going, *beside)
    (lost,) = effects(impact_of(update(root, after, by=by), view, by=by, now=LATER), PodsLost)
    return lost.wanted


def test_a_member_that_does_not_run_is_not_asked_for() -> None:
    """By its operator, the others being Ready; of one that runs the store asks for its pod."""
    others = member("a"), member("b")
    assert wanted(member("c", ready=False), *others) == -1
    assert wanted(member("c"), *others) == 1


@pytest.mark.parametrize(
    ("going", "beside", "by"),
    [
        pytest.param({"made": 900.0}, {}, BY, id="a pod that is young"),
        pytest.param({}, {"ready": False}, BY, id="another that does not run"),
        pytest.param({}, {}, STRANGER, id="somebody else"),
    ],
)
def test_otherwise_it_is(going: dict[str, float], beside: dict[str, bool], by: Actor) -> None:
    """It may run in a moment, or others are missing too, or it is not theirs to stop."""
    gone = member("c", ready=False, made=going.get("made", 0.0))
    assert wanted(gone, member("a"), member("b", ready=beside.get("ready", True)), by=by) == 1


def whole(
    *, ready: bool = False, made: float = 0.0, by: Actor = PERSON, scaled: bool = True,
    before: bool = False,
) -> int:  # fmt: skip
    """Return how many pods the store asks for of its one set, which is scaled to nothing."""
    set_of_it = thing(
        STATEFUL_SETS, "main", "prod", owners=[owner(STORE)],
        facts=WorkloadFacts(3, Selector.of({"app": "main"})),
    )  # fmt: skip
    pods = [
        replace(
            thing(
                PODS, f"main-{at}", "prod", labels={"app": "main"}, owners=[owner(set_of_it)],
                facts=PodFacts(ready=ready and not at, node="node-1"),
            ),
            created=START.utc_s + made,
        )
        for at in range(3)
    ]  # fmt: skip
    assert isinstance(set_of_it.facts, WorkloadFacts)
    after = replace(set_of_it, facts=replace(set_of_it.facts, replicas=0))
    view = view_of(STORE, set_of_it, pods)
    if before:
        view.history.writes.count(cut_down(by.user.username), LATER.plus_s(-900))
    asked = update(set_of_it, after, by=by)
    if scaled:
        asked = replace(asked, subresource="scale", scale_to=0, old=None, new=None)
    (lost,) = effects(impact_of(asked, view, by=by, now=LATER), PodsLost)
    return lost.wanted


def test_a_set_of_which_no_member_is_ready_is_stopped_by_hand() -> None:
    """What has lost its majority for good is begun again; one that is Ready may yet be the rest."""
    assert whole() == -1
    assert whole(ready=True) == 3
    assert whole(made=900.0) == 3
    assert whole(by=STRANGER) == 3
    assert whole(scaled=False) == 3


def test_its_operator_begins_one_again_and_not_one_after_the_other() -> None:
    """A machine that waits for something finds none Ready in every set that does."""
    assert whole(by=BY) == -1
    assert whole(by=BY, scaled=False) == -1
    assert whole(by=BY, before=True) == 3
    assert whole(by=BY, ready=True) == 3
    assert whole(by=BY, made=900.0) == 3
