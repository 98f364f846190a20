"""Values that many rows share (label sets, facts, finalizers), each kept once, as its bytes.

A row holds a number. Values are counted by use and go when nobody uses them, so that the label
sets of yesterday's rollouts do not stay for ever. They stand in one block: half a million values
as objects of Python would cost half as much again, and a start from a file would make each anew.
"""

from __future__ import annotations

from suture.model.graph.column import Column
from suture.model.graph.columns import integers
from suture.model.graph.hashing import KeyedHash
from suture.model.graph.hashtable import SEGMENT_SHIFT, HashTable
from suture.model.graph.names import Names


class Interned:
    """Bytes by number. Number 0 stands for none, and costs nothing. `secret` keys the hashes."""

    __slots__ = ("_hash", "free", "table", "texts", "uses")

    def __init__(self, secret: bytes) -> None:
        self._hash = KeyedHash(secret)
        self.texts = Names()
        """Every value by number; empty where a number is free."""
        self.texts.add()
        self.table = HashTable(self._hash_of)
        self.uses = integers()
        """How many rows use each."""
        self.uses.append(0)
        self.free = integers()

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, number: int) -> bytes:
        return self.texts.get(number)

    def use(self, value: bytes) -> int:
        """Return the number of a value, which is used once more from now on."""
        if not value:
            return 0
        texts, table, hashed = self.texts, self.table, self._hash.of(value)
        part = hashed >> SEGMENT_SHIFT
        segment = table.room(part)
        # The table's `candidates` and `insert`, written out: each new object asks for its labels.
        mask = len(segment) - 1
        slot = hashed & mask
        while (number := segment[slot]) >= 0:
            if texts.same(number, value):
                self.uses[number] += 1
                return number
            slot = (slot + 1) & mask
        if len(self.free):
            number = self.free.pop()
            self.uses[number] = 1
        else:
            number = len(self.uses)
            texts.add()
            self.uses.append(1)
        texts.set(number, value)
        segment[slot] = number
        table.held[part] += 1
        return number

    def release(self, number: int) -> None:
        """Use a value once less; it goes with its last use."""
        if not number:
            return
        self.uses[number] -= 1
        if not self.uses[number]:
            self.table.remove(self._hash_of(number), number)
            self.texts.clear(number)
            self.free.append(number)

    def swap(self, number: int, value: bytes) -> int:
        """Use `value` in place of what `number` stands for; return its number."""
        if self.texts.same(number, value):
            return number
        fresh = self.use(value)
        self.release(number)
        return fresh

    def uses_of(self, number: int) -> int:
        """Return how many rows use a value."""
        return self.uses[number]

    def _hash_of(self, number: int) -> int:
        return self._hash.of(self.texts.get(number))

    def restore(self, uses: Column, free: Column) -> None:
        """Take over how an equal one is used; its texts and table are restored by themselves."""
        self.uses, self.free = uses, free

    @property
    def size_bytes(self) -> int:
        """How much memory the values take, with their columns."""
        return self.texts.size_bytes + 12 * len(self.uses) + self.table.size_bytes
