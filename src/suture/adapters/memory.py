"""The app's ports in memory: for replay, what-if, tests, and a run without a disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from suture.errors import UnavailableError
from suture.journal.entry import Entry
from suture.journal.query import CONSEQUENCES_LIMIT, DryRuns, Line, Wanted
from suture.verdict import Verdict

ENTRIES_KEPT = 50_000
"""LIMIT: lines held; about 2 kB each without bodies, 100 MB. The oldest goes first."""


class MemoryJournal:
    """A journal that ends with the process."""

    def __init__(self, *, entries_kept: int = ENTRIES_KEPT) -> None:
        self._entries: deque[Entry] = deque(maxlen=entries_kept)
        self._dry_runs = DryRuns()
        self._closed = False

    async def append(self, entries: Sequence[Entry], *, deadline_s: float) -> None:  # noqa: ARG002 never late
        """Hold entries."""
        if self._closed:
            raise UnavailableError("the journal is closed")
        self._entries.extend(self._dry_runs.part(entries))

    def offer(self, entries: Sequence[Entry]) -> int:
        """Hold entries; nothing is ever too much, the oldest makes room."""
        real = self._dry_runs.part(entries)
        if self._closed:
            return len(real)
        self._entries.extend(real)
        return 0

    def hold(self, decision: str, line: Line) -> None:
        """Hold a dry run until somebody asks for it."""
        self._dry_runs.hold(decision, line)

    async def find(self, decision: str) -> Sequence[Entry]:
        """Return the lines of a decision id."""
        dry = self._dry_runs.find(decision)
        found = [one for one in self._entries if one.decision == decision]
        return [*found, dry] if dry else found

    async def recent(self, wanted: Wanted) -> Sequence[Entry]:
        """Return the newest lines that are wanted, newest first."""
        found = [one for one in reversed(self._entries) if wanted.matches(one)]
        return [msgspec.structs.replace(one, body=b"") for one in found[: wanted.bounded_limit]]

    async def consequences(self, decision: str) -> Sequence[Entry]:
        """Return what followed from a decision, oldest first."""
        found = [one for one in self._entries if one.cause == decision]
        return [msgspec.structs.replace(one, body=b"") for one in found[:CONSEQUENCES_LIMIT]]

    async def close(self) -> None:
        """Take nothing more."""
        self._closed = True


class NoSignals:
    """Signals that nobody counts: for replay, what-if and benchmarks."""

    def decided(self, lane: str, verdict: Verdict, seconds: float) -> None:
        """Let an answer go by."""

    def doubted(self, lane: str, code: str) -> None:
        """Let a doubt go by."""

    def broke_glass(self) -> None:
        """Let an alarm go by."""

    def settled(self, outcome: str) -> None:
        """Let the end of a reservation go by."""
