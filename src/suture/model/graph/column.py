"""A column of integers as machine code has it: packed, and read in two nanoseconds.

What a row of the storage says stands in such columns, by its number. Compiled code reads an
`array` through the interpreter's objects, which costs forty times as much; so it has a type of its
own for that, and here is the one place that knows it. Plain Python has `plaincolumn`, its equal.
Source: `librt.vecs`, the packed vectors of mypyc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from librt.vecs import append, extend, pop, vec
from mypy_extensions import i32, i64, u8

CHUNK: Final = 1024
"""LIMIT: rows and links are made so many at a time: one at a time each column would have to be
asked for one more, which costs more than all else that a new row costs; 100 KB are soon used."""

SPARE: Final = 8
"""LIMIT: a column that is full is copied into one that has an eighth more of room, which is not
resident until it is used. Of two million rows that takes 2 ms, once in a quarter of a million."""

STEPS: Final = 32
"""Columns of one length have room for different ones, so that no two of them are copied for one
new row: a review waits for one column at most."""


class Column:
    """32-bit integers, signed, by row. LIMIT: 2,147,483,647 rows or links."""

    __slots__ = ("_room", "_step", "_values")

    def __init__(self, step: int = 0) -> None:
        self._values = vec[i32]()
        self._room = 0
        self._step = step % STEPS

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        at: i64 = row
        return int(self._values[at])

    def __setitem__(self, row: int, value: int) -> None:
        at: i64 = row
        self._values[at] = i32(value)

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        values = self._values
        if isinstance(rows, list):
            return [int(values[i64(row)]) for row in rows]
        return [int(values[i64(row)]) for row in rows]

    def all(self) -> list[int]:
        """Return everything that the column holds, in order."""
        return [int(value) for value in self._values]

    def append(self, value: int) -> None:
        """Add one value."""
        self._make_room(1)
        self._values = append(self._values, i32(value))

    def pop(self) -> int:
        """Take the last value out and return it. Errors: IndexError where there is none."""
        self._values, value = pop(self._values)
        return int(value)

    def grow(self, value: int) -> None:
        """Add CHUNK values that are all alike."""
        self._make_room(CHUNK)
        # WHY not one at a time: a chunk that is there already is copied at once.
        chunk = _NONES if value < 0 else _ZEROS
        self._values = extend(self._values, chunk)

    def fill(self, value: int, count: int) -> None:
        """Hold so many values that are all alike, and nothing else."""
        filler = i32(value)
        self._values = vec[i32](capacity=i64(count))
        for _ in range(count):
            self._values = append(self._values, filler)
        self._room = count

    def reserve(self, share: float) -> None:
        """Make room for a share more, and a little more in one column than in another."""
        self._have_room(len(self) + int(len(self) * share) * (STEPS + self._step) // STEPS)

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold what the bytes of such a column say. Errors: ValueError where they are none."""
        try:
            values: Any = memoryview(block).cast("B").cast("i")
            self._values = vec[i32](values)
        except TypeError as error:
            raise ValueError(f"{len(block)} bytes are no column of integers") from error
        self._room = len(self)

    def tobytes(self) -> bytes:
        """Return the bytes of the column."""
        return bytes(memoryview(self._values))

    @property
    def size_bytes(self) -> int:
        """How much memory the values take, what is reserved left out."""
        return 4 * len(self)

    def _make_room(self, count: int) -> None:
        length = len(self)
        if length + count > self._room:
            more = length // SPARE
            self._have_room(length + count + more + more * self._step // STEPS)

    def _have_room(self, room: int) -> None:
        if room > self._room:
            # WHY by way of its bytes: copied at once, and what is only room is not touched.
            values: Any = memoryview(self._values)
            self._values = vec[i32](values, capacity=i64(room))
            self._room = room


class Flags:
    """Numbers below 256 by row: what a byte says of each."""

    __slots__ = ("_room", "_step", "_values")

    def __init__(self, step: int = 0) -> None:
        self._values = vec[u8]()
        self._room = 0
        self._step = step % STEPS

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        at: i64 = row
        return int(self._values[at])

    def __setitem__(self, row: int, value: int) -> None:
        at: i64 = row
        self._values[at] = u8(value)

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        values = self._values
        if isinstance(rows, list):
            return [int(values[i64(row)]) for row in rows]
        return [int(values[i64(row)]) for row in rows]

    def grow(self) -> None:
        """Add CHUNK zeros."""
        length = len(self)
        if length + CHUNK > self._room:
            more = length // SPARE
            self._have_room(length + CHUNK + more + more * self._step // STEPS)
        self._values = extend(self._values, _NO_FLAGS)

    def reserve(self, share: float) -> None:
        """Make room for a share more, and a little more in one column than in another."""
        self._have_room(len(self) + int(len(self) * share) * (STEPS + self._step) // STEPS)

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold these bytes."""
        values: Any = bytes(block)
        self._values = vec[u8](values)
        self._room = len(self)

    def tobytes(self) -> bytes:
        """Return the bytes of the column."""
        return bytes(memoryview(self._values))

    @property
    def size_bytes(self) -> int:
        """How much memory the values take, what is reserved left out."""
        return len(self)

    def _have_room(self, room: int) -> None:
        if room > self._room:
            # WHY by way of its bytes: copied at once, and what is only room is not touched.
            values: Any = memoryview(self._values)
            self._values = vec[u8](values, capacity=i64(room))
            self._room = room


_NONES: Final = vec[i32]([-1] * CHUNK)
_ZEROS: Final = vec[i32]([0] * CHUNK)
_NO_FLAGS: Final = vec[u8](bytes(CHUNK))
