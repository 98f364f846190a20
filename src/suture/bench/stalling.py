"""The child that serves while it follows: how long its event loop ever stands still.

Reviews at a fixed rate through the real admit path, new pods at a fixed rate from the replay server
through the real client and mirror, the garbage collector as `suture serve` has it. Starts warm;
says when it is ready, begins when it is told to.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvloop

from suture.adapters.allocator import map_columns
from suture.adapters.kube import KubeClient
from suture.adapters.snapshots import open_snapshot
from suture.adapters.snapshotter import Snapshotter
from suture.app.admit import Lane, admit
from suture.bench.child import quiet_logs, say, told
from suture.bench.documents import Documents
from suture.bench.measure import Setting
from suture.bench.replica import Replica
from suture.bench.reviews import deployment_delete, pod_delete, reconcile, service_delete
from suture.bench.turns import Steps, Turns
from suture.lab.clusters.chance import dice
from suture.model.graph import Graph
from suture.model.names import PODS
from suture.wire.limits import check_depth

REVIEWS_A_SECOND = 1_000
PODS_A_SECOND = 5_000

CONNECTIONS = 8
"""How many an API server keeps open in a burst: so many reviews can come in one turn."""

DESTRUCTIVE = 0.1
"""How many of the reviews delete something; the rest change nothing of consequence."""

CLOSURE = 250
"""LIMIT: pods of a Deployment whose delete is asked for: with ReplicaSets and endpoints fewer than
500 objects go."""

SETTLE_S = 2.0
"""Pods come and reviews are asked for so long before it counts."""


class Waiting(msgspec.Struct, frozen=True):
    """Ready, and waiting for the word."""

    objects: int


class Stalled(msgspec.Struct, frozen=True, kw_only=True):
    """What a while of it gave: turns of the loop that did something, and reviews, in µs of CPU.

    `broken_us` are turns that the kernel took the CPU away from, `stolen_us` those while which the
    host did. `steps_us` are the longest steps of tasks, by what they run, `stolen_steps_us` those
    while which the host took a CPU. `fork_ms` is how long the process stood still to save itself;
    it does so once a minute.
    """

    seconds: float
    cpu_s: float
    turns_us: list[float]
    broken_us: list[float]
    stolen_us: list[float]
    steps_us: dict[str, float]
    stolen_steps_us: dict[str, float]
    reviews: int
    review_us: list[float]
    doubts: int
    events: int
    behind_s: float
    pauses_ms: list[float]
    fork_ms: float


class Reviews:
    """Asks at a fixed rate, over so many connections, each of which waits for its answer."""

    def __init__(
        self, replica: Replica, bodies: Sequence[tuple[bytes, Lane]], turns: Turns
    ) -> None:
        self._replica = replica
        self._bodies = itertools.cycle(bodies)
        self._turns = turns
        self._numbers = itertools.count()
        self._began_s = 0.0
        self.times_us: list[float] = []
        """CPU time of each review that was answered without waiting for anything."""
        self.done = 0

    async def run(self, seconds: float) -> None:
        """Ask for so long."""
        self._began_s = time.perf_counter()
        await asyncio.gather(*(self._connection(seconds) for _ in range(CONNECTIONS)))

    async def _connection(self, seconds: float) -> None:
        world, rim = self._replica.world, self._replica.rim
        while True:
            due_s = next(self._numbers) / REVIEWS_A_SECOND
            if due_s > seconds:
                return
            # WHY at least a turn: what is late must not come all at once, over one connection.
            await asyncio.sleep(max(0.0, self._began_s + due_s - time.perf_counter()))
            body, lane = next(self._bodies)
            turn, began_ns = self._turns.count, time.thread_time_ns()
            check_depth(body)
            await admit(body, lane, world, rim)
            took_ns = time.thread_time_ns() - began_ns
            # WHY only those: while one waits for a live read, the loop works for others.
            if self._turns.count == turn:
                self.times_us.append(took_ns / 1e3)
            self.done += 1


def mixed(folder: Path, seed: int) -> list[tuple[bytes, Lane]]:
    """Return a second's reviews as operators cause them.

    What deletes is a dry run, so that it can be asked for again and again.
    """
    documents = Documents(folder)
    usual = [(body, Lane.OTHER) for body in reconcile(documents).reviews]
    destructive = [
        (body, Lane.DESTRUCTIVE)
        for case in (
            pod_delete(documents, dry_run=True),
            service_delete(documents, dry_run=True),
            deployment_delete(documents, largest=CLOSURE, dry_run=True),
        )
        for body in case.reviews
    ]
    rng = dice(seed, "reviews")
    return [
        rng.choice(destructive if rng.random() < DESTRUCTIVE else usual)
        for _ in range(REVIEWS_A_SECOND)
    ]


async def serve(setting: Setting, kubeconfig: Path, folder: Path, snapshot: Path) -> Stalled:
    """Start warm, say so, and measure once told to."""
    _, graph = open_snapshot(snapshot)
    steps = Steps()
    steps.install()
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        replica = Replica(client, graph)
        turns, bodies = Turns(steps), mixed(folder, setting.seed)
        reviews = Reviews(replica, bodies, turns)
        async with replica.running():
            await replica.ready()
            replica.freeze()
            forks_s: list[float] = []
            saving = Snapshotter(
                graph, snapshot.with_suffix(".again"), lambda: True, forks_s.append
            )
            await saving.save()
            say(Waiting(len(graph)))
            await asyncio.to_thread(sys.stdin.buffer.readline)
            await Reviews(replica, bodies, turns).run(SETTLE_S)
            replica.pauses_s.clear()
            before, doubts = _told(graph), replica.told.doubts
            wall, cpu = time.perf_counter(), time.thread_time()
            steps.clear()
            turns.start()
            await reviews.run(setting.stall_s)
            turns.stop()
            return Stalled(
                seconds=time.perf_counter() - wall,
                cpu_s=time.thread_time() - cpu,
                turns_us=list(turns.work_us),
                broken_us=list(turns.broken_us),
                stolen_us=list(turns.stolen_us),
                steps_us=steps.longest,
                stolen_steps_us=steps.stolen,
                reviews=reviews.done,
                review_us=reviews.times_us,
                doubts=replica.told.doubts - doubts,
                events=_told(graph) - before,
                behind_s=replica.mirror.staleness()[PODS],
                pauses_ms=[one * 1e3 for one in replica.pauses_s],
                fork_ms=forks_s[0] * 1e3,
            )


def _told(graph: Graph) -> int:
    """Return up to which version pods are known; the replay server counts one an event."""
    return int(graph.freshness[PODS].resource_version)


if __name__ == "__main__":
    map_columns()
    # WHY: doubts are counted; a thousand tracebacks a second would be measured instead.
    quiet_logs(logging.CRITICAL)
    say(uvloop.run(serve(told(), *map(Path, sys.argv[2:5]))))
