"""Takes the base of offline runs from a fresh lab: `python -m suture.lab.scenarios.offline`.

For whoever moves the lab to another version of Kubernetes; no command of `suture`, since nobody
else needs it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from suture.adapters.kube import KubeClient
from suture.adapters.kuberequests import DISCOVERY
from suture.lab.assets import KUBERNETES_VERSION
from suture.lab.plane import Plane
from suture.lab.scenarios.cluster import Cluster, Object, whole
from suture.lab.scenarios.offline.base import BUNDLED, pack

SETTLED_S = 3.0


async def _taken(plane: Plane) -> bytes:
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        documents = [await client.get_raw(path, accept=DISCOVERY) for path in ("/api", "/apis")]
        cluster = await Cluster.reach(client)
        found: list[Object] = []
        for api in cluster.kinds.all:
            if "list" in api.verbs:
                found += await whole(client, api)
        return pack(KUBERNETES_VERSION, documents, found)


if __name__ == "__main__":
    with Plane.up("base") as fresh:
        time.sleep(SETTLED_S)
        packed = asyncio.run(_taken(fresh))
    target = Path(__file__).parent / BUNDLED
    target.write_bytes(packed)
    sys.stdout.write(f"{target}: {len(packed)} bytes\n")
