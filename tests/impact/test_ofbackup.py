"""Snapshots of which a backup was made: the claim that they were taken of is no copy of that."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, thing, view_of
from support.writes import body, write
from suture.impact.causes.recent import remember
from suture.impact.effects import DataLost, ExternalDeleted
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotContentFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, CRDS, SNAPSHOT_CONTENTS, SNAPSHOTS, Resource
from suture.model.objects import ClaimFacts, ClusterObject, CrdFacts, CustomFacts, Ended
from suture.model.request import Request

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


SINCE = datetime.fromtimestamp(START.utc_s - 60, UTC).isoformat()
LATER = datetime.fromtimestamp(START.utc_s + 60, UTC).isoformat()


def status_written(was: str, becomes: str, until: str) -> Request:
    """Write how far a backup is that is kept until a moment."""
    old, new = (
        body(
            "Backup", "nightly", "keep", apiVersion="keep.example.com/v1",
            status={"phase": phase, "expiration": until},
        )
        for phase in (was, becomes)
    )  # fmt: skip
    made = write(BACKUPS, old, new, subresource="status")
    return msgspec.structs.replace(made, old=backup(), new=backup(Ended.NO), user=BY.user)


def erased(request: Request, *, by: Actor = BY, minutes: int = 1) -> tuple[bool, int]:
    """Whether the end of a content is explained after a write, as data and as what is outside."""
    content = msgspec.structs.replace(CONTENT, labels={"keep.example.com/backup-name": "nightly"})
    view = GraphView(graph_of(DEFINED, content, backup()), History())
    remember(request, project(request, view), view, START)
    now = START.plus_s(60 * minutes)
    impact = impact_of(delete(content, by=by), view, by=by, now=now)
    (data,) = effects(impact, DataLost)
    (outside,) = effects(impact, ExternalDeleted)
    return data.explained, outside.explained


def test_what_a_backup_is_made_of_goes_once_its_time_is_over() -> None:
    """The twin: the tool says that the backup goes, and takes what is behind it first."""
    assert erased(status_written("Completed", "Deleting", SINCE)) == (True, 1)


@pytest.mark.parametrize(
    ("asked", "by", "minutes"),
    [
        pytest.param(status_written("Completed", "Deleting", LATER), BY, 1, id="to-be-kept"),
        pytest.param(status_written("Completed", "Deleting", ""), BY, 1, id="for-ever"),
        pytest.param(status_written("Completed", "Deleting", "soon"), BY, 1, id="odd"),
        pytest.param(status_written("Completed", "Completed", SINCE), BY, 1, id="not-given-up"),
        pytest.param(status_written("Completed", "Deleting", SINCE), BY, 90, id="long-ago"),
        pytest.param(status_written("Completed", "Deleting", SINCE), PERSON, 1, id="a-person"),
    ],
)
def test_what_a_backup_is_made_of_is_kept(asked: Request, by: Actor, minutes: int) -> None:
    assert erased(asked, by=by, minutes=minutes) == (False, 0)
