"""Python's garbage collector, kept out of the way of reviews.

What it walks stands still for as long: half a second for a model of two million objects. So it is
off while the model loads; what was loaded is then taken out of its sight for good; and afterwards
it runs when we say, over little, when the event loop has nothing else to do. The hot path makes no
cycles, so that what is not walked any more is hardly ever garbage; how much that is, is published.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable

TICK_S = 0.05
"""LIMIT: between two looks; at 5,000 new pods a second a thousand containers come in it, which are
walked in 0.2 ms."""

WALK = 6_000
"""LIMIT: containers that came since the last full pass; walking so many takes 1.5 ms of memory that
nothing has touched lately, within what may stand still. Then they are frozen too: nothing is walked
more than twice."""

IDLE_TURNS = 20
"""LIMIT: turns of the event loop that are waited for one in which nothing was ready; a loop that is
never idle must still collect."""

IDLE_NS = 100_000
"""LIMIT: a turn that took less had nothing to do."""

LONG_S = 0.002
"""LIMIT: a pause worth an alarm: as long as a slice of model work, for which reviews wait."""


class Collector:
    """Collects in idle moments once the model is loaded, and never by itself."""

    def __init__(self, paused: Callable[[float], None]) -> None:
        """`paused` is told how long each pass took, in seconds of this thread's own time."""
        self._paused = paused
        self._young = 0
        self._loaded = 0
        self._frozen = asyncio.Event()

    def start(self) -> None:
        """Stop collecting: a pass over a half-built model pauses for its whole size, in vain."""
        gc.disable()

    def freeze(self) -> None:
        """Collect once, and take all that is left out of the collector's sight.

        WHY it stays off: switched on, its next passes would come in the middle of reviews.
        """
        gc.collect()
        gc.freeze()
        self._loaded = gc.get_freeze_count()
        self._frozen.set()

    @property
    def uncollected(self) -> int:
        """How many containers have outlived a full pass since the model was loaded.

        They are the model's growth, or garbage in cycles that nobody will find: to be watched.
        """
        return max(0, gc.get_freeze_count() - self._loaded)

    async def run(self, breathe: Callable[[], Awaitable[None]]) -> None:
        """Collect for ever, once the model is frozen.

        `breathe` waits for time in a turn of the loop, so that a pass does not come on top of one.
        """
        await self._frozen.wait()
        while True:
            await asyncio.sleep(TICK_S)
            await self._idle()
            await breathe()
            self.collect()

    def collect(self) -> None:
        """Walk what is new; all that came since the last full pass, where that is much."""
        full = self._full
        self._young += max(0, gc.get_count()[0])
        began_ns = time.thread_time_ns()
        gc.collect(2 if full else 0)
        self._paused((time.thread_time_ns() - began_ns) / 1e9)
        if full:
            gc.freeze()
            self._young = 0

    @property
    def _full(self) -> bool:
        """Whether the next pass is over all that came since the last full one."""
        return self._young + max(0, gc.get_count()[0]) >= WALK

    async def _idle(self) -> None:
        """Wait for a turn of the event loop in which nothing else was to do.

        WHY not where a full pass is due: the loop is busy, and it would only have more to walk.
        """
        for _ in range(IDLE_TURNS):
            began_ns = time.perf_counter_ns()
            await asyncio.sleep(0)
            if self._full or time.perf_counter_ns() - began_ns < IDLE_NS:
                return
