"""What the app needs of the world, as Protocols shaped by their callers and kept small.

Each has one suite of contract tests that every adapter passes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from suture.journal.entry import Entry
from suture.journal.query import Line, Wanted
from suture.wire.discovery import Discovery


class Journal(Protocol):
    """The append-only record of decisions. Dry runs are only ever held in memory."""

    async def append(self, entries: Sequence[Entry], *, deadline_s: float) -> None:
        """Write entries down; return once they are durable.

        Errors: UnavailableError when they are not within `deadline_s`, or cannot be (disk full or
        broken, queue full, closed). They may still be written later.
        """
        ...

    def offer(self, entries: Sequence[Entry]) -> int:
        """Have entries written some time soon; return how many there was no room for.

        Never waits and never raises: for lanes that no journal may hold up.
        """
        ...

    def hold(self, decision: str, line: Line) -> None:
        """Hold a dry run, whose line is made only when `find` asks for it."""
        ...

    async def find(self, decision: str) -> Sequence[Entry]:
        """Return the lines of a decision id, dry runs included; more than one when ids met."""
        ...

    async def recent(self, wanted: Wanted) -> Sequence[Entry]:
        """Return the newest lines that are wanted, newest first, without bodies."""
        ...

    async def consequences(self, decision: str) -> Sequence[Entry]:
        """Return what followed from a decision, oldest first, without bodies, bounded."""
        ...

    async def close(self) -> None:
        """Write what is queued, then end."""
        ...


class Cluster(Protocol):
    """The API server, as whoever keeps a model of it needs it: bytes by path, never written to.

    Errors of all: `ApiError` for a refusal, `UnavailableError` where there was no answer.
    """

    async def discover(self) -> Discovery:
        """Return every kind that is served, and the groups whose backend did not answer."""
        ...

    def list_pages(
        self, path: str, limit: int, *, metadata_only: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list, page by page. `GoneError`: it was read too slowly, begin anew."""
        ...

    def watch_lines(
        self,
        path: str,
        resource_version: str | None,
        send_initial_events: bool,
        *,
        timeout_s: int,
        metadata_only: bool,
    ) -> AsyncGenerator[bytes, None]:
        """Yield watch events as blocks of whole lines, until the server ends the watch.

        `timeout_s` asks it to do so. `GoneError`: that version is compacted.
        """
        ...

    async def get_raw(self, path: str, *, accept: str, timeout_s: float) -> bytes:
        """Return one object, in the media type that is asked for."""
        ...
