"""The time, as the core is told it: one monotonic part for arithmetic, one wall part for stamps."""

from __future__ import annotations

from typing import Final

import msgspec

LONGEST_WINDOW_S: Final = 31 * 86_400
"""LIMIT: the longest window that a budget may have, 31 days; older spending is forgotten."""


class Now(msgspec.Struct, frozen=True, gc=False):
    """A moment. Windows, horizons and breakers use `mono_ns`; `utc_s` is for stamps and grants."""

    mono_ns: int
    utc_s: float

    def plus_s(self, seconds: float) -> Now:
        """Return the moment `seconds` later; for replay and tests, which make their own time."""
        return Now(self.mono_ns + int(seconds * 1e9), self.utc_s + seconds)

    def ago_s(self, at_ns: int) -> float:
        """Return how many seconds ago a moment was, which is given by its monotonic part."""
        return (self.mono_ns - at_ns) / 1e9


class Window(msgspec.Struct, frozen=True, gc=False, order=True):
    """One sliding window of a budget: allowance = max(count, floor(percent x population / 100))."""

    seconds: int
    count: int
    percent: float

    def allowance(self, population: int) -> int:
        """Return how much may be spent in this window when `population` is the highest count."""
        return max(self.count, int(self.percent * population / 100))
