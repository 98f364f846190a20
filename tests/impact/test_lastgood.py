"""The last good snapshot of a claim: who keeps the newest few takes it for the failed ones."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, thing, view_of
from suture.impact.effects import DataLost
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotContentFacts, SnapshotFacts
from suture.model.names import CLAIMS, SNAPSHOT_CONTENTS, SNAPSHOTS
from suture.model.objects import ClaimFacts, ClusterObject

BY = operator("system:serviceaccount:backup:scheduler")
CLAIM = thing(CLAIMS, "data", "prod", facts=ClaimFacts(bound=True))
HOUR_S = 3600


def snapshot(hours_ago: float, *, ready: bool, of: ClusterObject = CLAIM) -> ClusterObject:
    """Make a snapshot of a claim, taken some hours ago."""
    name = f"of-{of.key.name}-{hours_ago}"
    content = thing(SNAPSHOT_CONTENTS, name).key
    made = thing(SNAPSHOTS, name, "prod", facts=SnapshotFacts(ready))
    needs = (Need(Edge.SNAPSHOT_SOURCE, of.key), Need(Edge.SNAPSHOT_CONTENT, content))
    return msgspec.structs.replace(made, needs=needs, created=START.utc_s - hours_ago * HOUR_S)


GOOD = snapshot(5, ready=True)


def is_last(*others: ClusterObject, gone: ClusterObject = GOOD, by: Actor = BY) -> bool:
    """Whether the end of a snapshot is told of as that of the last copy, though its claim stays."""
    contents = [
        thing(SNAPSHOT_CONTENTS, one.key.name, facts=SnapshotContentFacts(deletion="Delete"))
        for one in (gone, *others)
    ]
    view = view_of(CLAIM, gone, *others, *contents)
    found = effects(impact_of(delete(gone, by=by), view, by=by, now=START), DataLost)
    (told,) = [one for one in found if one.holder.resource == SNAPSHOTS.plural]
    assert told.copies == 1 + len([one for one in others if one.needs[0].target == CLAIM.key])
    return told.last_copy


def test_those_after_it_have_failed() -> None:
    """The incident: three are kept, and none of them is ready."""
    assert is_last(*(snapshot(hours, ready=False) for hours in (3, 2, 1.5)))


@pytest.mark.parametrize(
    ("others", "gone", "by"),
    [
        pytest.param([(3, True), (2, False)], GOOD, BY, id="another is good"),
        pytest.param([(8, True), (2, False)], GOOD, BY, id="an older one is good"),
        pytest.param([(0.5, False)], GOOD, BY, id="the next is being made"),
        pytest.param([(8, False)], GOOD, BY, id="only one before it failed"),
        pytest.param([], GOOD, BY, id="there is no other"),
        pytest.param([(2, False)], snapshot(5, ready=False), BY, id="it failed itself"),
        pytest.param([(2, False)], GOOD, operator("ann@example.com"), id="by a person"),
    ],
)
def test_what_may_go(others: list[tuple[float, bool]], gone: ClusterObject, by: Actor) -> None:
    """The twin: the newest that are kept are good, or nobody knows yet."""
    made = [snapshot(hours, ready=ready) for hours, ready in others]
    assert not is_last(*made, gone=gone, by=by)


def test_that_one_of_another_claim_failed_says_nothing() -> None:
    other = thing(CLAIMS, "logs", "prod", facts=ClaimFacts(bound=True))
    assert not is_last(snapshot(2, ready=False, of=other))
