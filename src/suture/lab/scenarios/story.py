"""The time that a story tells: lived as it is told, or lived in part and moved for the rest.

Lives apart from `clock`, by which deadlines count: those are always lived. On the lab a story may
wait for ten hours; what the cluster does about the last write is done within seconds, and who
remembers writes by their age, the guard, can be told that it is later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.place import Resting
from suture.lab.scenarios.quiet import QUIET_S, SETTLED_S

Move = Callable[[float], None]
"""Told of seconds that passed in the story and that nobody waited for."""

NOTICED_S = 1.2
"""The guard looks each second at what has run out; lived after each move."""


class Story:
    """The story's time is the running loop's: all of it is lived."""

    moved_s = 0.0

    def now_s(self) -> float:
        """Return the story's time in seconds; only differences mean something."""
        return now_s() + self.moved_s

    async def wait(self, span_s: float) -> None:
        """Let a span pass that the story tells of."""
        await asyncio.sleep(span_s)

    async def gap(self, span_s: float) -> None:
        """Let the span between two writes of a step pass."""
        await asyncio.sleep(span_s)


class MovedStory(Story):
    """Waits are lived until the cluster has come to rest; what is left of them is moved."""

    def __init__(self, rest: Resting, move: Move) -> None:
        """Take what knows of rest, and whom to tell that it is later."""
        self._rest = rest
        self._move = move

    async def wait(self, span_s: float) -> None:
        """Let a span pass: as much of it as it takes to come to rest, then all at once."""
        await self._pass(span_s, QUIET_S)

    async def gap(self, span_s: float) -> None:
        """Let a span pass between two writes; what follows from one comes in a burst."""
        await self._pass(span_s, SETTLED_S)

    async def _pass(self, span_s: float, quiet_s: float) -> None:
        began = now_s()
        if span_s > quiet_s + NOTICED_S:
            await self._rest.quiet(quiet_s, span_s - NOTICED_S)
            left_s = span_s - NOTICED_S - (now_s() - began)
            if left_s > 0:
                self._move(left_s)
                self.moved_s += left_s
                await asyncio.sleep(NOTICED_S)
                return
        await asyncio.sleep(max(0.0, span_s - (now_s() - began)))
