"""Runs that have not ended, and their pods, that a machine called like what ran them takes."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import PODS, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, PodFacts

RUNS = Resource("builds.example.com", "runs")
TASKS = Resource("builds.example.com", "tasks")
MAKER = "system:serviceaccount:ci:listener"
PRUNER = operator("system:serviceaccount:builds:pruner")
NOW = START.plus_s(3600)
NEVER = b'{"spec": {"restartPolicy": "Never"}}'
ALWAYS = b'{"spec": {"restartPolicy": "Always"}}'
OVER, AT_WORK = CustomFacts(ended=Ended.SURE), CustomFacts()


def counted(
    one: ClusterObject, *others: ClusterObject, by_maker: str = MAKER, old: bytes = b"",
    keeper: bool = False,
) -> int:  # fmt: skip
    """Return how many count of the type of an object that the pruner deletes."""
    view = GraphView(graph_of(one, *others), History())
    if by_maker:
        view.history.note_created(one.uid, by_maker, by_maker, one.key, START)
    if keeper:
        status = msgspec.structs.replace(update(one, one, by=PRUNER), subresource="status")
        view.history.habits.note(status)
    request = msgspec.structs.replace(delete(one, by=PRUNER), old_body=old)
    told = effects(impact_of(request, view, now=NOW, by=PRUNER), ObjectsRemoved)
    return sum(effect.counted for effect in told if effect.resource == str(one.key.resource))


def run(
    facts: CustomFacts = AT_WORK, *, before: CustomFacts = OVER, ready: bool = True,
    by_maker: str = MAKER, keeper: bool = False,
) -> int:  # fmt: skip
    """Return how many runs count where one with a pod is deleted, beside one of `before`."""
    one = thing(RUNS, "build-1", "ci", facts=facts)
    pod = thing(
        PODS, "build-1-compile", "ci", owners=[owner(one)], facts=PodFacts(ready=ready, node="n")
    )
    other = thing(RUNS, "build-0", "ci", facts=before)
    return counted(one, pod, other, by_maker=by_maker, keeper=keeper)


def test_a_run_of_anothers_that_is_under_way_counts() -> None:
    """The pruner is called like the type, and was never seen to keep it."""
    assert run() == 1


@pytest.mark.parametrize(
    ("before", "facts", "keeper", "expected"),
    [
        pytest.param(OVER, AT_WORK, False, 1, id="under-way"),
        pytest.param(AT_WORK, AT_WORK, False, 0, id="of-a-type-that-runs-for-ever"),
        pytest.param(OVER, OVER, False, 0, id="over"),
        pytest.param(OVER, AT_WORK, True, 0, id="by-its-operator"),
    ],
)
def test_a_run_of_which_nobody_knows_who_made_it(
    before: CustomFacts, facts: CustomFacts, expected: int, *, keeper: bool
) -> None:
    """It was there before, and runs its pod by a task of its own."""
    one = thing(RUNS, "build-1", "ci", facts=facts)
    task = thing(TASKS, "build-1-compile", "ci", owners=[owner(one)], facts=CustomFacts())
    pod = thing(
        PODS, "build-1-compile-pod", "ci", owners=[owner(task)],
        facts=PodFacts(ready=True, node="n"),
    )  # fmt: skip
    other = thing(RUNS, "build-0", "ci", facts=before)
    assert counted(one, task, pod, other, by_maker="", keeper=keeper) == expected


def test_what_a_pruner_is_there_for_does_not() -> None:
    """The twin: what has ended, or runs nothing, its own, and the hand of its operator."""
    assert run(OVER) == 0
    assert run(ready=False) == 0
    assert run(by_maker=PRUNER.user.username) == 0
    assert run(keeper=True) == 0


def test_what_never_ends_is_no_run() -> None:
    """No other of its type has ended: what is called like it is taken for its operator."""
    assert run(before=AT_WORK) == 0


def bare(
    facts: CustomFacts | None = AT_WORK, *, old: bytes = NEVER, said: str = "job-1",
    space: str = "builds",
) -> int:  # fmt: skip
    """Return whether a bare pod counts beside a custom resource of its name with some facts."""
    pod = thing(
        PODS, "job-1", "test", labels={"builds.example.com/id": said}, facts=PodFacts(ready=True)
    )
    runs = () if facts is None else (thing(RUNS, "job-1", space, facts=facts),)
    made_by = "system:serviceaccount:builds:manager"
    return counted(pod, *runs, by_maker=made_by, old=old)


@pytest.mark.parametrize("space", ["builds", "test"])
def test_the_pod_of_a_job_that_says_no_end_counts(space: str) -> None:
    """The list of jobs was made before this one; what collects is a part of what made the pod."""
    assert bare(space=space) == 1


def test_the_pod_of_a_job_that_is_over_or_gone_does_not() -> None:
    """The twin; nor one that is started again, or is called after nothing."""
    assert bare(OVER) == 0
    assert bare(None) == 0
    assert bare(old=ALWAYS) == 0
    assert bare(said="other") == 0
    assert bare(space="elsewhere") == 0
