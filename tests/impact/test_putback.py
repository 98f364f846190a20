"""Jobs that a queue puts back, what goes to sleep every night, and what somebody stops."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, operator, owner, service, thing, view_of, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import EndpointsLost, PodsLost
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, JOBS, PODS
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

QUEUE = operator("system:serviceaccount:queue-system:manager")
SWEEPER = operator("system:serviceaccount:tools:sweeper")
RUNS = thing(JOBS, "train", "ml", facts=WorkloadFacts(2))
WAITS = replace(RUNS, facts=WorkloadFacts(0))


def view() -> GraphView:
    pods = [
        thing(
            PODS, f"train-{number}", "ml", owners=[owner(RUNS)],
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(2)
    ]  # fmt: skip
    return view_of(RUNS, pods)


def started(seen: GraphView, by: Actor, *, stopped_since: bool = False) -> None:
    waiting = view_of(WAITS)
    waiting.history.writes = seen.history.writes
    request = update(WAITS, RUNS, by=by)
    remember(request, project(request, waiting), waiting, START)
    if stopped_since:
        request = update(RUNS, WAITS, by=by)
        remember(request, project(request, seen), seen, START.plus_s(60))


@pytest.mark.parametrize(
    ("starter", "hours", "stopped"),
    [
        pytest.param(QUEUE, 30, False, id="its-own"),
        pytest.param(SWEEPER, 30, True, id="started-by-another"),
        pytest.param(None, 30, True, id="nobody-knows"),
        pytest.param(QUEUE, 200, True, id="too-long-ago"),
    ],
)
def test_who_let_a_job_run_may_put_it_back(
    starter: Actor | None, hours: int, *, stopped: bool
) -> None:
    """A queue does so with as many as it must; anybody else stops what runs."""
    seen = view()
    if starter is not None:
        started(seen, starter)
    now = START.plus_s(hours * 3600)
    impact = impact_of(update(RUNS, WAITS, by=QUEUE), seen, by=QUEUE, now=now)
    assert [one.lasting for one in effects(impact, PodsLost)] == [2 if stopped else 0]


def test_a_job_that_was_put_back_already() -> None:
    """Whoever started it since is not remembered, and was not the queue."""
    seen = view()
    started(seen, QUEUE, stopped_since=True)
    impact = impact_of(update(RUNS, WAITS, by=QUEUE), seen, by=QUEUE, now=START.plus_s(90))
    assert [one.lasting for one in effects(impact, PodsLost)] == [2]


def slept(by: Actor, *, woken_by: Actor | None, noted: bool = True) -> bool:
    """Return whether it counts that a Deployment is put to sleep ten hours after it was woken."""
    things = workload("web", replicas=2)
    awake, facts = things[0], things[0].facts
    assert isinstance(facts, WorkloadFacts)
    asleep = replace(awake, facts=replace(facts, replicas=0))
    seen = view_of(things)
    if woken_by is not None:
        sleeping = view_of(asleep)
        sleeping.history.writes = seen.history.writes
        request = update(asleep, awake, by=woken_by)
        remember(request, project(request, sleeping), sleeping, START)
    bodies = tuple(
        msgspec.json.encode(
            {"metadata": {"name": "web", "annotations": marks}, "spec": {"replicas": size}}
        )
        for marks, size in (({}, 2), ({"sleep.example.com/was": "2"} if noted else {}, 0))
    )
    request = update(awake, asleep, by=by, bodies=(bodies[0], bodies[1]))
    impact = impact_of(request, seen, by=by, now=START.plus_s(10 * 3600))
    (lost,) = effects(impact, PodsLost)
    return lost.lasting == 2


def test_who_woke_a_workload_may_put_it_to_sleep_again() -> None:
    """Every night anew, however many: it has been seen to bring them back."""
    assert not slept(QUEUE, woken_by=QUEUE)


def test_the_first_night_counts() -> None:
    """Nobody has seen yet that it brings back what it stops."""
    assert slept(QUEUE, woken_by=None)


def test_a_workload_that_another_woke() -> None:
    """It is not the sleeper's any more."""
    assert slept(QUEUE, woken_by=SWEEPER)


def test_a_workload_whose_size_is_not_noted() -> None:
    """Nothing says that it is to come back."""
    assert slept(QUEUE, woken_by=QUEUE, noted=False)


def load(size: int) -> ClusterObject:
    return thing(DEPLOYMENTS, "web", "shop", facts=WorkloadFacts(size, Selector.of({"app": "web"})))


@pytest.mark.parametrize(
    ("after", "hours", "since", "explained"),
    [
        pytest.param(4, 2, None, True, id="as-large-as-before"),
        pytest.param(2, 2, None, False, id="smaller"),
        pytest.param(4, 30, None, False, id="too-long-ago"),
        pytest.param(4, 2, SWEEPER, False, id="sized-by-another-since"),
    ],
)
def test_who_made_it_larger_may_give_that_back(
    after: int, hours: int, since: Actor | None, *, explained: bool
) -> None:
    """For an hour of load it grows, and goes back to what it was."""
    root = load(20)
    pods = [
        thing(
            PODS, f"web-{number}", "shop", owners=[owner(root)], labels={"app": "web"},
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(20)
    ]  # fmt: skip
    seen = view_of(root, pods, service("web", "shop"))
    for size, by in ((20, QUEUE), (21, since)):
        if by is not None:
            before = view_of(load(4))
            before.history.writes = seen.history.writes
            request = update(load(4), load(size), by=by)
            remember(request, project(request, before), before, START)
    now = START.plus_s(hours * 3600)

    impact = impact_of(update(root, load(after), by=QUEUE), seen, by=QUEUE, now=now)
    (lost,), (taken,) = effects(impact, PodsLost), effects(impact, EndpointsLost)
    assert (not lost.lasting, taken.explained) == (explained, explained)
