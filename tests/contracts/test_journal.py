"""What every journal promises, run against each of them; then what only the durable one can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import msgspec
import pytest

from suture.adapters.memory import MemoryJournal
from suture.adapters.sqlite import QUEUE_ENTRIES, RETENTION_SLICE, SqliteJournal
from suture.app.ports import Journal
from suture.errors import UnavailableError
from suture.journal.entry import Asked, Entry
from suture.journal.query import DRY_RUNS_KEPT, Wanted
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.policy.rules import Point
from suture.verdict import Answer

DEADLINE_S = 30.0


def entry(
    number: int,
    *,
    operator: str = "balancer",
    answer: Answer = Answer.ALLOW,
    dry_run: bool = False,
    namespace: str = "shop",
    body: bytes = b"",
) -> Entry:
    return Entry(
        decision=f"{number:013d}",
        utc_s=1_800_000_000.0 + number,
        lane="destructive",
        point=Point.ADMISSION,
        identity=f"system:serviceaccount:infra:{operator}",
        operator=operator,
        stage="enforce",
        asked=Asked(
            review=f"review-{number}",
            operation=Operation.DELETE,
            key=ObjectKey(SERVICES, namespace, f"s{number}"),
            dry_run=dry_run,
        ),
        answer=answer,
        would=answer,
        body=body,
    )


@pytest.fixture(params=["memory", "sqlite"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    made: Journal = (
        MemoryJournal() if request.param == "memory" else SqliteJournal(tmp_path / "journal.db")
    )
    yield made
    await made.close()


async def test_what_was_appended_is_found(journal: Journal) -> None:
    """A line comes back whole, its previous body included."""
    kept = entry(1, body=b'{"kind":"Service"}' * 100)
    await journal.append([kept, entry(2)], deadline_s=DEADLINE_S)
    assert list(await journal.find(kept.decision)) == [kept]
    assert list(await journal.find("0000000000009")) == []


async def test_ids_that_met_are_both_shown(journal: Journal) -> None:
    """Two lines of one id are two lines."""
    await journal.append([entry(1), entry(1, operator="other")], deadline_s=DEADLINE_S)
    found = await journal.find(entry(1).decision)
    assert [one.operator for one in found] == ["balancer", "other"]


async def test_recent_is_narrowed(journal: Journal) -> None:
    """Each part of a question narrows; the newest line comes first; bodies stay behind."""
    lines = [
        entry(1),
        entry(2, operator="other", body=b"{}"),
        entry(3, answer=Answer.DENY),
        entry(4, namespace="pay"),
    ]
    await journal.append(lines, deadline_s=DEADLINE_S)

    async def numbers(wanted: Wanted) -> list[int]:
        return [int(one.decision) for one in await journal.recent(wanted)]

    assert await numbers(Wanted()) == [4, 3, 2, 1]
    assert await numbers(Wanted(limit=2)) == [4, 3]
    assert await numbers(Wanted(operator="other")) == [2]
    assert await numbers(Wanted(operator="system:serviceaccount:infra:other")) == [2]
    assert await numbers(Wanted(answer=Answer.DENY)) == [3]
    assert await numbers(Wanted(would=Answer.ALLOW)) == [4, 2, 1]
    assert await numbers(Wanted(namespace="pay")) == [4]
    assert await numbers(Wanted(since_utc_s=lines[2].utc_s)) == [4, 3]
    assert await numbers(Wanted(until_utc_s=lines[1].utc_s)) == [2, 1]
    assert (await journal.recent(Wanted(operator="other")))[0].body == b""


async def test_a_dry_run_is_explained_and_not_recorded(journal: Journal) -> None:
    """A dry run can be found by its id, is in no list, and only the last few are held."""
    await journal.append([entry(0, dry_run=True)], deadline_s=DEADLINE_S)
    assert journal.offer([entry(1, dry_run=True)]) == 0
    assert list(await journal.find(entry(1).decision)) == [entry(1, dry_run=True)]
    assert list(await journal.recent(Wanted())) == []
    journal.offer([entry(number, dry_run=True) for number in range(1, DRY_RUNS_KEPT + 1)])
    assert list(await journal.find(entry(0).decision)) == []


async def test_a_held_dry_run_is_made_only_when_it_is_looked_for(journal: Journal) -> None:
    """A dry run that is held costs nothing until its id is asked for, and is in no list."""
    made: list[int] = []

    def line() -> Entry:
        made.append(1)
        return entry(1, dry_run=True)

    journal.hold(entry(1).decision, line)
    assert list(await journal.recent(Wanted())) == []
    assert list(await journal.find(entry(2).decision)) == []
    assert not made
    assert list(await journal.find(entry(1).decision)) == [entry(1, dry_run=True)]
    for number in range(2, DRY_RUNS_KEPT + 2):
        journal.hold(entry(number).decision, line)
    assert list(await journal.find(entry(1).decision)) == []


async def test_many_writers_at_once(journal: Journal) -> None:
    """Appends that run side by side are all there when they return."""
    await asyncio.gather(
        *(journal.append([entry(number)], deadline_s=DEADLINE_S) for number in range(200))
    )
    assert len(await journal.recent(Wanted(limit=1000))) == 200


async def test_a_closed_journal_says_so(journal: Journal) -> None:
    """After `close` an append fails and an offer is counted as dropped."""
    await journal.close()
    with pytest.raises(UnavailableError):
        await journal.append([entry(1)], deadline_s=DEADLINE_S)
    assert journal.offer([entry(2)]) == 1


async def test_confirmed_lines_survive(tmp_path: Path) -> None:
    """What was confirmed is read by the next process, even when this one never closed the file."""
    first = SqliteJournal(tmp_path / "journal.db")
    await first.append([entry(1)], deadline_s=DEADLINE_S)
    second = SqliteJournal(tmp_path / "journal.db")
    assert list(await second.find(entry(1).decision)) == [entry(1)]
    await first.close()
    await second.close()


async def test_offers_are_written_by_close(tmp_path: Path) -> None:
    """What was offered is on disk once the journal has closed."""
    journal = SqliteJournal(tmp_path / "journal.db")
    assert journal.offer([entry(number) for number in range(3000)]) == 0
    await journal.close()
    again = SqliteJournal(tmp_path / "journal.db")
    assert len(await again.recent(Wanted(limit=1000))) == 1000
    assert list(await again.find(entry(0).decision)) == [entry(0)]
    await again.close()


async def test_a_full_disk_is_an_error_and_passes(tmp_path: Path) -> None:
    """A commit that finds the disk full fails its appends; once there is room, writing goes on."""
    journal = SqliteJournal(tmp_path / "journal.db")
    await journal.append([entry(1)], deadline_s=DEADLINE_S)
    journal._writer.pragma("max_page_count", journal._writer.pragma("page_count") + 5)
    fat = entry(2, body=bytes(range(256)) * 4096)
    noise = [entry(n, operator=f"{n}" * 300) for n in range(3, 300)]
    with pytest.raises(UnavailableError, match="cannot be written"):
        await journal.append([fat, *noise], deadline_s=DEADLINE_S)
    assert journal.counters.failed == 298
    journal._writer.pragma("max_page_count", 1_000_000)
    await journal.append([entry(400)], deadline_s=DEADLINE_S)
    found = await journal.recent(Wanted())
    assert [one.decision for one in found] == [entry(400).decision, entry(1).decision]
    await journal.close()


async def test_a_late_disk_is_an_error(tmp_path: Path) -> None:
    """An append that is not durable within its deadline fails, though it may be written later."""
    journal = SqliteJournal(tmp_path / "journal.db")
    blocker = apsw.Connection(str(tmp_path / "journal.db"))
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError, match="within 50 ms"):
        await journal.append([entry(1)], deadline_s=0.05)
    blocker.execute("ROLLBACK")
    blocker.close()
    await journal.append([entry(2)], deadline_s=DEADLINE_S)
    assert len(await journal.recent(Wanted())) == 2
    await journal.close()


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    """Behind a disk that stands still, what there is no room for is refused and counted."""
    journal = SqliteJournal(tmp_path / "journal.db")
    blocker = apsw.Connection(str(tmp_path / "journal.db"))
    blocker.execute("BEGIN IMMEDIATE")
    lines = [entry(number) for number in range(QUEUE_ENTRIES)]
    journal.offer(lines[:1])
    dropped = journal.offer(lines) + journal.offer(lines)
    assert dropped >= QUEUE_ENTRIES
    assert journal.counters.dropped == dropped
    with pytest.raises(UnavailableError):
        await journal.append(lines, deadline_s=DEADLINE_S)
    blocker.execute("ROLLBACK")
    blocker.close()
    await journal.close()


async def test_age_and_size_are_bounded(tmp_path: Path) -> None:
    """Old lines go first by age, then by size."""
    journal = SqliteJournal(tmp_path / "journal.db", size_bytes=500_000)
    lines = [entry(number) for number in range(4 * RETENTION_SLICE)]
    await journal.append(lines, deadline_s=DEADLINE_S)
    while journal._retain():
        pass
    left = await journal.recent(Wanted(limit=1000))
    assert len(left) > 100
    assert left[0].decision == lines[-1].decision
    assert journal._used_bytes() <= 500_000
    journal._age_s = -1e12
    while journal._retain():
        pass
    assert list(await journal.recent(Wanted())) == []
    await journal.close()


@pytest.mark.parametrize(
    "content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 4096]
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is no journal is an error that says what to do."""
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(UnavailableError, match="move it away"):
        SqliteJournal(path)


