"""Sums and peaks over sliding windows in bounded memory, for the ledger alone.

Pure arithmetic on monotonic nanoseconds; knows no claims. Both structures are exact until they
grow past `EXACT_ENTRIES`; then old entries are moved up to a grid whose step is at most 1/64 of
their age. An entry may therefore count up to W/60 longer than the window W, never shorter: what
is spent is never under-counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

from suture.model.clock import LONGEST_WINDOW_S

NS: Final = 1_000_000_000

EXACT_ENTRIES: Final = 4096
"""LIMIT: entries held exactly. A month in steps of age/64 is 64 entries an octave of age: 29
octaves from 8 ms to 31 d (2^23 to 2^52 ns) leave 1,860, so a pass is paid for by 2,200 additions;
4,096 entries are 0.3 MB, reached only by an account that spends that often within a month."""


def grid_up(at_ns: int, now_ns: int) -> int:
    """Return `at_ns` raised to a grid whose step is a power of two and at most age/64.

    WHY powers of two: raising twice, to one grid and later to a coarser one, then equals raising
    once to the coarser, so that errors do not add up over many passes.
    """
    age_ns = now_ns - at_ns
    shift = age_ns.bit_length() - 7
    if shift <= 0:
        return at_ns
    return -(-at_ns >> shift) << shift


class SlidingSum:
    """Amounts in the order they were spent, summed over any window in logarithmic time."""

    __slots__ = ("_sums", "_times")

    def __init__(self) -> None:
        self._times: list[int] = []
        self._sums: list[int] = []  # running totals: _sums[i] is the sum of entries 0..i

    def add(self, at_ns: int, amount: int) -> int:
        """Count `amount` at `at_ns`, or at the newest entry if that is later; return that time."""
        times, sums = self._times, self._sums
        if times and times[-1] >= at_ns:
            sums[-1] += amount
            return times[-1]
        times.append(at_ns)
        sums.append((sums[-1] if sums else 0) + amount)
        if len(times) > EXACT_ENTRIES:
            self.compact(at_ns)
        return at_ns

    def within(self, seconds: int, now_ns: int) -> int:
        """Return what was spent in the last `seconds`: entries younger than that."""
        if not self._sums:
            return 0
        first = bisect_right(self._times, now_ns - seconds * NS)
        return self._sums[-1] - (self._sums[first - 1] if first else 0)

    def give_back(self, at_ns: int, amount: int) -> int:
        """Take `amount` off the entry of `at_ns`; return how much was there to take."""
        times, sums = self._times, self._sums
        # INVARIANT: entries are only ever raised, in order, so the first at or after holds it.
        index = bisect_left(times, at_ns)
        if index == len(times):
            return 0
        taken = min(amount, sums[index] - (sums[index - 1] if index else 0))
        for at in range(index, len(sums)):
            sums[at] -= taken
        return taken

    def compact(self, now_ns: int) -> None:
        """Forget what no window reaches and what is zero; move the rest to the grid."""
        times: list[int] = []
        sums: list[int] = []
        oldest_ns = now_ns - LONGEST_WINDOW_S * NS
        total = before = 0
        for at_ns, running in zip(self._times, self._sums, strict=True):
            amount, before = running - before, running
            if at_ns <= oldest_ns or amount == 0:
                continue
            total += amount
            at_grid = grid_up(at_ns, now_ns)
            if times and times[-1] >= at_grid:
                sums[-1] = total
            else:
                times.append(at_grid)
                sums.append(total)
        self._times, self._sums = times, sums

    def entries(self, now_ns: int) -> list[tuple[int, int]]:
        """Return what a window still reaches as (age in nanoseconds, amount), oldest first."""
        oldest_ns = now_ns - LONGEST_WINDOW_S * NS
        before = 0
        found: list[tuple[int, int]] = []
        for at_ns, running in zip(self._times, self._sums, strict=True):
            amount, before = running - before, running
            if amount and at_ns > oldest_ns:
                found.append((now_ns - at_ns, amount))
        return found

    def empty(self, now_ns: int) -> bool:
        """Tell whether no window reaches anything any more."""
        return self.within(LONGEST_WINDOW_S, now_ns) == 0

    def __len__(self) -> int:
        return len(self._times)


class Peak:
    """The highest value that a count had within any window.

    A count holds from one observation to the next, so what is kept is until when each value was
    in force, and only those that no later value reached again: times rise, values fall.
    """

    __slots__ = ("_current", "_until", "_values")

    def __init__(self) -> None:
        self._until: list[int] = []
        self._values: list[int] = []
        self._current = 0

    def observe(self, at_ns: int, value: int) -> None:
        """Take `value` as the count from `at_ns` on."""
        if value == self._current:
            return
        until, values = self._until, self._values
        if until and until[-1] > at_ns:
            at_ns = until[-1]
        if value < self._current:
            # the value that ends now was the highest since the last one kept
            until.append(at_ns)
            values.append(self._current)
        while values and values[-1] <= value:
            values.pop()
            until.pop()
        self._current = value
        if len(values) > EXACT_ENTRIES:
            self.compact(at_ns)

    def within(self, seconds: int, now_ns: int) -> int:
        """Return the highest count in the last `seconds`."""
        first = bisect_right(self._until, now_ns - seconds * NS)
        return self._values[first] if first < len(self._values) else self._current

    def compact(self, now_ns: int) -> None:
        """Forget what no window reaches; of neighbours on one grid point keep the higher."""
        oldest_ns = now_ns - LONGEST_WINDOW_S * NS
        until: list[int] = []
        values: list[int] = []
        for at_ns, value in zip(self._until, self._values, strict=True):
            at_grid = grid_up(at_ns, now_ns)
            if at_ns > oldest_ns and not (until and until[-1] >= at_grid):
                until.append(at_grid)
                values.append(value)
        self._until, self._values = until, values

    def entries(self, now_ns: int) -> list[tuple[int, int]]:
        """Return (age at which it ended, value), oldest first, then the current one at age 0."""
        oldest_ns = now_ns - LONGEST_WINDOW_S * NS
        found = [
            (now_ns - at_ns, value)
            for at_ns, value in zip(self._until, self._values, strict=True)
            if at_ns > oldest_ns
        ]
        return [*found, (0, self._current)]

    def load(self, entries: list[tuple[int, int]]) -> None:
        """Take what `entries` returned, its ages turned into times."""
        *ended, (_, self._current) = entries
        self._until = [at_ns for at_ns, _ in ended]
        self._values = [value for _, value in ended]

    def __len__(self) -> int:
        return len(self._until)
