"""The guard of a run: none, or Suture, started anew so that ledger and history are empty.

Lives in the scenarios as the seam between the runner and Suture: the runner asks a `Guard` and
does not know how one is started.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written


class Guarding(Protocol):
    """A guard at work."""

    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Enrol actors in their stage; returns when the guard knows them and is ready."""

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Return how many of the writes the stage enforce had refused, refused ones included."""

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:
        """Return how much of these populations the constraints in force let one actor remove.

        `span_s` is the time from the first guilty write to the last, as the guard counts it.
        """


class Guard(Protocol):
    """Something that can be started for the length of a run."""

    mode: GuardMode

    def watching(self) -> AbstractAsyncContextManager[Guarding]:
        """Start with empty ledger and history, stop at the end of the block."""


class _Nobody:
    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Enrol nobody."""

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Refuse nothing."""
        return sum(one.outcome == "refused" for one in writes)

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:  # noqa: ARG002 - the protocol's
        """Know no bound."""
        return None


class NoGuard:
    """The cluster as it is."""

    mode: GuardMode = "off"

    def move(self, by_s: float) -> None:
        """Remember nothing, and so nothing that grows older."""

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Guarding]:
        """Guard nothing."""
        yield _Nobody()
