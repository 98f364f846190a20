"""From a name, or a uid, to its row: a hash table that holds nothing but rows.

What a row is called stands in the columns; the table says where to look and the caller compares.
Cut into segments that grow one at a time, since the growth of a table of two million would hold
up every review for a second.
Source: open addressing with linear probing and backward-shift deletion (Knuth, TAOCP 3, 6.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from suture.model.graph.column import Column
from suture.model.graph.columns import NONE, filled

SEGMENTS: Final = 1024
"""LIMIT: of a table of two million rows each segment has 2,000, and grows in half a millisecond."""

HASH: Final = (1 << 31) - 1
"""Hashes have 31 bits: the ten highest choose the segment, the lowest the slot in it. What meets
another by chance is told apart by the caller, who compares."""
SEGMENT_SHIFT: Final = 21

FAST: Final = 512
FIRST: Final = 8
"""Slots that a segment begins with."""


class HashTable:
    """Rows by hash. `hash_of` says the hash of a row that the table holds."""

    __slots__ = ("_hash_of", "held", "segments")

    def __init__(self, hash_of: Callable[[int], int]) -> None:
        self._hash_of = hash_of
        self.held = [0] * SEGMENTS
        """How many rows each segment holds; who fills a slot of `room` counts it here."""
        self.segments: list[Column | None] = [None] * SEGMENTS

    def __len__(self) -> int:
        return sum(self.held)

    def candidates(self, hashed: int) -> Iterator[int]:
        """Yield the rows that may be meant: every row of this hash, and some of others."""
        segment = self.segments[hashed >> SEGMENT_SHIFT]
        if segment is None:
            return
        mask = len(segment) - 1
        slot = hashed & mask
        while (row := segment[slot]) >= 0:
            yield row
            slot = (slot + 1) & mask

    def room(self, number: int) -> Column:
        """Return a segment with a slot for one more row, so that one search finds or adds."""
        segment = self.segments[number]
        if segment is None:
            segment = self.segments[number] = filled(NONE, FIRST)
        elif (self.held[number] + 1) * 3 > len(segment) * 2:
            segment = self.segments[number] = self._grown(segment)
        return segment

    def insert(self, hashed: int, row: int) -> None:
        """Add a row that is not in the table."""
        number = hashed >> SEGMENT_SHIFT
        segment = self.room(number)
        mask = len(segment) - 1
        slot = hashed & mask
        while segment[slot] >= 0:
            slot = (slot + 1) & mask
        segment[slot] = row
        self.held[number] += 1

    def remove(self, hashed: int, row: int) -> bool:
        """Take a row out; False where the table does not hold it."""
        number = hashed >> SEGMENT_SHIFT
        segment = self.segments[number]
        if segment is None:
            return False
        mask = len(segment) - 1
        slot = hashed & mask
        while (found := segment[slot]) != row:
            if found < 0:
                return False
            slot = (slot + 1) & mask
        self._close_gap(segment, slot)
        self.held[number] -= 1
        return True

    def _close_gap(self, segment: Column, gap: int) -> None:
        """Move up what stands behind a gap, so that no search ends at it too early."""
        mask = len(segment) - 1
        slot = gap
        while True:
            slot = (slot + 1) & mask
            row = segment[slot]
            if row < 0:
                break
            home = self._hash_of(row) & mask
            # Whether its home lies outside of (gap, slot]: then it may stand in the gap.
            if (slot - home) & mask >= (slot - gap) & mask:
                segment[gap] = row
                gap = slot
        segment[gap] = NONE

    def _grown(self, segment: Column) -> Column:
        # WHY faster at first: nearly all tables that are asked for more than once grow large.
        return self._laid_out(segment.all(), len(segment) * (4 if len(segment) < FAST else 2))

    def _laid_out(self, rows: list[int], size: int) -> Column:
        """Return a segment of so many slots with these rows, empty slots among them left out."""
        laid_out = filled(NONE, size)
        mask = size - 1
        for row in rows:
            if row >= 0:
                slot = self._hash_of(row) & mask
                while laid_out[slot] >= 0:
                    slot = (slot + 1) & mask
                laid_out[slot] = row
        return laid_out

    def rebuilt(self, segments: list[Column | None], held: list[int]) -> None:
        """Take over segments as an equal table had them."""
        self.segments, self.held = segments, held

    def rehash(self) -> None:
        """Make the table anew, where the hashes of its rows are others than they were."""
        held = [row for one in self.segments if one is not None for row in one.all() if row >= 0]
        self.segments, self.held = [None] * SEGMENTS, [0] * SEGMENTS
        for row in held:
            self.insert(self._hash_of(row), row)

    @property
    def size_bytes(self) -> int:
        """How much memory the segments take."""
        return sum(segment.size_bytes for segment in self.segments if segment is not None)
