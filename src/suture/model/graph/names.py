"""The names of two million objects in one block of bytes, with room given back and used again.

Two columns say where a row's name stands. Room is handed out in steps of 4 bytes, so that the name
of the next pod fits where that of the last one stood, and a cluster that churns does not grow.
"""

from __future__ import annotations

from array import array

STEP = 4


_FILL = [bytes(size) for size in range(STEP)]


class Names:
    """Text by row."""

    __slots__ = ("_free", "at", "block", "sizes")

    def __init__(self) -> None:
        self.block = bytearray()
        self.at = array("I")
        self.sizes = array("I")
        self._free: dict[int, array[int]] = {}

    def grow(self, more: int) -> None:
        """Make room for more rows, without names."""
        self.at.frombytes(bytes(more * self.at.itemsize))
        self.sizes.frombytes(bytes(more * self.sizes.itemsize))

    def set(self, row: int, name: bytes) -> None:
        """Name a row that has no name."""
        size, block = len(name), self.block
        free = self._free.get(-(-size // STEP)) if self._free else None
        if free:
            at = free.pop()
            block[at : at + size] = name
        else:
            at = len(block)
            block += name
            block += _FILL[-size % STEP]
        self.at[row] = at
        self.sizes[row] = size

    def clear(self, row: int) -> None:
        """Take a row's name away."""
        room = -(-self.sizes[row] // STEP)
        if room:
            self._free.setdefault(room, array("I")).append(self.at[row])
        self.sizes[row] = 0

    def get(self, row: int) -> bytes:
        """Return a row's name."""
        at = self.at[row]
        return bytes(self.block[at : at + self.sizes[row]])

    def same(self, row: int, name: bytes) -> bool:
        """Whether a row has this very name."""
        size = self.sizes[row]
        if size != len(name):
            return False
        at = self.at[row]
        return self.block[at : at + size] == name

    def restore(self, block: bytes | bytearray | memoryview, at: bytes, sizes: bytes) -> None:
        """Take over what an equal one held; its free room is not known any more, and is lost."""
        self.block = bytearray(block)
        self.at, self.sizes = array("I", at), array("I", sizes)
        self._free = {}

    @property
    def size_bytes(self) -> int:
        """How much memory names take, their columns left out."""
        return len(self.block) + sum(len(free) * 4 for free in self._free.values())
