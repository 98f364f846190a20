"""Pods that their operator takes one at a time from behind Services of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, DISRUPTION_BUDGETS, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, ServiceFacts
from suture.model.selectors import Selector

QUEUES = Resource("queues.example.com", "queues")
BY = operator("system:serviceaccount:queues:queues-operator")
STRANGER = operator("system:serviceaccount:tidy:cleaner")
NOW = START.plus_s(300)


def queue(
    name: str = "main", *, members: int = 3, ready: int = 3, says: int | None = None
) -> list[ClusterObject]:
    """Make a custom resource, its pods, and a Service for each of them; the last pod goes."""
    facts = CustomFacts() if says is None else CustomFacts(sizes=(says,))
    parent = thing(QUEUES, name, "prod", facts=facts)
    found = [parent]
    for number in range(members):
        labels = {"queue": name, "member": str(number)}
        facts_of = PodFacts(ready=number >= members - ready, node="node-1")
        found.append(
            thing(
                PODS,
                f"{name}-{number}",
                "prod",
                labels=labels,
                owners=[owner(parent)],
                facts=facts_of,
            )
        )
        selects = ServiceFacts(Selector.of(labels))
        found.append(thing(SERVICES, f"{name}-{number}", "prod", facts=selects))
    return found


def pod_of(things: list[ClusterObject], number: int = -1) -> ClusterObject:
    return [one for one in things if one.key.resource == PODS][number]


def passes(
    main: list[ClusterObject],
    *more: list[ClusterObject],
    by: Actor = BY,
    taken: Iterable[tuple[ClusterObject, int]] = (),
    made: Iterable[ClusterObject] = (),
) -> bool:
    """Whether the last pod of a resource may be taken, though its Service is left with none."""
    view: GraphView = view_of(main, *more)
    for parent, count in taken:
        view.history.writes.count(taken_from(parent.uid, PODS), START, count)
    for one in made:
        view.history.note_created(one.uid, BY.user.username, "queues", one.key, START)
    impact = impact_of(delete(pod_of(main), by=by), view, by=by, now=NOW)
    (emptied,) = effects(impact, ServiceEmptied)
    return emptied.explained


def again(things: list[ClusterObject], number: int) -> list[ClusterObject]:
    """Return the same resource, one of whose pods was made a moment ago."""
    old = pod_of(things, number)
    return [replace(one, created=START.utc_s) if one is old else one for one in things]


def test_members_restarted_one_after_the_other() -> None:
    """The first goes though nobody saw this operator restart anything, and each next in turn."""
    main = queue()
    assert passes(main)
    rolled = again(main, 0)
    assert passes(rolled, taken=[(rolled[0], 1)], made=[pod_of(rolled, 0)])


def test_the_only_pod_of_what_says_that_it_wants_one() -> None:
    """A database of one is restarted like any other; an errand is not done again."""
    assert passes(queue(members=1, ready=1, says=1))
    assert not passes(queue(members=1, ready=1))


def test_the_only_pod_that_was_made_anew_behind_a_service_of_its_resource() -> None:
    """A resource older than its pod has had another; an errand has its first, and no Service."""
    parent, pod, facing = queue(members=1, ready=1)
    parent = replace(parent, created=START.utc_s - 90_000)
    pod = replace(pod, created=parent.created)
    own, later = replace(facing, owners=(owner(parent, controller=False),)), parent.created + 7200
    main = [parent, replace(pod, created=later), own]
    assert passes(main)
    assert not passes(main, by=STRANGER)
    assert not passes(main, taken=[(parent, 1)])
    assert not passes([parent, pod, own])
    assert not passes([parent, replace(pod, created=later), facing])


def test_as_many_as_it_wants_is_none_away() -> None:
    """What was scaled away within the hour does not hinder the next restart."""
    main = queue(says=3)
    assert passes(main, taken=[(main[0], 2)])


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(lambda: passes(queue(), by=STRANGER), id="a-stranger"),
        pytest.param(lambda: passes(queue(ready=2)), id="another-is-not-ready"),
        pytest.param(lambda: passes(main := queue(), taken=[(main[0], 1)]), id="not-back"),
        pytest.param(lambda: passes(main := queue(), made=[main[0]]), id="a-new-parent"),
    ],
)
def test_what_is_not_a_restart(refused: object) -> None:
    """The incident: the same delete, and what was taken before has not come back."""
    assert callable(refused)
    assert not refused()


def test_who_takes_a_pod_from_each() -> None:
    """An operator may be at work on several at a time, and not on all."""
    others = [queue(f"other-{number}") for number in range(3)]
    assert passes(queue(), *others, taken=[(one[0], 1) for one in others[:2]])
    assert not passes(queue(), *others, taken=[(one[0], 1) for one in others])


MACHINES, INSTANCES = (
    Resource("queues.example.com", "machines"), Resource("queues.example.com", "instances"),
)  # fmt: skip


def machine(
    name: str, *, run: str | None = None, claim: bool = False, wide: bool = False
) -> list[ClusterObject]:
    """Make a custom resource with what it runs, its pod or two, and a Service for that."""
    parent = thing(MACHINES, name, "prod", facts=CustomFacts())
    instance = thing(INSTANCES, run or name, "prod", owners=[owner(parent)], facts=CustomFacts())
    pod = thing(
        PODS, f"launcher-{name}", "prod", owners=[owner(instance)], labels={"machine": name},
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip
    facing = thing(SERVICES, name, "prod", facts=ServiceFacts(Selector.of({"machine": name})))
    data = [thing(CLAIMS, name, "prod", owners=[owner(instance)])] if claim else []
    second = replace(pod, key=ObjectKey(PODS, "prod", f"second-{name}"), uid=f"second-{name}")
    return [parent, instance, pod, facing, *data, *([second] if wide else [])]


def restarted(
    things: list[ClusterObject],
    *away: list[ClusterObject],
    by: Actor = BY,
    taken: int = 0,
    stopped: bool = False,
) -> tuple[int, bool]:
    """Take what a resource runs; return how much of it is wanted still, and of its Service.

    Of those in `away` it was taken before, and is not there.
    """
    view = view_of(things, *([one[0]] for one in away))
    writes = view.history.writes
    for one in away:
        writes.count(taken_from(one[0].uid, INSTANCES), START)
        if stopped:
            writes.note_left_out(one[0].uid, frozenset({""}), frozenset())
    writes.count(taken_from(things[0].uid, INSTANCES), START, taken)
    impact = impact_of(delete(things[1], by=by), view, by=by, now=NOW)
    gone = next(one for one in effects(impact, ObjectsRemoved) if one.direct)
    return gone.wanted, all(one.explained for one in effects(impact, ServiceEmptied))


def test_what_a_resource_runs_is_restarted() -> None:
    """A virtual machine is restarted by its operator, which deletes its instance; and once more."""
    assert restarted(machine("a")) == (0, True)
    assert restarted(machine("a"), taken=1) == (0, True)


def test_what_holds_its_pod_against_drains_goes_along() -> None:
    things = machine("a")
    budget = thing(DISRUPTION_BUDGETS, "a", "prod", owners=[owner(things[1])])
    assert restarted([*things, budget]) == (0, True)


def test_a_few_are_restarted_at_a_time() -> None:
    """What was told to stop is not missing, and two that are on their way hinder nobody."""
    others = [machine(f"other-{number}") for number in range(3)]
    assert restarted(machine("a"), *others[:2]) == (0, True)
    assert restarted(machine("a"), *others, stopped=True) == (0, True)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda: restarted(machine("a"), by=STRANGER), id="a-stranger"),
        pytest.param(lambda: restarted(machine("a", run="a-1")), id="one-of-several"),
        pytest.param(lambda: restarted(machine("a", claim=True)), id="data-goes-along"),
        pytest.param(lambda: restarted(machine("a", wide=True)), id="a-set-of-several"),
        pytest.param(
            lambda: restarted(machine("a"), *(machine(f"other-{one}") for one in range(3))),
            id="all-of-them",
        ),
    ],
)
def test_what_is_no_restart_of_what_a_resource_runs(told: Callable[[], tuple[int, bool]]) -> None:
    """The incident: the same delete, of one machine after the other, and none comes back."""
    assert told() == (1, False)
