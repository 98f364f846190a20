"""The running model saved now and then, by a child process, while this one goes on answering.

Writing takes a second at the largest cluster, and the graph must not change meanwhile: a child has
it as it was at the moment of the fork, for the price of the pages that either changes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from suture.adapters.allocator import in_large_pages
from suture.adapters.snapshots import save_graph
from suture.errors import SutureError, UnavailableError
from suture.model.graph import Graph

log = structlog.get_logger(__name__)

EVERY_S = 60.0
"""LIMIT: between two; a restart then goes on from watches that an API server still knows of: it
keeps versions for five minutes at least."""

WRITE_S = 120.0
"""LIMIT: a child that takes longer (a disk that hangs) is ended."""

POLL_S = 0.05
"""LIMIT: between two looks at a child; a write takes a second."""

REASON_BYTES = 4096
"""LIMIT: what a child says of its failure."""


class Snapshotter:
    """Saves one graph into one file, again and again."""

    def __init__(
        self, graph: Graph, path: Path, ready: Callable[[], bool], forked: Callable[[float], None]
    ) -> None:
        """`forked` is told for how long this process stood still, in seconds."""
        self._graph = graph
        self._path = path
        self._ready = ready
        self._forked = forked

    async def run(self) -> None:
        """Save for ever, while the model is ready."""
        while True:
            await asyncio.sleep(EVERY_S)
            if self._ready():
                try:
                    await self.save()
                except SutureError as error:
                    log.warning("model was not saved", path=str(self._path), error=str(error))

    async def save(self) -> None:
        """Save by a child. Errors: UnavailableError with the child's reason."""
        await asyncio.to_thread(in_large_pages)
        reading, writing = os.pipe()
        began_ns = time.perf_counter_ns()
        child = os.fork()
        if child == 0:
            self._write_and_end(writing)
        self._forked((time.perf_counter_ns() - began_ns) / 1e9)
        os.close(writing)
        try:
            status = await _ended(child)
            if status != 0:
                reason = os.read(reading, REASON_BYTES).decode(errors="replace")
                raise UnavailableError(reason or f"the child ended with status {status}")
        finally:
            os.close(reading)

    def save_here(self) -> None:
        """Save in this process, which has nothing else to do any more. Errors: as `save_graph`."""
        save_graph(self._graph, self._path, source="suture serve")

    def _write_and_end(self, writing: int) -> None:
        """Write the file, as the child; never returns, and runs nothing that its parent would."""
        status = 1
        try:
            # WHY: a parent that ends must not leave its port and its connections with its child.
            os.closerange(3, writing)
            os.closerange(writing + 1, os.sysconf("SC_OPEN_MAX"))
            self.save_here()
            status = 0
        except BaseException as error:  # noqa: BLE001 whatever it is, the parent tells it
            os.write(writing, f"{error}"[:REASON_BYTES].encode())
        finally:
            os._exit(status)


async def _ended(child: int) -> int:
    """Wait for a child, and return its status; a child that takes too long is ended."""
    ends = time.monotonic() + WRITE_S
    status = None
    try:
        while status is None and time.monotonic() < ends:
            await asyncio.sleep(POLL_S)
            status = _status(child)
    finally:
        if status is None:
            _kill(child)
    if status is None:
        raise UnavailableError(f"the child was not done within {WRITE_S:g} s")
    return status


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _status(child: int) -> int | None:
    """Return the exit status of a child; None while it runs."""
    found, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None
