"""The building blocks of the storage: columns of integers, and chains through them.

An object of the cluster is a row: a dense integer that is the index into every column. Columns
are `array`s, so that a row costs bytes where an object of Python would cost hundreds. Two million
rows and nothing for the garbage collector to walk.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

NONE: Final = -1
"""No row, no link, no place: what an empty slot of a column of integers holds."""


CHUNK: Final = 1024
"""LIMIT: rows and links are made so many at a time: one at a time each column would have to be
asked for one more, which costs more than all else that a new row costs; 100 KB are soon used."""


def integers() -> array[int]:
    """Return an empty column of 32-bit integers. LIMIT: 2,147,483,647 rows or links."""
    return array("i")


def narrow() -> array[int]:
    """Return an empty column of 16-bit numbers, to be `widened` where they do not do.

    WHY: of what most columns of numbers count there are some hundred, in any cluster.
    """
    return array("H")


def widened(column: array[int]) -> array[int]:
    """Return a column of the same numbers with room for any.

    LIMIT: 65,536 different ones; then once for each column, 10 ms for four million.
    """
    return array("i", column)


def read_narrow(block: bytes | bytearray | memoryview, length: int) -> array[int]:
    """Return the column of `length` numbers whose bytes these are, widened or not."""
    column = array("H" if len(block) == 2 * length else "i")
    column.frombytes(block)
    return column


def reserve(column: array[int] | array[float], share: float) -> None:
    """Make room for growth without moving the column later.

    WHY: to move a column of two million rows takes milliseconds, in which no review is answered.
    """
    length = len(column)
    column.frombytes(bytes(int(length * share) * column.itemsize))
    # LIMIT: CPython's array gives most of it back here and keeps a sixteenth, as with any growth.
    del column[length:]


class Chain:
    """Rows that belong together (a place, a pod class), linked through two columns.

    A row is in one chain at a time. Adding and taking out cost the same however long the chain is.
    """

    __slots__ = ("heads", "next", "previous")

    def __init__(self) -> None:
        self.heads = integers()
        self.next = integers()
        self.previous = integers()

    def grow(self, more: array[int]) -> None:
        """Make room for more rows, in no chain; `more` holds NONE for each."""
        self.next += more
        self.previous += more

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
        return 4 * (len(self.heads) + len(self.next) + len(self.previous))

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
