"""What Suture must not forget over a restart: what budgets were spent, and what was written lately.

Three files side by side: the ledger, small and saved each second while it changes, and what was
written, removed and created lately, larger and saved each minute. Encoded on the loop, the history
part by part so that reviews are answered in between; written by a thread. A file that is not from a
planned stop says so: what may have been admitted since its last record then counts as spent for one
horizon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from suture.adapters.wholefile import replacing
from suture.budget.ledger import Ledger
from suture.errors import InputError
from suture.judge import World
from suture.model.clock import Now
from suture.model.remembered import parts_of, recall
from suture.model.writes import Writes

log = structlog.get_logger(__name__)

MAGIC = b"suture-state 1\n"
LEDGER_EVERY_S = 1.0
"""LIMIT: what a crash forgets of budgets; it counts as spent for one horizon after it."""

WRITES_EVERY_S = 60.0
"""LIMIT: what a crash forgets of repetition; ten minutes is the shortest window that reads it."""

WRITES_SUFFIX = ".writes"
HISTORY_SUFFIX = ".history"


class StateFileError(InputError):
    """A file that was named for state holds something else."""

    code = "state_unreadable"


class _Head(msgspec.Struct, frozen=True):
    """The first line of a ledger's file."""

    complete: bool


class StateFile:
    """Keeps a world's ledger and memory of writes on disk."""

    def __init__(self, path: Path, world: World, clock: Callable[[], Now]) -> None:
        self._path = path
        self._world = world
        self._clock = clock
        self._written = b""

    @property
    def _writes_path(self) -> Path:
        return self._path.with_name(self._path.name + WRITES_SUFFIX)

    @property
    def _history_path(self) -> Path:
        return self._path.with_name(self._path.name + HISTORY_SUFFIX)

    def load(self) -> bool:
        """Take over what an earlier process left; False: there is nothing.

        Errors: StateFileError, CheckpointError, WritesError, HistoryError.
        """
        now, found = self._clock(), False
        body = _read(self._path)
        if body is not None:
            head, _, record = body.partition(b"\n")
            try:
                complete = msgspec.json.decode(head, type=_Head).complete
            except msgspec.MsgspecError as error:
                raise StateFileError(f"`{self._path}` cannot be read: {error}") from error
            self._world.ledger = Ledger.from_bytes(record, now, complete=complete)
            log.info("budgets taken over", file=str(self._path), planned=complete)
            found = True
        body = _read(self._writes_path)
        if body is not None:
            self._world.history.writes = Writes.decode(body, now)
            found = True
        body = _read(self._history_path)
        if body is not None:
            recall(body, self._world.history, now)
            found = True
        return found

    async def run(self) -> None:
        """Save from time to time; never returns."""
        turns = 0
        while True:
            await asyncio.sleep(LEDGER_EVERY_S)
            turns += 1
            try:
                await self._save_ledger()
                if turns * LEDGER_EVERY_S >= WRITES_EVERY_S:
                    turns = 0
                    body = self._world.history.writes.encode(self._clock())
                    await asyncio.to_thread(_write, self._writes_path, body)
                    await self._save_history()
            except OSError as error:
                # WHY going on: a full disk must not end the guard; the next turn tries again.
                log.warning("state cannot be saved", file=str(self._path), error=str(error))

    async def _save_ledger(self) -> None:
        record = self._world.ledger.to_bytes(self._clock())
        if record == self._written:
            return
        await asyncio.to_thread(_write, self._path, _with_head(record, complete=False))
        self._written = record

    async def _save_history(self) -> None:
        parts = []
        for part in parts_of(self._world.history, self._clock()):
            parts.append(part)
            await asyncio.sleep(0)
        await asyncio.to_thread(_write, self._history_path, b"".join(parts))

    def save_here(self) -> None:
        """Save all at a planned stop: nothing is admitted after it."""
        now = self._clock()
        _write(self._path, _with_head(self._world.ledger.to_bytes(now), complete=True))
        _write(self._writes_path, self._world.history.writes.encode(now))
        _write(self._history_path, b"".join(parts_of(self._world.history, now)))


def _with_head(record: bytes, *, complete: bool) -> bytes:
    return msgspec.json.encode(_Head(complete)) + b"\n" + record


def _read(path: Path) -> bytes | None:
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateFileError(f"`{path}` cannot be read: {error.strerror}") from error
    if not body.startswith(MAGIC):
        raise StateFileError(f"`{path}` is no state of Suture's; name another file for --state")
    return body[len(MAGIC) :]


def _write(path: Path, body: bytes) -> None:
    with replacing(path) as file:
        file.write(MAGIC)
        file.write(body)
