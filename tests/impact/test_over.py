"""Custom work that has ended: what it leaves behind goes for that cause, data aside."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, service, thing, view_of, workload
from suture.impact.effects import ObjectsRemoved, PodsLost
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    SERVICES,
    SNAPSHOT_CONTENTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, CustomFacts, Ended, PodFacts, WorkloadFacts

NOBODY = -1
"""Says a loss of pods of what nobody asks for."""

RUNS = Resource("ci.example.com", "runs")
CREWS = Resource("ci.example.com", "crews")


def run(ended: Ended) -> ClusterObject:
    return thing(RUNS, "nightly", "prod", facts=CustomFacts(ended=ended))


def explained(going: ClusterObject, *others: ClusterObject) -> int:
    """Return for how many objects of the type of the one that goes a cause accounts."""
    view = view_of(going, others)
    request = delete(going)
    impact = estimate(request, project(request, view), view, operator(), now=START)
    (found,) = [
        one for one in effects(impact, ObjectsRemoved) if one.resource == str(going.key.resource)
    ]
    return found.explained


@pytest.mark.parametrize("resource", [SERVICES, STATEFUL_SETS, CREWS, CLAIMS])
@pytest.mark.parametrize(
    ("ended", "expected"), [(Ended.SURE, 1), (Ended.DONE, 1), (Ended.FAILED, 1), (Ended.NO, 0)]
)
def test_what_ended_work_owns_is_cleared_away(
    resource: Resource, ended: Ended, expected: int
) -> None:
    """While it is at work nothing of it is."""
    parent = run(ended)
    child = thing(resource, "helper", "prod", owners=[owner(parent)])
    assert explained(child, parent) == expected


def test_what_is_below_goes_for_the_same_cause() -> None:
    """A cluster that a job made is the job's, and so is what the cluster made."""
    parent = run(Ended.SURE)
    crew = thing(CREWS, "crew", "prod", owners=[owner(parent)])
    head = thing(SERVICES, "head", "prod", owners=[owner(crew)])
    assert explained(head, parent, crew) == 1


@pytest.mark.parametrize("resource", [DEPLOYMENTS, STATEFUL_SETS])
@pytest.mark.parametrize(
    ("ended", "expected"), [(Ended.SURE, 1), (Ended.DONE, 0), (Ended.FAILED, 0)]
)
def test_a_word_is_not_believed_of_what_runs_for_ever(
    resource: Resource, ended: Ended, expected: int
) -> None:
    """The install of a product succeeded, and its Deployment serves, or the set of a store."""
    parent = run(ended)
    product = thing(
        resource, "product", "prod", owners=[owner(parent)], facts=WorkloadFacts(replicas=1)
    )
    assert explained(product, parent) == expected


@pytest.mark.parametrize(("ended", "expected"), [(Ended.DONE, 1), (Ended.FAILED, 0)])
def test_what_failed_and_serves_is_mended_and_not_cleared_away(ended: Ended, expected: int) -> None:
    """A database whose operator calls it failed has pods that are Ready."""
    parent = run(ended)
    member = thing(
        PODS, "member", "prod", owners=[owner(parent)], facts=PodFacts(ready=True), labels={"a": "b"}
    )  # fmt: skip
    endpoint = thing(SERVICES, "member", "prod", owners=[owner(parent)])
    assert explained(endpoint, parent, member) == expected


def test_data_of_ended_work_is_not_cleared_away() -> None:
    """A claim that is used, snapshots, and what stands for a thing outside."""
    parent = run(Ended.SURE)
    content = thing(SNAPSHOT_CONTENTS, "copy", owners=[owner(parent)])
    bucket = thing(
        CREWS, "bucket", "prod", owners=[owner(parent)], facts=CustomFacts(outside="Delete")
    )
    claim = thing(CLAIMS, "data", "prod", owners=[owner(parent)])
    user = msgspec.structs.replace(
        thing(PODS, "user", "prod", facts=PodFacts(ready=True)),
        needs=(Need(Edge.CLAIM, claim.key),),
    )
    assert explained(content, parent) == 0
    assert explained(bucket, parent) == 0
    assert explained(claim, parent, user) == 0
    assert explained(claim, parent) == 1
    assert explained(service("other"), parent) == 0


def test_a_claim_whose_last_user_goes_with_its_owner() -> None:
    """What held the workspace in its place was deleted a moment ago, its pod will be."""
    parent = run(Ended.SURE)
    holder = thing(STATEFUL_SETS, "holder", "prod", owners=[owner(parent)])
    claim = thing(CLAIMS, "work", "prod", owners=[owner(parent)])
    user = msgspec.structs.replace(
        thing(PODS, "holder-0", "prod", facts=PodFacts(ready=True), owners=[owner(holder)]),
        needs=(Need(Edge.CLAIM, claim.key),),
    )
    assert explained(claim, parent, holder, user) == 0
    assert explained(claim, parent, msgspec.structs.replace(holder, deleted=1.0), user) == 1


@pytest.mark.parametrize(
    ("ended", "wanted"), [(Ended.SURE, NOBODY), (Ended.DONE, NOBODY), (Ended.NO, 2)]
)
def test_what_ended_work_kept_is_stopped(ended: Ended, wanted: int) -> None:
    """An experiment says how large its copies are to be, and wants none once it is over."""
    facts = CustomFacts(wanted=2, ended=ended)
    parent = thing(RUNS, "nightly", "prod", facts=facts)
    copy, *below = workload("copy", replicas=2)
    root = msgspec.structs.replace(
        copy, key=ObjectKey(REPLICA_SETS, "prod", "copy"), owners=(owner(parent),)
    )
    stopped = msgspec.structs.replace(root, facts=WorkloadFacts(0))
    pods = [one for one in below if one.key.resource == PODS]
    mine = [msgspec.structs.replace(one, owners=(owner(root),)) for one in pods]
    (lost,) = effects(impact_of(update(root, stopped), view_of(parent, root, mine)), PodsLost)
    assert lost.wanted == wanted
