"""The claim of a member that is broken: a person may give it up, for the others hold its data."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.effects import DataLost, ForeignWrite, ObjectsRemoved
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    VOLUMES,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)

CLUSTERS = Resource("db.example.com", "clusters")
CLUSTER = thing(CLUSTERS, "db", "prod", facts=CustomFacts())
SET = thing(STATEFUL_SETS, "db", "prod", facts=WorkloadFacts(3))
PERSON = Actor(UserInfo("dba@example.com"), "dba", IdentityKind.PERSON, Stage.ENFORCE)


def member(
    number: int, *, ready: bool = True, of: ClusterObject = SET, age_s: float = 1800.0
) -> list[ClusterObject]:
    """Return a member of a database: its claim, the volume of that, and a pod that mounts it."""
    owned = [] if of is SET else [owner(of)]
    name = f"data-db-{number}" if of is SET else f"db-{number}"
    claim = thing(
        CLAIMS, name, "prod", owners=owned, facts=ClaimFacts(bound=True, volume=f"pv-{number}")
    )
    volume = thing(VOLUMES, f"pv-{number}", facts=VolumeFacts("Delete", "Bound"))
    volume = msgspec.structs.replace(volume, needs=(Need(Edge.BOUND_CLAIM, claim.key),))
    pod = thing(
        PODS, f"db-{number}", "prod", owners=[owner(of)], facts=PodFacts(ready=ready, node="n")
    )
    needs = (Need(Edge.CLAIM, claim.key),)
    pod = msgspec.structs.replace(pod, needs=needs, created=START.utc_s - age_s)
    return [claim, volume, pod]


def given_up(
    *members: list[ClusterObject], by: Actor = PERSON, now: Now = START, of: ClusterObject = SET
) -> bool:
    """Whether the claim of the first member may be deleted, in the eyes of every effect."""
    view = view_of(of, *members)
    impact = impact_of(delete(members[0][0], by=by), view, now=now, by=by)
    (lost,) = effects(impact, DataLost)
    (gone,) = effects(impact, ObjectsRemoved)
    assert lost.explained <= (gone.wanted == 0)
    assert lost.explained <= all(one.explained for one in effects(impact, ForeignWrite))
    return lost.explained


@pytest.mark.parametrize("of", [SET, CLUSTER])
def test_a_broken_member_is_started_anew(of: ClusterObject) -> None:
    """It has not been Ready for long, and all others are."""
    broken = member(2, ready=False, of=of)
    assert given_up(broken, member(0, of=of), member(1, of=of), of=of)
    assert given_up(broken, member(0, of=of), of=of)


def two_claims(number: int, *, ready: bool = True, deleted: float = 0.0) -> list[ClusterObject]:
    """Return a member of a custom resource that keeps its log in a claim of its own."""
    claim, volume, pod = member(number, ready=ready, of=CLUSTER)
    log = thing(
        CLAIMS, f"db-{number}-log", "prod", owners=[owner(CLUSTER)], facts=claim.facts,
        deleted=deleted,
    )  # fmt: skip
    needs = (*pod.needs, Need(Edge.CLAIM, log.key))
    return [claim, volume, msgspec.structs.replace(pod, needs=needs), log]


@pytest.mark.parametrize("deleted", [0.0, 1.0], ids=["the first", "the second"])
def test_a_broken_member_that_has_two_claims(deleted: float) -> None:
    """Both go, one after the other; that of another member which is not well is none of them."""
    broken, well = two_claims(2, ready=False, deleted=deleted), two_claims(0)
    assert given_up(broken, well, of=CLUSTER)
    assert not given_up(broken, well, two_claims(1, ready=False), of=CLUSTER)


def test_both_claims_of_a_member_that_was_taken_out() -> None:
    """Its pod was deleted first; of another member that is out neither counts as its own."""
    claim, volume, _, log = two_claims(2)
    assert given_up([claim, volume, log], two_claims(0), of=CLUSTER)
    other, its_volume, _, its_log = two_claims(1)
    out = [other, its_volume, its_log]
    assert not given_up([claim, volume, log], two_claims(0), out, of=CLUSTER)


@pytest.mark.parametrize(
    "members",
    [
        pytest.param([member(2), member(0), member(1)], id="it is well"),
        pytest.param([member(2, ready=False, age_s=60), member(0), member(1)], id="it may come up"),
        pytest.param([member(2, ready=False), member(0), member(1, ready=False)], id="another too"),
        pytest.param([member(2, ready=False)], id="there is no other"),
        pytest.param(
            [
                member(2, ready=False),
                member(0),
                [msgspec.structs.replace(member(1)[0], deleted=1.0), *member(1)[1:]],
            ],
            id="another is given up already",
        ),
    ],
)
def test_a_member_whose_data_may_be_the_last(members: list[list[ClusterObject]]) -> None:
    assert not given_up(*members)


def test_no_machine_takes_a_member_for_broken() -> None:
    """One that waits for a node looks the same."""
    assert not given_up(member(2, ready=False), member(0), member(1), by=operator())


PURGER = "system:serviceaccount:prod:purge"


def purged(
    *others: list[ClusterObject],
    by: Actor = PERSON,
    sent_by: str = "",
    named: bool = False,
) -> int:
    """Delete the claim of a member that was taken out; return how much of it is wanted still.

    `sent_by` made a Job that runs as the purger. `named`: a Deployment without pods names the claim.
    """
    claim, volume, _ = member(2, of=CLUSTER)
    rest = thing(DEPLOYMENTS, "db-2", "prod", owners=[owner(CLUSTER)], facts=WorkloadFacts(0))
    rest = msgspec.structs.replace(rest, needs=(Need(Edge.CLAIM, claim.key),))
    account, job = thing(SERVICE_ACCOUNTS, "purge", "prod"), thing(JOBS, "purge", "prod")
    job = msgspec.structs.replace(job, needs=(Need(Edge.SERVICE_ACCOUNT, account.key),))
    things = [claim, volume, account, *([rest] if named else []), *([job] if sent_by else [])]
    view = view_of(CLUSTER, things, *others)
    if sent_by:
        view.history.note_created(job.uid, sent_by, sent_by, job.key, START)
    (gone,) = effects(impact_of(delete(claim, by=by), view, by=by), ObjectsRemoved)
    return gone.wanted


WELL = [member(0, of=CLUSTER), member(1, of=CLUSTER)]


def test_the_claim_of_a_member_that_was_taken_out() -> None:
    """A disk has failed, its Deployment is gone: a person purges it, or sends a Job that does."""
    assert purged(*WELL) == 0
    assert purged(*WELL, by=operator(PURGER), sent_by=PERSON.user.username) == 0


@pytest.mark.parametrize(
    ("others", "by", "sent_by", "named"),
    [
        pytest.param(WELL, operator(PURGER), "", False, id="a machine by itself"),
        pytest.param(WELL, operator(PURGER), PURGER, False, id="that sent itself"),
        pytest.param(WELL, PERSON, "", True, id="it is to run again"),
        pytest.param([], PERSON, "", False, id="there is no other"),
        pytest.param(
            [member(0, of=CLUSTER), member(1, of=CLUSTER)[:2]], PERSON, "", False, id="another is out"
        ),
    ],
)  # fmt: skip
def test_a_claim_that_only_seems_to_be_left(
    others: list[list[ClusterObject]], by: Actor, sent_by: str, named: bool
) -> None:
    """The incident: what is detached for a while is taken for left over."""
    assert purged(*others, by=by, sent_by=sent_by, named=named) == 1
