"""What is read live before a refusal: of the pods beside a pod, those that may be Ready by now."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from support.cluster import START, delete, owner, service, thing, view_of, workload
from suture.impact.evidence import SIBLINGS, evidence_of
from suture.impact.project import project
from suture.model.names import PODS, STATEFUL_SETS, ObjectKey
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts


def read_for(*things: ClusterObject | Iterable[ClusterObject], of: ClusterObject) -> set[ObjectKey]:
    """Return the pods that are read before a delete of one is refused."""
    view = view_of(*things)
    evidence = evidence_of(project(delete(of), view), view, START)
    assert len(evidence) == len(set(evidence))
    return {key for key in evidence if key.resource == PODS}


def members(ready: Iterable[bool | None]) -> list[ClusterObject]:
    """Return a StatefulSet and its members: Ready, not Ready, or (None) not there."""
    states = list(ready)
    facts = WorkloadFacts(replicas=len(states))
    above = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    return [above] + [
        thing(PODS, f"db-{at}", "prod", owners=[owner(above)], facts=PodFacts(ready=state))
        for at, state in enumerate(states)
        if state is not None
    ]


def key(name: str) -> ObjectKey:
    return ObjectKey(PODS, "prod", name)


@pytest.mark.parametrize(
    ("ready", "beside"),
    [
        ([True, True, True], set()),
        ([True, False, True], {"db-1"}),
        ([True, None, True], {"db-1"}),
        ([True] + [False] * 9, {f"db-{at}" for at in range(1, 1 + SIBLINGS)}),
    ],
    ids=["all Ready", "one is not", "one is not there", "no more than a few"],
)
def test_members_that_are_not_known_to_be_ready(ready: list[bool | None], beside: set[str]) -> None:
    """By their names, as the next life of a member has the name of the last."""
    things = members(ready)

    assert read_for(things, of=things[1]) == {key("db-0"), *map(key, beside)}


def test_pods_of_a_deployment_that_are_not_known_to_be_ready() -> None:
    """Those that are there; which others are made nobody knows."""
    things = workload("web", replicas=3, ready=2)

    assert read_for(things, service("web"), of=things[2]) == {key("web-1-0"), key("web-1-2")}


def test_a_bare_pod_has_none_beside_it() -> None:
    """Nor has what is no pod."""
    alone, web = thing(PODS, "alone", "prod"), service("web")

    assert read_for(alone, of=alone) == {alone.key}
    assert read_for(workload("web", ready=0), web, of=web) == set()
