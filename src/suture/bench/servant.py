"""The child that serves: the real HTTPS server and admit path over a loaded cluster.

Says where it listens, then answers each line on its standard input with the CPU time that it has
used; ends when that input does.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path

import msgspec
import structlog
import uvloop

from suture.adapters.allocator import give_back, in_large_pages, map_columns
from suture.adapters.webhook import MutualTls, Peer, WebhookServer, WebhookSettings
from suture.app.admit import Answered, Lane, answer
from suture.bench.child import say, told
from suture.bench.scene import Scene, freeze

PATHS = {f"/admit/{lane}": lane for lane in (Lane.DESTRUCTIVE, Lane.OTHER)}


class Listening(msgspec.Struct, frozen=True):
    """Where the servant is found, and how much it knows."""

    port: int
    objects: int


class Used(msgspec.Struct, frozen=True):
    """What the servant has used so far."""

    cpu_s: float


async def serve(scene: Scene, folder: Path) -> None:
    """Serve until standard input ends."""

    def handle(path: str, body: bytes, peer: Peer) -> Answered:  # noqa: ARG001 TLS checked it
        return answer(body, PATHS[path], scene.world, scene.rim)

    settings = WebhookSettings(
        host="127.0.0.1",
        port=0,
        certificate=folder / "server.crt",
        key=folder / "server.key",
        client_auth=MutualTls(folder / "clients.crt"),
        paths=frozenset(PATHS),
        drain_s=0.0,
    )
    async with WebhookServer(settings, handle) as server:
        freeze()
        give_back()
        await asyncio.to_thread(in_large_pages)
        # What is loaded is out of its sight. `suture serve` runs it in idle moments: here are none.
        gc.enable()
        say(Listening(server.port, len(scene.world.graph)))
        while await asyncio.to_thread(sys.stdin.buffer.readline):
            say(Used(time.process_time()))


if __name__ == "__main__":
    map_columns()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(file=sys.stderr))
    uvloop.run(serve(Scene(told()), Path(sys.argv[2])))
