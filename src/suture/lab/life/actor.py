"""What all who live in the lab have in common: a hand, a corner of their own, a pace.

Lives apart from the actors so that the run knows them by this face alone.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from suture.lab.life.hand import Hand


class Actor:
    """Somebody at work; a subclass says what it is."""

    every_s: ClassVar[float] = 10.0
    """Mean time between the end of one turn and the beginning of the next."""

    def __init__(self, hand: Hand) -> None:
        """Work with a hand."""
        self.hand = hand

    async def prepare(self) -> None:
        """Make one's own corner of the cluster, under one's own identity."""

    async def turn(self) -> None:
        """Do one thing, and see it through."""
        raise NotImplementedError

    async def live(self) -> None:
        """Take turns until life is over."""
        # WHY: nobody begins the day at the same second as everybody else.
        await asyncio.sleep(self.hand.dice.uniform(0, min(self.every_s, 10.0)))
        while not self.hand.over:
            await self.turn()
            await self.hand.pause(self.every_s)
