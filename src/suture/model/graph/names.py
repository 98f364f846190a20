"""The texts of two million objects in one block of bytes, with room given back and used again.

Two columns say where a text stands. Room is handed out in steps of 4 bytes, so that the name of
the next pod fits where that of the last one stood, and a cluster that churns does not grow.
"""

from __future__ import annotations

from array import array
from typing import Final

from suture.model.graph.column import Column
from suture.model.graph.columns import integers

STEP: Final = 4

TEXTS: Final = 64
"""LIMIT: texts kept as they are read, 0.2 kB each: a judgement asks for the names of its few
objects again and again."""

_FILL: Final = [bytes(size) for size in range(STEP)]


class Names:
    """Text by number: a row's name, a value that rows share."""

    __slots__ = ("_free", "_texts", "at", "block", "sizes")

    def __init__(self) -> None:
        self.block = bytearray()
        self.at = integers()
        """Where each begins. LIMIT: 2 GB; the names of two million objects are 50 MB."""
        self.sizes = integers()
        self._free: dict[int, array[int]] = {}
        self._texts: dict[int, str] = {}
        """Some by number, as text. INVARIANT: `set` and `clear` alone change one."""

    def grow(self) -> None:
        """Make room for CHUNK more of them, without text."""
        self.at.grow(0)
        self.sizes.grow(0)

    def add(self) -> None:
        """Make room for one more, without text."""
        self.at.append(0)
        self.sizes.append(0)

    def set(self, number: int, text: bytes) -> None:
        """Give a text to what has none."""
        self._texts.pop(number, None)
        size, block = len(text), self.block
        free = self._free.get(-(-size // STEP)) if self._free else None
        if free:
            at = free.pop()
            block[at : at + size] = text
        else:
            at = len(block)
            block += text
            block += _FILL[-size % STEP]
        self.at[number] = at
        self.sizes[number] = size

    def clear(self, number: int) -> None:
        """Take a text away."""
        self._texts.pop(number, None)
        room = -(-self.sizes[number] // STEP)
        if room:
            self._free.setdefault(room, array("I")).append(self.at[number])
        self.sizes[number] = 0

    def get(self, number: int) -> bytes:
        """Return a text; an empty one where there is none."""
        at, size = self.at[number], self.sizes[number]
        return bytes(self.block[at : at + size])

    def text(self, number: int) -> str:
        """Return the same as a text; lone surrogates, which a name may come with, as they came."""
        known = self._texts.get(number)
        if known is None:
            if len(self._texts) >= TEXTS:
                self._texts.clear()
            at, size = self.at[number], self.sizes[number]
            # WHY not by way of bytes: nearly every answer names something, and each copy costs.
            known = self.block[at : at + size].decode("utf-8", "surrogatepass")
            self._texts[number] = known
        return known

    def same(self, number: int, text: bytes) -> bool:
        """Whether this is the very text of a number."""
        size = self.sizes[number]
        if size != len(text):
            return False
        at = self.at[number]
        return self.block[at : at + size] == text

    def reserve(self, share: float) -> None:
        """Make room for a share more of texts.

        WHY at once: a block that was just read has none, and would be moved with its next text.
        """
        length = len(self.block)
        self.block += bytes(int(length * share))
        del self.block[length:]

    @property
    def free_room(self) -> array[int]:
        """What room is free: how many steps, and where, by turns."""
        found = array("I")
        for room, places in self._free.items():
            for at in places:
                found.append(room)
                found.append(at)
        return found

    def restore(
        self,
        block: bytearray,
        at: Column,
        sizes: Column,
        free_room: array[int],
    ) -> None:
        """Take over what an equal one held."""
        self.block, self.at, self.sizes = block, at, sizes
        self._free, self._texts = {}, {}
        for room, place in zip(free_room[::2], free_room[1::2], strict=True):
            self._free.setdefault(room, array("I")).append(place)

    @property
    def size_bytes(self) -> int:
        """How much memory the texts take, their columns left out."""
        return len(self.block) + sum(len(free) * 4 for free in self._free.values())
