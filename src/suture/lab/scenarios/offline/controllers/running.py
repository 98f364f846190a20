"""Lets the predicted controllers act until nothing is left to do.

Lives apart from the controllers, which know only the store: the order of their turns is here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from suture.errors import DefectError
from suture.lab.scenarios.offline.store import Store, Thing

ROUNDS = 20_000
"""LIMIT: turns after one write: a rollout of 20,000 pods by one at a time. More is a loop."""

Later = Callable[[float, Callable[[], None]], None]
"""Has something done after a number of seconds of the run."""


class Controller(Protocol):
    """One controller, or a few that share rules."""

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Take note of a change; nothing may be written here."""

    def work(self) -> bool:
        """Do what is due; False when there was nothing."""


class Manager:
    """All controllers of a cluster: told of changes by the store, of their turn by the server."""

    def __init__(self, store: Store) -> None:
        """Follow a store."""
        self._changes: deque[tuple[Thing | None, Thing | None]] = deque()
        self._parts: Sequence[Controller] = ()
        self._settling = False
        self.stopped = False
        """Whether somebody else says what controllers do: a recording."""
        store.observers.append(lambda before, after: self._changes.append((before, after)))

    def employ(self, *parts: Controller) -> None:
        """Take on controllers; earlier ones act first."""
        self._parts = parts

    def settle(self) -> None:
        """Let all act until nothing is left to do."""
        if self._settling or self.stopped:
            return
        self._settling = True
        try:
            for _ in range(ROUNDS):
                self._tell()
                # WHY `any`, which stops at the first: what follows must see what it did.
                if not any(part.work() for part in self._parts) and not self._changes:
                    return
        finally:
            self._settling = False
        raise DefectError(f"predicted controllers are not done after {ROUNDS} turns")

    def later(self, after_s: float, do: Callable[[], None]) -> None:
        """Do something after some time of the run, and let all act on it."""

        def due() -> None:
            if not self.stopped:
                do()
                self.settle()

        asyncio.get_running_loop().call_later(after_s, due)

    def _tell(self) -> None:
        while self._changes:
            before, after = self._changes.popleft()
            for part in self._parts:
                part.on(before, after)
