"""Which lines of the record somebody wants, and the ring that holds what leaves no trace.

Pure; every journal answers the same question the same way, and keeps dry runs apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from suture.journal.entry import Entry
from suture.verdict import Answer

DRY_RUNS_KEPT = 512
"""LIMIT: dry runs that can be explained: a drill sends a few hundred; 2 kB each, 1 MB, and where
the line is yet to be made its request beside it, which whoever offers it bounds."""

Line = Callable[[], Entry]
"""A line that is made when somebody asks for it: of dry runs hardly any ever is."""

RECENT_LIMIT = 1_000
"""LIMIT: lines in one answer: more than a person reads, 2 MB to carry."""


CONSEQUENCES_LIMIT = 10_000
"""LIMIT: consequences of one decision in one answer: a namespace of the largest size, 10 MB."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the journal; what is empty does not narrow it. Newest lines come first."""

    operator: str = ""
    answer: Answer | None = None
    would: Answer | None = None
    namespace: str = ""
    since_utc_s: float = 0.0
    until_utc_s: float | None = None
    limit: int = 100

    def matches(self, entry: Entry) -> bool:
        """Tell whether this line is wanted."""
        return (
            (not self.operator or self.operator in (entry.operator, entry.identity))
            and (self.answer is None or entry.answer is self.answer)
            and (self.would is None or entry.would is self.would)
            and (not self.namespace or entry.asked.key.namespace == self.namespace)
            and entry.utc_s >= self.since_utc_s
            and (self.until_utc_s is None or entry.utc_s <= self.until_utc_s)
        )

    @property
    def bounded_limit(self) -> int:
        """How many lines to return at most."""
        return max(0, min(self.limit, RECENT_LIMIT))


class DryRuns:
    """The last dry runs, in memory only: they can be explained and are in no record."""

    def __init__(self) -> None:
        self._kept: deque[tuple[str, Entry | Line]] = deque(maxlen=DRY_RUNS_KEPT)

    def hold(self, decision: str, line: Line) -> None:
        """Keep a dry run whose line is made when it is looked for."""
        self._kept.append((decision, line))

    def part(self, entries: Iterable[Entry]) -> list[Entry]:
        """Keep the dry runs among `entries`; return the others."""
        real = []
        for entry in entries:
            if entry.asked.dry_run:
                self._kept.append((entry.decision, entry))
            else:
                real.append(entry)
        return real

    def find(self, decision: str) -> Entry | None:
        """Return a dry run by its decision id."""
        found = next((line for known, line in reversed(self._kept) if known == decision), None)
        return found() if callable(found) else found
