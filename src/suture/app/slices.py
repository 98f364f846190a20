"""Shares out the event loop between model work and reviews."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from suture.model.clock import Now

SLICE_NS = 2_000_000
"""LIMIT: time for the model in one turn of the event loop: what a review may have to wait."""

SLICE_CHECK = 8
"""LIMIT: changes between two looks at the clock; 8 of 20 us are a tenth of a slice."""


class Slices:
    """SLICE_NS of model work in each turn of the event loop, over all tasks."""

    def __init__(self, clock: Callable[[], Now], slice_ns: int = SLICE_NS) -> None:
        self._clock = clock
        self._slice_ns = slice_ns
        self._began_ns = 0

    def spent(self) -> bool:
        """Whether this turn of the loop has done its share."""
        now_ns = self._clock().mono_ns
        if self._began_ns == 0:
            self._began_ns = now_ns
            asyncio.get_running_loop().call_soon(self._next_turn)
            return False
        return now_ns - self._began_ns > self._slice_ns

    def _next_turn(self) -> None:
        self._began_ns = 0

    async def breathe(self) -> None:
        """Let others run until there is time again."""
        while self.spent():  # noqa: ASYNC110 the loop itself is what is waited for
            await asyncio.sleep(0)
