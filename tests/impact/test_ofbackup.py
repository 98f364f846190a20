"""Snapshots of which a backup was made: the claim that they were taken of is no copy of that."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, thing, view_of
from suture.impact.effects import DataLost
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotContentFacts
from suture.model.names import CLAIMS, CRDS, SNAPSHOT_CONTENTS, SNAPSHOTS, Resource
from suture.model.objects import ClaimFacts, ClusterObject, CrdFacts, CustomFacts, Ended

BACKUPS = Resource("keep.example.com", "backups")
BY = operator("system:serviceaccount:keep:server")
DEFINED = thing(CRDS, str(BACKUPS), facts=CrdFacts(BACKUPS, "Backup", namespaced=True))
PERSON = Actor(UserInfo("jo@example.com"), "jo", IdentityKind.PERSON, Stage.ENFORCE)
CLAIM = thing(CLAIMS, "data", "prod", facts=ClaimFacts(bound=True))
CONTENT = thing(SNAPSHOT_CONTENTS, "content", facts=SnapshotContentFacts(deletion="Delete"))


def snapshot(label: str = "keep.example.com/backup-name") -> ClusterObject:
    made = thing(SNAPSHOTS, "of-data", "prod", labels={label: "nightly"})
    needs = (Need(Edge.SNAPSHOT_SOURCE, CLAIM.key), Need(Edge.SNAPSHOT_CONTENT, CONTENT.key))
    return msgspec.structs.replace(made, needs=needs)


def backup(ended: Ended = Ended.SURE, *, deleted: float = 0.0) -> ClusterObject:
    return thing(BACKUPS, "nightly", "keep", facts=CustomFacts(ended=ended), deleted=deleted)


def is_last(gone: ClusterObject, *there: ClusterObject, by: Actor = BY) -> bool:
    """Whether the data behind a snapshot is told of as the last copy, though its claim stays."""
    view = view_of(DEFINED, gone, CLAIM, CONTENT, *there)
    found = effects(impact_of(delete(gone, by=by), view, by=by, now=START), DataLost)
    (told,) = [one for one in found if one.holder.resource == SNAPSHOTS.plural]
    assert told.copies == 1
    return told.last_copy


def test_what_a_backup_that_is_done_is_made_of() -> None:
    """The incident: the tool takes its snapshots for what is left of its work."""
    assert is_last(snapshot(), backup())


@pytest.mark.parametrize(
    ("gone", "there", "by"),
    [
        pytest.param(snapshot(), [], BY, id="its-backup-is-gone"),
        pytest.param(snapshot(), [backup(deleted=1.0)], BY, id="its-backup-goes"),
        pytest.param(snapshot(), [backup(Ended.NO)], BY, id="it-is-under-way-or-given-up"),
        pytest.param(snapshot(), [backup(Ended.FAILED)], BY, id="it-failed"),
        pytest.param(snapshot("other.example.org/of"), [backup()], BY, id="of-something-else"),
        pytest.param(snapshot(), [backup()], PERSON, id="by-a-person"),
    ],
)
def test_what_may_go(gone: ClusterObject, there: list[ClusterObject], by: Actor) -> None:
    assert not is_last(gone, *there, by=by)
