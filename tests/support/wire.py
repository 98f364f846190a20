"""A wire between a client and an API server that can stall, and be cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit


class Wire:
    """Carries bytes both ways; what it is told to do, it does to all connections at once."""

    def __init__(self, endpoint: str) -> None:
        self._target = urlsplit(endpoint)
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.refuses = False
        """Whether new connections are turned away."""
        self.port = 0

    def stall(self) -> None:
        """Carry nothing any more; every connection stays open."""
        self._flows.clear()

    def flow(self) -> None:
        """Carry on."""
        self._flows.set()

    def cut(self) -> None:
        """Break every connection that is open."""
        for writer in self._writers:
            writer.transport.abort()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Wire]:
        """Be there until the block ends."""
        server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.refuses = True
            self.flow()
            while self._tasks:
                self.cut()
                await asyncio.wait(self._tasks, timeout=0.05)

    def kubeconfig(self, of: Path) -> Path:
        """Return a copy of a kubeconfig that leads over this wire."""
        assert self._target.port is not None
        text = of.read_text().replace(f":{self._target.port}", f":{self.port}")
        path = of.with_name(f"{of.stem}-over-{self.port}.yaml")
        path.write_text(text)
        path.chmod(0o600)
        return path

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.refuses:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError):
            there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
            pair = {writer, back}
            self._writers |= pair
            await asyncio.gather(self._carry(reader, back, pair), self._carry(there, writer, pair))
            self._writers -= pair

    async def _carry(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        pair: set[asyncio.StreamWriter],
    ) -> None:
        """Carry one way until either end is gone, then end the other way too."""
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                await self._flows.wait()
                sink.write(data)
                await sink.drain()
        for writer in pair:
            writer.transport.abort()
