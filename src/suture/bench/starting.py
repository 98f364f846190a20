"""The child that starts cold: from nothing to ready, through the real client and mirror over TLS.

In a process of its own, because memory and CPU time are counted by process. Told where the
cluster is; afterwards the model is saved, for those that start warm.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from pathlib import Path

import msgspec
import uvloop

from suture.adapters.allocator import map_columns
from suture.adapters.kube import KubeClient
from suture.adapters.snapshots import save_graph
from suture.bench.child import quiet_logs, say, told
from suture.bench.measure import Setting, resident_bytes
from suture.bench.replica import Noting, Replica
from suture.errors import DefectError
from suture.model.graph import Graph


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What a cold start took. Bytes are what the process grew by since before it connected.

    `grown_bytes`: as it serves, with room for growth. `first_bytes`: at the moment it was ready,
    with what loading left behind. `peak_bytes`: at its largest until then.
    """

    objects: int
    unknown: int
    ready_s: float
    ready_cpu_s: float
    grown_bytes: int
    first_bytes: int
    peak_bytes: int
    snapshot_bytes: int
    snapshot_save_s: float
    snapshot_save_cpu_s: float


async def start(setting: Setting, kubeconfig: Path, snapshot: Path) -> Started:
    """List everything, tell what that took, and save it."""
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        cluster = Noting(client)
        replica = Replica(cluster, Graph())
        graph = replica.world.graph
        gc.collect()
        before = resident_bytes()
        async with replica.running():
            ready = await replica.ready()
            first, peak = resident_bytes(), _peak_bytes()
            replica.freeze()
            grown = resident_bytes()
        if cluster.first is None:
            raise DefectError(f"a model of scale {setting.scale} is ready and nothing was listed")
        wall, cpu = time.perf_counter(), time.process_time()
        header = save_graph(graph, snapshot, source="suture bench")
        return Started(
            objects=len(graph),
            unknown=sum(1 for fresh in graph.freshness.values() if fresh.unknown),
            ready_s=ready.wall_s - cluster.first.wall_s,
            ready_cpu_s=ready.cpu_s - cluster.first.cpu_s,
            grown_bytes=grown - before,
            first_bytes=first - before,
            peak_bytes=peak - before,
            snapshot_bytes=sum(one.stored_bytes for one in header.sections),
            snapshot_save_s=time.perf_counter() - wall,
            snapshot_save_cpu_s=time.process_time() - cpu,
        )


def _peak_bytes() -> int:
    """Return the largest resident set so far; the high-water mark of Linux where there is one."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    map_columns()
    quiet_logs()
    say(uvloop.run(start(told(), Path(sys.argv[2]), Path(sys.argv[3]))))
