"""The journal on disk: one SQLite file, one writer thread, many decisions a commit.

The event loop hands entries over and is woken when they are durable; nothing on it touches the
disk. A commit carries all that waited for it (group commit), so that its fsync is shared. WAL with
synchronous=FULL: what was confirmed survives a power cut.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import msgspec

from suture.errors import UnavailableError
from suture.journal.entry import Entry
from suture.journal.query import CONSEQUENCES_LIMIT, DryRuns, Line, Wanted

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

QUEUE_BYTES = 64 * 1024 * 1024
"""LIMIT: bytes waiting to be written: 40 objects of the largest size, or 30,000 plain lines, which
is ten seconds of a busy cluster behind a disk that stands still."""

QUEUE_ENTRIES = 32_768
"""LIMIT: lines waiting to be written; their Python objects weigh about as much as their bytes."""

COMMIT_ENTRIES = 1_024
"""LIMIT: lines in one commit: about 10 ms of inserts, so that nobody waits for a giant."""

RETENTION_EVERY_S = 30.0
"""LIMIT: between two looks at age and size; 30 s of 1,000 lines a second are 60 MB past a limit."""

RETENTION_SLICE = 1_000
"""LIMIT: lines deleted between two commits: about 5 ms that an append may have to wait."""

AGE_S = 30 * 24 * 3600.0
"""LIMIT: how long lines are kept: a month, the usual time until an incident's review is over."""

SIZE_BYTES = 2 * 1024**3
"""LIMIT: size of the file: a million lines with small bodies; the oldest go first."""

BUSY_MS = 2_000
"""LIMIT: how long to wait for another process's lock, such as a backup's, before it is an error."""

COMPRESSION_LEVEL = 3
"""zstd's own default: 4 KiB of JSON in about 30 µs on the writer's thread."""

SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE entries (
    seq       INTEGER PRIMARY KEY,
    decision  TEXT NOT NULL,
    utc_s     REAL NOT NULL,
    operator  TEXT NOT NULL,
    identity  TEXT NOT NULL,
    namespace TEXT NOT NULL,
    answer    TEXT NOT NULL,
    would     TEXT NOT NULL,
    cause     TEXT,
    line      BLOB NOT NULL,
    body      BLOB
) STRICT;
CREATE INDEX entries_by_decision ON entries (decision);
CREATE INDEX entries_by_time ON entries (utc_s);
CREATE INDEX entries_by_operator ON entries (operator, utc_s);
CREATE INDEX entries_by_cause ON entries (cause) WHERE cause IS NOT NULL;
CREATE INDEX entries_refused ON entries (utc_s) WHERE would = 'deny';
"""

FROM_FIRST = """
ALTER TABLE entries ADD COLUMN cause TEXT;
CREATE INDEX entries_by_cause ON entries (cause) WHERE cause IS NOT NULL;
"""
"""Version 1 knew no causes."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Entry)


@dataclass
class _Batch:
    """Entries that become durable together, and who is to be told."""

    entries: Sequence[Entry]
    size_bytes: int
    done: Callable[[BaseException | None], None] | None = None


@dataclass
class Counters:
    """What the rim publishes of the writer. Written by its thread, read by anyone."""

    written: int = 0
    dropped: int = 0
    failed: int = 0
    deleted: int = 0
    commit_s: deque[float] = field(default_factory=lambda: deque(maxlen=1024))


