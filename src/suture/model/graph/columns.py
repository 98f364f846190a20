"""The building blocks of the storage: columns of integers, and chains through them.

An object of the cluster is a row: a dense integer that is the index into every column. Columns
are packed integers, so that a row costs bytes where an object of Python would cost hundreds. Two
million rows and nothing for the garbage collector to walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from suture.model.graph import column as column_module
from suture.model.graph.column import Column, Flags
from suture.model.graph.plaincolumn import PlainColumn, PlainFlags

NONE: Final = -1
"""No row, no link, no place: what an empty slot of a column of integers holds."""

COMPILED: Final = not str(column_module.__file__).endswith(".py")
"""Whether columns are machine code: whoever is plain Python has plain columns, which it reads
faster."""


def integers() -> Column:
    """Return an empty column of 32-bit integers."""
    if COMPILED:
        return Column()
    # Any: the one stands for the other, and machine code never comes by here.
    plain: Any = PlainColumn("i")
    return plain  # type: ignore[no-any-return]


def flags() -> Flags:
    """Return an empty column of numbers below 256."""
    if COMPILED:
        return Flags()
    plain: Any = PlainFlags("B")
    return plain  # type: ignore[no-any-return]


def filled(value: int, count: int) -> Column:
    """Return a column of so many values that are all alike."""
    found = integers()
    found.fill(value, count)
    return found


def loaded(block: bytes | bytearray | memoryview) -> Column:
    """Return the column whose bytes these are. Errors: ValueError."""
    found = integers()
    found.load(block)
    return found


class Chain:
    """Rows that belong together (a place, a pod class), linked through two columns.

    A row is in one chain at a time. Adding and taking out cost the same however long the chain is.
    """

    __slots__ = ("heads", "next", "previous")

    def __init__(self) -> None:
        self.heads = integers()
        self.next = integers()
        self.previous = integers()

    def grow(self) -> None:
        """Make room for CHUNK more rows, in no chain."""
        self.next.grow(NONE)
        self.previous.grow(NONE)

    def new_head(self) -> int:
        """Begin a chain; return its number."""
        self.heads.append(NONE)
        return len(self.heads) - 1

    def add(self, head: int, row: int) -> None:
        """Put a row, which is in no chain, into one."""
        first = self.heads[head]
        self.next[row] = first
        # WHY below NONE: the row of a head's end says which head it is, for when it goes.
        self.previous[row] = -2 - head
        if first >= 0:
            self.previous[first] = row
        self.heads[head] = row

    def take_out(self, row: int) -> None:
        """Take a row out of the chain that it is in."""
        after, before = self.next[row], self.previous[row]
        if before >= 0:
            self.next[before] = after
        else:
            self.heads[-2 - before] = after
        if after >= 0:
            self.previous[after] = before
        self.next[row] = self.previous[row] = NONE

    @property
    def size_bytes(self) -> int:
        """How much memory the chains take."""
        return self.heads.size_bytes + self.next.size_bytes + self.previous.size_bytes

    def rows(self, head: int) -> list[int]:
        """Return the rows of a chain, the youngest first."""
        found: list[int] = []
        following, row = self.next, self.heads[head]
        while row >= 0:
            found.append(row)
            row = following[row]
        return found

    def walk(self, head: int) -> Iterator[int]:
        """Walk a chain; not while it changes."""
        following, row = self.next, self.heads[head]
        while row >= 0:
            yield row
            row = following[row]
