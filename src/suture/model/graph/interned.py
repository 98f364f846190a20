"""Values that many rows share (label sets, facts, finalizers), each kept once, as its bytes.

A row holds a number. Values are counted by use and go when nobody uses them, so that the label
sets of yesterday's rollouts do not stay for ever.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from suture.model.graph.columns import integers
from suture.model.graph.hashtable import HASH, SEGMENT_SHIFT, SEGMENTS, HashTable


class Interned:
    """Bytes by number. Number 0 stands for none, and costs nothing."""

    __slots__ = ("_free", "_numbers", "_uses", "values")

    def __init__(self) -> None:
        self.values: list[bytes] = [b""]
        """Every value by number; empty where a number is free."""
        self._numbers = HashTable(self._hash_of)
        self._uses = integers()
        self._uses.append(0)
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> bytes:
        return self.values[number]

    def use(self, value: bytes) -> int:
        """Return the number of a value, which is used once more from now on."""
        if not value:
            return 0
        values, table, hashed = self.values, self._numbers, hash(value) & HASH
        part = hashed >> SEGMENT_SHIFT
        segment = table.room(part)
        # The table's `candidates` and `insert`, written out: each new object asks for its labels.
        mask = len(segment) - 1
        slot = hashed & mask
        while (number := segment[slot]) >= 0:
            if values[number] == value:
                self._uses[number] += 1
                return number
            slot = (slot + 1) & mask
        if self._free:
            number = self._free.pop()
            values[number] = value
            self._uses[number] = 1
        else:
            number = len(values)
            values.append(value)
            self._uses.append(1)
        segment[slot] = number
        table.held[part] += 1
        return number

    def release(self, number: int) -> None:
        """Use a value once less; it goes with its last use."""
        if not number:
            return
        self._uses[number] -= 1
        if not self._uses[number]:
            self._numbers.remove(self._hash_of(number), number)
            self.values[number] = b""
            self._free.append(number)

    def swap(self, number: int, value: bytes) -> int:
        """Use `value` in place of what `number` stands for; return its number."""
        if self.values[number] == value:
            return number
        fresh = self.use(value)
        self.release(number)
        return fresh

    def uses_of(self, number: int) -> int:
        """Return how many rows use a value."""
        return self._uses[number]

    def _hash_of(self, number: int) -> int:
        return hash(self.values[number]) & HASH

    # ---- as a whole

    @property
    def uses(self) -> bytes:
        """How often each value is used, as the bytes of a column."""
        return self._uses.tobytes()

    def restore(self, values: Iterable[bytes], uses: bytes) -> None:
        """Take over the values and uses of an equal one."""
        self.values = list(values)
        self._uses = integers()
        self._uses.frombytes(uses)
        self._numbers = HashTable(self._hash_of)
        parts = [integers() for _ in range(SEGMENTS)]
        entered = [part.append for part in parts]
        for number, hashed in enumerate(map(hash, self.values)):
            entered[(hashed & HASH) >> SEGMENT_SHIFT](number)
        # What is free is empty, and all that is empty has one hash.
        empty = (hash(b"") & HASH) >> SEGMENT_SHIFT
        self._free = [number for number in parts[empty] if number and not self.values[number]]
        parts[empty] = array("i", [number for number in parts[empty] if self.values[number]])
        self._numbers.fill(parts)

    @property
    def size_bytes(self) -> int:
        """About how much memory the values take: their bytes, and 45 around each."""
        held = sum(map(len, self.values)) + 45 * len(self.values)
        return held + self._numbers.size_bytes