class SqliteJournal:
    """A durable journal. Made and used on one event loop; `close` ends its thread."""

    def __init__(self, path: Path, *, age_s: float = AGE_S, size_bytes: int = SIZE_BYTES) -> None:
        """Open or create the file.

        Errors: UnavailableError when it cannot be opened or is not a journal of this version.
        """
        self.path = path
        self.counters = Counters()
        self._age_s = age_s
        self._size_bytes = size_bytes
        self._dry_runs = DryRuns()
        self._waiting: deque[_Batch] = deque()
        self._waiting_entries = self._waiting_bytes = 0
        self._wake = threading.Condition()
        self._closing = False
        self._writer = _opened(path, write=True)
        self._reader = _opened(path, write=False)
        self._reading = threading.Lock()
        self._thread = threading.Thread(target=self._write_all, name="journal", daemon=True)
        self._thread.start()

    # -- on the event loop

    async def append(self, entries: Sequence[Entry], *, deadline_s: float) -> None:
        """Write entries down; return once they are durable."""
        real = self._dry_runs.part(entries)
        if not real:
            return
        loop = asyncio.get_running_loop()
        confirmed: asyncio.Future[None] = loop.create_future()

        def settle(problem: BaseException | None) -> None:
            if confirmed.done():
                return
            if problem is None:
                confirmed.set_result(None)
            else:
                confirmed.set_exception(problem)

        def done(problem: BaseException | None) -> None:
            try:
                loop.call_soon_threadsafe(settle, problem)
            except RuntimeError:
                return  # the loop has ended: nobody waits any more

        if not self._enqueue(real, done):
            raise UnavailableError("the journal cannot keep up or is closed: its queue is full")
        try:
            async with asyncio.timeout(deadline_s):
                await confirmed
        except TimeoutError:
            raise UnavailableError(
                f"the journal did not confirm within {deadline_s * 1000:.0f} ms"
            ) from None

    def offer(self, entries: Sequence[Entry]) -> int:
        """Have entries written some time soon; return how many there was no room for."""
        real = self._dry_runs.part(entries)
        if not real or self._enqueue(real, None):
            return 0
        self.counters.dropped += len(real)
        return len(real)

    def hold(self, decision: str, line: Line) -> None:
        """Hold a dry run until somebody asks for it."""
        self._dry_runs.hold(decision, line)

    async def find(self, decision: str) -> Sequence[Entry]:
        """Return the lines of a decision id."""
        dry = self._dry_runs.find(decision)
        query = "SELECT line, body FROM entries WHERE decision = ? ORDER BY seq"
        rows = await asyncio.to_thread(self._read, query, (decision,))
        return [*rows, dry] if dry else rows

    async def recent(self, wanted: Wanted) -> Sequence[Entry]:
        """Return the newest lines that are wanted, newest first."""
        conditions: dict[str, float | str | None] = {
            "utc_s >= ?": wanted.since_utc_s,
            "utc_s <= ?": wanted.until_utc_s,
            "? IN (operator, identity)": wanted.operator or None,
            "namespace = ?": wanted.namespace or None,
            "answer = ?": wanted.answer,
            "would = ?": wanted.would,
        }
        asked = {text: value for text, value in conditions.items() if value is not None}
        query = (
            f"SELECT line, NULL FROM entries WHERE {' AND '.join(asked)}"  # noqa: S608 no value in it
            " ORDER BY utc_s DESC, seq DESC LIMIT ?"
        )
        values = (*asked.values(), wanted.bounded_limit)
        return await asyncio.to_thread(self._read, query, values)

    async def consequences(self, decision: str) -> Sequence[Entry]:
        """Return what followed from a decision, oldest first, without bodies."""
        query = "SELECT line, NULL FROM entries WHERE cause = ? ORDER BY seq LIMIT ?"
        return await asyncio.to_thread(self._read, query, (decision, CONSEQUENCES_LIMIT))

    async def close(self) -> None:
        """Write what is queued, then end the thread and close the file."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join)
        with self._reading:
            self._reader.close()

    def _enqueue(
        self, entries: list[Entry], done: Callable[[BaseException | None], None] | None
    ) -> bool:
        size_bytes = sum(len(entry.body) + 1_024 for entry in entries)
        with self._wake:
            if (
                self._closing
                or self._waiting_entries + len(entries) > QUEUE_ENTRIES
                or self._waiting_bytes + size_bytes > QUEUE_BYTES
            ):
                return False
            self._waiting.append(_Batch(entries, size_bytes, done))
            self._waiting_entries += len(entries)
            self._waiting_bytes += size_bytes
            self._wake.notify()
        return True

    # -- on a thread of the reader's

    def _read(self, query: str, values: tuple[Any, ...]) -> list[Entry]:
        found: list[Entry] = []
        try:
            with self._reading:
                for line, body in self._reader.execute(query, values):
                    entry = _DECODER.decode(line)
                    if body is not None:
                        entry = msgspec.structs.replace(entry, body=zstd.decompress(body))
                    found.append(entry)
        except (apsw.Error, msgspec.DecodeError, zstd.ZstdError) as problem:
            raise UnavailableError(f"the journal cannot be read: {problem}") from problem
        return found

    # -- on the writer's thread

    def _write_all(self) -> None:
        next_retention = time.monotonic() + RETENTION_EVERY_S
        while True:
            batches = self._next_batches(next_retention - time.monotonic())
            if batches is None:
                break
            if batches:
                self._commit(batches)
            if time.monotonic() >= next_retention:
                try:
                    more = self._retain()
                except apsw.Error:
                    self.counters.failed += 1
                    more = False
                next_retention = time.monotonic() + (0.0 if more else RETENTION_EVERY_S)
        self._writer.close()

    def _next_batches(self, timeout_s: float) -> list[_Batch] | None:
        """Wait for work; return it, nothing when time is up, None when all is done."""
        with self._wake:
            if not self._waiting and not self._closing and timeout_s > 0:
                self._wake.wait(timeout_s)
            if not self._waiting:
                return None if self._closing else []
            batches: list[_Batch] = []
            count = 0
            while self._waiting and (not batches or count < COMMIT_ENTRIES):
                batch = self._waiting.popleft()
                batches.append(batch)
                count += len(batch.entries)
                self._waiting_entries -= len(batch.entries)
                self._waiting_bytes -= batch.size_bytes
            return batches

    def _commit(self, batches: list[_Batch]) -> None:
        problem: UnavailableError | None = None
        rows = [_row(entry) for batch in batches for entry in batch.entries]
        started = time.monotonic()
        try:
            with self._writer:
                self._writer.executemany(
                    "INSERT INTO entries (decision, utc_s, operator, identity, namespace,"
                    " answer, would, cause, line, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
        except apsw.Error as error:
            # Disk full, I/O error, lock: nothing of this commit is there; the next one may be.
            problem = UnavailableError(f"the journal cannot be written: {error}")
            problem.__cause__ = error
            self.counters.failed += len(rows)
        else:
            self.counters.written += len(rows)
            self.counters.commit_s.append(time.monotonic() - started)
        for batch in batches:
            if batch.done is not None:
                batch.done(problem)

    def _retain(self) -> bool:
        """Delete one slice of what is too old or too much; tell whether there is more."""
        oldest_s = time.time() - self._age_s
        with self._writer:
            self._writer.execute(
                "DELETE FROM entries WHERE seq IN"
                " (SELECT seq FROM entries WHERE utc_s < ? ORDER BY utc_s LIMIT ?)",
                (oldest_s, RETENTION_SLICE),
            )
            deleted = self._writer.changes()
            if deleted < RETENTION_SLICE and self._used_bytes() > self._size_bytes:
                # A twentieth at most, so that a few large bodies do not take all lines along.
                self._writer.execute(
                    "DELETE FROM entries WHERE seq <= (SELECT min(seq) +"
                    " min(?, (max(seq) - min(seq)) / 20) FROM entries)",
                    (RETENTION_SLICE,),
                )
                deleted += self._writer.changes()
        self._writer.execute(f"PRAGMA incremental_vacuum({RETENTION_SLICE})").fetchall()
        self.counters.deleted += deleted
        return deleted > 0 and (deleted >= RETENTION_SLICE or self._used_bytes() > self._size_bytes)

    def _used_bytes(self) -> int:
        values = [
            int(self._writer.pragma(name)) for name in ("page_count", "freelist_count", "page_size")
        ]
        return (values[0] - values[1]) * values[2]


def _row(entry: Entry) -> tuple[str | float | bytes | None, ...]:
    body = zstd.compress(entry.body, level=COMPRESSION_LEVEL) if entry.body else None
    return (
        entry.decision,
        entry.utc_s,
        entry.operator,
        entry.identity,
        entry.asked.key.namespace,
        entry.answer,
        entry.would,
        entry.cause or None,
        _ENCODER.encode(msgspec.structs.replace(entry, body=b"") if body else entry),
        body,
    )


def _opened(path: Path, *, write: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY
    if write:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    try:
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(BUSY_MS)
        if write:
            connection.pragma("auto_vacuum", 2)  # incremental; only a new file listens
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", 2)  # FULL: the WAL is flushed at each commit
            _migrate(connection, path)
    except apsw.Error as problem:
        raise UnavailableError(
            f"the journal `{path}` cannot be opened: {problem}; move it away to start a new one"
        ) from problem
    return connection


def _migrate(connection: apsw.Connection, path: Path) -> None:
    version = connection.pragma("user_version")
    if version == 0:
        with connection:
            connection.execute(SCHEMA)
            connection.pragma("user_version", SCHEMA_VERSION)
    elif version == 1:
        with connection:
            connection.execute(FROM_FIRST)
            connection.pragma("user_version", SCHEMA_VERSION)
    elif version != SCHEMA_VERSION:
        raise UnavailableError(
            f"the journal `{path}` has version {version}, wanted {SCHEMA_VERSION}; "
            "move it away to start a new one"
        )
