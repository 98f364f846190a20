"""Values shared by the raw bytes that they are read from. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

INTERNED_BYTES = 1024
"""LIMIT: longer label sets, owner lists and needs are not remembered: they are rare."""

V = TypeVar("V")


class Interned(Generic[V]):
    """Values by the raw bytes that they are read from; equal bytes give the very same value.

    Bounded by forgetting: when the young generation is full the old one is dropped, and what is
    still in use finds its way back from it in time.
    """

    __slots__ = ("_limit", "_old", "_read", "_young")

    def __init__(self, read: Callable[[bytes], V], limit: int) -> None:
        self._read = read
        self._limit = limit
        self._young: dict[bytes, V] = {}
        self._old: dict[bytes, V] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, raw: bytes) -> V:
        """Return the value that `raw` stands for, read once and then shared."""
        found = self._young.get(raw)
        if found is not None:
            return found
        found = self._old.get(raw)
        if found is None:
            found = self._read(raw)
        if len(raw) <= INTERNED_BYTES:
            if len(self._young) >= self._limit:
                self._old, self._young = self._young, {}
            self._young[raw] = found
        return found
