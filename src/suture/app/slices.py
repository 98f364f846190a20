"""Shares out the event loop: model work, reviews and the collector take turns, none long."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from suture.model.clock import Now

SLICE_NS = 1_500_000
"""LIMIT: what is begun within one turn of the event loop, by whomever; what was begun is ended,
and the longest single step takes 2.5 ms: so that nobody waits for 5 ms at a time."""

SLICE_CHECK = 4
"""LIMIT: changes between two looks at the clock; 4 of 40 us are a tenth of a slice."""


class Slices:
    """SLICE_NS of work in each turn of the event loop, over all tasks, first come first served."""

    def __init__(self, clock: Callable[[], Now], slice_ns: int = SLICE_NS) -> None:
        self._clock = clock
        self._slice_ns = slice_ns
        self._began_ns = 0
        self._line: deque[object] = deque()

    def spent(self) -> bool:
        """Whether this turn of the loop has done its share."""
        now_ns = self._clock().mono_ns
        if self._began_ns == 0:
            self._began_ns = now_ns
            asyncio.get_running_loop().call_soon(self._next_turn)
            return False
        return now_ns - self._began_ns > self._slice_ns

    def free(self) -> bool:
        """Whether there is time left in this turn, and nobody who came before waits for it."""
        return not self._line and not self.spent()

    def _next_turn(self) -> None:
        self._began_ns = 0

    async def breathe(self, until_ns: int | None = None) -> None:
        """Let others run until there is time again, and those who waited before have had theirs.

        Errors: TimeoutError where that is not so by `until_ns`, in monotonic time.
        """
        if self.free():
            return
        place = object()
        self._line.append(place)
        try:
            while True:
                await asyncio.sleep(0)
                if self._line[0] is place and not self.spent():
                    return
                if until_ns is not None and self._clock().mono_ns > until_ns:
                    raise TimeoutError("its turn did not come in time")
        finally:
            self._line.remove(place)