async def test_what_followed_is_found_by_its_cause(journal: Journal) -> None:
    """Oldest first, whoever did it; what nothing ties is not among it."""
    lines = [
        msgspec.structs.replace(entry(number), cause="decision-1" if number % 2 else "")
        for number in range(6)
    ]
    await journal.append(lines, deadline_s=DEADLINE_S)

    found = await journal.consequences("decision-1")

    assert [one.decision for one in found] == [lines[at].decision for at in (1, 3, 5)]
    assert list(await journal.consequences("decision-2")) == []


async def test_a_journal_of_the_first_version_is_carried_on(tmp_path: Path) -> None:
    """Its lines stay, and new ones may have a cause."""
    path = tmp_path / "journal.db"
    journal = SqliteJournal(path)
    await journal.append([entry(1)], deadline_s=DEADLINE_S)
    await journal.close()
    old = apsw.Connection(str(path))
    old.execute("DROP INDEX entries_by_cause; ALTER TABLE entries DROP COLUMN cause")
    old.pragma("user_version", 1)
    old.close()

    journal = SqliteJournal(path)
    follows = msgspec.structs.replace(entry(2), cause=entry(1).decision)
    await journal.append([follows], deadline_s=DEADLINE_S)
    kept = await journal.find(entry(1).decision)
    found = await journal.consequences(entry(1).decision)
    await journal.close()

    assert [one.decision for one in kept] == [entry(1).decision]
    assert [one.decision for one in found] == [follows.decision]
