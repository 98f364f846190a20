"""A column of integers as plain Python has it: an `array`, which the interpreter reads itself.

The equal of `column`, whose packed vectors are fast in machine code alone; a test holds both to the
same. But a row below 0 is read as an `array` reads it, which is ten times as fast as asking: the
tests refuse it here too. Whoever wants a column asks `columns`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import itemgetter

from suture.model.graph.column import CHUNK


class PlainColumn(array):  # type: ignore[type-arg]  # takes none before Python 3.12
    """32-bit integers, signed, by row."""

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        if len(rows) > 1:
            return list(itemgetter(*rows)(self))
        return [self[rows[0]]] if rows else []

    def all(self) -> list[int]:
        """Return everything that the column holds, in order."""
        return self.tolist()

    def grow(self, value: int) -> None:
        """Add CHUNK values that are all alike."""
        self.extend(array("i", [value]) * CHUNK)

    def fill(self, value: int, count: int) -> None:
        """Hold so many values that are all alike, and nothing else."""
        del self[:]
        self.extend(array("i", [value]) * count)

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold what the bytes of such a column say. Errors: ValueError where they are none."""
        del self[:]
        self.frombytes(block)

    @property
    def size_bytes(self) -> int:
        """How much memory the values take."""
        return len(self) * self.itemsize


class PlainFlags(array):  # type: ignore[type-arg]  # takes none before Python 3.12
    """Numbers below 256 by row."""

    def at(self, rows: Sequence[int]) -> list[int]:
        """Return what the column holds at each of some rows."""
        if len(rows) > 1:
            return list(itemgetter(*rows)(self))
        return [self[rows[0]]] if rows else []

    def grow(self) -> None:
        """Add CHUNK zeros."""
        self.frombytes(bytes(CHUNK))

    def load(self, block: bytes | bytearray | memoryview) -> None:
        """Hold these bytes."""
        del self[:]
        self.frombytes(block)

    @property
    def size_bytes(self) -> int:
        """How much memory the values take."""
        return len(self) * self.itemsize
