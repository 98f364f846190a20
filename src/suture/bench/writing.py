"""The child that writes: an operator that creates objects as fast as it is answered.

A process of its own, so that who is to be stopped does not slow down who stops it. Answers each
line on its standard input with the writes that went through since the last one, in times of the
system's monotonic clock; ends when that input does.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import uvloop

from suture.adapters.kube import KubeClient
from suture.bench.child import say
from suture.errors import SutureError

WRITERS = 4
"""How many connections the operator writes over."""

PAUSE_S = 0.002
"""LIMIT: after a refusal: an operator that is refused does not try again 5,000 times a second."""


class Admitted(msgspec.Struct, frozen=True):
    """Writes that went through: when each was sent, and when it was answered."""

    writes: list[tuple[float, float]]


async def write(kubeconfig: Path, namespace: str) -> None:
    """Write until standard input ends."""
    admitted: list[tuple[float, float]] = []
    names = itertools.count()
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        running = []
        for _ in range(WRITERS):
            client = await stack.enter_async_context(KubeClient.from_kubeconfig(kubeconfig))
            running.append(tasks.create_task(_write(client, namespace, names, admitted)))
        while await asyncio.to_thread(sys.stdin.buffer.readline):
            say(Admitted(admitted[:]))
            admitted.clear()
        for task in running:
            task.cancel()
        await asyncio.wait(running)


async def _write(
    client: KubeClient, namespace: str, names: Iterator[int], admitted: list[tuple[float, float]]
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    while True:
        sent = time.monotonic()
        try:
            await client.create(path, {"metadata": {"name": f"write-{next(names)}"}})
        except SutureError:
            await asyncio.sleep(PAUSE_S)
        else:
            admitted.append((sent, time.monotonic()))


if __name__ == "__main__":
    uvloop.run(write(Path(sys.argv[2]), sys.argv[3]))
