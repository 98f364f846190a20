"""Jobs that are suspended under what says itself whether its work is to wait."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, operator, owner, thing, view_of
from suture.impact.effects import PodsLost
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.names import CONFIG_MAPS, DEPLOYMENTS, JOBS, PODS, Resource
from suture.model.objects import CustomFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

SETS = Resource("jobset.example.com", "jobsets")
QUEUE = operator("system:serviceaccount:queue-system:manager")
KEEPER = operator("system:serviceaccount:jobset-system:jobset-operator")


def lost(
    suspend: bool | None, *, by: Actor = QUEUE, kind: Resource = JOBS, after: int = 0,
    going: bool = False,
) -> PodsLost:  # fmt: skip
    """Return what is lost as a job of two pods, under a set that says so, gets another size."""
    above = thing(
        SETS, "train", "ml", facts=CustomFacts(suspend=suspend), deleted=1.0 if going else 0.0
    )
    facts = WorkloadFacts(2, Selector.of({"a": "b"}))
    runs = thing(kind, "train-0", "ml", owners=[owner(above)], facts=facts)
    pods = [
        thing(
            PODS, f"train-0-{number}", "ml", owners=[owner(runs)], labels={"a": "b"},
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(2)
    ]  # fmt: skip
    request = update(runs, replace(runs, facts=replace(facts, replicas=after)), by=by)
    impact = impact_of(request, view_of(above, runs, pods), by=by, now=START)
    (found,) = effects(impact, PodsLost)
    return found


def test_a_job_of_what_says_that_it_is_to_run_is_wanted() -> None:
    """The queue leaves the set alone, and suspends what the set owns."""
    found = lost(False)
    assert (found.wanted, found.lasting, found.explained) == (2, 2, 0)


def test_a_job_of_what_says_that_it_is_to_wait_is_asked_to() -> None:
    """The twin: sets that make room for others, as many as it takes."""
    found = lost(True)
    assert (found.wanted, found.lasting, found.explained) == (-1, 0, 2)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lost(None), id="says-nothing"),
        pytest.param(lost(False, by=KEEPER), id="its-own-operator"),
        pytest.param(lost(False, going=True), id="on-its-way-out"),
        pytest.param(lost(False, after=1), id="only-smaller"),
        pytest.param(lost(False, kind=DEPLOYMENTS), id="no-job"),
    ],
)
def test_of_others_it_tells_nothing(found: PodsLost) -> None:
    """Budgets count what is stopped, as before."""
    assert found.wanted <= 0
    assert found.count > 0


RECORDS = Resource("queue.example.com", "workloads")


def noted(*, by: Actor = QUEUE, kind: Resource = RECORDS, ago_s: float = 5.0) -> PodsLost:
    """Return what is lost as a job is suspended whose own object somebody has written before."""
    facts = WorkloadFacts(2, Selector.of({"a": "b"}))
    runs = thing(JOBS, "train-0", "ml", facts=facts)
    record = thing(kind, "job-train-0", "ml", owners=[owner(runs)])
    pod = thing(
        PODS, "train-0-0", "ml", owners=[owner(runs)], labels={"a": "b"},
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip
    view = view_of(runs, record, pod)
    said = Deed.apart(What.STATUS, by.user.username, START.plus_s(-ago_s))
    view.history.writes.note(record.key, said, START.plus_s(-ago_s))
    request = update(runs, replace(runs, facts=replace(facts, replicas=0)), by=QUEUE)
    (found,) = effects(impact_of(request, view, by=QUEUE, now=START), PodsLost)
    return found


def test_a_job_waits_whose_record_lost_its_place() -> None:
    """Preempted: the queue says so of its record first, and suspends the job next."""
    assert noted().lasting == 0


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(noted(by=KEEPER), id="another-said-so"),
        pytest.param(noted(kind=CONFIG_MAPS), id="no-record"),
        pytest.param(noted(ago_s=700.0), id="long-ago"),
    ],
)
def test_a_job_of_which_nothing_was_said_is_lost(found: PodsLost) -> None:
    """A queue that takes jobs which were never given to it has no record of them."""
    assert found.lasting == found.count == 1
