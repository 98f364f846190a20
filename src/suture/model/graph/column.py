"""A column of integers as machine code has it: packed, and read in two nanoseconds.

What a row of the storage says stands in such columns, by its number. Compiled code reads an
`array` through the interpreter's objects, which costs forty times as much; so it has a type of its
own for that, and here is the one place that knows it. Plain Python has `plaincolumn`, its equal.

A column is one piece, and after it chunks of what came since. So it grows without being moved,
which of two million rows would take five milliseconds in which no review is answered.
Source: `librt.vecs`, the packed vectors of mypyc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from librt.vecs import append, pop, vec
from mypy_extensions import i32, i64, u8

CHUNK: Final = 1024
"""LIMIT: rows and links are made so many at a time: one at a time each column would have to be
asked for one more, which costs more than all else that a new row costs; 100 KB are soon used."""

_SHIFT: Final = 10
_WITHIN: Final = CHUNK - 1


class Column:
    """32-bit integers, signed, by row. LIMIT: 2,147,483,647 rows or links.

    Errors: IndexError for a row below 0. WHY: -1 tells of no row, and the last would answer.
    """

    __slots__ = ("_chunks", "_first", "_piece", "_size")

    def __init__(self) -> None:
        self._piece = vec[i32]()
        self._first: i64 = 0
        """How many values the one piece has: the chunks hold those from there on."""
        self._chunks = vec[vec[i32]]()
        self._size: i64 = 0

    def __len__(self) -> int:
        return int(self._size)

    def __getitem__(self, row: int) -> int:
        at: i64 = row
        if at < 0:
            raise IndexError(f"row {row}")
        if at < self._first:
            return int(self._piece[at])
        at -= self._first
        return int(self._chunks[at >> _SHIFT][at & _WITHIN])

    def __setitem__(self, row: int, value: int) -> None:
        at: i64 = row
        if at < 0:
            raise IndexError(f"row {row}")
        if at < self._first:
            self._piece[at] = i32(value)
            return
        at -= self._first
        self._chunks[at >> _SHIFT][at & _WITHIN] = i32(value)

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        # WHY apart: a list is walked by machine code itself.
        if isinstance(rows, list):
            return [self[row] for row in rows]
        return [self[row] for row in rows]

    def all(self) -> list[int]:
        """Return everything that the column holds, in order."""
        return [self[row] for row in range(len(self))]

    def append(self, value: int) -> None:
        """Add one value."""
        within: i64 = (self._size - self._first) & _WITHIN
        if within == 0:
            self._chunks = append(self._chunks, vec[i32](capacity=CHUNK))
        last: i64 = len(self._chunks) - 1
        self._chunks[last] = append(self._chunks[last], i32(value))
        self._size += 1

    def pop(self) -> int:
        """Take the last value out and return it. Errors: IndexError where there is none."""
        if self._size == self._first:
            self._piece, value = pop(self._piece)
            self._first -= 1
        else:
            last: i64 = len(self._chunks) - 1
            self._chunks[last], value = pop(self._chunks[last])
            if len(self._chunks[last]) == 0:
                self._chunks, _ = pop(self._chunks)
        self._size -= 1
        return int(value)

    def grow(self, value: int) -> None:
        """Add CHUNK values that are all alike, to a column that grows by nothing else."""
        # WHY from its bytes: a chunk that is there already is copied at once.
        chunk: Any = _NONES if value < 0 else _ZEROS
        self._chunks = append(self._chunks, vec[i32](chunk))
        self._size += CHUNK

    def fill(self, value: int, count: int) -> None:
        """Hold so many values that are all alike, and nothing else."""
        filler = i32(value)
        piece = vec[i32](capacity=i64(count))
        for _ in range(count):
            piece = append(piece, filler)
        self._hold(piece)

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold what the bytes of such a column say. Errors: ValueError where they are none."""
        try:
            values: Any = memoryview(block).cast("B").cast("i")
        except TypeError as error:
            raise ValueError(f"{len(block)} bytes are no column of integers") from error
        self._hold(vec[i32](values))

    def tobytes(self) -> bytes:
        """Return the bytes of the column."""
        return b"".join([memoryview(self._piece), *(memoryview(one) for one in self._chunks)])

    @property
    def size_bytes(self) -> int:
        """How much memory the values take."""
        return 4 * len(self)

    def _hold(self, piece: vec[i32]) -> None:
        self._piece = piece
        self._first = self._size = len(piece)
        self._chunks = vec[vec[i32]]()


class Flags:
    """Numbers below 256 by row: what a byte says of each. Errors: as a column has."""

    __slots__ = ("_chunks", "_first", "_piece", "_size")

    def __init__(self) -> None:
        self._piece = vec[u8]()
        self._first: i64 = 0
        self._chunks = vec[vec[u8]]()
        self._size: i64 = 0

    def __len__(self) -> int:
        return int(self._size)

    def __getitem__(self, row: int) -> int:
        at: i64 = row
        if at < 0:
            raise IndexError(f"row {row}")
        if at < self._first:
            return int(self._piece[at])
        at -= self._first
        return int(self._chunks[at >> _SHIFT][at & _WITHIN])

    def __setitem__(self, row: int, value: int) -> None:
        at: i64 = row
        if at < 0:
            raise IndexError(f"row {row}")
        if at < self._first:
            self._piece[at] = u8(value)
            return
        at -= self._first
        self._chunks[at >> _SHIFT][at & _WITHIN] = u8(value)

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        if isinstance(rows, list):
            return [self[row] for row in rows]
        return [self[row] for row in rows]

    def grow(self) -> None:
        """Add CHUNK zeros."""
        chunk: Any = _NO_FLAGS
        self._chunks = append(self._chunks, vec[u8](chunk))
        self._size += CHUNK

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold these bytes."""
        values: Any = bytes(block)
        self._piece = vec[u8](values)
        self._first = self._size = len(self._piece)
        self._chunks = vec[vec[u8]]()

    def tobytes(self) -> bytes:
        """Return the bytes of the column."""
        return b"".join([memoryview(self._piece), *(memoryview(one) for one in self._chunks)])

    @property
    def size_bytes(self) -> int:
        """How much memory the values take."""
        return len(self)


_NONES: Final = vec[i32]([-1] * CHUNK)
_ZEROS: Final = vec[i32]([0] * CHUNK)
_NO_FLAGS: Final = vec[u8](bytes(CHUNK))
