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


class _Place:
    """Somebody's place in the line; `call`: what is to be done for whoever does not look."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], None] | None = None) -> None:
        self.call = call


class Slices:
    """SLICE_NS of work in each turn of the event loop, over all tasks, first come first served."""

    def __init__(self, clock: Callable[[], Now], slice_ns: int = SLICE_NS) -> None:
        self._clock = clock
        self._slice_ns = slice_ns
        self._began_ns = 0
        self._line: deque[_Place] = deque()

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

    def later(self, call: Callable[[], None]) -> None:
        """Have something done once there is time, and those who waited before have had theirs.

        It must not raise. WHY beside `breathe`: a task that waits costs as much as a decision.
        """
        self._line.append(_Place(call))
        self._go_on()

    async def breathe(self) -> None:
        """Let others run until there is time again, and those who waited before have had theirs."""
        if self.free():
            return
        place = _Place()
        self._line.append(place)
        try:
            while True:
                await asyncio.sleep(0)
                if self._line[0] is place and not self.spent():
                    return
        finally:
            self._line.remove(place)
            self._go_on()

    def _next_turn(self) -> None:
        self._began_ns = 0
        line = self._line
        while line and (call := line[0].call) is not None and not self.spent():
            line.popleft()
            call()

    def _go_on(self) -> None:
        """See to it that what is to be called will be: whoever has spent time comes back anyway."""
        if self._began_ns == 0 and self._line and self._line[0].call is not None:
            self.spent()
