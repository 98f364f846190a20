"""The child that starts warm: from a snapshot to ready, with every watch resumed.

In a process of its own, as a restart is.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import msgspec
import uvloop

from suture.adapters.allocator import map_columns
from suture.adapters.files import load_policies
from suture.adapters.kube import KubeClient
from suture.adapters.warming import warmed
from suture.app.follow import Pace
from suture.app.watches import Watches
from suture.bench.child import quiet_logs, say
from suture.bench.replica import Replica
from suture.errors import DefectError


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """What a warm start took: from before the file was opened until decisions rest on the model.

    `load_s` ends when the model is in memory; its watches are begun meanwhile.
    `relisted`: kinds that could not go on and were listed; of a resumed model there are none.
    """

    objects: int
    ready_s: float
    ready_cpu_s: float
    load_s: float
    load_cpu_s: float
    relisted: int


async def resume(kubeconfig: Path, snapshot: Path) -> Resumed:
    """Load, resume, and tell what that took."""
    # As `suture serve` does, before it has a client: it ends there when they make no sense.
    policies = load_policies()
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        wall, cpu = time.perf_counter(), time.process_time()
        warm = await warmed(snapshot, client, Watches(), pace=Pace(), chance=random.random)
        if warm is None:
            raise DefectError("a snapshot that was just taken is of no use")
        graph = warm.graph
        loaded_wall, loaded_cpu = time.perf_counter(), time.process_time()
        replica = Replica(client, graph, policies=policies, head_start=warm.head_start)
        async with replica.running():
            ready = await replica.ready()
        relists = replica.mirror.kinds()
        return Resumed(
            objects=len(graph),
            ready_s=ready.wall_s - wall,
            ready_cpu_s=ready.cpu_s - cpu,
            load_s=loaded_wall - wall,
            load_cpu_s=loaded_cpu - cpu,
            relisted=sum(1 for one in relists if one.counts.get("relists", 0)),
        )


if __name__ == "__main__":
    map_columns()
    quiet_logs()
    say(uvloop.run(resume(Path(sys.argv[2]), Path(sys.argv[3]))))
